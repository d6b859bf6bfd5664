import assert from "node:assert/strict";
import { type History, MOST_STEPS_BACK, nearSteps, record, stepBack, stepForth } from "../../../ui/state/history.ts";

const START: History<number> = { present: 0, past: [], future: [] };

Deno.test("all edits are taken back and made again in order", () => {
  let history = START;
  for (let value = 1; value <= 20; value++) history = record(history, value);
  for (let value = 19; value >= 0; value--) assert.equal((history = stepBack(history)!).present, value);
  assert.equal(stepBack(history), null);
  for (let value = 1; value <= 20; value++) assert.equal((history = stepForth(history)!).present, value);
  assert.equal(stepForth(history), null);
});

Deno.test("an edit ends what could be made again, and the list does not grow without end", () => {
  const back = stepBack(record(record(START, 1), 2))!;
  assert.deepEqual(record(back, 3), { present: 3, past: [0, 1], future: [] });
  let history = START;
  for (let value = 1; value <= MOST_STEPS_BACK + 50; value++) history = record(history, value);
  assert.equal(history.past.length, MOST_STEPS_BACK);
});

Deno.test("a draft keeps the steps nearest to the present, within its size", () => {
  assert.deepEqual(nearSteps(["a", "b"], ["c"]), { past: ["a", "b"], future: ["c"] });
  const [old, large, near] = ["o".repeat(100_000), "l".repeat(200_000), "n".repeat(40_000)];
  assert.deepEqual(nearSteps([old, large, near], [near, large, old]), { past: [large, near], future: [near, large] });
  assert.deepEqual(nearSteps(["x".repeat(300_000)], []), { past: [], future: [] });
});

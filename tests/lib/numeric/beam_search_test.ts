import assert from "node:assert/strict";
import { beamSearch } from "../../../lib/numeric/scores/beam_search.ts";

const START = 0, END = 1, A = 2, B = 3;
/** Logits of a table of probabilities by what was written so far; elsewhere the sequence ends. */
function search(table: Record<string, number[]>, more: { beams: number; maxLength?: number; forcedFirst?: number }) {
  let calls = 0;
  const next = (sequences: readonly (readonly number[])[]) => {
    calls++;
    return Promise.resolve(
      sequences.map((tokens) => (table[tokens.slice(1).join("")] ?? [0, 1, 0, 0]).map((p) => Math.log(p + 1e-30))),
    );
  };
  return beamSearch({ start: START, end: END, maxLength: 8, ...more, next }).then((tokens) => ({ tokens, calls }));
}

/** A is likelier at first; the most likely sentence is B B. */
const GARDEN = { "": [0, 0, 0.6, 0.4], "2": [0, 0.34, 0.33, 0.33], "3": [0, 0, 0.05, 0.95], "33": [0, 1, 0, 0] };

Deno.test("one beam is greedy, two find the sentence that is likelier as a whole", async () => {
  assert.deepEqual((await search(GARDEN, { beams: 1 })).tokens, [A]);
  assert.deepEqual((await search(GARDEN, { beams: 2 })).tokens, [B, B]);
  assert.deepEqual((await search(GARDEN, { beams: 4 })).tokens, [B, B]);
});

Deno.test("sums are divided by the number of tokens, the end included", async () => {
  // ln 0.5 / 1 for the empty sentence; (ln 0.5 + ln 0.6) / 2 = ln 0.548 for A.
  const table = { "": [0, 0.5, 0.5, 0], "2": [0, 0.6, 0.2, 0.2] };
  assert.deepEqual((await search(table, { beams: 2 })).tokens, [A]);
  assert.deepEqual((await search({ ...table, "2": [0, 0.4, 0.3, 0.3] }, { beams: 2 })).tokens, []);
});

Deno.test("the length limit ends a search, and a forced token comes first without cost", async () => {
  const endless = { "": [0, 0, 1, 0], "2": [0, 0, 1, 0], "22": [0, 0, 1, 0], "222": [0, 0, 1, 0] };
  assert.deepEqual((await search(endless, { beams: 2, maxLength: 4 })).tokens, [A, A, A]);
  assert.deepEqual((await search(GARDEN, { beams: 1, forcedFirst: B })).tokens, [B, B]);
  assert.deepEqual((await search(GARDEN, { beams: 1, forcedFirst: END, maxLength: 2 })).tokens, [END]);
});

Deno.test("equal probabilities take the lower token of the earlier beam", async () => {
  const even = { "": [0, 0, 0.5, 0.5], "2": [0, 1, 0, 0], "3": [0, 1, 0, 0] };
  assert.deepEqual((await search(even, { beams: 1 })).tokens, [A]);
  assert.deepEqual((await search(even, { beams: 2 })).tokens, [A]);
});

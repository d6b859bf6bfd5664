/** The quick set proves every operation, at the least cost that the greedy cover finds. */
import assert from "node:assert/strict";
import { type CardFile, listCards } from "../../../../lib/study/validation/cards.ts";
import { type PublishedResult, readPublished } from "../../../../lib/study/validation/published.ts";
import { quickSet } from "../../../../lib/study/validation/quick_set.ts";
import { ROOT_PATH } from "../../../support/paths.ts";

/** Processor seconds of four minutes of two cores, of which the checks by wrong constants and the host take half. */
const MOST_SECONDS = 240;

const made = (id: string, operations: string[], quick = true) =>
  ({ card: { id, operations, ...quick ? { quick: {} } : {} } }) as unknown as CardFile;
const costs = (seconds: Record<string, number>) =>
  new Map(Object.entries(seconds).map(([id, quick_cpu_s]) => [id, { quick_cpu_s } as PublishedResult]));
const ids = (cards: readonly CardFile[]) => cards.map(({ card }) => card.id);
const operationsOf = (cards: readonly CardFile[]) => new Set(cards.flatMap(({ card }) => card.operations));

Deno.test("the cheapest cards prove each operation once; a card that others cover is left out", () => {
  const cards = [made("dear", ["a", "b"]), made("first", ["a"]), made("second", ["b"]), made("slow", ["c"], false)];
  assert.deepEqual(ids(quickSet(cards, costs({ dear: 9, first: 1, second: 2, slow: 1 }))), ["first", "second"]);
  assert.deepEqual(ids(quickSet(cards, costs({ dear: 3, first: 2, second: 4, slow: 1 }))), ["dear"]);
  // `small` has the best price at first; `both` and `other` make it superfluous.
  const three = [made("small", ["a", "b"]), made("both", ["a", "c"]), made("other", ["b", "d"])];
  assert.deepEqual(ids(quickSet(three, costs({ small: 1, both: 4, other: 4 }))), ["both", "other"]);
});

Deno.test("a card that finds a wrong constant is in the set, however many others prove its operations", () => {
  const cards = [made("cheap", ["a"]), made("sharp", ["a"])], published = costs({ cheap: 1, sharp: 5 });
  assert.deepEqual(ids(quickSet(cards, published)), ["cheap"]);
  published.set("sharp", { quick_cpu_s: 5, quick_finds: ["noise"] } as PublishedResult);
  assert.deepEqual(ids(quickSet(cards, published)), ["sharp"]);
});

Deno.test("a card without a measured time is in the set", () => {
  const cards = [made("known", ["a"]), made("new", ["a", "b"]), made("other", ["c"])];
  assert.deepEqual(ids(quickSet(cards, costs({ known: 1, other: 1 }))), ["new", "other"]);
});

Deno.test("the quick set of the program proves every operation that a quick subset proves, within its time", () => {
  const cards = listCards(ROOT_PATH), published = readPublished(ROOT_PATH), set = quickSet(cards, published);
  assert.deepEqual(operationsOf(set), operationsOf(cards.filter(({ card }) => card.quick !== undefined)));
  const seconds = set.reduce((sum, { card }) => sum + (published.get(card.id)?.quick_cpu_s ?? 0), 0);
  assert.ok(seconds <= MOST_SECONDS, `${seconds} s of processor time`);
  assert.ok(set.length < cards.length / 2, `${set.length} of ${cards.length} cards`);
});

/** Units of streams: the largest declared one, scaled to the stream at hand, and the counts that a step records. */
import assert from "node:assert/strict";
import { declareUnit, rateCounts, unitSums } from "../../../lib/artifact/statistical_unit.ts";
import { rateMetadata, recordedRate } from "../../../lib/contract/metric_metadata.ts";
import { countRate } from "../../../lib/numeric/scores/rate_interval.ts";

const ends = (failed: ArrayLike<number>, unit: "packet" | "fading_block", at: number[]) =>
  countRate(failed, unit, at, true);

Deno.test("the largest declared unit stays, whatever the order of the declarations", () => {
  const blocks = declareUnit({}, "transport_block", { size: 100, total: 1000 });
  assert.deepEqual(declareUnit(blocks, "fading_block", { size: 14, total: 1000 }), {});
  assert.deepEqual(declareUnit(blocks, "packet", { counts: Array(10).fill(100) }), {}, "an equal one changes nothing");
  const items = declareUnit(blocks, "source_item", { counts: [600, 400] });
  assert.deepEqual(items, { statistical_unit: "source_item", statistical_unit_layout: { counts: [600, 400] } });
  assert.deepEqual(declareUnit({}, "packet", { counts: [] }), {});
  assert.deepEqual(declareUnit({}, "packet", { counts: [8, 8] }).statistical_unit_layout, { size: 8, total: 16 });
});

Deno.test("units are scaled to the stream: symbols to bits, bits to blocks, and the last one may be short", () => {
  const failed = Uint8Array.of(1, 0, 0, 0, 1, 1, 0, 0, 0, 1);
  const symbols = declareUnit({}, "fading_block", { size: 2, total: 5 });
  assert.deepEqual(rateCounts(failed, symbols, "bit"), ends(failed, "fading_block", [4, 8, 10]));
  const items = declareUnit({}, "packet", { counts: [3, 0, 2] });
  assert.deepEqual(rateCounts(failed, items, "bit"), ends(failed, "packet", [6, 6, 10]));
  // Only the first 6 of 10 bits were compared: the units stay where they are.
  assert.deepEqual(
    rateCounts(failed.subarray(0, 6), symbols, "bit", 10),
    ends(failed.subarray(0, 6), "fading_block", [4, 6]),
  );
});

Deno.test("where nothing larger is declared, each trial is its own unit", () => {
  const failed = Uint8Array.of(1, 0, 1);
  assert.deepEqual(rateCounts(failed, {}, "packet"), countRate(failed, "packet"));
  const smaller = declareUnit({}, "fading_block", { size: 1, total: 300 });
  assert.deepEqual(rateCounts(failed, smaller, "packet"), countRate(failed, "packet"));
});

Deno.test("values of parts are added over the units that hold them", () => {
  const values = [1, 2, 3, 4, 5];
  assert.deepEqual(unitSums(values, {}), values);
  assert.deepEqual(unitSums(values, declareUnit({}, "fading_block", { size: 10, total: 10 })), [15]);
  assert.deepEqual(unitSums(values, declareUnit({}, "fading_block", { size: 40, total: 100 })), [3, 7, 5]);
  assert.deepEqual(unitSums(values, declareUnit({}, "packet", { counts: [30, 0, 20] })), [6, 0, 9]);
  assert.deepEqual(unitSums(values, declareUnit({}, "fading_block", { size: 1, total: 100 })), values);
});

Deno.test("recorded counts are read as they were written", () => {
  for (const counts of [countRate([1, 0, 0], "bit"), { ...ends([1, 0, 1, 1], "packet", [2, 4]), complement: true }]) {
    assert.deepEqual(recordedRate(rateMetadata({ rate: counts }), "rate"), counts);
  }
  assert.equal(recordedRate({}, "rate"), null);
  assert.equal(recordedRate({ metric_metadata: { rate: { events: 1 } } }, "rate"), null);
});

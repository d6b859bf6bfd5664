import assert from "node:assert/strict";
import { boundaryF1, partCounts } from "../../../lib/numeric/image/segments.ts";

/** A raster of digits, a line a row. */
const raster = (...rows: string[]) => ({
  height: rows.length,
  width: rows[0].length,
  classes: rows.flatMap((row) => [...row].map(Number)),
});
const shifted = (by: number, size = 200) => ({
  height: size,
  width: size,
  classes: Int32Array.from({ length: size * size }, (_, at) => Number(at % size >= 100 + by)),
});

Deno.test("a boundary within 0.75 % of the diagonal matches, one beyond does not", () => {
  // The diagonal of 200 x 200 is 283 pixels, the tolerance 2.1 pixels.
  assert.equal(boundaryF1(shifted(2), shifted(0)), 1);
  // The edges of the image are no boundary, so that nothing else matches.
  assert.equal(boundaryF1(shifted(5), shifted(0)), 0);
});

Deno.test("a class on one side only scores 0", () => {
  // Class 0 has a boundary in the reference alone, class 1 occurs there alone.
  assert.equal(boundaryF1(raster("00", "00"), raster("01", "00")), 0);
  // Classes 0 and 1 agree; class 2 is found nowhere in the reference.
  assert.equal(boundaryF1(raster("00001111", "00001112"), raster("00001111", "00001111")), (1 + 2 * 0.5 / 1.5) / 3);
});

Deno.test("regions match from an IoU above one half on, once each", () => {
  const reference = raster("110011", "110011", "000000");
  // The left object lacks one pixel (IoU 3/4), the right one has two of four (IoU 1/2); the last row adds one of one pixel.
  const counts = partCounts(raster("110010", "100010", "000100"), reference);
  // Left matched. The right candidate touches the added pixel diagonally: one region of three pixels, IoU 2/5.
  assert.deepEqual(counts.get(1), { iou: 3 / 4, matched: 1, unmatched: 2 });
  assert.deepEqual(partCounts(reference, reference).get(1), { iou: 2, matched: 2, unmatched: 0 });
});

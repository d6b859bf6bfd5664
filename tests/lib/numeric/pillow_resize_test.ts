import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { type Resampling, resizeLikePillow } from "../../../lib/numeric/image/pillow_resize.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

/** A picture of a formula, so that nothing but the results needs storing. */
function picture(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) data[at++] = ((x * x * 7 + y * 13 * (c + 1) + x * y * 3) >> 1) % 256;
    }
  }
  return { width, height, channels: 3, data };
}

/** Filter, source and target size, SHA-256 of the samples and the first pixel: Pillow 9.4.0, Image.resize. */
const PILLOW: [Resampling, [number, number], [number, number], string, number[]][] = DATA.PILLOW;

for (const [filter, [width, height], [toWidth, toHeight], sha256, first] of PILLOW) {
  Deno.test(`${filter}, ${width} x ${height} to ${toWidth} x ${toHeight}: the samples of Pillow`, () => {
    const resized = resizeLikePillow(picture(width, height), toWidth, toHeight, filter);
    assert.deepEqual([...resized.data.subarray(0, 3)], first);
    assert.equal(sha256Hex(resized.data), sha256);
  });
}

import assert from "node:assert/strict";
import { completeJpeg, halfSize, isAbbreviated, smallestTables } from "../../../../lib/artifact/jpeg/abbreviated.ts";
import { decodeJpeg } from "../../../../lib/artifact/jpeg/decoder.ts";
import { encodeJpeg, JpegEncoder } from "../../../../lib/artifact/jpeg/encoder.ts";
import { sharedHuffmanSource } from "../../../../lib/artifact/jpeg/generate_shared_huffman.ts";
import { huffmanCodes } from "../../../../lib/artifact/jpeg/huffman.ts";
import { SHARED_HUFFMAN } from "../../../../lib/artifact/jpeg/shared_huffman.ts";
import { STANDARD_HUFFMAN } from "../../../../lib/artifact/jpeg/tables.ts";
import { decodeJpegStream } from "../../../../lib/artifact/jpeg/within_budget.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import { smallPictures } from "./vectors.ts";

const refuses = (run: () => unknown) =>
  assert.throws(run, (error) => error instanceof SvcError && error.code === "jpeg_invalid");

Deno.test("a stream completes to a file with the pixels of the file of that quality", () => {
  for (const image of smallPictures().values()) {
    for (const subsampling of ["444", "422", "420"] as const) {
      const encoder = new JpegEncoder(image, subsampling);
      for (const quality of [1, 20, 75, 100]) {
        const stream = encoder.encodeAbbreviated(quality)!, file = encodeJpeg(image, { quality, subsampling });
        assert.ok(isAbbreviated(stream) && !isAbbreviated(file) && stream.length < file.length);
        assert.deepEqual(decodeJpeg(completeJpeg(stream, image)), decodeJpeg(file));
        assert.equal(encoder.encodeAbbreviated(quality, { limit: stream.length - 1 }), undefined);
        // Fill bytes at the end change nothing.
        assert.deepEqual(decodeJpegStream(Uint8Array.of(...stream, 255, 255, 255), image), decodeJpeg(file));
      }
    }
  }
});

Deno.test("of all tables those with the smallest stream are taken, and their size counts when they are sent", () => {
  const frequencies = STANDARD_HUFFMAN.map(() => new Uint32Array(256));
  // Few symbols: sending tables for them cannot pay.
  frequencies.forEach((counts) => counts[0] = 10);
  assert.notEqual(smallestTables(frequencies).id, 63);
  // A distribution that no known table suits, often enough: it pays.
  frequencies.forEach((counts) => [counts[0], counts[11], counts[7]] = [1, 5000, 3000]);
  const { id, bits, specs } = smallestTables(frequencies);
  assert.equal(id, 63);
  const lengths = specs.map((spec) => huffmanCodes(spec).lengths);
  const sent = specs.reduce((sum, { symbols }) => sum + 8 * (16 + symbols.length), 0);
  const coded = frequencies.reduce((sum, counts, slot) => {
    return sum + [0, 7, 11].reduce((part, at) => part + counts[at] * (lengths[slot][at] + at), 0);
  }, 0);
  assert.equal(bits, 16 + sent + coded);
});

Deno.test("damaged headers are refused", () => {
  const image = smallPictures().values().next().value!;
  const stream = new JpegEncoder(image, "420").encodeAbbreviated(50)!;
  for (const [at, value] of [[0, 0], [0, 101], [1, 0xc0], [1, 0x80 | 40]]) {
    const damaged = stream.slice();
    damaged[at] = value;
    refuses(() => decodeJpegStream(damaged, image));
  }
  refuses(() => decodeJpegStream(stream.subarray(0, 2), image));
  refuses(() => decodeJpegStream(new Uint8Array(), image));
  refuses(() => decodeJpegStream(Uint8Array.of(50, 0x80 | 63, ...new Array(64).fill(1)), image));
});

Deno.test("an image of half the size is enlarged to the expected one", () => {
  const flat = { width: 9, height: 13, channels: 1 as const, data: new Uint8Array(117).fill(90) };
  const half = { ...halfSize(flat), channels: 1 as const, data: new Uint8Array(35).fill(90) };
  const stream = new JpegEncoder(half, "420").encodeAbbreviated(90, { half: true })!;
  assert.equal(stream[0], 128 | 90);
  assert.deepEqual(decodeJpegStream(stream, flat), flat);
  assert.deepEqual(decodeJpegStream(encodeJpeg(half, { quality: 90, subsampling: "420" }), flat), flat);
});

Deno.test("the shared tables are those of the generator and code every symbol", async () => {
  const path = new URL("../../../../lib/artifact/jpeg/shared_huffman.ts", import.meta.url);
  assert.equal(await Deno.readTextFile(path), sharedHuffmanSource());
  for (const set of SHARED_HUFFMAN) {
    set.forEach(({ symbols }, slot) => assert.deepEqual(symbols.toSorted(), STANDARD_HUFFMAN[slot].symbols.toSorted()));
  }
});

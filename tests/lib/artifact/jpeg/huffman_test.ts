import assert from "node:assert/strict";
import { huffmanCodes, optimalHuffman } from "../../../../lib/artifact/jpeg/huffman.ts";
import { STANDARD_HUFFMAN, ZIGZAG } from "../../../../lib/artifact/jpeg/tables.ts";

const frequencies = (counts: number[]) => Uint32Array.from({ length: 256 }, (_, symbol) => counts[symbol] ?? 0);

Deno.test("code words of Annex K tables", () => {
  // T.81 tables K.3 and K.5: category 0 is 00, category 11 is 111111110; end of block 1010, run 15 11111111001.
  const dc = huffmanCodes(STANDARD_HUFFMAN[0]), ac = huffmanCodes(STANDARD_HUFFMAN[1]);
  assert.deepEqual([dc.codes[0], dc.lengths[0], dc.codes[11], dc.lengths[11]], [0b00, 2, 0b111111110, 9]);
  assert.deepEqual([ac.codes[0], ac.lengths[0], ac.codes[0xf0], ac.lengths[0xf0]], [0b1010, 4, 0b11111111001, 11]);
  assert.deepEqual([...ZIGZAG.subarray(0, 6), ZIGZAG[63]], [0, 1, 8, 16, 9, 2, 63]);
  for (const { counts, symbols } of STANDARD_HUFFMAN) {
    assert.equal(counts.reduce((sum, count) => sum + count), symbols.length);
    assert.equal(new Set(symbols).size, symbols.length);
  }
});

Deno.test("fitted tables leave the code of ones free and are as short as can be", () => {
  // With the reserved code: weights 1, 1, 2, 4, 8 give lengths 4, 4, 3, 2, 1; the reserved one goes.
  const { counts, symbols } = optimalHuffman(frequencies([1, 2, 4, 8]));
  assert.deepEqual([...counts.subarray(0, 5)], [1, 1, 1, 1, 0]);
  assert.deepEqual([...symbols], [3, 2, 1, 0]);
  assert.deepEqual([...optimalHuffman(frequencies([0, 5])).counts.subarray(0, 2)], [1, 0]);
});

Deno.test("fitted tables keep to sixteen bits whatever the counts", () => {
  const fibonacci = [1, 1];
  while (fibonacci.length < 40) fibonacci.push(fibonacci.at(-1)! + fibonacci.at(-2)!);
  const { counts, symbols } = optimalHuffman(frequencies(fibonacci));
  assert.equal(counts.length, 16);
  assert.equal(symbols.length, 40);
  assert.equal(counts.reduce((sum, count) => sum + count), 40);
  const kraft = counts.reduce((sum, count, index) => sum + count * 2 ** -(index + 1), 0);
  assert.ok(kraft < 1, "the code of ones must stay free");
  const { lengths } = huffmanCodes({ counts, symbols });
  // Neighbours share their length until long codes are shortened, then the smaller symbol may have the shorter code.
  for (let symbol = 3; symbol < 40; symbol++) assert.ok(lengths[symbol] <= lengths[symbol - 2], String(symbol));
});

Deno.test("oversubscribed tables are refused", () => {
  const counts = new Uint8Array(16);
  counts[0] = 3;
  assert.throws(() => huffmanCodes({ counts, symbols: Uint8Array.of(0, 1, 2) }), RangeError);
});

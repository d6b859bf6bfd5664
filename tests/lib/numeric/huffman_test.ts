import assert from "node:assert/strict";
import { HuffmanCode } from "../../../lib/numeric/coding/huffman.ts";

const lengths = (code: HuffmanCode, count: number) =>
  Array.from({ length: count }, (_, symbol) => code.encode([symbol]).length);

Deno.test("code words of weights 5, 9, 12, 13, 16, 45 by hand, in canonical order", () => {
  // Merges 5+9=14, 12+13=25, 14+16=30, 25+30=55, 45+55.
  const code = new HuffmanCode([5, 9, 12, 13, 16, 45]);
  assert.deepEqual(lengths(code, 6), [4, 4, 3, 3, 3, 1]);
  const words = [5, 2, 3, 4, 0, 1].map((symbol) => code.encode([symbol]).join(""));
  assert.deepEqual(words, ["0", "100", "101", "110", "1110", "1111"]);
});

Deno.test("the mean length lies between the entropy and one bit more, and the code is full", () => {
  const weights = Array.from({ length: 257 }, (_, i) => 1 + (i * i * 7919) % 1009);
  const total = weights.reduce((sum, weight) => sum + weight), found = lengths(new HuffmanCode(weights), 257);
  const mean = weights.reduce((sum, weight, i) => sum + weight * found[i], 0) / total;
  const entropy = -weights.reduce((sum, weight) => sum + weight * Math.log2(weight / total), 0) / total;
  assert.ok(entropy <= mean && mean < entropy + 1, `${entropy} ${mean}`);
  assert.equal(found.reduce((sum, length) => sum + 2 ** -length, 0), 1);
});

Deno.test("symbols come back up to the end; a wrong bit changes symbols and does not stop the rest", () => {
  const code = new HuffmanCode([40, 20, 10, 5, 3, 1]), symbols = [0, 1, 4, 2, 0, 3, 1, 0, 0, 2];
  const bits = code.encode([...symbols, 5]);
  assert.deepEqual(code.decode(bits, 5), symbols);
  assert.deepEqual(code.decode(Uint8Array.of(...bits, 1, 0, 1), 5), symbols);
  const wrong = code.decode(bits.map((bit, at) => at === 3 ? 1 - bit : bit), 5);
  assert.notDeepEqual(wrong, symbols);
  assert.deepEqual(wrong.slice(-4), symbols.slice(-4));
});

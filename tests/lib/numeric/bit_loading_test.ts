/** Bit loading: thresholds, filling, and the way there and back. */
import assert from "node:assert/strict";
import { fillLoading, loadBits, loadedGroups, modulateLoaded } from "../../../lib/numeric/link/bit_loading.ts";
import { demodulateLlr, hardBits, modulate } from "../../../lib/numeric/link/modulation.ts";
import { someBits } from "../../ops/inputs.ts";

const THRESHOLDS = { bpsk: 6, qpsk: 10, qam16: 17, qam64: 23, qam256: 29 };
const linear = (db: number) => 10 ** (db / 10);

Deno.test("an element carries the largest number of bits whose threshold it meets", () => {
  const snrs = [0, linear(5.99), linear(6.01), 10, linear(16.99), linear(17.01), linear(22.9), linear(23.1), 1e9];
  assert.deepEqual([...loadBits(snrs, THRESHOLDS, 6)], [0, 0, 1, 2, 2, 4, 4, 6, 6]);
  assert.deepEqual([...loadBits([linear(28), linear(29)], THRESHOLDS, 8)], [6, 8]);
  assert.deepEqual([...loadBits(snrs, THRESHOLDS, 2)], [0, 0, 1, 2, 2, 2, 2, 2, 2]);
  // Thresholds out of order: the largest that is met, whatever lies between.
  assert.deepEqual([...loadBits([linear(5)], { bpsk: 6, qpsk: 4, qam16: 9, qam64: 5, qam256: 8 }, 6)], [6]);
});

Deno.test("bits fill the elements in order, up to the last one that is needed", () => {
  const fill = (loading: number[], bits: number) => {
    const filled = fillLoading(Uint8Array.from(loading), bits);
    return filled && { ...filled, loading: [...filled.loading] };
  };
  assert.deepEqual(fill([2, 0, 4, 1, 6], 5), { loading: [2, 0, 4, 0, 0], count: 3, padding: 1 });
  assert.deepEqual(fill([2, 0, 4, 1, 6], 13), { loading: [2, 0, 4, 1, 6], count: 5, padding: 0 });
  assert.deepEqual(fill([2, 0, 4, 1, 6], 14), null);
  assert.deepEqual(fill([2, 1], 0), { loading: [0, 0], count: 0, padding: 0 });
  assert.deepEqual(fill([0, 0], 1), null);
});

Deno.test("loaded symbols are those of each modulation, and come back as bits", () => {
  const loading = [6, 0, 2, 1, 4, 6, 0, 4];
  const bits = someBits(21);
  const filled = fillLoading(Uint8Array.from(loading), bits.length)!;
  assert.equal(filled.padding, 2);
  const symbols = modulateLoaded(bits, filled);
  assert.equal(symbols.length, 2 * 8);
  assert.deepEqual([...symbols.subarray(2, 4)], [0, 0]);
  assert.deepEqual([...symbols.subarray(0, 2)], [...modulate(bits.subarray(0, 6), "qam64")]);
  const back = new Uint8Array(bits.length + filled.padding);
  for (const { bitsPerSymbol, modulation, elements, starts } of loadedGroups(filled.loading)) {
    elements.forEach((element, k) => {
      const llr = demodulateLlr(symbols.subarray(2 * element, 2 * element + 2), modulation, 1);
      assert.equal(llr.length, bitsPerSymbol);
      back.set(hardBits(llr), starts[k]);
    });
  }
  assert.deepEqual(back, Uint8Array.of(...bits, 0, 0));
});

Deno.test("a number of bits that no modulation carries is refused", () => {
  assert.throws(() => loadedGroups([2, 3]), RangeError);
});

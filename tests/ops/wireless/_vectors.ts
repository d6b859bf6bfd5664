/** Comparing float32 results with stored vectors. */
import assert from "node:assert/strict";

export const floats = (hex: string) => new Float32Array(Uint8Array.fromHex(hex).buffer);

/** Equal to the last bit: draws are NumPy's, and rounding to binary32 hides in what order sums were formed. */
export function assertSame(actual: ArrayLike<number>, expected: Float32Array, what: string): void {
  assert.equal(actual.length, expected.length, what);
  for (let i = 0; i < expected.length; i++) assert.equal(actual[i], expected[i], `${what}[${i}]`);
}

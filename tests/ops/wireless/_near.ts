/** Comparing float32 results with vectors of another library. */
import assert from "node:assert/strict";

export const floats = (hex: string) => new Float32Array(Uint8Array.fromHex(hex).buffer);

/** Equal but for the last bit: libraries may order the terms of a sum or the products of a quotient differently. */
export function assertNear(actual: ArrayLike<number>, expected: Float32Array, what: string): void {
  assert.equal(actual.length, expected.length, what);
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i] - expected[i]);
    const allowed = 2 ** -23 * Math.max(Math.abs(expected[i]), 2 ** -10);
    assert.ok(error <= allowed, `${what}[${i}]: ${actual[i]}, ${expected[i]}`);
  }
}

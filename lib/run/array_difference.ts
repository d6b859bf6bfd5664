/** Measures the difference between two NPZ artifacts with different hashes. */
import { openNpz } from "../artifact/npz.ts";
import { float, type JsonObject } from "../contract/value.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";

/**
 * Compares the arrays that both files have.
 * @returns `{max_abs, max_rel, count}` over all differing numbers (real and imaginary parts count separately); null
 *   when arrays, dtypes or shapes differ
 */
export function arrayDifference(expected: Uint8Array, actual: Uint8Array): JsonObject | null {
  try {
    const a = openNpz(expected), b = openNpz(actual);
    const names = a.names.filter((name) => name !== "metadata_json");
    if (names.some((name) => !b.has(name)) || b.names.length !== a.names.length) return null;
    const total = { maxAbs: 0, maxRel: 0, count: 0 };
    for (const name of names) if (!accumulate(a.array(name), b.array(name), total)) return null;
    return {
      max_abs: Number.isFinite(total.maxAbs) ? float(total.maxAbs) : null,
      max_rel: Number.isFinite(total.maxRel) ? float(total.maxRel) : null,
      count: total.count,
    };
  } catch {
    // A file that is not NPZ has no numbers to compare.
    return null;
  }
}

function accumulate(a: NdArray, b: NdArray, total: { maxAbs: number; maxRel: number; count: number }): boolean {
  if (a.dtype !== b.dtype || a.shape.join() !== b.shape.join()) return false;
  for (let i = 0; i < a.data.length; i++) {
    const x = a.data[i], y = b.data[i];
    if (x === y || (x !== x && y !== y)) continue;
    const apart = Math.abs(Number(typeof x === "bigint" ? (y as bigint) - x : (y as number) - x));
    total.count++;
    // A value that is finite on one side only has an infinite difference.
    const abs = Number.isNaN(apart) ? Infinity : apart;
    total.maxAbs = Math.max(total.maxAbs, abs);
    total.maxRel = Math.max(total.maxRel, abs / Math.abs(Number(x)));
  }
  return true;
}

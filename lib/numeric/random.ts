// Placeholder signature file: replaced by the real generator.
import type { TypedData } from "./ndarray.ts";
export interface Generator {
  integers(low: number, high: number, size: number, dtype: "uint8"): Uint8Array;
  integers(low: number, high: number, size: number, dtype: "int64"): BigInt64Array;
  random(size: number): Float64Array;
  standardNormal(size: number): Float64Array;
}
export type X = TypedData;

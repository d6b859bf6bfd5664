/** Signals in blocks whose samples an operation changes one by one, while companion arrays stay. */
import type { JsonObject, OperationStream } from "./api.ts";
import type { StreamInput } from "../lib/contract/operation.ts";
import { checkSymbols } from "../lib/artifact/boundary.ts";
import { elementCount, type NdArray } from "../lib/numeric/array/ndarray.ts";
import { SYMBOL_COMPANIONS } from "./_noise_variance.ts";

/** Companions of signals in blocks: those of symbols, and the grid of a waveform. */
export const SIGNAL_COMPANIONS = [...SYMBOL_COMPANIONS, "grid"];

interface Altered {
  /** Samples that belong together. */
  unit?: number;
  metadata: JsonObject;
  /** The changed samples of the next block, interleaved. */
  alter(samples: Float32Array): Float32Array;
}

/**
 * The stream of a complex64 signal from an input to the output of the same name.
 * @returns null for other elements, and for companions that do not fit the units
 */
export function alteredInBlocks<Port extends string>(
  port: Port,
  { metadata: { dtype }, length, shape, companions = {} }: StreamInput,
  { unit = 1, metadata, alter }: Altered,
): OperationStream<Port> | null {
  const fits = (form: { shape: readonly number[] }) => Number.isInteger(elementCount(form.shape) * unit / length);
  if (dtype !== "complex64" || length === 0 || !Object.values(companions).every(fits)) return null;
  return {
    arrays: { [port]: { dtype, length, shape, companions, metadata } },
    unit: { [port]: unit },
    // Only some kinds are finite.
    next: (blocks: Readonly<Record<string, NdArray>>) => ({
      [port]: alter(checkSymbols(blocks[port])),
      ...Object.fromEntries(
        Object.keys(companions).map((name) => [`${port}.${name}`, blocks[`${port}.${name}`].data]),
      ),
    }),
  };
}

/** Inference over long batches in chunks of rows, in order. */
import { DTYPES, elementCount, type NdArray, ndarray, type TypedData } from "../numeric/array/ndarray.ts";

/** Computes outputs from inputs, such as a session's `run`. */
export type Infer = (feeds: Record<string, NdArray>) => Promise<Record<string, NdArray>>;

/**
 * Runs a graph over axis 0 of its inputs, at most `rows` per call. If the graph treats rows independently, the result
 * does not depend on `rows`.
 * @param feeds arrays with equal batch size in the first axis; those named in `whole` are passed with every chunk
 * @returns the outputs, joined along axis 0; without rows the graph runs once, for the shapes
 * @throws RangeError for inputs of different lengths, or outputs without one row per input row
 */
export async function chunked(
  infer: Infer,
  feeds: Readonly<Record<string, NdArray>>,
  { rows, whole = [] }: { rows: number; whole?: readonly string[] },
): Promise<Record<string, NdArray>> {
  const split = Object.keys(feeds).filter((name) => !whole.includes(name));
  const lengths = new Set(split.map((name) => feeds[name].shape[0]));
  if (lengths.size !== 1) throw new RangeError(`Cannot split inputs with ${[...lengths].join(" and ")} rows alike`);
  if (!(rows >= 1)) throw new RangeError(`Cannot take ${rows} rows at a time`);
  const [count] = lengths;
  if (count <= rows) return checked(await infer({ ...feeds }), count);

  const parts: Record<string, NdArray>[] = [];
  for (let from = 0; from < count; from += rows) {
    const to = Math.min(from + rows, count);
    const part = Object.fromEntries(
      Object.entries(feeds).map(([name, array]) => [name, whole.includes(name) ? array : rowsOf(array, from, to)]),
    );
    parts.push(checked(await infer(part), to - from));
  }
  return Object.fromEntries(Object.keys(parts[0]).map((name) => [name, join(parts.map((part) => part[name]))]));
}

/** Rows [from, to) of an array, as a view. */
function rowsOf({ dtype, shape, data }: NdArray, from: number, to: number): NdArray {
  const row = elementCount(shape.slice(1)) * DTYPES[dtype].slots;
  return ndarray(dtype, data.subarray(from * row, to * row) as TypedData, [to - from, ...shape.slice(1)]);
}

function join(parts: readonly NdArray[]): NdArray {
  const [{ dtype, shape: [, ...row] }] = parts;
  const odd = parts.find((part) => part.dtype !== dtype || part.shape.slice(1).join() !== row.join());
  if (odd) throw new RangeError(`Cannot join rows of shape [${row}] and [${odd.shape.slice(1)}]`);
  const count = parts.reduce((sum, { shape }) => sum + shape[0], 0);
  const size = elementCount([count, ...row]) * DTYPES[dtype].slots;
  const data = DTYPES[dtype].make(new ArrayBuffer(elementCount([count, ...row]) * DTYPES[dtype].itemSize), 0, size);
  let at = 0;
  for (const part of parts) {
    (data as Float64Array).set(part.data as Float64Array, at);
    at += part.data.length;
  }
  return ndarray(dtype, data, [count, ...row]);
}

function checked(outputs: Record<string, NdArray>, rows: number): Record<string, NdArray> {
  for (const [name, { shape }] of Object.entries(outputs)) {
    if (shape[0] !== rows) throw new RangeError(`${name} has ${shape[0] ?? "no"} rows for ${rows} rows of input`);
  }
  return outputs;
}

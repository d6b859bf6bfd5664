/** A block of an array with every digit, for views that compute with it: channel responses, beams, powers. */
import { SvcError } from "../contract/error.ts";
import { type Float, float, type JsonObject, type Value } from "../contract/value.ts";
import { DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";

/** Values of a block: what a view draws at once. */
export const MAX_BLOCK_VALUES = 65_536;

export const invalid = (message: string, hint: string | null = null): SvcError =>
  new SvcError("artifact_invalid", message, { hint });

/** A finite number as a float, else null. */
export const finite = (value: number): number | Float | null => (Number.isFinite(value) ? float(value) : null);

/**
 * The part of an array below the given indices of its leading axes, in C order.
 * @param at indices from the first axis on, as many as there are axes or fewer: `[3]` of [example, rx, tx, subcarrier] is
 *   the block [rx, tx, subcarrier] of the fourth example
 * @param options.first the first values of a block of one dimension; default all
 * @param options.reduced the largest value of equal cells where a block of two dimensions has too many values: the longer one
 *   is halved until it fits
 * @returns `{dtype, shape, at, block_shape, cell, real, imaginary}`; cell holds the values that one stands for on each axis,
 *   imaginary is null where values are real, and values that are not finite are null
 * @throws SvcError `query_invalid` for indices that are not there, or a block of too many values
 */
export function blockOf(
  array: NdArray,
  at: readonly number[],
  { first = Infinity, reduced = false }: { first?: number; reduced?: boolean } = {},
): JsonObject {
  const { dtype, shape, data } = array;
  if (at.length > shape.length || at.some((index, axis) => index >= shape[axis])) {
    throw new SvcError(
      "query_invalid",
      `Cannot find [${at.join(", ")}] in an array of the shape [${shape.join(", ")}]`,
      {
        hint: "at holds an index of each leading axis, from 0",
      },
    );
  }
  const whole = shape.slice(at.length), { slots } = DTYPES[dtype];
  if (first !== Infinity && whole.length !== 1) {
    throw new SvcError("query_invalid", `Cannot send the first values of a block of ${whole.length} dimensions`, {
      hint: "Name all leading indices but one with at",
    });
  }
  const block = whole.map((length) => Math.min(length, first)), size = elementCount(block);
  // Horner's rule over the leading axes.
  const start = at.reduce((offset, index, axis) => offset * shape[axis] + index, 0) * elementCount(whole) * slots;
  if (size > MAX_BLOCK_VALUES && reduced && block.length === 2 && slots === 1) {
    const { values, sizes, cell } = largestOf(data, start, [block[0], block[1]]);
    return {
      dtype,
      shape: [...shape],
      at: [...at],
      block_shape: sizes,
      cell,
      real: values.map(finite),
      imaginary: null,
    };
  }
  if (size > MAX_BLOCK_VALUES) {
    throw new SvcError("query_invalid", `Cannot send ${size} values at once: at most ${MAX_BLOCK_VALUES}`, {
      hint: `Name more leading indices with at, or ask for /api/series`,
    });
  }
  const narrow = dtype === "float32" || dtype === "complex64";
  const part = (slot: number): Value[] =>
    Array.from({ length: size }, (_, i) => {
      const value = Number(data[start + i * slots + slot]);
      // Nine digits distinguish every binary32 from its neighbours.
      return Number.isFinite(value) && narrow ? float(Number(value.toPrecision(9))) : finite(value);
    });
  return {
    dtype,
    shape: [...shape],
    at: [...at],
    block_shape: block,
    cell: block.map(() => 1),
    real: part(0),
    imaginary: slots === 2 ? part(1) : null,
  };
}

/** The largest values of equal cells, as few as fit; a value that is not finite does not count. */
function largestOf(data: NdArray["data"], start: number, [rows, columns]: [number, number]) {
  const cell = [1, 1];
  const sizes = () => [Math.ceil(rows / cell[0]), Math.ceil(columns / cell[1])];
  for (let [high, wide] = sizes(); high * wide > MAX_BLOCK_VALUES; [high, wide] = sizes()) {
    cell[high >= wide ? 0 : 1] *= 2;
  }
  const [high, wide] = sizes(), values: number[] = new Array(high * wide).fill(-Infinity);
  for (let row = 0; row < rows; row++) {
    const to = Math.floor(row / cell[0]) * wide, from = start + row * columns;
    for (let column = 0; column < columns; column++) {
      const at = to + Math.floor(column / cell[1]), value = Number(data[from + column]);
      if (value > values[at]) values[at] = value;
    }
  }
  return { values, sizes: [high, wide], cell };
}

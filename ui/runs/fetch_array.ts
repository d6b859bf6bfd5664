/** Blocks of arrays with every digit, for views that compute with them. */
import { get } from "../api.ts";

/** A block in C order. */
export interface Block {
  /** Of the whole array. */
  shape: number[];
  /** Of the block. */
  sizes: number[];
  /** Values that one of the block stands for, on each of its axes. */
  cell: number[];
  /** NaN for values that are not finite. */
  real: Float64Array;
  /** Null for real values. */
  imaginary: Float64Array | null;
}

/** What the server sends of an array at once. */
export const MOST_VALUES = 65_536;

/**
 * Reads the part of an array below the indices of its leading axes.
 *
 * @param options.first the first values of a block of one dimension, in place of all
 * @param options.reduce max: a block of two dimensions with too many values arrives as the largest values of equal cells
 * @throws Problem
 */
export async function readBlock(
  { path, array }: { path: string; array: string | null },
  at: readonly number[],
  signal?: AbortSignal,
  { first, reduce = "none" }: { first?: number; reduce?: "none" | "max" } = {},
): Promise<Block> {
  const query = { path, at: at.join(","), array, first: first ?? null, reduce };
  const { shape, block_shape, cell, real, imaginary } = await get("/api/array", { query, signal });
  const numbers = (values: readonly unknown[]) =>
    Float64Array.from(values, (value) => value === null ? NaN : Number(value));
  return {
    shape: shape.map(Number),
    sizes: block_shape.map(Number),
    cell: cell.map(Number),
    real: numbers(real),
    imaginary: imaginary === null ? null : numbers(imaginary),
  };
}

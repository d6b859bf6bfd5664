/**
 * Integers of a range whose size is a power of two: Lemire's method then rejects nothing, and each value takes the same
 * number of raw outputs. The position of a value in the stream is known, so each chunk starts with a jump to its
 * position.
 */
import { Generator, type IntegerDtype, type IntegerView } from "../random/random.ts";
import type { Task } from "./job.ts";
import { skipOutputs } from "./normal_segments.ts";

export interface IntegerDraw {
  out: IntegerView;
  low: number | bigint;
  high: number | bigint;
  dtype: IntegerDtype;
}

export interface DrawChunks {
  /** The generator's state before the first draw, without a kept half. */
  state: Uint8Array<ArrayBuffer>;
  draw: IntegerDraw;
  /** Values per chunk, and their raw outputs. */
  values: number;
  outputs: number;
}

/** Fills out[from … to - 1] with the next values of the generator. */
export function drawPart(generator: Generator, draw: IntegerDraw, from: number, to: number): void {
  generator.fillIntegers(draw.low, draw.high, draw.out.subarray(from, to), draw.dtype);
}

/** Draws chunks. */
export const INTEGERS_DRAWN: Task<DrawChunks> = {
  name: "integers",
  run({ state, draw, values, outputs }, index) {
    const at = Uint8Array.from(state);
    skipOutputs(at, index * outputs);
    drawPart(Generator.fromState(at), draw, index * values, (index + 1) * values);
  },
};

/**
 * Draws that take the same number of raw outputs each: where a value begins in the stream is known, so a chunk of them is
 * drawn by jumping there. Random numbers in [0, 1) are such draws, and integers of a range whose size is a power of two,
 * since Lemire's method then rejects nothing.
 */
import { Generator, type IntegerDtype, type IntegerView } from "../random.ts";
import { skipOutputs } from "./normal_segments.ts";

/** What is drawn. */
export type Draw =
  | { kind: "random"; out: Float64Array }
  | { kind: "random_float32"; out: Float32Array }
  | { kind: "integers"; out: IntegerView; low: number | bigint; high: number | bigint; dtype: IntegerDtype };

export interface DrawChunks {
  /** The generator's state before the first draw, without a kept half. */
  state: Uint8Array<ArrayBuffer>;
  draw: Draw;
  /** Values per chunk, and the raw outputs that they take. */
  values: number;
  outputs: number;
}

/** Fills out[from … to - 1], of all that is drawn, with what the generator gives next. */
export function drawPart(generator: Generator, draw: Draw, from: number, to: number): void {
  switch (draw.kind) {
    case "random":
      generator.random(draw.out.subarray(from, to));
      break;
    case "random_float32":
      generator.randomFloat32(draw.out.subarray(from, to));
      break;
    case "integers":
      generator.fillIntegers(draw.low, draw.high, draw.out.subarray(from, to), draw.dtype);
  }
}

/** Draws one chunk. */
export function drawChunk({ state, draw, values, outputs }: DrawChunks, index: number): void {
  const at = Uint8Array.from(state);
  skipOutputs(at, index * outputs);
  drawPart(Generator.fromState(at), draw, index * values, (index + 1) * values);
}

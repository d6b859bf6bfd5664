/**
 * Draws of `Generator` on several threads: the same values to the last bit and the same state of the generator afterwards,
 * whatever the number of threads. Short draws, draws on one thread and integers of other ranges than powers of two take the
 * sequential way. Arrays that several threads filled lie in shared memory.
 */
import {
  type Generator,
  type IntegerArrays,
  type IntegerDtype,
  INTEGERS,
  type IntegerView,
  partScale,
} from "../random.ts";
import { type Draw, drawPart } from "./draw_chunks.ts";
import { MARKED, type NormalSink, placeNormals, SEGMENT, skipOutputs } from "./normal_segments.ts";
import { isShared, type ParallelOptions, sharedArray, threadsOf } from "./shared.ts";
import { runChunks } from "./team.ts";

/** Fewer normal values than this are drawn sequentially: about a millisecond's work. */
const LEAST_NORMALS = 1 << 17;
/** Other draws that take fewer raw outputs than this are sequential. */
const LEAST_OUTPUTS = 1 << 18;
/** Raw outputs per chunk of other draws. */
const CHUNK_OUTPUTS = 1 << 13;

export interface SegmentOptions extends ParallelOptions {
  /** Raw outputs per segment, at most SEGMENT, and how many of them are marked, at most MARKED. Values do not depend on it. */
  segment?: number;
  marked?: number;
}

/** Draws `count` standard normal values into a sink. */
function drawNormals(generator: Generator, count: number, sink: NormalSink, options: SegmentOptions): void {
  const { segment = SEGMENT, marked = MARKED } = options;
  const least = options.segment ?? LEAST_NORMALS;
  const threads = threadsOf(options);
  let first = 0;
  generator.lend((state) => {
    // A round uses about as many outputs as values are missing. No value takes less than one, so none is drawn too many.
    for (let left = count; left >= least; left = count - first) {
      const reached = sharedArray(Float64Array<SharedArrayBuffer>, 2);
      reached[1] = first;
      runChunks("normals", { state, segment, marked, reached, sink }, Math.floor(left / segment), threads);
      skipOutputs(state, reached[0]);
      first = reached[1];
    }
  });
  placeNormals(sink, generator.standardNormal(count - first), 0, count - first, first);
}

/** Is it worth several threads? */
function many(count: number, least: number, options: SegmentOptions): boolean {
  return threadsOf(options) > 1 && count >= (options.segment ?? least);
}

/** As `generator.standardNormal`. */
export function standardNormalParallel(generator: Generator, size: number, options: SegmentOptions = {}): Float64Array {
  if (!many(size, LEAST_NORMALS, options)) return generator.standardNormal(size);
  const out = sharedArray(Float64Array<SharedArrayBuffer>, size);
  drawNormals(generator, size, { kind: "real", out }, options);
  return out;
}

/** As `generator.complexNormal64`. */
export function complexNormal64Parallel(
  generator: Generator,
  count: number,
  variance: number,
  options: SegmentOptions = {},
): Float64Array {
  if (!many(2 * count, LEAST_NORMALS, options)) return generator.complexNormal64(count, variance);
  const out = sharedArray(Float64Array<SharedArrayBuffer>, 2 * count);
  drawNormals(generator, 2 * count, { kind: "complex", out, scale: partScale(variance) }, options);
  return out;
}

/** As `generator.complexNormal`. */
export function complexNormalParallel(
  generator: Generator,
  count: number,
  variance: number,
  options: SegmentOptions = {},
): Float32Array {
  if (!many(2 * count, LEAST_NORMALS, options)) return generator.complexNormal(count, variance);
  const out = sharedArray(Float32Array<SharedArrayBuffer>, 2 * count);
  drawNormals(generator, 2 * count, { kind: "complex", out, scale: partScale(variance) }, options);
  return out;
}

/**
 * As `generator.addComplexNormal`. Symbols in shared memory are read where they are, others are copied first.
 *
 * @param options.out shared memory for the sum, as long as the symbols; it may be the symbols themselves
 * @throws RangeError when the variance is negative or not finite, or the output has another length
 */
export function addComplexNormalParallel(
  generator: Generator,
  symbols: Float32Array,
  variance: number,
  options: SegmentOptions & { out?: Float32Array<SharedArrayBuffer> } = {},
): Float32Array {
  const scale = partScale(variance);
  if (!many(symbols.length, LEAST_NORMALS, options)) {
    return options.out
      ? generator.addComplexNormal(symbols, variance, options.out)
      : generator.addComplexNormal(symbols, variance);
  }
  const out = options.out ?? sharedArray(Float32Array<SharedArrayBuffer>, symbols.length);
  if (out.length !== symbols.length) {
    throw new RangeError(`Cannot put ${symbols.length / 2} symbols into an array for ${out.length / 2}`);
  }
  if (!isShared(symbols)) out.set(symbols);
  drawNormals(
    generator,
    symbols.length,
    { kind: "sum", out, symbols: isShared(symbols) ? symbols : out, scale },
    options,
  );
  return out;
}

/** Draws what takes `perOutput` values from each raw output; a kept half is used up first. */
function drawFixed(generator: Generator, draw: Draw, perOutput: number, options: ParallelOptions): void {
  const size = draw.out.length;
  const values = CHUNK_OUTPUTS * perOutput;
  let first = 0;
  generator.lend((state) => {
    if (perOutput > 1 && state[36]) first = perOutput / 2;
  });
  drawPart(generator, draw, 0, first);
  const chunks = Math.floor((size - first) / values);
  const rest = { ...draw, out: draw.out.subarray(first) } as Draw;
  generator.lend((state) => {
    runChunks("draws", { state, draw: rest, values, outputs: CHUNK_OUTPUTS }, chunks, threadsOf(options));
    skipOutputs(state, chunks * CHUNK_OUTPUTS);
  });
  drawPart(generator, rest, chunks * values, size - first);
}

/** As `generator.random(size)`. */
export function randomParallel(generator: Generator, size: number, options: ParallelOptions = {}): Float64Array {
  if (!many(size, LEAST_OUTPUTS, options)) return generator.random(size);
  const out = sharedArray(Float64Array<SharedArrayBuffer>, size);
  drawFixed(generator, { kind: "random", out }, 1, options);
  return out;
}

/** As `generator.randomFloat32`. */
export function randomFloat32Parallel(generator: Generator, size: number, options: ParallelOptions = {}): Float32Array {
  if (!many(size / 2, LEAST_OUTPUTS, options)) return generator.randomFloat32(size);
  const out = sharedArray(Float32Array<SharedArrayBuffer>, size);
  drawFixed(generator, { kind: "random_float32", out }, 2, options);
  return out;
}

/** As `generator.integers`. */
export function integersParallel<D extends IntegerDtype = "int64">(
  generator: Generator,
  low: number | bigint,
  high: number | bigint,
  size: number,
  dtype: D = "int64" as D,
  options: ParallelOptions = {},
): IntegerArrays<ArrayBufferLike>[D] {
  const { bits, array } = INTEGERS[dtype];
  const count = BigInt(high) - BigInt(low);
  const perOutput = 64 / (bits < 64 ? bits : count <= 2n ** 32n ? 32 : 64);
  const fixed = count > 1n && (count & (count - 1n)) === 0n;
  if (!fixed || !many(size / perOutput, LEAST_OUTPUTS, options)) return generator.integers(low, high, size, dtype);
  const out = sharedArray<IntegerView>(array, size);
  drawFixed(generator, { kind: "integers", out, low, high, dtype }, perOutput, options);
  return out as IntegerArrays<ArrayBufferLike>[D];
}

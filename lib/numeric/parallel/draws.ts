/**
 * Draws of `Generator` on several threads: values and final state of the generator are bit-identical for any number of
 * threads. Short draws, draws on one thread and integers of ranges other than powers of two are drawn sequentially.
 * Arrays that several threads fill lie in shared memory.
 */
import {
  checkedSize,
  type Generator,
  type IntegerArrays,
  type IntegerDtype,
  INTEGERS,
  type IntegerView,
  partScale,
} from "../random/random.ts";
import { drawPart, type IntegerDraw, INTEGERS_DRAWN } from "./draw_chunks.ts";
import { MARKED, NORMALS_DRAWN, type NormalSink, placeNormals, SEGMENT, skipOutputs } from "./normal_segments.ts";
import { isShared, resultArray, sharedArray } from "../array/shared_array.ts";
import { type ParallelOptions, threadsFor } from "./shared.ts";
import { runChunks } from "./team.ts";

/** Fewer normal values than this are drawn sequentially: about a millisecond of work. */
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
  const { segment = SEGMENT, marked = MARKED, threads = 1 } = options;
  const least = options.segment ?? LEAST_NORMALS;
  let first = 0;
  generator.lend((state) => {
    // A round uses about one output per missing value. A value takes at least one, so no surplus is drawn.
    for (let left = count; left >= least; left = count - first) {
      const reached = sharedArray(Float64Array<SharedArrayBuffer>, 2);
      reached[1] = first;
      runChunks(NORMALS_DRAWN, { state, segment, marked, reached, sink }, Math.floor(left / segment), threads);
      skipOutputs(state, reached[0]);
      first = reached[1];
    }
  });
  placeNormals(sink, generator.standardNormal(count - first), 0, count - first, first);
}

/** The threads of a draw of normal values. */
function normalThreads(count: number, options: SegmentOptions): number {
  return threadsFor(
    count,
    LEAST_NORMALS,
    options.segment === undefined ? options : { ...options, least: options.segment },
  );
}

/** As `generator.complexNormal64`. */
export function complexNormal64Parallel(
  generator: Generator,
  count: number,
  variance: number,
  options: SegmentOptions = {},
): Float64Array {
  const threads = normalThreads(2 * count, options);
  if (threads === 1) return generator.complexNormal64(count, variance);
  const out = sharedArray(Float64Array<SharedArrayBuffer>, 2 * count);
  drawNormals(generator, 2 * count, { kind: "complex", out, scale: partScale(variance) }, { ...options, threads });
  return out;
}

/**
 * As `generator.addComplexNormal`. Symbols in shared memory are read in place, others are copied first.
 * @throws RangeError when the variance is negative or not finite
 */
export function addComplexNormalParallel(
  generator: Generator,
  symbols: Float32Array,
  variance: number,
  options: SegmentOptions = {},
): Float32Array {
  const scale = partScale(variance);
  const threads = normalThreads(symbols.length, options);
  if (threads === 1) {
    return generator.addComplexNormal(symbols, variance, resultArray<Float32Array>(Float32Array, symbols.length));
  }
  const out = sharedArray(Float32Array<SharedArrayBuffer>, symbols.length);
  if (!isShared(symbols)) out.set(symbols);
  const sink = { kind: "sum" as const, out, symbols: isShared(symbols) ? symbols : out, scale };
  drawNormals(generator, symbols.length, sink, { ...options, threads });
  return out;
}

/** Draws values, `perOutput` from each raw output; a kept half is used first. */
function drawFixed(generator: Generator, draw: IntegerDraw, perOutput: number, threads: number): void {
  const size = draw.out.length;
  const values = CHUNK_OUTPUTS * perOutput;
  let first = 0;
  generator.lend((state) => {
    if (perOutput > 1 && state[36]) first = perOutput / 2;
  });
  drawPart(generator, draw, 0, first);
  const chunks = Math.floor((size - first) / values);
  const rest = { ...draw, out: draw.out.subarray(first) };
  generator.lend((state) => {
    runChunks(INTEGERS_DRAWN, { state, draw: rest, values, outputs: CHUNK_OUTPUTS }, chunks, threads);
    skipOutputs(state, chunks * CHUNK_OUTPUTS);
  });
  drawPart(generator, rest, chunks * values, size - first);
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
  const possible = threadsFor(checkedSize(size) / perOutput, LEAST_OUTPUTS, options), threads = fixed ? possible : 1;
  const out = threads > 1 ? sharedArray<IntegerView>(array, size) : resultArray<IntegerView>(array, size);
  if (threads === 1) generator.fillIntegers(low, high, out, dtype);
  else drawFixed(generator, { out, low, high, dtype }, perOutput, threads);
  return out as IntegerArrays<ArrayBufferLike>[D];
}

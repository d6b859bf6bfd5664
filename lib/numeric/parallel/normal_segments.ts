/**
 * Standard normal values of one sequence, drawn by several threads. The raw outputs are cut into segments. A ziggurat
 * draw nearly always takes one output, so draws that begin at a wrong position soon coincide with the true ones. Each
 * thread draws its segment as if a draw began at its first output, and marks the starts of its first draws. Then,
 * segment by segment in turn, the true sequence is drawn from the true end of the previous segment until it reaches a
 * mark; from there on the values drawn ahead are the true ones. The values do not depend on the number of threads or on
 * the segments.
 */
import * as kernels from "../kernels/random.wasm";
import type { Task, Turns } from "./job.ts";

const memory = (kernels.memory as WebAssembly.Memory).buffer;
const workingState = new Uint8Array(memory, kernels.stateOffset(), 40);
const ahead = new Float64Array(memory, kernels.segmentOffset(), kernels.segmentSize());
const marks = new Int32Array(memory, kernels.marksOffset(), kernels.marksSize());

/** Maximum number of raw outputs per segment, and of those that can be marked. */
export const SEGMENT: number = kernels.segmentSize();
export const MARKED: number = kernels.marksSize();

/** Destination of the values. Complex values are interleaved, their real parts drawn first. */
export type NormalSink =
  | { kind: "complex"; out: Float64Array; scale: number }
  | { kind: "sum"; out: Float32Array; symbols: Float32Array; scale: number };

export interface NormalSegments {
  /** The generator's state before the first draw. */
  state: Uint8Array;
  /** Raw outputs per segment, and the number of marked ones. */
  segment: number;
  marked: number;
  /** Outputs used and values drawn up to the segment whose turn it is. */
  reached: Float64Array<SharedArrayBuffer>;
  sink: NormalSink;
}

/** Starts drawing `outputs` raw outputs from a state. */
function beginAt(state: Uint8Array, outputs: number): void {
  workingState.set(state);
  kernels.skip(BigInt(outputs));
  kernels.begin();
}

/** Moves a state forward by `outputs` raw outputs. */
export function skipOutputs(state: Uint8Array, outputs: number): void {
  workingState.set(state);
  kernels.skip(BigInt(outputs));
  state.set(workingState);
}

/** Draws and places segments. */
export const NORMALS_DRAWN: Task<NormalSegments> = { name: "normals", run: drawSegment };

function drawSegment(args: NormalSegments, index: number, turns: Turns): void {
  const { state, segment, marked, reached, sink } = args;
  const begin = index * segment;
  beginAt(state, begin);
  const drawn = kernels.speculateNormals(segment, marked);
  const ended = begin + kernels.position();

  turns.await(index);
  let [at, first] = reached;
  /** Values of the true sequence before it joins the one drawn ahead. */
  const lead: number[] = [];
  /** Number of values of the sequence drawn ahead before the position where they join; -1: they have not joined. */
  const met = () => at - begin < marked ? marks[at - begin] : -1;
  if (met() < 0) {
    const from = at;
    beginAt(state, from);
    while (met() < 0 && at < begin + segment) {
      const value = kernels.normalDraw();
      if (value === value) lead.push(value);
      at = from + kernels.position();
    }
  }
  const dropped = met() < 0 ? drawn : met();
  reached[0] = met() < 0 ? at : ended;
  reached[1] = first + lead.length + drawn - dropped;
  turns.end(index);

  placeNormals(sink, lead, 0, lead.length, first);
  first += lead.length;
  placeNormals(sink, ahead, dropped, drawn, first);
}

/** Places values[from … to - 1], of which the first is number `first` of all values drawn. */
export function placeNormals(sink: NormalSink, values: ArrayLike<number>, from: number, to: number, first: number) {
  const count = sink.out.length / 2;
  // A segment may hold the last real parts and then the first imaginary ones.
  const turn = Math.min(to, Math.max(from, from + count - first));
  if (from < turn) placePart(sink, values, from, turn, 2 * first);
  if (turn < to) placePart(sink, values, turn, to, 2 * (first + turn - from - count) + 1);
}

/** Places one part of complex values at every other place of the output. */
function placePart(sink: NormalSink, values: ArrayLike<number>, from: number, to: number, place: number) {
  const { scale } = sink;
  if (sink.kind === "sum") {
    const { out, symbols } = sink;
    for (let i = from, at = place; i < to; i++, at += 2) out[at] = symbols[at] + scale * values[i];
  } else {
    const { out } = sink;
    for (let i = from, at = place; i < to; i++, at += 2) out[at] = scale * values[i];
  }
}

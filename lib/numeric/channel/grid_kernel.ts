/**
 * Loops over OFDM grids in WebAssembly (lib/numeric/kernels/assembly/grid.ts): arrays of one grid pass through the memory of the
 * kernel. Sums have the order of the formulas in TypeScript, so results are bit-identical.
 */
import * as kernel from "../kernels/grid.wasm";

type Numbers = Float32Array | Float64Array | Int32Array;
type Type<T extends Numbers> = {
  new (buffer: ArrayBuffer, at: number, length: number): T;
  BYTES_PER_ELEMENT: number;
};

/** An array in the memory of the kernel. */
interface Place<T> {
  readonly at: number;
  readonly view: T;
}

/** Arrays start at whole vectors. */
const VECTOR_BYTES = 16;

/** Places of arrays, one after another. All calls use the same memory: places hold until the next call. */
function places<const P extends Record<string, readonly [Type<Numbers>, number]>>(
  wanted: P,
): { [K in keyof P]: Place<InstanceType<P[K][0]>> } {
  const starts: number[] = [];
  let bytes = 0;
  for (const [{ BYTES_PER_ELEMENT: size }, length] of Object.values(wanted)) {
    starts.push(bytes);
    bytes += Math.ceil(length * size / VECTOR_BYTES) * VECTOR_BYTES;
  }
  const base = kernel.reserve(bytes) as number;
  if (base === 0) throw new RangeError(`Cannot compute on the grid: no memory for ${bytes} bytes`);
  const { buffer } = kernel.memory as { buffer: ArrayBuffer };
  return Object.fromEntries(
    Object.entries(wanted).map(([name, [type, length]], i) => {
      const at = base + starts[i];
      return [name, { at, view: new type(buffer, at, length) }];
    }),
  ) as never;
}

/** Rows of a block: their responses stay in the second-level cache. */
const RESPONSE_VALUES = 1 << 14;

/**
 * Rows of taps times rotations, Σ_l taps[row, l]·turns[l, k].
 * @param taps interleaved complex128 [row, tap]
 * @param turns interleaved complex128 [tap, subcarrier]
 * @returns interleaved complex128 [row, subcarrier]
 */
export function respond(
  taps: Float64Array,
  turns: Float64Array,
  count: number,
  subcarriers: number,
): Float64Array<ArrayBuffer> {
  const rows = taps.length / (2 * count), out = new Float64Array(2 * rows * subcarriers);
  const most = Math.max(1, Math.min(rows, Math.floor(RESPONSE_VALUES / (2 * subcarriers))));
  const { rotations, given, result } = places({
    rotations: [Float64Array, turns.length],
    given: [Float64Array, 2 * most * count],
    result: [Float64Array, 2 * most * subcarriers],
  });
  rotations.view.set(turns);
  for (let row = 0; row < rows; row += most) {
    const size = Math.min(most, rows - row);
    given.view.set(taps.subarray(2 * row * count, 2 * (row + size) * count));
    kernel.respond(given.at, rotations.at, result.at, size, count, subcarriers);
    out.set(result.view.subarray(0, 2 * size * subcarriers), 2 * row * subcarriers);
  }
  return out;
}

/** Sizes of MIMO grids. */
export interface MimoGrid {
  readonly rows: number;
  readonly subcarriers: number;
  readonly rx: number;
  readonly layers: number;
}

/**
 * A grid through a MIMO channel, y = G x + n.
 * @param gains interleaved complex128 [subcarrier, rx, layer]
 * @param symbols interleaved complex64 [row, subcarrier, layer], of which the last ones may be missing
 * @param noise interleaved complex128 [row, subcarrier, rx]
 * @param out receives complex64 [row, subcarrier, rx]
 */
export function mixGrid(
  { rows, subcarriers, rx, layers }: MimoGrid,
  { gains, symbols, noise }: { gains: Float64Array; symbols: Float32Array; noise: Float64Array },
  out: Float32Array,
): void {
  const elements = rows * subcarriers;
  const { g, x, n, y } = places({
    g: [Float64Array, gains.length],
    x: [Float32Array, 2 * elements * layers],
    n: [Float64Array, noise.length],
    y: [Float32Array, out.length],
  });
  g.view.set(gains);
  x.view.set(symbols);
  n.view.set(noise);
  kernel.mix(g.at, x.at, n.at, y.at, elements, subcarriers, rx, layers, symbols.length / 2);
  out.set(y.view);
}

/** A received MIMO grid. */
export interface ReceivedGrid {
  /** Interleaved complex64 [row, subcarrier, rx]. */
  readonly y: Float32Array;
  /** Interleaved complex64 [subcarrier, rx, layer], or [row, subcarrier, rx, layer] where each element has its own matrix. */
  readonly gains: Float32Array;
  /** N0; of each element where each has its own matrix. */
  readonly noise: Float64Array;
  /** Index of the data element of each element [row, subcarrier], -1 without data. */
  readonly order: Int32Array;
  /** Whether each element has its own matrix. */
  readonly own: boolean;
}

/**
 * Zero forcing or MMSE of the data elements of a grid, as linearDetector of lib/numeric/link/mimo_detection.ts.
 * @param symbols receives complex64 [data element, layer]; its length is the number of data elements
 * @param variance receives the noise variance of each symbol
 */
export function separateGrid(
  { rows, subcarriers, rx, layers }: MimoGrid,
  { y, gains, noise, order, own }: ReceivedGrid,
  { symbols, variance, mmse }: { symbols: Float32Array; variance: Float32Array; mmse: boolean },
): void {
  const at = places({
    gains: [Float32Array, gains.length],
    y: [Float32Array, y.length],
    noise: [Float64Array, noise.length],
    order: [Int32Array, order.length],
    symbols: [Float32Array, symbols.length],
    variance: [Float32Array, variance.length],
    room: [Float64Array, 4 * rx * layers + 6 * layers * layers + 2 * layers],
  });
  at.gains.view.set(gains);
  at.y.view.set(y);
  at.noise.view.set(noise);
  at.order.view.set(order);
  kernel.separate(
    at.gains.at,
    at.y.at,
    at.noise.at,
    at.order.at,
    at.symbols.at,
    at.variance.at,
    at.room.at,
    rows,
    subcarriers,
    rx,
    layers,
    variance.length / layers,
    Number(own),
    Number(mmse),
  );
  symbols.set(at.symbols.view);
  variance.set(at.variance.view);
}

/**
 * Maximum likelihood and max-log LLRs of the data elements of a grid, as maximumLikelihoodDetector of
 * lib/numeric/link/mimo_detection.ts.
 * @param points by label, interleaved; two at least
 * @param symbols receives the decisions, complex64 [data element, layer]; its length is the number of data elements
 * @param llr receives [data element, layer, bit]
 */
export function detectGrid(
  { rows, subcarriers, rx, layers }: MimoGrid,
  { y, gains, noise, order, own }: ReceivedGrid,
  { points, symbols, llr }: { points: Float64Array; symbols: Float32Array; llr: Float32Array },
): void {
  const width = Math.log2(points.length / 2);
  const at = places({
    gains: [Float32Array, gains.length],
    y: [Float32Array, y.length],
    noise: [Float64Array, noise.length],
    order: [Int32Array, order.length],
    points: [Float64Array, points.length],
    symbols: [Float32Array, symbols.length],
    llr: [Float32Array, llr.length],
    room: [Float64Array, kernel.likeliestRoom(rx, layers, width) / 8],
  });
  at.gains.view.set(gains);
  at.y.view.set(y);
  at.noise.view.set(noise);
  at.order.view.set(order);
  at.points.view.set(points);
  kernel.likeliest(
    at.gains.at,
    at.y.at,
    at.noise.at,
    at.order.at,
    at.points.at,
    at.symbols.at,
    at.llr.at,
    at.room.at,
    rows,
    subcarriers,
    rx,
    layers,
    width,
    symbols.length / 2 / layers,
    Number(own),
  );
  symbols.set(at.symbols.view);
  llr.set(at.llr.view);
}

/** OFDM symbols between two rows each: `(1 - share) · row[first] + share · row[second]`. */
export interface TimeShares {
  /** Interleaved pairs of rows [symbol, 2]. */
  readonly pairs: Int32Array;
  readonly shares: Float64Array;
}

/** Gains of one port on one antenna. */
export interface PilotRows extends TimeShares {
  /** Interleaved complex128 [place, subcarrier]. */
  readonly rows: Float64Array;
}

/**
 * Rows of gains on all OFDM symbols of a grid.
 * @param given one of each antenna and port, at least one place each
 * @param out receives complex64 [symbol, subcarrier, antenna and port]
 */
export function spreadGrid(given: readonly PilotRows[], out: Float32Array): void {
  const stride = given.length, symbols = given[0].shares.length, subcarriers = out.length / (2 * symbols * stride);
  const at = places({
    rows: [Float64Array, Math.max(...given.map(({ rows }) => rows.length))],
    pairs: [Int32Array, 2 * symbols],
    shares: [Float64Array, symbols],
    out: [Float32Array, out.length],
  });
  given.forEach(({ rows, pairs, shares }, i) => {
    at.rows.view.set(rows);
    at.pairs.view.set(pairs);
    at.shares.view.set(shares);
    kernel.spread(at.rows.at, at.pairs.at, at.shares.at, at.out.at + 8 * i, symbols, subcarriers, stride);
  });
  out.set(at.out.view);
}

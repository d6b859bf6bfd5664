/**
 * Range and radial velocity of point targets from the echo of an OFDM frame of F subcarriers and M symbols:
 *
 *     Y[k, m] = Σ a·X[k, m]·exp(-j2πkΔf·τ)·exp(+j2πmT·f_D) + n,   τ = 2R/c,   f_D = 2v·f_c/c  (v > 0 approaching)
 *     P[r, d] = |Σ_k Σ_m w_k·w_m·(Y/X)[k, m]·exp(+j2πkr/(pF))·exp(-j2πmd/(pM))|² / (F·M)
 *
 * with p zero padding in both axes and the Doppler axis shifted, so that bin floor(pM/2) is at rest. A bin is c/(2pFΔf) metres
 * or c/(2f_c·pM·T) m/s, a resolution cell p bins. Without windows noise of the variance N0 has the mean N0 (|X| = 1), and a
 * target on a bin has F·M·|a|². Ranges repeat after c/(2Δf), velocities after c/(2f_c·T).
 *
 * Cramér-Rao bounds of one target in white noise, γ = |a|²/N0:
 *
 *     σ_R >= [2FM·γ·(4πΔf/c)²·(F²-1)/12]^(-1/2),   σ_v >= [2FM·γ·(4πf_c·T/c)²·(M²-1)/12]^(-1/2)
 *
 * Cell-averaging CFAR compares a cell with α = N·(P_fa^(-1/N) - 1) times the mean of N training cells, which are whole resolution
 * cells away, so that their noise is independent of it without windows: those of the square of ±(g + 2) resolution cells
 * outside the guard square of ±g, g = floor(guard/p), cyclically in both axes.
 *
 * Sources: Braun, "OFDM radar algorithms in mobile communication networks", KIT, 2014, ch. 3; Kay, Fundamentals of Statistical
 * Signal Processing: Estimation Theory, 1993, ex. 3.14; Richards, Fundamentals of Radar Signal Processing, 2nd ed., 2014, 6.5.
 */
import { Fft } from "../linalg/fft.ts";

/** m/s. Exported for tests. */
export const SPEED_OF_LIGHT = 299_792_458;

/** The frame whose echo is received. */
export interface EchoFrame {
  subcarriers: number;
  symbols: number;
  spacingHz: number;
  /** T, with the cyclic prefix. */
  symbolSeconds: number;
  carrierHz: number;
}

/** c/(2FΔf) metres and c/(2f_c·MT) m/s. */
export function resolutionCell(frame: EchoFrame): { range: number; velocity: number } {
  const { range, velocity } = unambiguous(frame);
  return { range: range / frame.subcarriers, velocity: velocity / frame.symbols };
}

/** The spans after which ranges and velocities repeat: c/(2Δf) metres and c/(2f_c·T) m/s. */
export function unambiguous(
  { spacingHz, symbolSeconds, carrierHz }: Omit<EchoFrame, "subcarriers" | "symbols">,
): { range: number; velocity: number } {
  return { range: SPEED_OF_LIGHT / (2 * spacingHz), velocity: SPEED_OF_LIGHT / (2 * carrierHz * symbolSeconds) };
}

/** Variances that no unbiased estimate of range (m²) and velocity (m²/s²) is below, for a target of Es/N0 γ per element. */
export function cramerRao(frame: EchoFrame, gamma: number): { range: number; velocity: number } {
  const { subcarriers: f, symbols: m } = frame, elements = 2 * f * m * gamma, span = unambiguous(frame);
  // 4πΔf/c = 2π / span of the range, and the same for the velocity.
  return {
    range: (span.range / (2 * Math.PI)) ** 2 * 12 / (elements * (f * f - 1)),
    velocity: (span.velocity / (2 * Math.PI)) ** 2 * 12 / (elements * (m * m - 1)),
  };
}

/** A target with its phase. */
export interface EchoTarget {
  range: number;
  velocity: number;
  power: number;
  phase: number;
}

/**
 * Adds the echo of targets, X times their responses, to an array.
 * @param reference X, interleaved [subcarrier, symbol]
 * @param out the same shape; holds the noise before
 */
export function addEchoes(
  frame: EchoFrame,
  targets: readonly EchoTarget[],
  reference: Float64Array,
  out: Float64Array,
): void {
  const { subcarriers, symbols } = frame, span = unambiguous(frame);
  for (const { range, velocity, power, phase } of targets) {
    const amplitude = Math.sqrt(power), slow = new Float64Array(2 * symbols);
    for (let m = 0; m < symbols; m++) {
      const turn = 2 * Math.PI * m * velocity / span.velocity + phase;
      slow[2 * m] = amplitude * Math.cos(turn);
      slow[2 * m + 1] = amplitude * Math.sin(turn);
    }
    for (let k = 0, at = 0; k < subcarriers; k++) {
      const turn = -2 * Math.PI * k * range / span.range, cosine = Math.cos(turn), sine = Math.sin(turn);
      for (let m = 0; m < symbols; m++, at += 2) {
        const hr = cosine * slow[2 * m] - sine * slow[2 * m + 1], hi = cosine * slow[2 * m + 1] + sine * slow[2 * m];
        out[at] += hr * reference[at] - hi * reference[at + 1];
        out[at + 1] += hr * reference[at + 1] + hi * reference[at];
      }
    }
  }
}

export const ECHO_WINDOWS = ["rectangular", "hann"] as const;
export type EchoWindow = typeof ECHO_WINDOWS[number];

/** A symmetric window, as NumPy's `hanning`. */
function windowOf(kind: EchoWindow, size: number): Float64Array {
  return Float64Array.from(
    { length: size },
    (_, n) => kind === "rectangular" || size === 1 ? 1 : 0.5 - 0.5 * Math.cos(2 * Math.PI * n / (size - 1)),
  );
}

/** Transforms of one size: tables and work space are made once and serve every example. */
export class RangeDopplerTransform {
  readonly rangeBins: number;
  readonly dopplerBins: number;
  /** P of the last example, [range bin, Doppler bin]. */
  readonly power: Float64Array;
  readonly #fast: Fft;
  readonly #slow: Fft;
  readonly #windows: readonly [Float64Array, Float64Array];
  /** Delay profiles, [symbol, range bin], interleaved. */
  readonly #profiles: Float64Array;
  readonly #column: Float64Array<ArrayBuffer>;
  readonly #row: Float64Array<ArrayBuffer>;

  constructor(readonly subcarriers: number, readonly symbols: number, readonly padding: number, window: EchoWindow) {
    this.rangeBins = padding * subcarriers;
    this.dopplerBins = padding * symbols;
    this.power = new Float64Array(this.rangeBins * this.dopplerBins);
    this.#fast = new Fft(this.rangeBins);
    this.#slow = new Fft(this.dopplerBins);
    this.#windows = [windowOf(window, subcarriers), windowOf(window, symbols)];
    this.#profiles = new Float64Array(2 * symbols * this.rangeBins);
    this.#column = new Float64Array(2 * this.rangeBins);
    this.#row = new Float64Array(2 * this.dopplerBins);
  }

  /**
   * The map of one example.
   * @param received Y, interleaved [subcarrier, symbol]
   * @param reference X, the same shape
   * @returns `power`, which the next call overwrites
   * @throws RangeError when an element of X is zero
   */
  run(received: Float32Array, reference: Float32Array): Float64Array {
    const { subcarriers, symbols, rangeBins, dopplerBins, power } = this;
    const profiles = this.#profiles, column = this.#column, row = this.#row, [fast, slow] = this.#windows;
    for (let m = 0; m < symbols; m++) {
      column.fill(0, 2 * subcarriers);
      for (let k = 0; k < subcarriers; k++) {
        const at = 2 * (k * symbols + m), xr = reference[at], xi = reference[at + 1], energy = xr * xr + xi * xi;
        if (energy === 0) {
          throw new RangeError(`Cannot divide by the reference of subcarrier ${k}, symbol ${m}: it is 0`);
        }
        const yr = received[at], yi = received[at + 1], scale = fast[k] * slow[m] / energy;
        column[2 * k] = scale * (yr * xr + yi * xi);
        column[2 * k + 1] = scale * (yi * xr - yr * xi);
      }
      this.#fast.inverse(
        column,
        profiles.subarray(2 * m * rangeBins, 2 * (m + 1) * rangeBins) as Float64Array<ArrayBuffer>,
      );
    }
    // `inverse` has the factor 1/(pF), which the map does not have.
    const scale = rangeBins ** 2 / (subcarriers * symbols), shift = Math.floor(dopplerBins / 2);
    for (let r = 0; r < rangeBins; r++) {
      row.fill(0, 2 * symbols);
      for (let m = 0; m < symbols; m++) {
        const at = 2 * (m * rangeBins + r);
        row[2 * m] = profiles[at];
        row[2 * m + 1] = profiles[at + 1];
      }
      this.#slow.forward(row, row);
      for (let d = 0; d < dopplerBins; d++) {
        const to = r * dopplerBins + (d + shift) % dopplerBins;
        power[to] = scale * (row[2 * d] * row[2 * d] + row[2 * d + 1] * row[2 * d + 1]);
      }
    }
    return power;
  }
}

/** A map of power, cyclic in both axes. */
export interface PowerMap {
  power: Float64Array;
  rows: number;
  columns: number;
}

/** A peak in bins, which are not integers after refinement. */
export interface MapPeak {
  row: number;
  column: number;
  power: number;
}

/**
 * The strongest cells one after another; each blanks the cells of ±guard rows and columns around it. Equal cells: the first
 * in row-major order.
 * @param eligible cells that count, 1 or 0; default all
 * @returns as many as there are, `count` at most
 */
export function strongestCells(
  { power, rows, columns }: PowerMap,
  { count, guard, eligible }: { count: number; guard: number; eligible?: Uint8Array },
): MapPeak[] {
  const open = eligible?.slice() ?? new Uint8Array(power.length).fill(1), peaks: MapPeak[] = [];
  const high = Math.min(guard, rows - 1), wide = Math.min(guard, columns - 1);
  while (peaks.length < count) {
    let best = -1;
    for (let i = 0; i < power.length; i++) if (open[i] && (best < 0 || power[i] > power[best])) best = i;
    if (best < 0) break;
    const row = Math.floor(best / columns), column = best % columns;
    peaks.push({ row, column, power: power[best] });
    for (let i = -high; i <= high; i++) {
      const start = (row + i + rows) % rows * columns;
      for (let j = -wide; j <= wide; j++) open[start + (column + j + columns) % columns] = 0;
    }
  }
  return peaks;
}

/**
 * A peak moved to the vertex of the parabola through the powers in dB of it and its neighbours, axis by axis. On an axis where a
 * neighbour is stronger (the slope of a blanked peak) it stays.
 */
export function refinePeak({ power, rows, columns }: PowerMap, { row, column, power: peak }: MapPeak): MapPeak {
  const at = (r: number, c: number) => power[(r + rows) % rows * columns + (c + columns) % columns];
  return {
    row: row + vertex(at(row - 1, column), peak, at(row + 1, column)),
    column: column + vertex(at(row, column - 1), peak, at(row, column + 1)),
    power: peak,
  };
}

/** Place of the vertex, -1/2 … 1/2 of a bin from the middle one. */
function vertex(before: number, middle: number, after: number): number {
  if (before > middle || after > middle || before === 0 || after === 0) return 0;
  const [left, top, right] = [before, middle, after].map(Math.log), bend = left - 2 * top + right;
  return bend === 0 ? 0 : (left - right) / (2 * bend);
}

/** Resolution cells on each side of the guard square that train the threshold. */
const TRAINING = 2;

/** Resolution cells that the window of the CFAR detector spans on an axis. */
export const cfarSpan = (guard: number, padding: number): number => 2 * (Math.floor(guard / padding) + TRAINING) + 1;

/**
 * Cells above the threshold of the cell-averaging CFAR detector.
 * @param padding bins of a resolution cell
 * @param guard in bins
 * @param probability of a false alarm in a cell of noise
 * @returns 1 for each cell above its threshold, else 0
 * @throws RangeError when the window is larger than the map
 */
export function cfarCells(
  { power, rows, columns }: PowerMap,
  { padding, guard, probability }: { padding: number; guard: number; probability: number },
): Uint8Array {
  const span = cfarSpan(guard, padding);
  if (span * padding > Math.min(rows, columns)) {
    throw new RangeError(`Cannot train on ${span} resolution cells of a map of ${rows} × ${columns} bins`);
  }
  const inner = Math.floor(guard / padding), outer = inner + TRAINING;
  const cells = span ** 2 - (2 * inner + 1) ** 2, factor = probability ** (-1 / cells) - 1;
  const wide = squareSums({ power, rows, columns }, outer, padding);
  const near = squareSums({ power, rows, columns }, inner, padding);
  const above = new Uint8Array(power.length);
  // α·mean = N·(P^(-1/N) - 1)·Σ/N
  for (let i = 0; i < power.length; i++) if (power[i] > factor * (wide[i] - near[i])) above[i] = 1;
  return above;
}

/** Sums over the square of ±radius steps around every cell. */
function squareSums({ power, rows, columns }: PowerMap, radius: number, step: number): Float64Array {
  const lines = new Float64Array(power.length), sums = new Float64Array(power.length);
  for (let i = -radius; i <= radius; i++) {
    const shift = ((i * step) % columns + columns) % columns, turn = columns - shift;
    for (let start = 0; start < power.length; start += columns) {
      for (let c = 0; c < turn; c++) lines[start + c] += power[start + c + shift];
      for (let c = turn; c < columns; c++) lines[start + c] += power[start + c - turn];
    }
  }
  for (let i = -radius; i <= radius; i++) {
    for (let r = 0; r < rows; r++) {
      const to = r * columns, from = ((r + i * step) % rows + rows) % rows * columns;
      for (let c = 0; c < columns; c++) sums[to + c] += lines[from + c];
    }
  }
  return sums;
}

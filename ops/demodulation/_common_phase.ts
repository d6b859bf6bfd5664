/**
 * Common phase of OFDM symbols from their pilots, phase-tracking pilots included. Oscillators with phase noise change it from symbol to symbol,
 * and all antennas of a receiver share one:
 *
 *     φ_l = arg Σ_p Σ_r y_r,p (H_p x_p)_r* / σ_p²     over the elements p of symbol l with pilots, and receive antennas r
 *
 * x_p has the pilots of all ports of the element, and zero for ports that are silent there.
 *
 * Source: Armada, "Understanding the effects of phase noise in orthogonal frequency division multiplexing (OFDM)", IEEE Trans.
 * Broadcast. 47(2), 2001.
 */
import { interpolatePhase, unwrap } from "../../lib/numeric/link/phase_tracking.ts";
import type { PilotContext } from "../_ofdm_grid.ts";

export interface PhaseObservation {
  /** Received elements, interleaved [grid, symbol, subcarrier, rx]. */
  y: Float32Array;
  rx: number;
  /** Matrices, interleaved [rx, port]. */
  gains: Float32Array;
  /** Index of the matrix of an element [grid, symbol, subcarrier]. */
  matrixAt: (element: number) => number;
  /** N0 with the error variance of an element. */
  noiseAt: (element: number) => number;
}

/** Phases in radians [grid, symbol]: unwrapped within a grid, linear between OFDM symbols with pilots, the nearest one's outside. */
export function commonPhases(
  context: PilotContext,
  { y, rx, gains, matrixAt, noiseAt }: PhaseObservation,
): number[] {
  const { layout: { symbols: rows, subcarriers, grids }, ports, pilots } = context, turns: number[] = [];
  const known = new Map<number, [port: number, place: number, tracked: boolean][]>();
  context.positions.forEach((place, at) => {
    if (!known.has(place)) known.set(place, []);
    known.get(place)!.push([Math.floor(at / pilots), at % pilots, false]);
  });
  context.phasePositions.forEach((place, at) => known.set(place, [[context.phasePorts[at], at, true]]));
  for (let grid = 0; grid < grids; grid++) {
    const real = new Float64Array(rows), imaginary = new Float64Array(rows), seen = new Uint8Array(rows);
    for (const [place, own] of known) {
      const element = grid * rows * subcarriers + place, row = Math.floor(place / subcarriers);
      const weight = 1 / noiseAt(element), matrix = 2 * matrixAt(element) * rx * ports;
      seen[row] = 1;
      for (let r = 0; r < rx; r++) {
        let hr = 0, hi = 0;
        for (const [port, p, tracked] of own) {
          const values = tracked ? context.phaseValues : context.values;
          const v = 2 * (tracked ? grid * context.phasePositions.length + p : (grid * ports + port) * pilots + p);
          const g = matrix + 2 * (r * ports + port);
          hr += gains[g] * values[v] - gains[g + 1] * values[v + 1];
          hi += gains[g] * values[v + 1] + gains[g + 1] * values[v];
        }
        const at = 2 * (element * rx + r);
        real[row] += weight * (y[at] * hr + y[at + 1] * hi);
        imaginary[row] += weight * (y[at + 1] * hr - y[at] * hi);
      }
    }
    const times = Array.from(seen.keys()).filter((row) => seen[row] === 1);
    const phases = unwrap(times.map((row) => Math.atan2(imaginary[row], real[row])));
    turns.push(...interpolatePhase(times, phases, rows));
  }
  return turns;
}

/** Turns a symbol back by a phase, in place. */
export function turnBack(symbols: Float32Array, i: number, phase: number): void {
  const cosine = Math.cos(phase), sine = Math.sin(phase), re = symbols[2 * i], im = symbols[2 * i + 1];
  symbols[2 * i] = re * cosine + im * sine;
  symbols[2 * i + 1] = im * cosine - re * sine;
}

/** Range-Doppler maps as pixels: power in dB below the peak, with range upwards and velocity to the right. */
import { viridis } from "./density.ts";

/** Colours of marks on a map, which is viridis in every theme. */
export const MARKS = { target: "white", estimate: "rgb(255 59 48)" } as const;

/** Level of the darkest colour below the peak. */
export const DEEPEST_DB = 40;

/** Powers [range, velocity]; a cell begins at its low edge. */
export interface PowerGrid {
  power: Float64Array;
  rows: number;
  columns: number;
  /** Of a cell, in m and m/s. */
  rangeStep: number;
  velocityStep: number;
  /** Low edges of the first row and the first column, m and m/s. */
  nearest: number;
  lowest: number;
}

/** A target or an estimate. */
export interface Place {
  range: number;
  velocity: number;
}

/** Cells from `bottom` and `left` on. */
export interface GridWindow {
  bottom: number;
  left: number;
  rows: number;
  columns: number;
}

/** A map of bins whose first one is at range 0 and whose middle one is at rest; bins are in the middle of their cells. */
export function gridOf(
  power: Float64Array,
  { sizes: [rows, columns], cell: [high, wide], bins, range, velocity }: {
    sizes: readonly number[];
    /** Bins of a cell on each axis. */
    cell: readonly number[];
    /** Doppler bins of the map. */
    bins: number;
    /** Steps of bins. */
    range: number;
    velocity: number;
  },
): PowerGrid {
  const lowest = -(Math.floor(bins / 2) + 0.5) * velocity;
  const steps = { rangeStep: high * range, velocityStep: wide * velocity };
  return { power, rows, columns, ...steps, nearest: -range / 2, lowest };
}

/** The part of a map from range 0 on and around rest that has all places, with a quarter more; without places the whole map. */
export function windowAround(grid: PowerGrid, places: readonly Place[]): GridWindow {
  const whole = { bottom: 0, left: 0, rows: grid.rows, columns: grid.columns };
  if (places.length === 0) return whole;
  const far = 1.25 * Math.max(...places.map(({ range }) => range));
  const fast = 1.25 * Math.max(...places.map(({ velocity }) => Math.abs(velocity)));
  const clamp = (cell: number, count: number) => Math.min(count, Math.max(0, cell));
  const rows = clamp(Math.max(16, Math.ceil(far / grid.rangeStep)), grid.rows);
  const middle = -grid.lowest / grid.velocityStep, half = Math.max(8, fast / grid.velocityStep);
  const left = clamp(Math.floor(middle - half), grid.columns), right = clamp(Math.ceil(middle + half), grid.columns);
  return { ...whole, rows, left, columns: right - left };
}

/** Pixels of a window, the farthest range on top; the darkest colour is `deepest` dB below the peak. */
export function powerPixels(
  grid: Pick<PowerGrid, "power" | "columns">,
  { bottom, left, rows, columns }: GridWindow,
  deepest = DEEPEST_DB,
): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(4 * rows * columns);
  const peak = grid.power.reduce((most, one) => Math.max(most, one), 0);
  for (let y = 0; y < rows; y++) {
    const from = (bottom + rows - 1 - y) * grid.columns + left;
    for (let x = 0; x < columns; x++) {
      const below = 10 * Math.log10(grid.power[from + x] / peak);
      // A map without power has the lowest colour everywhere.
      out.set([...viridis(Number.isNaN(below) ? 0 : 1 + below / deepest), 255], 4 * (y * columns + x));
    }
  }
  return out;
}

/**
 * The eye of a waveform: its in-phase part over two sample intervals of the critical rate, all of them above each other.
 * Between the samples the waveform is interpolated with its band: a DFT with zeros between the two halves.
 */
import { fft, ifft } from "../../lib/numeric/linalg/fft.ts";

/** Samples that are interpolated, and values between two of them. */
const SAMPLES = 4096, FACTOR = 16;
/** Intervals in the picture. */
export const INTERVALS = 2;
const ROWS = 64;

/** Counts [level, time], from the lowest level, with the level of the upper edge; the lower edge is its negative. */
export interface Eye {
  counts: Float64Array;
  columns: number;
  reach: number;
}

/** @param oversampling samples of an interval at the critical rate */
export function eyeOf({ real, imaginary }: { real: Float64Array; imaginary: Float64Array }, oversampling: number): Eye {
  const size = 2 ** Math.floor(Math.log2(Math.min(SAMPLES, real.length))), part = new Float64Array(2 * size);
  for (let n = 0; n < size; n++) part.set([real[n], imaginary[n]], 2 * n);
  const bins = fft(part), wide = new Float64Array(2 * size * FACTOR);
  wide.set(bins.subarray(0, size));
  wide.set(bins.subarray(size), wide.length - size);
  const fine = ifft(wide), columns = INTERVALS * oversampling * FACTOR;
  // The inverse divides by its own size; the ends of the block are not those of the waveform.
  const values = Float64Array.from({ length: size * FACTOR }, (_, n) => fine[2 * n] * FACTOR).subarray(
    columns,
    -columns,
  );
  const reach = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const counts = new Float64Array(ROWS * columns);
  values.forEach((value, n) => {
    const row = Math.min(ROWS - 1, Math.floor((value / reach + 1) / 2 * ROWS));
    counts[row * columns + n % columns]++;
  });
  return { counts, columns, reach };
}

/** Decibels of power ratios: x dB = 10·log10(ratio). Amplitude ratios are squared first. */

/** 10^(db/10). */
export function dbToLinear(db: number): number {
  return 10 ** (db / 10);
}

/** 10·log10(ratio); -Infinity for 0. */
export function linearToDb(ratio: number): number {
  return 10 * Math.log10(ratio);
}

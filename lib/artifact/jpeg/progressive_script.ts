/** The scans of a progressive frame (T.81 annex G). */

/** One scan: components, spectral band, and successive approximation from bit `high` (0: first pass) to bit `low`. */
export interface Scan {
  readonly components: readonly number[];
  readonly start: number;
  readonly end: number;
  readonly high: number;
  readonly low: number;
}

/** libjpeg's default script: ten scans for YCbCr, six for grey. */
export function defaultScript(componentCount: 1 | 3): Scan[] {
  const scan = (components: number[], start: number, end: number, high: number, low: number): Scan => ({
    components,
    start,
    end,
    high,
    low,
  });
  if (componentCount === 1) {
    return [
      scan([0], 0, 0, 0, 1),
      scan([0], 1, 5, 0, 2),
      scan([0], 6, 63, 0, 2),
      scan([0], 1, 63, 2, 1),
      scan([0], 0, 0, 1, 0),
      scan([0], 1, 63, 1, 0),
    ];
  }
  return [
    scan([0, 1, 2], 0, 0, 0, 1),
    scan([0], 1, 5, 0, 2),
    scan([2], 1, 63, 0, 1),
    scan([1], 1, 63, 0, 1),
    scan([0], 6, 63, 0, 2),
    scan([0], 1, 63, 2, 1),
    scan([0, 1, 2], 0, 0, 1, 0),
    scan([2], 1, 63, 1, 0),
    scan([1], 1, 63, 1, 0),
    scan([0], 1, 63, 1, 0),
  ];
}

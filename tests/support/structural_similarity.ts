/**
 * SSIM and MS-SSIM in TypeScript, as lib/numeric/scores/image_quality.ts defines them: its kernel gives these values to the bit. Scores one
 * channel after the other, from planes of sums and differences.
 */
import type { ImageShape, StructuralScores } from "../../lib/numeric/scores/image_quality.ts";

type Samples = ArrayLike<number>;

const WINDOW = 11;
/** The last six of the eleven weights; the window is symmetric. */
const HALF_WINDOW = (() => {
  const raw = Array.from({ length: WINDOW }, (_, k) => Math.exp(-((k - 5) ** 2) / (2 * 1.5 ** 2)));
  const sum = raw.reduce((a, b) => a + b, 0);
  return raw.slice(5).map((weight) => weight / sum);
})();
const SCALE_WEIGHTS = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];

/** @param scales 1 for SSIM alone, else 5 */
export function referenceSimilarity(
  x: Samples,
  y: Samples,
  shape: ImageShape,
  { range, scales }: { range: number; scales: 1 | 5 },
): StructuralScores {
  let ssim = 0, msSsim = 0;
  for (let channel = 0; channel < shape.channels; channel++) {
    let planes = sumAndDifference(x, y, shape, channel);
    let product = 1;
    for (let scale = 0; scale < scales; scale++) {
      if (scale > 0) planes = halve(planes);
      const means = similarity(planes, range);
      if (scale === 0) ssim += means.ssim;
      const mean = scale === SCALE_WEIGHTS.length - 1 ? means.ssim : means.contrast;
      // A negative mean has no real power; it counts as 0.
      product *= Math.max(mean, 0) ** SCALE_WEIGHTS[scale];
    }
    msSsim += product;
  }
  return { ssim: ssim / shape.channels, msSsim: scales > 1 ? msSsim / shape.channels : null };
}

/** One channel of an image pair as x + y and x - y. */
interface Planes {
  readonly height: number;
  readonly width: number;
  readonly sum: Float64Array;
  readonly difference: Float64Array;
}

function sumAndDifference(x: Samples, y: Samples, { height, width, channels }: ImageShape, channel: number): Planes {
  const sum = new Float64Array(height * width), difference = new Float64Array(height * width);
  for (let i = 0, at = channel; i < sum.length; i++, at += channels) {
    sum[i] = x[at] + y[at];
    difference[i] = x[at] - y[at];
  }
  return { height, width, sum, difference };
}

/** The next coarser scale: 2 x 2 means. */
function halve(planes: Planes): Planes {
  const height = planes.height >> 1, width = planes.width >> 1;
  const mean = (fine: Float64Array): Float64Array => {
    const coarse = new Float64Array(height * width);
    for (let row = 0; row < height; row++) {
      for (let column = 0, at = 2 * row * planes.width; column < width; column++, at += 2) {
        const below = at + planes.width;
        coarse[row * width + column] = (fine[at] + fine[at + 1] + fine[below] + fine[below + 1]) / 4;
      }
    }
    return coarse;
  };
  return { height, width, sum: mean(planes.sum), difference: mean(planes.difference) };
}

/** Means of l·cs and of cs over the valid region. The last eleven filtered rows are kept in a ring. */
function similarity({ height, width, sum, difference }: Planes, range: number): { ssim: number; contrast: number } {
  const c1 = 2 * (0.01 * range) ** 2, c2 = 2 * (0.03 * range) ** 2;
  const valid = width - WINDOW + 1;
  const maps = [0, 1, 2, 3].map(() => Array.from({ length: WINDOW }, () => new Float64Array(valid)));
  const squares = [new Float64Array(width), new Float64Array(width)];
  const columns = maps.map(() => new Float64Array(valid));
  const [meanSum, meanDifference, powerSum, powerDifference] = columns;

  let ssimTotal = 0, contrastTotal = 0;
  for (let row = 0; row < height; row++) {
    const rows = [sum, difference].map((plane) => plane.subarray(row * width, (row + 1) * width));
    rows.forEach((line, which) => {
      for (let i = 0; i < width; i++) squares[which][i] = line[i] * line[i];
    });
    [...rows, ...squares].forEach((line, map) => filterRow(line, maps[map][row % WINDOW]));
    if (row < WINDOW - 1) continue;
    maps.forEach((ring, map) => filterColumns(ring, row + 1, columns[map]));
    for (let i = 0; i < valid; i++) {
      const p = meanSum[i] * meanSum[i], m = meanDifference[i] * meanDifference[i];
      const varianceSum = powerSum[i] - p, varianceDifference = powerDifference[i] - m;
      const contrast = (varianceSum - varianceDifference + c2) / (varianceSum + varianceDifference + c2);
      contrastTotal += contrast;
      ssimTotal += contrast * ((p - m + c1) / (p + m + c1));
    }
  }
  const count = valid * (height - WINDOW + 1);
  return { ssim: ssimTotal / count, contrast: contrastTotal / count };
}

function filterRow(line: Float64Array, out: Float64Array): void {
  const [w0, w1, w2, w3, w4, w5] = HALF_WINDOW;
  for (let i = 0; i < out.length; i++) {
    out[i] = w0 * line[i + 5] + w1 * (line[i + 4] + line[i + 6]) + w2 * (line[i + 3] + line[i + 7]) +
      w3 * (line[i + 2] + line[i + 8]) + w4 * (line[i + 1] + line[i + 9]) + w5 * (line[i] + line[i + 10]);
  }
}

/** Filters down the columns of a ring whose oldest row is `oldest` (modulo its length). */
function filterColumns(ring: readonly Float64Array[], oldest: number, out: Float64Array): void {
  const [w0, w1, w2, w3, w4, w5] = HALF_WINDOW;
  const [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10] = ring.map((_, k) => ring[(oldest + k) % WINDOW]);
  for (let i = 0; i < out.length; i++) {
    out[i] = w0 * r5[i] + w1 * (r4[i] + r6[i]) + w2 * (r3[i] + r7[i]) + w3 * (r2[i] + r8[i]) + w4 * (r1[i] + r9[i]) +
      w5 * (r0[i] + r10[i]);
  }
}

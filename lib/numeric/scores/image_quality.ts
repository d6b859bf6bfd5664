/**
 * Full-reference image quality: MSE, MAE, PSNR, SSIM and MS-SSIM of interleaved samples [height, width, channels].
 *
 *     PSNR    = 10 log10(range² / MSE) dB
 *     SSIM    = mean of l·cs,   l = (2 μx μy + C1) / (μx² + μy² + C1),   cs = (2 σxy + C2) / (σx² + σy² + C2)
 *     MS-SSIM = Π_{i<5} max(mean cs_i, 0)^w_i · max(mean (l·cs)_5, 0)^w_5,   w = .0448 .2856 .3001 .2363 .1333
 *
 * Window: 11 x 11 Gaussian of sigma 1.5 (weights of sum 1), valid region; C1 = (.01 range)², C2 = (.03 range)²; scales
 * are 2 x 2 means of each other, an odd last row or column dropped. Both are means over the channels.
 *
 * With p = x + y and m = x - y the two fractions are (μp² - μm² + 2 C1) / (μp² + μm² + 2 C1) and
 * (σp² - σm² + 2 C2) / (σp² + σm² + 2 C2): four filtered maps instead of five, and equal images score exactly 1.
 *
 *     GMSD    = standard deviation over the pixels of (2 g h + c) / (g² + h² + c), c = 170 (range/255)²
 *
 * g, h: magnitude of the Prewitt gradient (weights 1/3, zeros outside) of the BT.601 luma of x and y after 2 x 2 means, an odd last row
 * or column dropped. Grey images are their own luma.
 *
 * Sources: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment", IEEE Trans. Image Processing 13(4), 2004; Wang,
 * Simoncelli, Bovik, "Multiscale structural similarity for image quality assessment", Asilomar 2003; Xue, Zhang,
 * Mou, Bovik, "Gradient magnitude similarity deviation", IEEE Trans. Image Processing 23(2), 2014.
 */

import * as kernel from "../kernels/image_quality.wasm";

/** Size and sample range of an image. */
export interface ImageShape {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

type Samples = ArrayLike<number>;

const WINDOW = 11;
/** The last six of the eleven weights; the window is symmetric. */
const HALF_WINDOW = (() => {
  const raw = Array.from({ length: WINDOW }, (_, k) => Math.exp(-((k - 5) ** 2) / (2 * 1.5 ** 2)));
  const sum = raw.reduce((a, b) => a + b, 0);
  return raw.slice(5).map((weight) => weight / sum) as [number, number, number, number, number, number];
})();
const SCALE_WEIGHTS = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];

/** Samples whose squared differences of 8 bits fit 31 bits together. */
const BYTE_BLOCK = 1 << 15;

/** Mean squared and mean absolute difference, in units of the samples. */
export function sampleErrors(x: Samples, y: Samples): { mse: number; mae: number } {
  if (x instanceof Uint8Array && y instanceof Uint8Array) return byteErrors(x, y);
  let squares = 0, magnitudes = 0;
  for (let i = 0; i < x.length; i++) {
    const difference = x[i] - y[i];
    squares += difference * difference;
    magnitudes += Math.abs(difference);
  }
  return { mse: squares / x.length, mae: magnitudes / x.length };
}

/** The same sums in integers, so that no addition waits for the binary64 one before it. */
function byteErrors(x: Uint8Array, y: Uint8Array): { mse: number; mae: number } {
  let squares = 0, magnitudes = 0;
  for (let from = 0; from < x.length; from += BYTE_BLOCK) {
    let blockSquares = 0, blockMagnitudes = 0;
    for (let i = from, end = Math.min(from + BYTE_BLOCK, x.length); i < end; i++) {
      const difference = x[i] - y[i];
      blockSquares = blockSquares + difference * difference | 0;
      blockMagnitudes = blockMagnitudes + Math.abs(difference) | 0;
    }
    squares += blockSquares;
    magnitudes += blockMagnitudes;
  }
  return { mse: squares / x.length, mae: magnitudes / x.length };
}

/** 10 log10(range² / mse) in dB; infinite for a zero error. */
export function psnrDb(mse: number, range: number): number {
  return 10 * Math.log10((range * range) / mse);
}

/**
 * A similarity of at most 1 in dB, -10 log10(1 - similarity), as image coding states MS-SSIM; at most 99, the value of equal
 * images.
 */
export const similarityDb = (similarity: number): number => Math.min(99, -10 * Math.log10(1 - similarity));

/**
 * The score of an exact copy: the cap, or 1 dB above the highest finite PSNR if that is greater. The highest finite
 * PSNR is that of a single sample with an error of the smallest step of its type.
 */
export function exactPsnrDb(capDb: number, options: { range: number; sampleCount: number; step: number }): number {
  // In logarithms, because the square of a subnormal step underflows.
  const highest = 20 * Math.log10(options.range / options.step) + 10 * Math.log10(options.sampleCount);
  return Math.max(capDb, highest + 1);
}

/** Whether SSIM is defined: the window must fit. Exported for tests. */
export function isSsimDefined({ height, width }: ImageShape): boolean {
  return Math.min(height, width) >= WINDOW;
}

/**
 * Whether MS-SSIM is reported: the shorter side exceeds 160, and the window fits the fifth scale. Exported for tests.
 */
export function isMsSsimDefined({ height, width }: ImageShape): boolean {
  const shorter = Math.min(height, width);
  return shorter > 160 && Math.floor(shorter / 16) >= WINDOW;
}

/** Null where the image is too small for the measure. */
export interface StructuralScores {
  ssim: number | null;
  msSsim: number | null;
}

/**
 * SSIM and MS-SSIM, each a mean over the channels; the finest scale is computed once for both.
 * @param range largest minus smallest sample value
 */
export function structuralSimilarity(x: Samples, y: Samples, shape: ImageShape, range: number): StructuralScores {
  if (!isSsimDefined(shape)) return { ssim: null, msSsim: null };
  const scales = isMsSsimDefined(shape) ? SCALE_WEIGHTS.length : 1;
  const score = channelScores(x, y, shape, { range, scales });
  let ssim = 0, msSsim = 0;
  for (let channel = 0; channel < shape.channels; channel++) {
    const means = score(channel);
    ssim += means[0];
    let product = 1;
    for (let scale = 0; scale < scales; scale++) {
      const mean = means[2 * scale + (scale === SCALE_WEIGHTS.length - 1 ? 0 : 1)];
      // A negative mean has no real power; it counts as 0.
      product *= Math.max(mean, 0) ** SCALE_WEIGHTS[scale];
    }
    msSsim += product;
  }
  return { ssim: ssim / shape.channels, msSsim: scales > 1 ? msSsim / shape.channels : null };
}

/** Copies two images to the memory of the kernel. @returns the type of their samples and the bytes of each */
function placeSamples(x: Samples, y: Samples, { height, width, channels }: ImageShape) {
  const Type = [Uint8Array, Float32Array].find((type) => x instanceof type && y instanceof type) ?? Float64Array;
  const count = height * width * channels, bytes = Type.BYTES_PER_ELEMENT * count;
  if (!kernel.reserve(bytes, height, width)) {
    throw new RangeError(`Cannot compare images of ${height} × ${width}: no memory`);
  }
  // Created after the memory has grown, because growing detaches views.
  const { buffer } = kernel.memory, at = kernel.samplesOffset();
  new Type(buffer, at, count).set(x);
  new Type(buffer, at + bytes, count).set(y);
  return { kind: [Uint8Array, Float32Array, Float64Array].indexOf(Type), bytes };
}

/** Means of l·cs and of cs of each scale of a channel, from the kernel. */
function channelScores(
  x: Samples,
  y: Samples,
  { height, width, channels }: ImageShape,
  { range, scales }: { range: number; scales: number },
): (channel: number) => Float64Array {
  const { kind, bytes } = placeSamples(x, y, { height, width, channels }), { buffer } = kernel.memory;
  kernel.setWeights(...HALF_WINDOW);
  const c1 = 2 * (0.01 * range) ** 2, c2 = 2 * (0.03 * range) ** 2;
  return (channel) => {
    kernel.similarity(kind, bytes, height, width, channels, channel, c1, c2, scales);
    return new Float64Array(buffer, kernel.resultsOffset(), 2 * scales);
  };
}

/** GMSD needs a gradient of the halved image. */
export const isGmsdDefined = ({ height, width }: ImageShape): boolean => Math.min(height, width) >= 4;

/** Gradient magnitude similarity deviation: 0 for equal images, larger for worse ones. */
export function gradientDeviation(x: Samples, y: Samples, shape: ImageShape, range: number): number {
  const { kind, bytes } = placeSamples(x, y, shape), { height, width, channels } = shape;
  return kernel.gradientDeviation(kind, bytes, height, width, channels, 170 * (range / 255) ** 2);
}

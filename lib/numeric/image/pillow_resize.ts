/**
 * Resizing of 8-bit images, bit-exact with Pillow, which published vision models use for preprocessing.
 *
 * Each axis is filtered with a kernel whose support grows with the reduction (antialiasing), columns before rows.
 * Weights sum to 1, are rounded to multiples of 2^-22, and after each axis a sample is rounded to 8 bits and clipped:
 * unlike `resizeTriangle` of lib/artifact, intermediate values are rounded. With s = source/target and f = max(s, 1)
 * target pixel x has its centre at (x + 1/2)·s; source pixel i has the weight k((i + 1/2 - centre)/f).
 *
 *     bilinear   1 - |x|                                              |x| < 1
 *     bicubic    Keys with a = -1/2                                   |x| < 2
 *     lanczos    sinc(x)·sinc(x/3)                                    |x| < 3
 *
 * Source: Pillow 9.4, src/libImaging/Resample.c; Keys, "Cubic convolution interpolation", IEEE Trans. ASSP 29, 1981.
 */

export type Resampling = "nearest" | "bilinear" | "bicubic" | "lanczos";

/** The filters by their numbers in Pillow, as preprocessor files name them. */
export const PILLOW_FILTERS: readonly (Resampling | undefined)[] = ["nearest", "lanczos", "bilinear", "bicubic"];

interface Kernel {
  reach: number;
  at(x: number): number;
}

const sinc = (x: number) => x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);

const KERNELS: Readonly<Record<Exclude<Resampling, "nearest">, Kernel>> = {
  bilinear: { reach: 1, at: (x) => Math.max(0, 1 - Math.abs(x)) },
  bicubic: {
    reach: 2,
    at(x) {
      const a = -0.5, d = Math.abs(x);
      if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
      return d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
    },
  },
  lanczos: { reach: 3, at: (x) => Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0 },
};

/** Samples in 0 … 255, channels interleaved. */
export interface ByteRaster {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Uint8Array;
}

const PRECISION = 2 ** 22;

/**
 * Resizes an image.
 * @param filter the kernel; nearest takes the source pixel under the centre
 */
export function resizeLikePillow(image: ByteRaster, width: number, height: number, filter: Resampling): ByteRaster {
  if (filter === "nearest") return resizeNearest(image, width, height);
  const kernel = KERNELS[filter], { channels } = image;
  let { data } = image;
  if (width !== image.width) {
    data = filterAxis(data, image.height, image.width, channels, windows(image.width, width, kernel));
  }
  if (height !== image.height) {
    data = filterAxis(data, 1, image.height, width * channels, windows(image.height, height, kernel));
  }
  return { width, height, channels, data };
}

interface Window {
  first: number;
  /** In units of 2^-22. */
  weights: Int32Array;
}

function windows(from: number, to: number, { reach, at }: Kernel): Window[] {
  const scale = from / to, stretch = Math.max(1, scale), support = reach * stretch;
  return Array.from({ length: to }, (_, target) => {
    const centre = (target + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const end = Math.min(from, Math.trunc(centre + support + 0.5));
    const exact = Float64Array.from({ length: end - first }, (_, i) => at((i + first - centre + 0.5) * (1 / stretch)));
    const sum = exact.reduce((total, weight) => total + weight, 0);
    // Halves away from zero, as Pillow's cast after adding one half.
    const weights = Int32Array.from(exact, (weight) => {
      const scaled = (sum === 0 ? weight : weight * (1 / sum)) * PRECISION;
      return Math.trunc(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    });
    return { first, weights };
  });
}

/** Filters along one axis; the image is read as [outer][size][inner]. */
function filterAxis(data: Uint8Array, outer: number, size: number, inner: number, axis: Window[]): Uint8Array {
  const result = new Uint8Array(outer * axis.length * inner);
  for (let o = 0, to = 0; o < outer; o++) {
    for (const { first, weights } of axis) {
      const start = (o * size + first) * inner;
      for (let i = 0; i < inner; i++) {
        let sum = PRECISION / 2;
        for (let w = 0; w < weights.length; w++) sum += weights[w] * data[start + w * inner + i];
        result[to++] = Math.max(0, Math.min(255, Math.floor(sum / PRECISION)));
      }
    }
  }
  return result;
}

function resizeNearest(image: ByteRaster, width: number, height: number): ByteRaster {
  const { channels } = image, data = new Uint8Array(width * height * channels);
  for (let y = 0, to = 0; y < height; y++) {
    const row = Math.floor((y + 0.5) * image.height / height);
    for (let x = 0; x < width; x++) {
      const from = (row * image.width + Math.floor((x + 0.5) * image.width / width)) * channels;
      for (let c = 0; c < channels; c++) data[to++] = image.data[from + c];
    }
  }
  return { width, height, channels, data };
}

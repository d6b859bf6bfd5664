/**
 * Reference of the kernels, written to be read: samples of the components of an image, and the 8x8 transform in integers
 * by the factorisation of Loeffler, Ligtenberg and Moschytz (ICASSP 1989), constants of 13 fraction bits, 2 extra bits
 * between the passes: libjpeg's "islow" transform.
 */
import type { JpegImage } from "../../../../../lib/artifact/jpeg/encoder.ts";
import type { ComponentGeometry, FrameGeometry } from "../../../../../lib/artifact/jpeg/geometry.ts";

/** 2^16 times a weight. */
const fixed = (weight: number) => Math.floor(weight * 65536 + 0.5);
const clamped = (x: number, most: number) => Math.min(Math.max(x, 0), most);

/** Y, Cb or Cr of RGB samples by JFIF 1.02; half is rounded up for Y, down for Cb and Cr. */
export function ycc(component: number, r: number, g: number, b: number): number {
  if (component === 0) return (fixed(0.299) * r + fixed(0.587) * g + fixed(0.114) * b + 32768) >> 16;
  const sum = component === 1
    ? fixed(0.5) * b - fixed(0.168735892) * r - fixed(0.331264108) * g
    : fixed(0.5) * r - fixed(0.418687589) * g - fixed(0.081312411) * b;
  return (sum + (128 << 16) + 32767) >> 16;
}

/** A sample of a component; beyond the image the last column, and the last row of the component, are repeated. */
export function sampleOf(image: JpegImage, frame: FrameGeometry, component: number, x: number, y: number): number {
  const { width, height, channels, data } = image, geometry = frame.components[component];
  const across = channels === 1 ? 1 : frame.horizontal / geometry.horizontal;
  const down = channels === 1 ? 1 : frame.vertical / geometry.vertical;
  const row = Math.min(y, Math.ceil(height / down) - 1);
  let sum = 0;
  for (let v = 0; v < down; v++) {
    for (let h = 0; h < across; h++) {
      const at = (Math.min(row * down + v, height - 1) * width + Math.min(x * across + h, width - 1)) * channels;
      sum += channels === 1 ? data[at] : ycc(component, data[at], data[at + 1], data[at + 2]);
    }
  }
  // The rounding of averages alternates from column to column.
  const bias = across * down === 1 ? 0 : across * down === 2 ? x & 1 : 1 + (x & 1);
  return Math.floor((sum + bias) / (across * down));
}

/** @param level subtracted from the sum of all values; @param up bits gained (negative: lost) by a pass */
function forwardLine(s: number[], level: number, up: number): number[] {
  const [a0, a1, a2, a3] = [s[0] + s[7], s[1] + s[6], s[2] + s[5], s[3] + s[4]];
  const [b0, b1, b2, b3] = [s[3] - s[4], s[2] - s[5], s[1] - s[6], s[0] - s[7]];
  const scaled = (x: number, bits: number) => bits <= 0 ? x * 2 ** -bits : (x + 2 ** (bits - 1)) >> bits;
  const odd = (x: number) => scaled(x, 13 - up), e2 = a1 - a2, e3 = a0 - a3;
  const z5 = 9633 * (b0 + b1 + b2 + b3), z1 = -7373 * (b0 + b3), z2 = -20995 * (b1 + b2);
  const z3 = z5 - 16069 * (b0 + b2), z4 = z5 - 3196 * (b1 + b3);
  return [
    scaled(a0 + a1 + a2 + a3 - level, -up),
    odd(12299 * b3 + z1 + z4),
    odd(4433 * (e2 + e3) + 6270 * e3),
    odd(25172 * b2 + z2 + z3),
    scaled(a0 + a3 - a1 - a2, -up),
    odd(16819 * b1 + z2 + z4),
    odd(4433 * (e2 + e3) - 15137 * e2),
    odd(2446 * b0 + z1 + z3),
  ];
}

const eight = <T>(make: (index: number) => T): T[] => Array.from({ length: 8 }, (_, index) => make(index));

/** @returns 64 coefficients in natural order, scaled by 8 */
export function forward(sample: (x: number, y: number) => number): number[] {
  const rows = eight((y) => forwardLine(eight((x) => sample(x, y)), 1024, 2));
  const columns = eight((u) => forwardLine(eight((y) => rows[y][u]), 0, -2));
  return Array.from({ length: 64 }, (_, at) => columns[at & 7][at >> 3]);
}

/** Sums are exact, and shifts take their lowest 32 bits. */
function inverseLine(c: number[], half: number, shift: number): number[] {
  const even = Math.imul(c[2] + c[6], 4433), t2 = even - Math.imul(c[6], 15137), t3 = even + Math.imul(c[2], 6270);
  const t0 = ((c[0] + c[4]) << 13) + half, t1 = ((c[0] - c[4]) << 13) + half;
  const z5 = Math.imul(c[1] + c[3] + c[5] + c[7], 9633);
  const z1 = Math.imul(c[7] + c[1], -7373), z2 = Math.imul(c[5] + c[3], -20995);
  const z3 = z5 - Math.imul(c[7] + c[3], 16069), z4 = z5 - Math.imul(c[5] + c[1], 3196);
  const o = [
    Math.imul(c[1], 12299) + z1 + z4,
    Math.imul(c[3], 25172) + z2 + z3,
    Math.imul(c[5], 16819) + z2 + z4,
    Math.imul(c[7], 2446) + z1 + z3,
  ];
  const e = [t0 + t3, t1 + t2, t1 - t2, t0 - t3];
  return eight((k) => (k < 4 ? e[k] + o[k] : e[7 - k] - o[7 - k]) >> shift);
}

/** @returns 64 samples of dequantised coefficients in natural order */
export function inverse(coefficients: Int16Array): number[] {
  const columns = eight((u) => inverseLine(eight((v) => coefficients[8 * v + u]), 1 << 10, 11));
  // The rounding half, and the level shift by 128.
  const rows = eight((y) => inverseLine(eight((u) => columns[u][y]), (1 << 17) + (128 << 18), 18));
  return rows.flat().map((sample) => clamped(sample, 255));
}

/**
 * Samples of a component at full resolution: a factor of two is interpolated with the triangle filter, rounded in
 * alternation, others repeat samples.
 * @param sample of the component
 */
export function upsampled(
  frame: FrameGeometry,
  component: ComponentGeometry,
  sample: (x: number, y: number) => number,
): (x: number, y: number) => number {
  const across = frame.horizontal / component.horizontal, down = frame.vertical / component.vertical;
  const { width, height } = component;
  const inside = (x: number, y: number) => sample(clamped(x, width - 1), clamped(y, height - 1));
  /** The nearer sample three times and the farther one. */
  const vertical = (x: number, y: number) => 3 * inside(x, y >> 1) + inside(x, (y >> 1) + (y & 1 ? 1 : -1));
  const far = (x: number) => (x >> 1) + (x & 1 ? 1 : -1);
  if (across === 1 && down === 2) return (x, y) => (vertical(x, y) + 1 + (y & 1)) >> 2;
  if (across === 2 && down === 1 && width > 2) {
    return (x, y) => (3 * inside(x >> 1, y) + inside(far(x), y) + 1 + (x & 1)) >> 2;
  }
  if (across === 2 && down === 2 && width > 2) {
    const at = (x: number, y: number) => vertical(clamped(x, width - 1), y);
    return (x, y) => (3 * at(x >> 1, y) + at(far(x), y) + 8 - (x & 1)) >> 4;
  }
  return (x, y) => inside(Math.floor(x / across), Math.floor(y / down));
}

/** RGB of Y, Cb and Cr. */
export function rgb(y: number, cb: number, cr: number): number[] {
  const part = (weight: number) => (weight + 32768) >> 16, blue = cb - 128, red = cr - 128;
  return [
    y + part(fixed(1.402) * red),
    y + part(-fixed(0.34414) * blue - fixed(0.71414) * red),
    y + part(fixed(1.772) * blue),
  ].map((sample) => clamped(sample, 255));
}

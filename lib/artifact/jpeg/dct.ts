/**
 * The 8x8 discrete cosine transform and its inverse in integers, by the factorisation of Loeffler, Ligtenberg and
 * Moschytz (ICASSP 1989, 11 multiplications per row), with constants of 13 fraction bits and 2 extra bits between the
 * passes. Scale and rounding are those of libjpeg's "islow" transform, which both directions match bit by bit.
 */
import { ZIGZAG } from "./tables.ts";

// cos and sin combinations of the factorisation, times 2^13.
const C_0_298 = 2446, C_0_390 = 3196, C_0_541 = 4433, C_0_765 = 6270, C_0_899 = 7373, C_1_175 = 9633;
const C_1_501 = 12299, C_1_847 = 15137, C_1_961 = 16069, C_2_053 = 16819, C_2_562 = 20995, C_3_072 = 25172;

const work = new Int32Array(64);

/**
 * Transforms one block of samples.
 * @param samples plane of samples 0 ... 255
 * @param at index of the block's first sample
 * @param stride samples per row of the plane
 * @param output receives 64 coefficients in zigzag order, scaled by 8
 * @param to index of the first coefficient
 */
export function forwardDct(samples: Uint8Array, at: number, stride: number, output: Int16Array, to: number): void {
  for (let row = 0; row < 64; row += 8, at += stride) {
    const s0 = samples[at], s1 = samples[at + 1], s2 = samples[at + 2], s3 = samples[at + 3];
    const s4 = samples[at + 4], s5 = samples[at + 5], s6 = samples[at + 6], s7 = samples[at + 7];
    const a0 = s0 + s7, a1 = s1 + s6, a2 = s2 + s5, a3 = s3 + s4;
    const b0 = s3 - s4, b1 = s2 - s5, b2 = s1 - s6, b3 = s0 - s7;
    const e0 = a0 + a3, e1 = a1 + a2, e2 = a1 - a2, e3 = a0 - a3;
    // The level shift by 128 of eight samples.
    work[row] = (e0 + e1 - 1024) << 2;
    work[row + 4] = (e0 - e1) << 2;
    const even = Math.imul(e2 + e3, C_0_541) + 1024;
    work[row + 2] = (even + Math.imul(e3, C_0_765)) >> 11;
    work[row + 6] = (even - Math.imul(e2, C_1_847)) >> 11;
    const sum = Math.imul(b0 + b1 + b2 + b3, C_1_175) + 1024;
    const z1 = Math.imul(b0 + b3, -C_0_899), z2 = Math.imul(b1 + b2, -C_2_562);
    const z3 = sum - Math.imul(b0 + b2, C_1_961), z4 = sum - Math.imul(b1 + b3, C_0_390);
    work[row + 7] = (Math.imul(b0, C_0_298) + z1 + z3) >> 11;
    work[row + 5] = (Math.imul(b1, C_2_053) + z2 + z4) >> 11;
    work[row + 3] = (Math.imul(b2, C_3_072) + z2 + z3) >> 11;
    work[row + 1] = (Math.imul(b3, C_1_501) + z1 + z4) >> 11;
  }
  for (let column = 0; column < 8; column++) {
    const s0 = work[column], s1 = work[column + 8], s2 = work[column + 16], s3 = work[column + 24];
    const s4 = work[column + 32], s5 = work[column + 40], s6 = work[column + 48], s7 = work[column + 56];
    const a0 = s0 + s7, a1 = s1 + s6, a2 = s2 + s5, a3 = s3 + s4;
    const b0 = s3 - s4, b1 = s2 - s5, b2 = s1 - s6, b3 = s0 - s7;
    const e0 = a0 + a3, e1 = a1 + a2, e2 = a1 - a2, e3 = a0 - a3;
    work[column] = (e0 + e1 + 2) >> 2;
    work[column + 32] = (e0 - e1 + 2) >> 2;
    const even = Math.imul(e2 + e3, C_0_541) + 16384;
    work[column + 16] = (even + Math.imul(e3, C_0_765)) >> 15;
    work[column + 48] = (even - Math.imul(e2, C_1_847)) >> 15;
    const sum = Math.imul(b0 + b1 + b2 + b3, C_1_175) + 16384;
    const z1 = Math.imul(b0 + b3, -C_0_899), z2 = Math.imul(b1 + b2, -C_2_562);
    const z3 = sum - Math.imul(b0 + b2, C_1_961), z4 = sum - Math.imul(b1 + b3, C_0_390);
    work[column + 56] = (Math.imul(b0, C_0_298) + z1 + z3) >> 15;
    work[column + 40] = (Math.imul(b1, C_2_053) + z2 + z4) >> 15;
    work[column + 24] = (Math.imul(b2, C_3_072) + z2 + z3) >> 15;
    work[column + 8] = (Math.imul(b3, C_1_501) + z1 + z4) >> 15;
  }
  for (let k = 0; k < 64; k++) output[to + k] = work[ZIGZAG[k]];
}

/**
 * Transforms one block of dequantised coefficients back into samples.
 * @param coefficients 64 values in natural order
 * @param samples plane that receives 8x8 samples 0 ... 255
 * @param at index of the block's first sample
 * @param stride samples per row of the plane
 */
export function inverseDct(coefficients: Int16Array, samples: Uint8ClampedArray, at: number, stride: number): void {
  for (let column = 0; column < 8; column++) {
    const c0 = coefficients[column], c1 = coefficients[column + 8], c2 = coefficients[column + 16];
    const c3 = coefficients[column + 24], c4 = coefficients[column + 32], c5 = coefficients[column + 40];
    const c6 = coefficients[column + 48], c7 = coefficients[column + 56];
    if ((c1 | c2 | c3 | c4 | c5 | c6 | c7) === 0) {
      const flat = c0 << 2;
      for (let at = column; at < 64; at += 8) work[at] = flat;
      continue;
    }
    const even = Math.imul(c2 + c6, C_0_541);
    const t2 = even - Math.imul(c6, C_1_847), t3 = even + Math.imul(c2, C_0_765);
    const t0 = ((c0 + c4) << 13) + 1024, t1 = ((c0 - c4) << 13) + 1024;
    const e0 = t0 + t3, e1 = t1 + t2, e2 = t1 - t2, e3 = t0 - t3;
    const sum = Math.imul(c1 + c3 + c5 + c7, C_1_175);
    const z1 = Math.imul(c7 + c1, -C_0_899), z2 = Math.imul(c5 + c3, -C_2_562);
    const z3 = sum - Math.imul(c7 + c3, C_1_961), z4 = sum - Math.imul(c5 + c1, C_0_390);
    const o0 = Math.imul(c7, C_0_298) + z1 + z3, o1 = Math.imul(c5, C_2_053) + z2 + z4;
    const o2 = Math.imul(c3, C_3_072) + z2 + z3, o3 = Math.imul(c1, C_1_501) + z1 + z4;
    work[column] = (e0 + o3) >> 11;
    work[column + 56] = (e0 - o3) >> 11;
    work[column + 8] = (e1 + o2) >> 11;
    work[column + 48] = (e1 - o2) >> 11;
    work[column + 16] = (e2 + o1) >> 11;
    work[column + 40] = (e2 - o1) >> 11;
    work[column + 24] = (e3 + o0) >> 11;
    work[column + 32] = (e3 - o0) >> 11;
  }
  for (let row = 0; row < 64; row += 8, at += stride) {
    const c0 = work[row], c1 = work[row + 1], c2 = work[row + 2], c3 = work[row + 3];
    const c4 = work[row + 4], c5 = work[row + 5], c6 = work[row + 6], c7 = work[row + 7];
    const even = Math.imul(c2 + c6, C_0_541);
    const t2 = even - Math.imul(c6, C_1_847), t3 = even + Math.imul(c2, C_0_765);
    // Rounding half of the last shift, and the level shift by 128.
    const t0 = ((c0 + c4) << 13) + 33685504, t1 = ((c0 - c4) << 13) + 33685504;
    const e0 = t0 + t3, e1 = t1 + t2, e2 = t1 - t2, e3 = t0 - t3;
    const sum = Math.imul(c1 + c3 + c5 + c7, C_1_175);
    const z1 = Math.imul(c7 + c1, -C_0_899), z2 = Math.imul(c5 + c3, -C_2_562);
    const z3 = sum - Math.imul(c7 + c3, C_1_961), z4 = sum - Math.imul(c5 + c1, C_0_390);
    const o0 = Math.imul(c7, C_0_298) + z1 + z3, o1 = Math.imul(c5, C_2_053) + z2 + z4;
    const o2 = Math.imul(c3, C_3_072) + z2 + z3, o3 = Math.imul(c1, C_1_501) + z1 + z4;
    samples[at] = (e0 + o3) >> 18;
    samples[at + 7] = (e0 - o3) >> 18;
    samples[at + 1] = (e1 + o2) >> 18;
    samples[at + 6] = (e1 - o2) >> 18;
    samples[at + 2] = (e2 + o1) >> 18;
    samples[at + 5] = (e2 - o1) >> 18;
    samples[at + 3] = (e3 + o0) >> 18;
    samples[at + 4] = (e3 - o0) >> 18;
  }
}

/** The inverse transform of a block with only a DC coefficient. */
export function inverseDctFlat(dc: number, samples: Uint8ClampedArray, at: number, stride: number): void {
  const value = ((dc + 4) >> 3) + 128;
  for (let row = 0; row < 8; row++, at += stride) {
    for (let x = at; x < at + 8; x++) samples[x] = value;
  }
}

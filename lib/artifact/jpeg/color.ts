/**
 * RGB and YCbCr by JFIF 1.02 (ITU-R BT.601, full range) in fixed point with 16 fraction bits, with libjpeg's rounding:
 * half up for Y, slightly below the half for Cb and Cr.
 */

const fixed = (value: number): number => Math.floor(value * 65536 + 0.5);

const HALF = 32768, CHROMA_OFFSET = (128 << 16) + HALF - 1;
const Y_R = fixed(0.299), Y_G = fixed(0.587), Y_B = fixed(0.114);
const CB_R = -fixed(0.168735892), CB_G = -fixed(0.331264108), C_HALF = fixed(0.5);
const CR_G = -fixed(0.418687589), CR_B = -fixed(0.081312411);

/**
 * Converts one row of pixels.
 * @param rgb interleaved samples
 * @param from index of the row's first sample
 * @param width pixels
 */
export function rgbToYcc(
  rgb: Uint8Array,
  from: number,
  width: number,
  y: Uint8Array,
  cb: Uint8Array,
  cr: Uint8Array,
): void {
  for (let x = 0, at = from; x < width; x++, at += 3) {
    const red = rgb[at], green = rgb[at + 1], blue = rgb[at + 2];
    y[x] = (Y_R * red + Y_G * green + Y_B * blue + HALF) >> 16;
    cb[x] = (CB_R * red + CB_G * green + C_HALF * blue + CHROMA_OFFSET) >> 16;
    cr[x] = (C_HALF * red + CR_G * green + CR_B * blue + CHROMA_OFFSET) >> 16;
  }
}

const R_CR = fixed(1.402), G_CB = -fixed(0.34414), G_CR = -fixed(0.71414), B_CB = fixed(1.772);

/**
 * Converts one row of samples back.
 * @param rgb receives interleaved samples from index `to`
 * @param width pixels
 */
export function yccToRgb(
  y: Uint8ClampedArray,
  cb: Uint8ClampedArray,
  cr: Uint8ClampedArray,
  width: number,
  rgb: Uint8ClampedArray,
  to: number,
): void {
  for (let x = 0, at = to; x < width; x++, at += 3) {
    const luma = y[x], blueness = cb[x] - 128, redness = cr[x] - 128;
    rgb[at] = luma + ((Math.imul(R_CR, redness) + HALF) >> 16);
    rgb[at + 1] = luma + ((Math.imul(G_CB, blueness) + Math.imul(G_CR, redness) + HALF) >> 16);
    rgb[at + 2] = luma + ((Math.imul(B_CB, blueness) + HALF) >> 16);
  }
}

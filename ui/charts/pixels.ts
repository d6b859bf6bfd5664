/** Comparisons of two images of equal size, sample by sample. Pixels are RGBA bytes. */

/** Peak signal to noise ratio over red, green and blue in dB; infinite for equal images. */
export function psnr(a: Uint8ClampedArray, b: Uint8ClampedArray): number {
  let sum = 0, count = 0;
  for (let i = 0; i < a.length; i++) {
    // The fourth byte of a pixel is its opacity.
    if ((i & 3) === 3) continue;
    const difference = a[i] - b[i];
    sum += difference * difference;
    count++;
  }
  return sum === 0 ? Infinity : 10 * Math.log10(255 * 255 * count / sum);
}

/** |a - b| times a gain, as an image. */
export function difference(a: Uint8ClampedArray, b: Uint8ClampedArray, gain: number): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(a.length);
  for (let i = 0; i < a.length; i++) out[i] = (i & 3) === 3 ? 255 : Math.abs(a[i] - b[i]) * gain;
  return out;
}

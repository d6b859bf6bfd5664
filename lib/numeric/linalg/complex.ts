/**
 * Complex arrays as interleaved typed arrays (real, imaginary, real, …). Arithmetic is binary64, rounded once to the type
 * of the result; results are new arrays of the type of the first argument.
 */

/** Interleaved complex64 or complex128. */
export type Complex = Float32Array | Float64Array;

/** Sum of |x|². */
export function energy(array: Complex): number {
  let sum = 0;
  for (let i = 0; i < array.length; i++) sum += array[i] * array[i];
  return sum;
}

/** Mean of |x|²; NaN for an empty array. */
export function meanPower(array: Complex): number {
  return energy(array) / (array.length / 2);
}

/** |x|² of every element. */
export function powers(array: Complex): Float64Array<ArrayBuffer> {
  const out = new Float64Array(array.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = array[2 * i] ** 2 + array[2 * i + 1] ** 2;
  return out;
}

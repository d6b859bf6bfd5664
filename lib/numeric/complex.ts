/**
 * Complex arrays as interleaved typed arrays (real, imaginary, real, …). Arithmetic is binary64, rounded once to the type
 * of the result; results are new arrays of the type of the first argument.
 */

/** Interleaved complex64 or complex128. */
export type Complex = Float32Array | Float64Array;

function like<T extends Complex>(array: T): T {
  return new (array.constructor as new (length: number) => T)(array.length);
}

function checkEqual(a: Complex, b: Complex): void {
  if (a.length !== b.length) {
    throw new RangeError(`Cannot combine ${a.length / 2} and ${b.length / 2} complex values element by element`);
  }
}

/** Sum of |x|². */
export function energy(array: Complex): number {
  let sum = 0;
  for (let i = 0; i < array.length; i++) sum += array[i] * array[i];
  return sum;
}

/** Mean of |x|²; NaN of nothing. */
export function meanPower(array: Complex): number {
  return energy(array) / (array.length / 2);
}

/** Real factor times x. */
export function scaled<T extends Complex>(array: T, factor: number): T {
  const out = like(array);
  for (let i = 0; i < out.length; i++) out[i] = factor * array[i];
  return out;
}

/**
 * a + b, element by element.
 *
 * @throws RangeError when the lengths differ
 */
export function add<T extends Complex>(a: T, b: Complex): T {
  checkEqual(a, b);
  const out = like(a);
  for (let i = 0; i < out.length; i++) out[i] = a[i] + b[i];
  return out;
}

/**
 * a · b, element by element.
 *
 * @throws RangeError when the lengths differ
 */
export function multiply<T extends Complex>(a: T, b: Complex): T {
  checkEqual(a, b);
  const out = like(a);
  for (let i = 0; i < out.length; i += 2) {
    const ar = a[i], ai = a[i + 1], br = b[i], bi = b[i + 1];
    out[i] = ar * br - ai * bi;
    out[i + 1] = ar * bi + ai * br;
  }
  return out;
}

/**
 * a / b, element by element.
 *
 * @throws RangeError when the lengths differ
 */
export function divide<T extends Complex>(a: T, b: Complex): T {
  checkEqual(a, b);
  const out = like(a);
  for (let i = 0; i < out.length; i += 2) {
    const ar = a[i], ai = a[i + 1], br = b[i], bi = b[i + 1];
    const power = br * br + bi * bi;
    out[i] = (ar * br + ai * bi) / power;
    out[i + 1] = (ai * br - ar * bi) / power;
  }
  return out;
}

/** Complex conjugates. */
export function conjugate<T extends Complex>(array: T): T {
  const out = like(array);
  for (let i = 0; i < out.length; i += 2) {
    out[i] = array[i];
    out[i + 1] = -array[i + 1];
  }
  return out;
}

/** |x|² of every element. */
export function powers(array: Complex): Float64Array<ArrayBuffer> {
  const out = new Float64Array(array.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = array[2 * i] ** 2 + array[2 * i + 1] ** 2;
  return out;
}

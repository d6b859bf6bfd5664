/**
 * Reed-Solomon and binary BCH codes over GF(2^m), α a root of the primitive polynomial. A code word of n symbols, the message first, is a
 * polynomial c(x) with the first symbol at the highest power, and c(α^(b + i)) = 0 for i = 0 … r - 1:
 *
 *     Reed-Solomon   symbols of m bits, r = n - k, which corrects t = floor(r / 2) symbols
 *     BCH            bits, b = 1 and r = 2t; the generator is the product of the minimal polynomials of α … α^2t
 *
 * Shorter code words leave out the first symbols, which are zero. Decoding finds the locator Λ(x) of the errors from the syndromes
 * (Berlekamp and Massey), its roots by trial (Chien), and the values of the errors (Forney).
 *
 * Sources: Lin and Costello, Error Control Coding, 2nd ed., 2004, ch. 6 and 7; Blahut, Algebraic Codes for Data Transmission, 2003,
 * ch. 7.
 */

/** Primitive polynomials of the degrees 2 to 12 (Lin and Costello, table 2.7), the highest power as the highest bit. */
const PRIMITIVE = [7, 11, 19, 37, 67, 137, 285, 529, 1033, 2053, 4179];
export const LEAST_DEGREE = 2;
export const MOST_DEGREE = 12;

/** GF(2^m) by tables of powers and logarithms. */
class GaloisField {
  readonly order: number;
  readonly #powers: Int32Array;
  readonly #logarithms: Int32Array;

  /** @throws RangeError for a polynomial that is not primitive */
  constructor(degree: number, polynomial: number = PRIMITIVE[degree - LEAST_DEGREE]) {
    const order = this.order = 2 ** degree - 1;
    const powers = this.#powers = new Int32Array(2 * order), logarithms = this.#logarithms = new Int32Array(order + 1);
    logarithms.fill(-1);
    let value = 1;
    for (let power = 0; power < order; power++) {
      if (logarithms[value] !== -1 || value === 0) {
        throw new RangeError(`Cannot use the polynomial ${polynomial} for GF(2^${degree}): it is not primitive`);
      }
      powers[power] = powers[power + order] = value;
      logarithms[value] = power;
      value <<= 1;
      if (value > order) value ^= polynomial;
    }
    if (value !== 1 || polynomial >> degree !== 1) {
      throw new RangeError(`Cannot use the polynomial ${polynomial} for GF(2^${degree}): it is not primitive`);
    }
  }

  power(exponent: number): number {
    const reduced = exponent % this.order;
    return this.#powers[reduced < 0 ? reduced + this.order : reduced];
  }

  multiply(a: number, b: number): number {
    return a === 0 || b === 0 ? 0 : this.#powers[this.#logarithms[a] + this.#logarithms[b]];
  }

  divide(a: number, b: number): number {
    return a === 0 ? 0 : this.#powers[this.#logarithms[a] + this.order - this.#logarithms[b]];
  }
}

export interface AlgebraicCode {
  readonly field: GaloisField;
  /** Symbols of a code word, and those of its message. */
  readonly length: number;
  readonly message: number;
  /** Generator polynomial, highest power first. */
  readonly generator: readonly number[];
  /** First power b, and number r of the roots of all code words. */
  readonly firstRoot: number;
  readonly roots: number;
}

const timesRoot = (field: GaloisField, polynomial: readonly number[], root: number): number[] =>
  [...polynomial, 0].map((value, i) => value ^ (i === 0 ? 0 : field.multiply(polynomial[i - 1], root)));

/** @throws RangeError for sizes that do not exist */
export function reedSolomonCode(
  { degree, length, message, firstRoot, polynomial }: {
    degree: number;
    length: number;
    message: number;
    firstRoot: number;
    polynomial?: number;
  },
): AlgebraicCode {
  const field = new GaloisField(degree, polynomial);
  if (length > field.order || message >= length) {
    throw new RangeError(
      `Cannot make a Reed-Solomon code of ${length} symbols with ${message} of a message: ${field.order} symbols at most, and fewer in the message`,
    );
  }
  let generator: number[] = [1];
  for (let i = 0; i < length - message; i++) generator = timesRoot(field, generator, field.power(firstRoot + i));
  return { field, length, message, generator, firstRoot, roots: length - message };
}

/** @param shortened bits of the message that are left out @throws RangeError for sizes that do not exist */
export function bchCode(
  { degree, errors, shortened, polynomial }: { degree: number; errors: number; shortened: number; polynomial?: number },
): AlgebraicCode {
  const field = new GaloisField(degree, polynomial), roots = new Set<number>();
  for (let power = 1; power <= 2 * errors; power++) {
    for (let conjugate = power % field.order, i = 0; i < degree; i++, conjugate = 2 * conjugate % field.order) {
      roots.add(conjugate);
    }
  }
  let generator: number[] = [1];
  for (const power of roots) generator = timesRoot(field, generator, field.power(power));
  const length = field.order - shortened, message = length - roots.size;
  if (message < 1) {
    throw new RangeError(
      `Cannot correct ${errors} errors in ${length} bits: ${roots.size} bits of parity leave none for a message`,
    );
  }
  return { field, length, message, generator, firstRoot: 1, roots: 2 * errors };
}

/** Puts the parity of a message behind it. @param word message, with room for the parity */
export function encodeAlgebraic(word: Int32Array, { field, length, message, generator }: AlgebraicCode): void {
  const parity = length - message, rest = new Int32Array(parity);
  for (let i = 0; i < message; i++) {
    const feedback = word[i] ^ rest[0];
    for (let j = 0; j < parity; j++) {
      rest[j] = (j + 1 < parity ? rest[j + 1] : 0) ^ field.multiply(feedback, generator[j + 1]);
    }
  }
  word.set(rest, message);
}

/**
 * Corrects a received word in place.
 * @returns number of corrected symbols, or -1 where there are more errors than the code corrects; the word then stays as it was
 */
export function correctAlgebraic(word: Int32Array, code: AlgebraicCode): number {
  const { field, length, roots, firstRoot } = code;
  const syndromes = new Int32Array(roots);
  let clean = true;
  for (let i = 0; i < roots; i++) {
    const at = field.power(firstRoot + i);
    let value = 0;
    for (let j = 0; j < length; j++) value = field.multiply(value, at) ^ word[j];
    syndromes[i] = value;
    clean &&= value === 0;
  }
  if (clean) return 0;
  const locator = locatorOf(syndromes, field), errors = locator.length - 1;
  if (2 * errors > roots) return -1;
  const places: number[] = [];
  for (let power = 0; power < length; power++) {
    // An error at the power p makes α^-p a root.
    if (evaluate(locator, field.power(-power), field) === 0) places.push(power);
  }
  if (places.length !== errors) return -1;
  const values = errorValues(places, syndromes, locator, code);
  if (values === null) return -1;
  places.forEach((power, i) => word[length - 1 - power] ^= values[i]);
  return errors;
}

/** Λ, lowest power first. */
function locatorOf(syndromes: Int32Array, field: GaloisField): number[] {
  let locator = [1], previous = [1], errors = 0, shift = 1, last = 1;
  for (let i = 0; i < syndromes.length; i++) {
    let discrepancy = syndromes[i];
    for (let j = 1; j <= errors; j++) discrepancy ^= field.multiply(locator[j] ?? 0, syndromes[i - j]);
    if (discrepancy === 0) {
      shift++;
      continue;
    }
    const factor = field.divide(discrepancy, last), before = locator;
    locator = Array.from(
      { length: Math.max(locator.length, previous.length + shift) },
      (_, j) => (locator[j] ?? 0) ^ field.multiply(factor, previous[j - shift] ?? 0),
    );
    if (2 * errors <= i) {
      [errors, previous, last, shift] = [i + 1 - errors, before, discrepancy, 1];
    } else {
      shift++;
    }
  }
  while (locator.at(-1) === 0) locator.pop();
  // A degree below the number of errors has no solution: it is then longer than the code corrects.
  return locator.length - 1 === errors ? locator : new Array(syndromes.length + 2).fill(1);
}

function evaluate(polynomial: readonly number[], x: number, field: GaloisField): number {
  let value = 0;
  for (let i = polynomial.length - 1; i >= 0; i--) value = field.multiply(value, x) ^ polynomial[i];
  return value;
}

/** Forney: e = X^(1-b)·Ω(X⁻¹)/Λ'(X⁻¹); null where Λ has a double root. */
function errorValues(
  places: readonly number[],
  syndromes: Int32Array,
  locator: readonly number[],
  { field, firstRoot }: AlgebraicCode,
): number[] | null {
  const evaluator = Array.from({ length: syndromes.length }, (_, i) => {
    let value = 0;
    for (let j = 0; j <= Math.min(i, locator.length - 1); j++) value ^= field.multiply(locator[j], syndromes[i - j]);
    return value;
  });
  // In characteristic 2 the derivative keeps the odd powers.
  const derivative = locator.slice(1).map((value, i) => i % 2 === 0 ? value : 0);
  const values: number[] = [];
  for (const place of places) {
    const inverse = field.power(-place), below = evaluate(derivative, inverse, field);
    if (below === 0) return null;
    const above = field.multiply(evaluate(evaluator, inverse, field), field.power(place * (1 - firstRoot)));
    values.push(field.divide(above, below));
  }
  return values;
}

/**
 * Discrete Fourier transform of any length on interleaved complex binary64:
 *
 *     X[k] = Σ x[n]·exp(-j2πkn/N),   x[n] = 1/N · Σ X[k]·exp(+j2πkn/N)
 *
 * Lengths that are products of 2, 3 and 5 run through Stockham's self-sorting passes of radix 4, 2, 3 and 5; other
 * lengths are a convolution with a chirp (Bluestein), since kn = (k² + n² - (k - n)²)/2. The chirp's angles are reduced
 * exactly, as n² mod 2N, before their cosine is taken. The error grows as the logarithm of the length.
 *
 * Sources: Cochran et al., "What is the fast Fourier transform?", Proc. IEEE 55, 1967 (Stockham's form); Bluestein, "A linear
 * filtering approach to the computation of the discrete Fourier transform", IEEE Trans. Audio Electroacoust. 18, 1970.
 */

/**
 * A transform of one length: its tables and work space are made once. Not for use by two threads at a time.
 */
export class Fft {
  readonly #passes: Stockham | undefined;
  readonly #chirp: Bluestein | undefined;

  /**
   * @param size complex values, at least 1
   * @throws RangeError when it is not a positive integer
   */
  constructor(readonly size: number) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`Cannot transform ${size} values`);
    const radices = radicesOf(size);
    if (radices) this.#passes = new Stockham(size, radices);
    else this.#chirp = new Bluestein(size);
  }

  /**
   * X of x.
   * @param x interleaved complex, 2·size numbers
   * @param out takes the result; may be x itself
   * @throws RangeError when a length differs
   */
  forward(x: Float64Array, out: Float64Array<ArrayBuffer> = new Float64Array(2 * this.size)) {
    this.#check(x, out);
    if (this.#passes) this.#passes.run(x, out);
    else this.#chirp!.run(x, out);
    return out;
  }

  /** x of X, with the factor 1/N; arguments as in `forward`. */
  inverse(x: Float64Array, out: Float64Array<ArrayBuffer> = new Float64Array(2 * this.size)) {
    // The inverse is the transform in reverse order: x[n] = X'[-n mod N] / N with X' the transform of X.
    this.forward(x, out);
    const { size } = this, factor = 1 / size;
    out[0] *= factor;
    out[1] *= factor;
    for (let low = 1, high = size - 1; low <= high; low++, high--) {
      const p = 2 * low, q = 2 * high, real = out[p], imaginary = out[p + 1];
      out[p] = factor * out[q];
      out[p + 1] = factor * out[q + 1];
      out[q] = factor * real;
      out[q + 1] = factor * imaginary;
    }
    return out;
  }

  #check(x: Float64Array, out: Float64Array): void {
    for (const { length } of [x, out]) {
      if (length !== 2 * this.size) {
        throw new RangeError(`Cannot transform ${length / 2} complex values at a length of ${this.size}`);
      }
    }
  }
}

const plans = new Map<number, Fft>();
const MAX_PLANS = 32;

function planOf(size: number): Fft {
  let plan = plans.get(size);
  if (plan === undefined) {
    plan = new Fft(size);
    if (plans.size >= MAX_PLANS) plans.delete(plans.keys().next().value!);
    plans.set(size, plan);
  }
  return plan;
}

/** X of x, interleaved complex. @throws RangeError for an empty or odd-length array */
export function fft(x: Float64Array): Float64Array<ArrayBuffer> {
  return planOf(x.length / 2).forward(x);
}

/** x of X, interleaved complex, with the factor 1/N. @throws RangeError for an empty or odd-length array */
export function ifft(x: Float64Array): Float64Array<ArrayBuffer> {
  return planOf(x.length / 2).inverse(x);
}

/** exp(-j2πk/N) for k < count, each from its own angle; on the axes they are exact. */
function roots(size: number, count: number): Float64Array {
  const table = new Float64Array(2 * count);
  for (let k = 0; k < count; k++) {
    const angle = -2 * Math.PI * k / size;
    table[2 * k] = 4 * k === size || 4 * k === 3 * size ? 0 : Math.cos(angle);
    table[2 * k + 1] = 2 * k === size || k === 0 ? 0 : Math.sin(angle);
  }
  return table;
}

const SIN_120 = Math.sqrt(3) / 2;
const [COS_72, SIN_72] = [Math.cos(2 * Math.PI / 5), Math.sin(2 * Math.PI / 5)];
const [COS_144, SIN_144] = [Math.cos(4 * Math.PI / 5), Math.sin(4 * Math.PI / 5)];

const RADICES = [4, 2, 3, 5] as const;
type Radix = typeof RADICES[number];

/** Factors of a length among the radices; null where another is left. */
function radicesOf(size: number): Radix[] | null {
  const found: Radix[] = [];
  for (const radix of RADICES) {
    for (; size % radix === 0; size /= radix) found.push(radix);
  }
  return size === 1 ? found : null;
}

/** Products of 2, 3 and 5. */
class Stockham {
  readonly #roots: Float64Array;
  readonly #work: Float64Array<ArrayBuffer>;
  readonly #result: Float64Array<ArrayBuffer>;

  constructor(readonly size: number, readonly radices: readonly Radix[]) {
    this.#roots = roots(size, size);
    this.#work = new Float64Array(2 * size);
    this.#result = new Float64Array(2 * size);
  }

  run(x: Float64Array, out: Float64Array): void {
    let from = this.#work, to = this.#result;
    from.set(x);
    // n values still to be transformed, in `stride` interleaved sequences.
    let n = this.size, stride = 1;
    for (const radix of this.radices) {
      if (radix === 4) this.#radix4(from, to, n, stride);
      else if (radix === 2) this.#radix2(from, to, n, stride);
      else if (radix === 3) this.#radix3(from, to, n, stride);
      else this.#radix5(from, to, n, stride);
      [from, to] = [to, from];
      n /= radix;
      stride *= radix;
    }
    out.set(from);
  }

  #radix2(from: Float64Array, to: Float64Array, n: number, stride: number): void {
    const w = this.#roots, half = n / 2, step = 2 * stride, hop = step * half;
    for (let p = 0; p < half; p++) {
      const wr = w[p * step], wi = w[p * step + 1], source = p * step, target = 2 * source;
      for (let q = 0; q < step; q += 2) {
        const i = source + q, o = target + q;
        const ar = from[i], ai = from[i + 1], br = from[i + hop], bi = from[i + hop + 1];
        const dr = ar - br, di = ai - bi;
        to[o] = ar + br;
        to[o + 1] = ai + bi;
        to[o + step] = dr * wr - di * wi;
        to[o + step + 1] = dr * wi + di * wr;
      }
    }
  }

  #radix3(from: Float64Array, to: Float64Array, n: number, stride: number): void {
    const w = this.#roots, third = n / 3, step = 2 * stride, hop = step * third;
    for (let p = 0; p < third; p++) {
      const a1 = p * step, a2 = 2 * a1, source = p * step, target = 3 * source;
      const w1r = w[a1], w1i = w[a1 + 1], w2r = w[a2], w2i = w[a2 + 1];
      for (let q = 0; q < step; q += 2) {
        const i = source + q, o = target + q;
        const ar = from[i], ai = from[i + 1];
        const br = from[i + hop], bi = from[i + hop + 1], cr = from[i + 2 * hop], ci = from[i + 2 * hop + 1];
        // cos 120° = -1/2 for the even part, sin 120° for the odd part.
        const sr = br + cr, si = bi + ci, mr = ar - 0.5 * sr, mi = ai - 0.5 * si;
        const dr = SIN_120 * (br - cr), di = SIN_120 * (bi - ci);
        const xr = mr + di, xi = mi - dr, yr = mr - di, yi = mi + dr;
        to[o] = ar + sr;
        to[o + 1] = ai + si;
        to[o + step] = xr * w1r - xi * w1i;
        to[o + step + 1] = xr * w1i + xi * w1r;
        to[o + 2 * step] = yr * w2r - yi * w2i;
        to[o + 2 * step + 1] = yr * w2i + yi * w2r;
      }
    }
  }

  #radix5(from: Float64Array, to: Float64Array, n: number, stride: number): void {
    const w = this.#roots, fifth = n / 5, step = 2 * stride, hop = step * fifth;
    for (let p = 0; p < fifth; p++) {
      const a1 = p * step, a2 = 2 * a1, a3 = 3 * a1, a4 = 4 * a1, source = p * step, target = 5 * source;
      const w1r = w[a1], w1i = w[a1 + 1], w2r = w[a2], w2i = w[a2 + 1];
      const w3r = w[a3], w3i = w[a3 + 1], w4r = w[a4], w4i = w[a4 + 1];
      for (let q = 0; q < step; q += 2) {
        const i0 = source + q, i1 = i0 + hop, i2 = i1 + hop, i3 = i2 + hop, i4 = i3 + hop;
        const ar = from[i0], ai = from[i0 + 1];
        // Opposite values form sums, which are multiplied by cosines, and differences, which are multiplied by sines.
        const br = from[i1] + from[i4], bi = from[i1 + 1] + from[i4 + 1];
        const cr = from[i2] + from[i3], ci = from[i2 + 1] + from[i3 + 1];
        const dr = from[i1] - from[i4], di = from[i1 + 1] - from[i4 + 1];
        const er = from[i2] - from[i3], ei = from[i2 + 1] - from[i3 + 1];
        const fr = ar + COS_72 * br + COS_144 * cr, fi = ai + COS_72 * bi + COS_144 * ci;
        const gr = ar + COS_144 * br + COS_72 * cr, gi = ai + COS_144 * bi + COS_72 * ci;
        const hr = SIN_72 * dr + SIN_144 * er, hi = SIN_72 * di + SIN_144 * ei;
        const kr = SIN_144 * dr - SIN_72 * er, ki = SIN_144 * di - SIN_72 * ei;
        const ur = fr + hi, ui = fi - hr, vr = gr + ki, vi = gi - kr;
        const xr = gr - ki, xi = gi + kr, yr = fr - hi, yi = fi + hr;
        const o0 = target + q, o1 = o0 + step, o2 = o1 + step, o3 = o2 + step, o4 = o3 + step;
        to[o0] = ar + br + cr;
        to[o0 + 1] = ai + bi + ci;
        to[o1] = ur * w1r - ui * w1i;
        to[o1 + 1] = ur * w1i + ui * w1r;
        to[o2] = vr * w2r - vi * w2i;
        to[o2 + 1] = vr * w2i + vi * w2r;
        to[o3] = xr * w3r - xi * w3i;
        to[o3 + 1] = xr * w3i + xi * w3r;
        to[o4] = yr * w4r - yi * w4i;
        to[o4 + 1] = yr * w4i + yi * w4r;
      }
    }
  }

  #radix4(from: Float64Array, to: Float64Array, n: number, stride: number): void {
    const w = this.#roots, quarter = n / 4, step = 2 * stride;
    const hop = 2 * stride * quarter;
    for (let p = 0; p < quarter; p++) {
      const a1 = p * step, a2 = 2 * a1, a3 = 3 * a1;
      const w1r = w[a1], w1i = w[a1 + 1], w2r = w[a2], w2i = w[a2 + 1], w3r = w[a3], w3i = w[a3 + 1];
      const source = p * step, target = 4 * p * step;
      for (let q = 0; q < step; q += 2) {
        const i0 = source + q, i1 = i0 + hop, i2 = i1 + hop, i3 = i2 + hop;
        const ar = from[i0], ai = from[i0 + 1], br = from[i1], bi = from[i1 + 1];
        const cr = from[i2], ci = from[i2 + 1], dr = from[i3], di = from[i3 + 1];
        const sr = ar + cr, si = ai + ci, tr = ar - cr, ti = ai - ci;
        const ur = br + dr, ui = bi + di, vr = br - dr, vi = bi - di;
        const o0 = target + q, o1 = o0 + step, o2 = o1 + step, o3 = o2 + step;
        to[o0] = sr + ur;
        to[o0 + 1] = si + ui;
        // t - jv, s - u, t + jv, each rotated by its root.
        const xr = tr + vi, xi = ti - vr, yr = sr - ur, yi = si - ui, zr = tr - vi, zi = ti + vr;
        to[o1] = xr * w1r - xi * w1i;
        to[o1 + 1] = xr * w1i + xi * w1r;
        to[o2] = yr * w2r - yi * w2i;
        to[o2 + 1] = yr * w2i + yi * w2r;
        to[o3] = zr * w3r - zi * w3i;
        to[o3 + 1] = zr * w3i + zi * w3r;
      }
    }
  }
}

/** Any other length, as a circular convolution whose length is a power of two. */
class Bluestein {
  readonly #inner: Fft;
  /** exp(-jπn²/N) */
  readonly #chirp: Float64Array;
  /** Transform of its conjugate, wrapped around. */
  readonly #filter: Float64Array<ArrayBuffer>;
  readonly #work: Float64Array<ArrayBuffer>;

  constructor(readonly size: number) {
    const length = 1 << Math.ceil(Math.log2(2 * size - 1));
    this.#inner = new Fft(length);
    this.#work = new Float64Array(2 * length);
    const angles = roots(2 * size, 2 * size), chirp = new Float64Array(2 * size);
    const filter = new Float64Array(2 * length);
    // n² mod 2N, by the difference of neighbouring squares.
    for (let n = 0, square = 0; n < size; square = (square + 2 * n + 1) % (2 * size), n++) {
      const real = angles[2 * square], imaginary = angles[2 * square + 1];
      chirp[2 * n] = real;
      chirp[2 * n + 1] = imaginary;
      for (const at of n === 0 ? [0] : [2 * n, 2 * (length - n)]) {
        filter[at] = real;
        filter[at + 1] = -imaginary;
      }
    }
    this.#chirp = chirp;
    this.#filter = this.#inner.forward(filter);
  }

  run(x: Float64Array, out: Float64Array): void {
    const { size } = this, chirp = this.#chirp, filter = this.#filter, work = this.#work;
    multiplyInto(work, x, chirp, size);
    work.fill(0, 2 * size);
    this.#inner.forward(work, work);
    multiplyInto(work, work, filter, work.length / 2);
    this.#inner.inverse(work, work);
    multiplyInto(out, work, chirp, size);
  }
}

function multiplyInto(out: Float64Array, a: Float64Array, b: Float64Array, count: number): void {
  for (let i = 0; i < 2 * count; i += 2) {
    const ar = a[i], ai = a[i + 1], br = b[i], bi = b[i + 1];
    out[i] = ar * br - ai * bi;
    out[i + 1] = ar * bi + ai * br;
  }
}

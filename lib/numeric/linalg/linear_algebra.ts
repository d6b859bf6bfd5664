/**
 * Small dense complex matrices: row-major, interleaved (real, imaginary) binary64. A result goes into `out` if given;
 * `out` must not be an argument as well. Loops over many small matrices then allocate nothing.
 */

export type ComplexMatrix = Float64Array<ArrayBuffer>;

/** A zero matrix. */
export function zeros(rows: number, columns: number): ComplexMatrix {
  return new Float64Array(2 * rows * columns);
}

/**
 * AᴴA.
 * @param a rows × columns, from element `offset` (counted in complex values) on
 * @returns columns × columns, Hermitian
 */
export function gram(
  a: Float64Array,
  rows: number,
  columns: number,
  { offset = 0, out = zeros(columns, columns) }: { offset?: number; out?: ComplexMatrix } = {},
): ComplexMatrix {
  for (let i = 0; i < columns; i++) {
    for (let j = 0; j <= i; j++) {
      let real = 0, imaginary = 0;
      for (let k = 0; k < rows; k++) {
        const p = 2 * (offset + k * columns + i), q = 2 * (offset + k * columns + j);
        real += a[p] * a[q] + a[p + 1] * a[q + 1];
        imaginary += a[p] * a[q + 1] - a[p + 1] * a[q];
      }
      const lower = 2 * (i * columns + j), upper = 2 * (j * columns + i);
      out[upper] = out[lower] = real;
      out[lower + 1] = imaginary;
      out[upper + 1] = -imaginary;
      if (i === j) out[lower + 1] = 0;
    }
  }
  return out;
}

/**
 * The lower triangular L with a real positive diagonal and A = LLᴴ.
 * @param a n × n Hermitian; only its lower triangle is read
 * @throws RangeError when it is not positive definite
 */
export function cholesky(a: Float64Array, n: number, out: ComplexMatrix = zeros(n, n)): ComplexMatrix {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const at = 2 * (i * n + j);
      if (j > i) {
        out[at] = out[at + 1] = 0;
        continue;
      }
      let real = a[at], imaginary = a[at + 1];
      for (let k = 0; k < j; k++) {
        const p = 2 * (i * n + k), q = 2 * (j * n + k);
        real -= out[p] * out[q] + out[p + 1] * out[q + 1];
        imaginary -= out[p + 1] * out[q] - out[p] * out[q + 1];
      }
      if (i === j) {
        if (!(real > 0)) throw new RangeError("Cannot factor a matrix that is not positive definite");
        out[at] = Math.sqrt(real);
        out[at + 1] = 0;
      } else {
        const pivot = out[2 * (j * n + j)];
        out[at] = real / pivot;
        out[at + 1] = imaginary / pivot;
      }
    }
  }
  return out;
}

/**
 * L⁻¹ by forward substitution.
 * @param lower n × n, lower triangular with a real diagonal, as `cholesky` returns it
 */
export function inverseLower(lower: Float64Array, n: number, out: ComplexMatrix = zeros(n, n)): ComplexMatrix {
  out.fill(0);
  for (let j = 0; j < n; j++) {
    out[2 * (j * n + j)] = 1 / lower[2 * (j * n + j)];
    for (let i = j + 1; i < n; i++) {
      let real = 0, imaginary = 0;
      for (let k = j; k < i; k++) {
        const p = 2 * (i * n + k), q = 2 * (k * n + j);
        real += lower[p] * out[q] - lower[p + 1] * out[q + 1];
        imaginary += lower[p] * out[q + 1] + lower[p + 1] * out[q];
      }
      const pivot = lower[2 * (i * n + i)], at = 2 * (i * n + j);
      out[at] = -real / pivot;
      out[at + 1] = -imaginary / pivot;
    }
  }
  return out;
}

/** AB for A m × n and B n × p. */
export function matrixProduct(a: Float64Array, b: Float64Array, m: number, n: number, p: number): ComplexMatrix {
  const out = zeros(m, p);
  for (let i = 0; i < m; i++) {
    for (let k = 0; k < n; k++) {
      const ar = a[2 * (i * n + k)], ai = a[2 * (i * n + k) + 1];
      for (let j = 0; j < p; j++) {
        const q = 2 * (k * p + j), at = 2 * (i * p + j);
        out[at] += ar * b[q] - ai * b[q + 1];
        out[at + 1] += ar * b[q + 1] + ai * b[q];
      }
    }
  }
  return out;
}

/** Aᴴ, n × m. */
export function conjugateTranspose(a: Float64Array, m: number, n: number): ComplexMatrix {
  const out = zeros(n, m);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      out[2 * (j * m + i)] = a[2 * (i * n + j)];
      out[2 * (j * m + i) + 1] = -a[2 * (i * n + j) + 1];
    }
  }
  return out;
}

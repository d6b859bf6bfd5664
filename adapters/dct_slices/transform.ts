/**
 * The 8 x 8 discrete cosine transform (orthonormal, DCT-II), and the zigzag order of its coefficients.
 *
 * X[u] = c(u) Σ x[i] cos((2i + 1)uπ/16), c(0) = sqrt(1/8), c(u) = 1/2, along rows and columns.
 */

const BASIS = Array.from(
  { length: 8 },
  (_, u) =>
    Float64Array.from(
      { length: 8 },
      (_, i) => (u === 0 ? Math.SQRT1_2 : 1) / 2 * Math.cos((2 * i + 1) * u * Math.PI / 16),
    ),
);

/** Transforms a block in place. */
export function forward(block: Float64Array): void {
  separable(block, (u, i) => BASIS[u][i]);
}

/** Inverse transform in place. */
export function inverse(block: Float64Array): void {
  separable(block, (i, u) => BASIS[u][i]);
}

function separable(block: Float64Array, weight: (to: number, from: number) => number): void {
  const line = new Float64Array(8);
  for (const [step, stride] of [[8, 1], [1, 8]]) {
    for (let n = 0; n < 8; n++) {
      for (let to = 0; to < 8; to++) {
        let sum = 0;
        for (let from = 0; from < 8; from++) sum += weight(to, from) * block[n * step + from * stride];
        line[to] = sum;
      }
      for (let to = 0; to < 8; to++) block[n * step + to * stride] = line[to];
    }
  }
}

/** Places of the coefficients from low to high frequency, diagonal by diagonal (ITU-T T.81, figure 5). */
export const ZIGZAG: readonly number[] = Array.from({ length: 64 }, (_, place) => place).sort((a, b) => {
  const [ya, xa, yb, xb] = [a >> 3, a & 7, b >> 3, b & 7];
  if (ya + xa !== yb + xb) return ya + xa - yb - xb;
  return (ya + xa) % 2 === 0 ? yb - ya : ya - yb;
});

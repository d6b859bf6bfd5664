/**
 * Gauss-Hermite quadrature: the integral of e^(-x²) f(x) is the sum of w_i f(x_i), exact for polynomials up to degree
 * 2n - 1. Nodes are the zeros of the orthonormal Hermite function of order n, by Newton's method; w_i = 2 / h'(x_i)².
 *
 * Source: Press et al., Numerical Recipes, 3rd ed., 2007, section 4.6.
 */

export interface Quadrature {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

/** The rule of n nodes in ascending order, for n up to about 100. */
export function gaussHermite(n: number): Quadrature {
  const nodes = new Float64Array(n), weights = new Float64Array(n);
  for (let i = 0; i < Math.ceil(n / 2); i++) {
    let x = i === 0
      ? Math.sqrt(2 * n + 1) - 1.85575 * (2 * n + 1) ** (-1 / 6)
      : i === 1
      ? nodes[n - 1] - 1.14 * n ** 0.426 / nodes[n - 1]
      : i === 2
      ? 1.86 * nodes[n - 2] - 0.86 * nodes[n - 1]
      : i === 3
      ? 1.91 * nodes[n - 3] - 0.91 * nodes[n - 2]
      : 2 * nodes[n - i] - nodes[n - i + 1];
    let slope = 1;
    for (let step = 0; step < 100; step++) {
      let value = Math.PI ** -0.25, before = 0;
      for (let j = 0; j < n; j++) {
        const older = before;
        before = value;
        value = x * Math.sqrt(2 / (j + 1)) * before - Math.sqrt(j / (j + 1)) * older;
      }
      slope = Math.sqrt(2 * n) * before;
      const change = value / slope;
      x -= change;
      if (Math.abs(change) < 1e-15 * Math.max(1, Math.abs(x))) break;
    }
    nodes[n - 1 - i] = x;
    nodes[i] = -x;
    weights[n - 1 - i] = weights[i] = 2 / (slope * slope);
  }
  if (n % 2 === 1) nodes[(n - 1) / 2] = 0;
  return { nodes, weights };
}

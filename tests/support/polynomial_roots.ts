/**
 * All roots of a complex polynomial at once, by Ehrlich and Aberth's iteration: Newton's step of each root, corrected for the
 * pull of the others.
 *
 *     p(z) = Σ c_k z^k,   w = p/p',   z_i <- z_i - w_i / (1 - w_i·Σ_{j≠i} 1/(z_i - z_j))
 *
 * Outside the unit circle the reversed polynomial is evaluated at 1/z, so that high degrees do not overflow. Multiple roots
 * come out with the accuracy that they have: a root of multiplicity m to about the m-th root of the working precision.
 *
 * Source: Aberth, "Iteration methods for finding all zeros of a polynomial simultaneously", Math. Comp. 27, 1973.
 */
import type { ComplexMatrix } from "../../lib/numeric/linalg/linear_algebra.ts";

const MOST_ITERATIONS = 500;

/**
 * The roots, in the order of their starting points on a circle.
 *
 * @param coefficients interleaved complex, that of z^0 first; leading zeros of the highest powers are dropped
 * @returns interleaved complex, as many as the degree
 * @throws RangeError when all coefficients are zero or one is not finite, or there is no convergence
 */
export function polynomialRoots(coefficients: Float64Array): ComplexMatrix {
  if (!coefficients.every(Number.isFinite)) {
    throw new RangeError("Cannot find the roots of a polynomial whose coefficients are not finite");
  }
  let degree = coefficients.length / 2 - 1;
  while (degree >= 0 && coefficients[2 * degree] === 0 && coefficients[2 * degree + 1] === 0) degree--;
  if (degree < 0) throw new RangeError("Cannot find the roots of the zero polynomial");
  // Roots at 0 are exact.
  let zeros = 0;
  while (coefficients[2 * zeros] === 0 && coefficients[2 * zeros + 1] === 0) zeros++;
  const c = coefficients.subarray(2 * zeros, 2 * (degree + 1)), n = degree - zeros;
  const roots = new Float64Array(2 * degree);
  if (n > 0) roots.set(iterate(c, n), 2 * zeros);
  return roots;
}

function iterate(c: Float64Array, n: number): Float64Array {
  const z = new Float64Array(2 * n), settled = new Uint8Array(n);
  // The mean modulus of the roots is that of (c_0 / c_n)^(1/n); the offset angle avoids symmetric traps.
  const radius = Math.exp((Math.log(Math.hypot(c[0], c[1])) - Math.log(Math.hypot(c[2 * n], c[2 * n + 1]))) / n);
  for (let i = 0; i < n; i++) {
    const angle = 2 * Math.PI * i / n + 0.4;
    z[2 * i] = radius * Math.cos(angle);
    z[2 * i + 1] = radius * Math.sin(angle);
  }
  const step = new Float64Array(2);
  for (let pass = 0; pass < MOST_ITERATIONS; pass++) {
    let moving = false;
    for (let i = 0; i < n; i++) {
      if (settled[i]) continue;
      if (newton(c, n, z[2 * i], z[2 * i + 1], step)) {
        settled[i] = 1;
        continue;
      }
      let pullReal = 0, pullImaginary = 0;
      for (let j = 0; j < n; j++) {
        if (j === i) continue;
        const dr = z[2 * i] - z[2 * j], di = z[2 * i + 1] - z[2 * j + 1], dd = dr * dr + di * di;
        if (dd === 0) continue;
        pullReal += dr / dd;
        pullImaginary -= di / dd;
      }
      const [wr, wi] = step;
      const er = 1 - (wr * pullReal - wi * pullImaginary), ei = -(wr * pullImaginary + wi * pullReal);
      const power = er * er + ei * ei;
      const mr = (wr * er + wi * ei) / power, mi = (wi * er - wr * ei) / power;
      z[2 * i] -= mr;
      z[2 * i + 1] -= mi;
      moving = true;
      if (Math.hypot(mr, mi) <= Number.EPSILON * Math.hypot(z[2 * i], z[2 * i + 1])) settled[i] = 1;
    }
    if (!moving) return z;
  }
  throw new RangeError(`Cannot find the roots of a polynomial of degree ${n}: no convergence`);
}

/**
 * Newton's step p/p' into `step`.
 *
 * @returns whether p is zero to the rounding errors of its evaluation
 */
function newton(c: Float64Array, n: number, x: number, y: number, step: Float64Array): boolean {
  const modulus = Math.hypot(x, y), reversed = modulus > 1;
  const squared = x * x + y * y;
  const zr = reversed ? x / squared : x, zi = reversed ? -y / squared : y, size = reversed ? 1 / modulus : modulus;
  const at = (k: number) => 2 * (reversed ? k : n - k);
  let pr = c[at(0)], pi = c[at(0) + 1], dr = 0, di = 0, bound = Math.hypot(pr, pi);
  for (let k = 1; k <= n; k++) {
    const nr = dr * zr - di * zi + pr, ni = dr * zi + di * zr + pi;
    [dr, di] = [nr, ni];
    const qr = pr * zr - pi * zi + c[at(k)], qi = pr * zi + pi * zr + c[at(k) + 1];
    [pr, pi] = [qr, qi];
    bound = bound * size + Math.hypot(pr, pi);
  }
  if (Math.hypot(pr, pi) <= 2 * Number.EPSILON * bound) return true;
  if (reversed) {
    // With r(u) = u^n p(1/u), u = 1/z: p/p' = 1 / (u·(n - u·r'/r)).
    const pp = pr * pr + pi * pi;
    const ar = (dr * pr + di * pi) / pp, ai = (di * pr - dr * pi) / pp;
    const br = n - (zr * ar - zi * ai), bi = -(zr * ai + zi * ar);
    const er = zr * br - zi * bi, ei = zr * bi + zi * br, ee = er * er + ei * ei;
    step[0] = er / ee;
    step[1] = -ei / ee;
  } else {
    const dd = dr * dr + di * di;
    step[0] = (pr * dr + pi * di) / dd;
    step[1] = (pi * dr - pr * di) / dd;
  }
  return false;
}

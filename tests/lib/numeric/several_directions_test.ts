/** Directions of several sources against the vectors, closed forms and brute force. */
import assert from "node:assert/strict";
import { complexEigenvalues, polynomialRoots } from "../../../lib/numeric/linalg/complex_eigen.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { directionCramerRao } from "../../../lib/numeric/antenna/direction_finding.ts";
import { hermitianEigen } from "../../../lib/numeric/linalg/hermitian_eigen.ts";
import { zeros } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { SpectrumSearch } from "../../../lib/numeric/antenna/array_spectrum.ts";
import {
  closestPairs,
  esprit,
  forwardBackward,
  rootMusic,
  sourceOrder,
  spatiallySmoothed,
  stochasticCramerRao,
} from "../../../lib/numeric/antenna/several_directions.ts";
import stored from "../../data/physical/aoa_multi.json" with { type: "json" };

const GRID = Float64Array.from({ length: 721 }, (_, k) => -90 + k / 4);

function close(found: Float64Array, expected: readonly number[], tolerance: number, what: string) {
  assert.equal(found.length, expected.length, what);
  expected.forEach((value, i) =>
    assert.ok(Math.abs(found[i] - value) <= tolerance, `${what}: ${found} for ${expected}`)
  );
}

/** R = A P Aᴴ + noise of the given real source covariance. */
function covarianceOf(
  degrees: number[],
  antennas: number,
  noise: number,
  p = (i: number, j: number) => Number(i === j),
) {
  const r = zeros(antennas, antennas), columns = degrees.map((angle) => steeringVector(angle, antennas, 0.5));
  for (let m = 0; m < antennas; m++) {
    r[2 * (m * antennas + m)] += noise;
    for (let n = 0; n < antennas; n++) {
      const at = 2 * (m * antennas + n);
      columns.forEach((a, i) =>
        columns.forEach((b, j) => {
          r[at] += p(i, j) * (a[2 * m] * b[2 * n] + a[2 * m + 1] * b[2 * n + 1]);
          r[at + 1] += p(i, j) * (a[2 * m + 1] * b[2 * n] - a[2 * m] * b[2 * n + 1]);
        })
      );
    }
  }
  return r;
}

Deno.test("the stored cases: eigenvalues, orders, all estimators and the bound", () => {
  for (const [index, one] of stored.cases.entries()) {
    const { antennas, sources, snapshots } = one, r = Float64Array.from(one.R.flat());
    const eigen = hermitianEigen(r, antennas), search = new SpectrumSearch(GRID, antennas, 0.5);
    const what = (name: string) => `case ${index}, ${name}`;
    close(eigen.values.toReversed(), one.eigenvalues, 1e-9, what("eigenvalues"));
    assert.equal(sourceOrder(eigen.values, snapshots, "aic"), one.aic_order, what("AIC"));
    assert.equal(sourceOrder(eigen.values, snapshots, "mdl"), one.mdl_order, what("MDL"));
    for (const method of ["music", "capon"] as const) {
      const { angles, missing } = search.peaks(search.spectrum(eigen, method, sources), sources);
      assert.equal(missing, 0);
      close(angles, one[`${method}_deg`], 1e-6, what(method));
    }
    close(rootMusic(eigen, antennas, sources, 0.5).angles, one.root_music_deg, 1e-6, what("root-MUSIC"));
    for (const variant of ["ls", "tls"] as const) {
      const { angles } = esprit(eigen, antennas, sources, { spacing: 0.5, variant });
      close(angles, one[`esprit_${variant}_deg`], 1e-6, what(variant));
    }
    const covariance = new Float64Array(sources ** 2);
    for (let i = 0; i < sources; i++) covariance[i * (sources + 1)] = 1;
    const bound = stochasticCramerRao(Float64Array.from(one.true_angles_deg), {
      antennas,
      snapshots,
      spacing: 0.5,
      noiseVariance: 10 ** (-one.snr_db / 10),
      covariance,
    });
    close(bound.map(Math.sqrt), one.stochastic_crb_deg, 1e-6, what("bound"));
  }
});

Deno.test("eigenvalues and roots: known ones, double ones, and characteristic sums", () => {
  // (z - 2)(z - j)(z + 1 - j), the constant first
  const product = (roots: [number, number][]) =>
    roots.reduce((c, [real, imaginary]) => {
      const out = new Float64Array(c.length + 2);
      out.set(c, 2);
      for (let k = 0; k < c.length; k += 2) {
        out[k] -= real * c[k] - imaginary * c[k + 1];
        out[k + 1] -= real * c[k + 1] + imaginary * c[k];
      }
      return out;
    }, Float64Array.of(1, 0));
  const known: [number, number][] = [[2, 0], [0, 1], [-1, 1], [0.5, -3], [-4, -0.25]];
  const found = polynomialRoots(product(known));
  for (const [real, imaginary] of known) {
    const nearest = Math.min(...known.map((_, k) => Math.hypot(found[2 * k] - real, found[2 * k + 1] - imaginary)));
    assert.ok(nearest < 1e-11, `${real}, ${imaginary}: ${nearest}`);
  }
  // A double root moves by the square root of the rounding; roots at zero and at infinity are left out.
  const double = polynomialRoots(Float64Array.of(0, 0, ...product([[1, 1], [1, 1]]), 0, 0));
  assert.equal(double.length, 4);
  for (const k of [0, 2]) assert.ok(Math.hypot(double[k] - 1, double[k + 1] - 1) < 1e-7);

  const n = 9, a = Generator.seeded(5).complexNormal64(n * n, 1), values = complexEigenvalues(a, n);
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    sums[0] += a[2 * (i * n + i)] - values[2 * i];
    sums[1] += a[2 * (i * n + i) + 1] - values[2 * i + 1];
    // trace(A²) = Σ λ²
    sums[2] -= values[2 * i] ** 2 - values[2 * i + 1] ** 2;
    sums[3] -= 2 * values[2 * i] * values[2 * i + 1];
    for (let j = 0; j < n; j++) {
      const p = 2 * (i * n + j), q = 2 * (j * n + i);
      sums[2] += a[p] * a[q] - a[p + 1] * a[q + 1];
      sums[3] += a[p] * a[q + 1] + a[p + 1] * a[q];
    }
  }
  for (const sum of sums) assert.ok(Math.abs(sum) < 1e-11, String(sums));
  // A permutation defeats the plain shift: its eigenvalues lie on a circle.
  const cycle = complexEigenvalues(Float64Array.of(0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0), 3);
  for (let k = 0; k < 3; k++) {
    const r = Math.hypot(cycle[2 * k], cycle[2 * k + 1]), turn = 3 * Math.atan2(cycle[2 * k + 1], cycle[2 * k]);
    assert.ok(Math.abs(r - 1) < 1e-12 && Math.abs(Math.sin(turn)) < 1e-12);
  }
  assert.throws(() => complexEigenvalues(Float64Array.of(NaN, 0), 1), RangeError);
});

Deno.test("root-MUSIC and ESPRIT are exact without noise, for any number of sources below the antennas", () => {
  for (
    const [antennas, truth] of [[2, [17.3]], [3, [-40, 25.5]], [6, [-31.2, 4.4, 52]], [9, [
      -60,
      -33,
      -12,
      1,
      14,
      30,
      50,
      70,
    ]]] as const
  ) {
    const eigen = hermitianEigen(covarianceOf([...truth], antennas, 0), antennas);
    const { length } = truth;
    close(rootMusic(eigen, antennas, length, 0.5).angles, truth, 1e-4, `root-MUSIC ${truth}`);
    for (const variant of ["ls", "tls"] as const) {
      close(esprit(eigen, antennas, length, { spacing: 0.5, variant }).angles, truth, 1e-6, `${variant} ${truth}`);
    }
  }
});

Deno.test("coherent sources hide a dimension, and smoothed subarrays restore it", () => {
  const truth = [-12.5, 20], antennas = 10, coherent = covarianceOf(truth, antennas, 0, () => 1);
  const signal = (r: Float64Array, n: number) => hermitianEigen(r, n).values.filter((value) => value > 1e-9).length;
  assert.equal(signal(coherent, antennas), 1);
  const size = 7, smoothed = spatiallySmoothed(coherent, antennas, size);
  assert.equal(signal(smoothed, size), 2);
  close(rootMusic(hermitianEigen(smoothed, size), size, 2, 0.5).angles, truth, 1e-4, "smoothed");
  // Two subarrays per pass of the array suffice when both directions are averaged.
  const both = forwardBackward(spatiallySmoothed(coherent, antennas, 9), 9);
  close(rootMusic(hermitianEigen(both, 9), 9, 2, 0.5).angles, truth, 1e-4, "forward-backward");
  // The average is persymmetric: J R* J = R.
  const again = forwardBackward(both, 9);
  again.forEach((value, i) => assert.ok(Math.abs(value - both[i]) < 1e-12));
});

Deno.test("peaks that a spectrum lacks are counted, and the strongest one is repeated", () => {
  const search = new SpectrumSearch(GRID, 4, 0.5), pair = new SpectrumSearch(GRID, 2, 0.5);
  const lone = hermitianEigen(covarianceOf([11], 2, 0.1), 2);
  const { angles, missing } = pair.peaks(pair.spectrum(lone, "bartlett", 1), 2);
  // The beam of two antennas has one maximum.
  assert.equal(missing, 1);
  close(angles, [11, 11], 0.01, "repeated");
  // Rounding decides the maxima of a flat spectrum.
  const flat = search.spectrum(hermitianEigen(covarianceOf([], 4, 1), 4), "bartlett", 1);
  assert.ok(search.peaks(flat, 1).angles.every(Number.isFinite));
  const silent = hermitianEigen(zeros(4, 4), 4);
  assert.deepEqual(search.peaks(search.spectrum(silent, "bartlett", 1), 2), {
    angles: new Float64Array(2),
    missing: 2,
    strongest: 0,
  });
  assert.equal(sourceOrder(silent.values, 10, "mdl"), 0);
  assert.throws(() => search.spectrum(silent, "capon", 1), RangeError);
});

Deno.test("the bound for one source is the closed form, and grows without limit as two sources meet", () => {
  const array = { antennas: 6, snapshots: 50, spacing: 0.4, noiseVariance: 0.2 };
  const one = stochasticCramerRao(Float64Array.of(33), { ...array, covariance: Float64Array.of(1) })[0];
  const expected = directionCramerRao(33, { ...array, snr: 5 });
  assert.ok(Math.abs(one / expected - 1) < 1e-10, `${one} for ${expected}`);
  const covariance = Float64Array.of(1, 0, 0, 1);
  const two = (gap: number) => stochasticCramerRao(Float64Array.of(-gap / 2, gap / 2), { ...array, covariance })[0];
  assert.ok(two(40) < two(20) && two(20) < two(5));
  assert.equal(two(0), Infinity);
});

Deno.test("pairs have the least cost of all choices", () => {
  const generator = Generator.seeded(9);
  const sorted = (count: number) => (generator.random(count) as Float64Array).slice().sort();
  const brute = (wanted: Float64Array, given: Float64Array, used = new Set<number>(), i = 0): number =>
    i === wanted.length ? 0 : Math.min(...Array.from(given, (value, j) => {
      if (used.has(j)) return Infinity;
      return (wanted[i] - value) ** 2 + brute(wanted, given, new Set([...used, j]), i + 1);
    }));
  for (const [p, q] of [[3, 3], [2, 5], [4, 4], [1, 3], [3, 4]]) {
    const wanted = sorted(p), given = sorted(q), pairs = closestPairs(wanted, given);
    const cost = pairs.reduce((sum, index, i) => sum + (wanted[i] - given[index]) ** 2, 0);
    assert.equal(new Set(pairs).size, p);
    assert.ok(Math.abs(cost - brute(wanted, given)) < 1e-15);
    const turned = closestPairs(given, wanted);
    assert.equal(turned.filter((index) => index >= 0).length, p);
  }
});

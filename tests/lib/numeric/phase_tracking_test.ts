import assert from "node:assert/strict";
import {
  interpolatePhase,
  kalmanPhase,
  pilotPhases,
  smoothPhase,
  trackPhase,
  unwrap,
} from "../../../lib/numeric/link/phase_tracking.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const near = (actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-12) => {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    assert.ok(Math.abs(actual[i] - expected[i]) <= tolerance, `[${i}] ${actual[i]}, ${expected[i]}`);
  }
};

Deno.test("unwrapping removes whole turns only", () => {
  const straight = Float64Array.from({ length: 40 }, (_, i) => 0.7 * i);
  near(unwrap(straight.map((phase) => phase - 2 * Math.PI * Math.round(phase / (2 * Math.PI)))), straight);
  assert.deepEqual([...unwrap([])], []);
  assert.deepEqual([...unwrap([9])], [9]);
});

Deno.test("pilot phases are those of y·conj(pilot), whatever the pilots", () => {
  const values = Float64Array.of(Math.SQRT1_2, -Math.SQRT1_2, -Math.SQRT1_2, Math.SQRT1_2);
  const turned = (angle: number, at: number) => {
    const [real, imaginary] = [values[2 * at], values[2 * at + 1]];
    return [real * Math.cos(angle) - imaginary * Math.sin(angle), real * Math.sin(angle) + imaginary * Math.cos(angle)];
  };
  const symbols = Float64Array.from([...turned(3, 0), 5, 5, ...turned(3.5, 1)]);
  near(pilotPhases(symbols, { positions: [0, 2], values }), [3, 3.5]);
});

Deno.test("a straight phase is met by every estimator of lines, between pilots and by fits beyond them", () => {
  const positions = [2, 3, 4, 11, 19], slope = (k: number) => 0.3 * k - 1;
  const phases = Float64Array.from(positions, slope);
  const truth = Float64Array.from({ length: 25 }, (_, k) => slope(k));
  const interpolated = interpolatePhase(positions, phases, 25);
  near(interpolated.subarray(2, 20), truth.subarray(2, 20));
  assert.ok(interpolated.subarray(0, 2).every((phase) => phase === phases[0]));
  assert.ok(interpolated.subarray(20).every((phase) => phase === phases[4]));
  for (const count of [2, 3, 4, 5, 9]) near(smoothPhase(positions, phases, 25, count), truth, 1e-11);
});

Deno.test("a fit of one is the nearest pilot, of all one line; a preamble is the nearest to what follows it", () => {
  const positions = [0, 4, 10], phases = Float64Array.of(1, 5, 2);
  assert.deepEqual([...smoothPhase(positions, phases, 12, 1)], [1, 1, 1, 5, 5, 5, 5, 5, 2, 2, 2, 2]);
  assert.deepEqual([...smoothPhase([3], Float64Array.of(7), 5, 5)], [7, 7, 7, 7, 7]);
  // Five pilots at 0, 4, 8, 12, 16 with a bend at 8: a fit of three sees it only from the middle.
  const bend = Float64Array.of(0, 0, 0, 4, 8), spaced = [0, 4, 8, 12, 16];
  const smooth = smoothPhase(spaced, bend, 17, 3);
  assert.equal(smooth[4], 0);
  near([smooth[8]], [4 / 3]);
  near([smooth[12], smooth[16]], [4, 8]);
  // At 9 the pilot at 8 is nearer than that at 12: the fit takes 4, 8 and 12.
  near([smooth[9]], [4 / 3 + 0.5]);
  near([smooth[11]], [4 + -1]);
  // At 5 the three pilots of the preamble are nearer than the one at 12, whose phase has no part in the line.
  near([smoothPhase([0, 1, 2, 12, 20], Float64Array.of(0, 1, 2, 99, 99), 21, 3)[5]], [5]);
});

Deno.test("the loop starts at the preamble and ends on a constant phase, and its integrator follows a ramp", () => {
  const length = 4000, values = Float64Array.of(Math.SQRT1_2, Math.SQRT1_2);
  const turn = (phase: (k: number) => number) =>
    Float64Array.from({ length: 2 * length }, (_, i) => {
      const angle = phase(i >> 1) + Math.PI / 4;
      return i % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
    });
  const gains = { alpha: 0.12, beta: 0.005, preamble: 1 };
  const constant = trackPhase(turn(() => 0.5), { positions: [0], values }, gains);
  near(constant, Float64Array.from({ length }, () => 0.5));
  const ramp = trackPhase(turn((k) => 0.01 * k), { positions: [0], values }, gains);
  assert.ok(Math.abs(ramp[length - 1] - 0.01 * (length - 1)) < 1e-9);
  // Without its integrator the loop lags by arcsin(slope / alpha).
  const lagging = trackPhase(turn((k) => 0.01 * k), { positions: [0], values }, { ...gains, beta: 0 });
  near([0.01 * (length - 1) - lagging[length - 1]], [Math.asin(0.01 / 0.12)], 1e-9);
});

/** QPSK of one value under a phase, with noise. */
function turned(phase: (k: number) => number, length: number, n0: number, seed: number) {
  const noise = Generator.seeded(seed).standardNormal(2 * length) as Float64Array;
  return Float64Array.from({ length: 2 * length }, (_, i) => {
    const angle = phase(i >> 1) + Math.PI / 4;
    return (i % 2 === 0 ? Math.cos(angle) : Math.sin(angle)) + Math.sqrt(n0 / 2) * noise[i];
  });
}
const pilotsAt = (positions: number[]) => ({
  positions,
  values: Float64Array.from({ length: 2 * positions.length }, () => Math.SQRT1_2),
});

Deno.test("the smoother of pilots is the least-squares solution of its model", () => {
  const length = 24, walk = 0.05, frequency = 0.04, noise = 0.1, pilots = pilotsAt([0, 1, 9, 17, 23]);
  const symbols = turned((k) => 0.5 + 0.03 * k, length, noise, 3);
  const phases = kalmanPhase(symbols, pilots, { noise, walk, frequency, passes: 1 });
  const observed = pilotPhases(symbols, pilots);
  // The quadratic cost over θ_0 … θ_23 with ω at its best value: no small change of one phase lowers it.
  const cost = (theta: Float64Array) => {
    const steps = Array.from({ length: length - 1 }, (_, k) => theta[k + 1] - theta[k]);
    const omega = steps.reduce((sum, step) => sum + step, 0) / (length - 1 + (walk / frequency) ** 2);
    let sum = (theta[0] - observed[0]) ** 2 / Math.PI ** 2 + (omega / frequency) ** 2;
    for (const step of steps) sum += ((step - omega) / walk) ** 2;
    pilots.positions.forEach((k, i) => {
      const size = Math.hypot(symbols[2 * k], symbols[2 * k + 1]);
      sum += (theta[k] - observed[i]) ** 2 * 2 * size / noise;
    });
    return sum;
  };
  const least = cost(phases);
  for (let k = 0; k < length; k++) {
    for (const change of [1e-4, -1e-4]) {
      const other = phases.slice();
      other[k] += change;
      assert.ok(cost(other) > least, `${k}: ${cost(other) - least}`);
    }
  }
});

Deno.test("soft decisions lower the error of the phase, and a straight phase without noise is met", () => {
  const length = 153, pilots = pilotsAt([...Array(16).keys(), ...Array.from({ length: 8 }, (_, g) => 32 + 17 * g)]);
  let before = 0, after = 0;
  for (let frame = 0; frame < 200; frame++) {
    const increments = Generator.seeded(1000 + frame).standardNormal(length) as Float64Array;
    const truth = new Float64Array(length);
    for (let k = 1; k < length; k++) truth[k] = truth[k - 1] + 0.03 + 0.04 * increments[k];
    const symbols = turned((k) => truth[k], length, 0.2, frame), model = { noise: 0.2, walk: 0.04, frequency: 0.04 };
    const error = (passes: number) =>
      kalmanPhase(symbols, pilots, { ...model, passes }).reduce((sum, phase, k) => sum + (phase - truth[k]) ** 2, 0);
    before += error(1);
    after += error(5);
  }
  assert.ok(after < 0.75 * before, `${after} of ${before}`);
  const ramp = kalmanPhase(turned((k) => 0.02 * k, length, 0, 1), pilots, {
    noise: 0,
    walk: 0,
    frequency: 0.1,
    passes: 2,
  });
  near(ramp, Float64Array.from({ length }, (_, k) => 0.02 * k), 1e-6);
});

Deno.test("no symbol, no pilot, and one noise variance each", () => {
  const model = { walk: 0.04, frequency: 0.04, passes: 2 };
  assert.equal(kalmanPhase(new Float64Array(), pilotsAt([]), { ...model, noise: 1 }).length, 0);
  near(kalmanPhase(turned(() => 0.1, 3, 0, 1), pilotsAt([]), { ...model, noise: 1e9 }), [0, 0, 0], 1e-6);
  // The pilot with all the noise has no part.
  const [first] = kalmanPhase(turned((k) => k, 2, 0, 1), pilotsAt([0, 1]), {
    ...model,
    noise: Float32Array.of(1e-6, 1e9),
  });
  near([first], [0], 1e-6);
});

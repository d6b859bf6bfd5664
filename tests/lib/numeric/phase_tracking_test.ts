import assert from "node:assert/strict";
import { interpolatePhase, pilotPhases, smoothPhase, trackPhase, unwrap } from "../../../lib/numeric/phase_tracking.ts";

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

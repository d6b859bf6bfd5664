/** Spherical waves, against the plane wave they become and the geometry they come from. */
import assert from "node:assert/strict";
import {
  angleGrid,
  correlationGain,
  matchCodewords,
  planeWave,
  rayleighDistance,
  reciprocalRanges,
  sphericalWave,
  wavelengthOf,
} from "../../../lib/numeric/antenna/near_field.ts";

const ARRAY = { antennas: 32, wavelength: wavelengthOf(28) };
const RAYLEIGH = rayleighDistance(ARRAY);

/** Share of the largest gain that a plane wave reaches. */
const planeGain = (range: number, angle: number) =>
  correlationGain(sphericalWave(ARRAY, { range, angle }), planeWave(ARRAY, angle)) / ARRAY.antennas ** 2;

Deno.test("beyond the Rayleigh distance the wave is plane, before it is not", () => {
  // 2·(31·λ/2)²/λ = 31²·λ/2
  assert.ok(Math.abs(RAYLEIGH - 31 ** 2 * ARRAY.wavelength / 2) < 1e-12);
  for (const angle of [-50, 0, 30]) {
    let loss = 1;
    for (const range of [0.1, 0.3, 1, 10, 100].map((times) => times * RAYLEIGH)) {
      const next = 1 - planeGain(range, angle);
      assert.ok(next < loss, `${next} at ${range} m`);
      loss = next;
    }
    assert.ok(loss < 1e-5, String(loss));
  }
  assert.ok(planeGain(0.1 * RAYLEIGH, 0) < 0.5);
});

Deno.test("the loss beyond the Rayleigh distance falls as 1/r², the square of the curvature", () => {
  for (const angle of [0, 40]) {
    const [near, far] = [10, 100].map((times) => 1 - planeGain(times * RAYLEIGH, angle));
    assert.ok(Math.abs(near / far / 100 - 1) < 0.02, `${near} ${far}`);
  }
});

Deno.test("at the Rayleigh distance the outermost antenna is π/8 behind a plane wave", () => {
  const h = sphericalWave(ARRAY, { range: RAYLEIGH, angle: 0 });
  // The middle of an even array lies between antennas: the phase of the origin is exp(-j2πr/λ).
  const origin = -2 * Math.PI * RAYLEIGH / ARRAY.wavelength;
  const turn = [Math.cos(origin), -Math.sin(origin)];
  const phase = Math.atan2(h[0] * turn[1] + h[1] * turn[0], h[0] * turn[0] - h[1] * turn[1]);
  assert.ok(Math.abs(phase / (-Math.PI / 8) - 1) < 1e-3, String(phase));
});

Deno.test("phases are those of the distances between points of the plane", () => {
  const range = 1.3,
    angle = 25,
    source = [range * Math.sin(angle * Math.PI / 180), range * Math.cos(angle * Math.PI / 180)];
  const h = sphericalWave(ARRAY, { range, angle });
  for (const m of [0, 7, 31]) {
    const distance = Math.hypot(source[0] - (m - 15.5) * ARRAY.wavelength / 2, source[1]);
    const phase = -2 * Math.PI * distance / ARRAY.wavelength;
    assert.ok(Math.abs(h[2 * m] - Math.cos(phase)) < 1e-9 && Math.abs(h[2 * m + 1] - Math.sin(phase)) < 1e-9);
  }
});

Deno.test("a source on the other side mirrors the array", () => {
  const left = sphericalWave(ARRAY, { range: 0.8, angle: -33 }),
    right = sphericalWave(ARRAY, { range: 0.8, angle: 33 });
  for (let m = 0; m < 32; m++) assert.ok(Math.abs(left[2 * m] - right[2 * (31 - m)]) < 1e-9);
});

Deno.test("grids keep their limits, and equal codewords leave the first", () => {
  assert.deepEqual([...angleGrid(-0.5, 0.5, 0.25)], [-0.5, -0.25, 0, 0.25, 0.5]);
  assert.deepEqual([...angleGrid(3, 3, 0.25)], [3]);
  assert.deepEqual([...angleGrid(0, 0.6, 0.25)], [0, 0.25, 0.5]);
  const ranges = reciprocalRanges(0.5, 5, 40);
  assert.ok(Math.abs(ranges[0] - 0.5) < 1e-15 && Math.abs(ranges[39] - 5) < 1e-12);
  const steps = Array.from(ranges.subarray(1), (range, k) => 1 / ranges[k] - 1 / range);
  assert.ok(Math.max(...steps) - Math.min(...steps) < 1e-12);
  assert.deepEqual([...reciprocalRanges(2, 2, 40)], [2]);
  const words = [Float64Array.of(1, 0, 0, 0), Float64Array.of(0, 1, 0, 0), Float64Array.of(0, 0, 1, 0)];
  const received = Float32Array.of(1, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0);
  assert.deepEqual([...matchCodewords(received, 2, 3, (k) => words[k])], [0, 2, 0]);
});

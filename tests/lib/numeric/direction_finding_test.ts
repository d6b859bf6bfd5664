import assert from "node:assert/strict";
import { sampleCovariance, steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { directionCramerRao, DirectionSearch } from "../../../lib/numeric/antenna/direction_finding.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { rootMusic as rootsOf } from "../../../lib/numeric/antenna/several_directions.ts";
import { hermitianEigen } from "../../../lib/numeric/linalg/hermitian_eigen.ts";

const GRID = Float64Array.from({ length: 721 }, (_, k) => -90 + 0.25 * k);

const rootMusic = (r: Float64Array<ArrayBuffer>, antennas: number, spacing: number): number =>
  rootsOf(hermitianEigen(r, antennas), antennas, 1, spacing).angles[0];

/** Snapshots of a source of unit power, antennas × snapshots. */
function received(
  degrees: number,
  antennas: number,
  snapshots: number,
  snr: number,
  generator: Generator,
  spacing = 0.5,
) {
  const signal = generator.complexNormal64(snapshots, 1);
  const noise = snr === Infinity
    ? new Float64Array(2 * antennas * snapshots)
    : generator.complexNormal64(antennas * snapshots, 1 / snr);
  const a = steeringVector(degrees, antennas, spacing), x = new Float64Array(noise.length);
  for (let m = 0; m < antennas; m++) {
    for (let n = 0; n < snapshots; n++) {
      const at = 2 * (m * snapshots + n), sr = signal[2 * n], si = signal[2 * n + 1];
      x[at] = a[2 * m] * sr - a[2 * m + 1] * si + noise[at];
      x[at + 1] = a[2 * m] * si + a[2 * m + 1] * sr + noise[at + 1];
    }
  }
  return sampleCovariance(x, antennas, snapshots);
}

Deno.test("without noise all three find the direction", () => {
  const search = new DirectionSearch(GRID, 8, 0.5), generator = Generator.seeded(1);
  for (const angle of [-60, -17.3, 0, 5.1, 42.42]) {
    const r = received(angle, 8, 16, Infinity, generator);
    assert.ok(Math.abs(search.music(r) - angle) < 2e-3, `MUSIC ${search.music(r)} for ${angle}`);
    assert.ok(Math.abs(search.bartlett(r) - angle) < 2e-3, `Bartlett ${search.bartlett(r)} for ${angle}`);
    assert.ok(Math.abs(rootMusic(r, 8, 0.5) - angle) < 1e-6, `root-MUSIC ${rootMusic(r, 8, 0.5)} for ${angle}`);
  }
});

Deno.test("MUSIC and root-MUSIC meet the bound at high SNR, and agree with each other", () => {
  const generator = Generator.seeded(2),
    trials = 1500,
    array = { antennas: 8, snapshots: 64, snr: 10 ** 1.5, spacing: 0.5 };
  const search = new DirectionSearch(GRID, 8, 0.5);
  let music = 0, root = 0, bound = 0, apart = 0;
  for (let trial = 0; trial < trials; trial++) {
    const angle = -50 + 100 * (generator.random(1) as Float64Array)[0];
    const r = received(angle, 8, 64, array.snr, generator);
    const [a, b] = [search.music(r), rootMusic(r, 8, 0.5)];
    music += (a - angle) ** 2;
    root += (b - angle) ** 2;
    apart += (a - b) ** 2;
    bound += directionCramerRao(angle, array);
  }
  // Relative standard deviation of a sum of 1500 squared errors: sqrt(2/1500) = 3.7 %.
  assert.ok(Math.abs(music / bound - 1) < 0.11, `MUSIC: ${music / bound}`);
  assert.ok(Math.abs(root / bound - 1) < 0.11, `root-MUSIC: ${root / bound}`);
  assert.ok(apart < 0.02 * bound);
});

Deno.test("the bare grid stays above the bound: the vertex of the parabola is needed", () => {
  const coarse = Float64Array.from({ length: 181 }, (_, k) => k - 90), search = new DirectionSearch(coarse, 8, 0.5);
  const angle = 20.4, found = search.music(received(angle, 8, 64, 1e6, Generator.seeded(3)));
  assert.ok(Math.abs(found - angle) < 0.02, String(found));
});

Deno.test("one antenna, one snapshot, silence and ties have an answer", () => {
  const single = new DirectionSearch(GRID, 1, 0.5),
    search = new DirectionSearch(GRID, 4, 0.5),
    generator = Generator.seeded(4);
  const r = received(30, 1, 8, 1, generator);
  assert.deepEqual([single.music(r), single.bartlett(r)], [0, 0]);
  const once = received(30, 4, 1, Infinity, generator);
  assert.ok(Math.abs(search.music(once) - 30) < 2e-3);
  const silence = new Float64Array(32);
  assert.deepEqual([search.music(silence), search.bartlett(silence)], [0, 0]);
  // White noise alone: every direction is alike, and broadside wins.
  const white = new Float64Array(32);
  for (let i = 0; i < 4; i++) white[2 * (i * 4 + i)] = 1;
  assert.equal(search.bartlett(white), 0);
  // At two wavelengths ±30° share a steering vector with 0°: the one nearest to broadside is taken.
  const wide = new DirectionSearch(GRID, 4, 2);
  assert.ok(Math.abs(wide.bartlett(received(30, 4, 8, Infinity, generator, 2))) < 1e-12);
});

Deno.test("the bound falls with antennas, snapshots and SNR, and grows to the sides", () => {
  const array = { antennas: 8, snapshots: 64, snr: 10, spacing: 0.5 }, base = directionCramerRao(0, array);
  assert.ok(directionCramerRao(0, { ...array, antennas: 16 }) < base / 7);
  assert.ok(Math.abs(directionCramerRao(0, { ...array, snapshots: 128 }) / base - 0.5) < 1e-12);
  assert.ok(Math.abs(directionCramerRao(60, array) / base - 4) < 1e-9);
  assert.equal(directionCramerRao(0, { ...array, antennas: 1 }), Infinity);
  // Closed form at M = 2, N = 1, ρ = 1: 6/(2·3)·(1 + 1/2) / (π·π/180)².
  assert.ok(
    Math.abs(
      directionCramerRao(0, { antennas: 2, snapshots: 1, snr: 1, spacing: 0.5 }) - 1.5 / (Math.PI ** 2 / 180) ** 2,
    ) < 1e-9,
  );
});

import assert from "node:assert/strict";
import cdl from "../../../lib/numeric/data/cdl_models.json" with { type: "json" };
import {
  cdlProfile,
  type DelayProfile,
  exponentialProfile,
  frequencyResponse,
  maximumDopplerHz,
  movingTaps,
  ofdmSymbolInterval,
  PROFILE_MODELS,
  staticTaps,
  tdlProfile,
} from "../../../lib/numeric/channel/delay_profile.ts";
import { linearToDb } from "../../../lib/numeric/link/decibel.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const UNIT = { delaySpread: 1, normalise: true };
const near = (actual: number, expected: number, tolerance: number, what = "") =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what} ${actual}, not ${expected} ± ${tolerance}`);

/** Root-mean-square delay spread, seconds. */
function delaySpreadOf({ delays, powers }: DelayProfile): number {
  let total = 0, first = 0, second = 0;
  for (let l = 0; l < delays.length; l++) {
    total += powers[l];
    first += powers[l] * delays[l];
    second += powers[l] * delays[l] ** 2;
  }
  return Math.sqrt(Math.max(0, second / total - (first / total) ** 2));
}

Deno.test("tabulated profiles have unit delay spread, and Ricean factors of 13.3 and 22 dB", () => {
  for (const model of PROFILE_MODELS) {
    for (const profileOf of [tdlProfile, cdlProfile]) {
      const profile = profileOf(model, UNIT);
      near(delaySpreadOf(profile), 1, 0.01, model);
      near(profile.powers.reduce((sum, power) => sum + power), 1, 1e-15);
      assert.equal(profile.powers.length, profile.delays.length);
      assert.equal(profile.lineOfSight, model === "D" || model === "E");
    }
  }
  for (const [model, ratio] of [["D", 13.3], ["E", 22]] as const) {
    const { powers, delays } = tdlProfile(model, UNIT);
    assert.deepEqual([delays[0], delays[1]], [0, 0]);
    near(linearToDb(powers[0] / powers[1]), ratio, 1e-9);
  }
  assert.deepEqual(PROFILE_MODELS.map((model) => tdlProfile(model, UNIT).delays.length), [23, 23, 24, 14, 15]);
});

Deno.test("scaling: delays by the spread, powers only when asked", () => {
  const table = tdlProfile("A", { delaySpread: 300e-9, normalise: false });
  near(linearToDb(table.powers[0]), -13.4, 1e-12);
  assert.equal(table.powers[1], 1);
  near(table.delays[22], 9.6586 * 300e-9, 1e-20);
});

Deno.test("clusters carry one angle of each kind, and first of all those of the line of sight", () => {
  for (const model of PROFILE_MODELS) {
    const clusters = cdl.models[model], count = clusters.delays.length;
    for (
      const angles of [
        "departure_azimuth_deg",
        "arrival_azimuth_deg",
        "departure_zenith_deg",
        "arrival_zenith_deg",
      ] as const
    ) {
      assert.equal(clusters[angles].length, count);
      const zenith = angles.includes("zenith");
      for (const angle of clusters[angles]) assert.ok(zenith ? angle >= 0 && angle <= 180 : Math.abs(angle) <= 180);
    }
  }
  // A line of sight arrives where it departs from.
  const { departure_azimuth_deg: [departure], arrival_azimuth_deg: [arrival] } = cdl.models["D"];
  assert.deepEqual([departure, Math.abs(arrival)], [0, 180]);
});

/** Mean of |h|² per tap and its relative deviation bound: an exponential variable deviates by its mean. */
function tapPowers(taps: Float64Array, count: number): Float64Array {
  const rows = taps.length / (2 * count), powers = new Float64Array(count);
  for (let i = 0; i < taps.length; i += 2) powers[(i / 2) % count] += (taps[i] ** 2 + taps[i + 1] ** 2) / rows;
  return powers;
}

for (const model of PROFILE_MODELS) {
  Deno.test(`realisations of TDL-${model} have its power-delay profile and delay spread`, () => {
    const profile = tdlProfile(model, { delaySpread: 100e-9, normalise: true });
    const rows = 8000, generator = Generator.seeded(38901);
    const motion = { dopplerHz: 100, interval: 1e-4, samples: 1 };
    for (const taps of [staticTaps(profile, rows, generator), movingTaps(profile, rows, motion, generator)]) {
      const powers = tapPowers(taps, profile.powers.length);
      powers.forEach((power, tap) => {
        const bound = profile.lineOfSight && tap === 0 ? 1e-12 : 5 / Math.sqrt(rows);
        near(power / profile.powers[tap], 1, bound, `tap ${tap}`);
      });
      const spread = delaySpreadOf({ ...profile, powers });
      near(spread / delaySpreadOf(profile), 1, 0.04, "delay spread");
    }
  });
}

Deno.test("frequency responses correlate as the Fourier transform of the profile", () => {
  const rows = 20_000, count = 12, spacing = 120e3;
  for (const model of PROFILE_MODELS) {
    const profile = tdlProfile(model, { delaySpread: 300e-9, normalise: true });
    const h = frequencyResponse(staticTaps(profile, rows, Generator.seeded(5)), profile, { count, spacing });
    for (let lag = 0; lag < count; lag++) {
      let real = 0, imaginary = 0;
      for (let row = 0; row < rows; row++) {
        const p = 2 * row * count, q = p + 2 * lag;
        real += (h[p] * h[q] + h[p + 1] * h[q + 1]) / rows;
        imaginary += (h[p] * h[q + 1] - h[p + 1] * h[q]) / rows;
      }
      const angle = (l: number) => -2 * Math.PI * lag * spacing * profile.delays[l];
      const expected = [Math.cos, Math.sin].map((part) =>
        profile.powers.reduce((sum, power, l) => sum + power * part(angle(l)), 0)
      );
      // Each product has at most unit variance in each part.
      near(real, expected[0], 5 / Math.sqrt(rows), `TDL-${model} lag ${lag}`);
      near(imaginary, expected[1], 5 / Math.sqrt(rows), `TDL-${model} lag ${lag}`);
    }
  }
});

Deno.test("the powers of a response behind a line of sight are those of a Rice channel", () => {
  const rows = 40_000;
  for (const model of ["D", "E"] as const) {
    const profile = tdlProfile(model, UNIT);
    const h = frequencyResponse(staticTaps(profile, rows, Generator.seeded(2)), profile, { count: 1, spacing: 1 });
    let second = 0, fourth = 0;
    for (let i = 0; i < h.length; i += 2) {
      const power = h[i] ** 2 + h[i + 1] ** 2;
      second += power / rows;
      fourth += power ** 2 / rows;
    }
    near(second, 1, 5 * Math.sqrt(1 - profile.powers[0] ** 2) / Math.sqrt(rows));
    // E|H|⁴ = 2 - P², P the power of the line of sight.
    near(fourth, 2 - profile.powers[0] ** 2, 25 * Math.sqrt(1 - profile.powers[0] ** 2) / Math.sqrt(rows));
  }
});

Deno.test("one tap is a phase ramp that is flat at the carrier", () => {
  const profile: DelayProfile = { delays: Float64Array.of(1e-6), powers: Float64Array.of(1), lineOfSight: false };
  for (const count of [1, 4, 5]) {
    const h = frequencyResponse(Float64Array.of(0, 2), profile, { count, spacing: 15e3 });
    for (let k = 0; k < count; k++) {
      const angle = Math.PI / 2 - 2 * Math.PI * (k - Math.floor(count / 2)) * 15e3 * 1e-6;
      near(h[2 * k], 2 * Math.cos(angle), 1e-14);
      near(h[2 * k + 1], 2 * Math.sin(angle), 1e-14);
    }
  }
  const fromZero = frequencyResponse(Float64Array.of(0, 2), profile, { count: 3, spacing: 15e3, first: 0 });
  assert.deepEqual([...fromZero.subarray(0, 2)], [0, 2]);
});

/** J0(x) = 1/π·∫cos(x·sin θ) over 0 … π, by the trapezoid rule, which is exact to rounding here. */
function besselJ0(x: number): number {
  const steps = 256;
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += Math.cos(x * Math.sin(Math.PI * i / steps)) / steps;
  return sum;
}

Deno.test("moving taps have Jakes' autocorrelation, J0(2π·f_d·t)", () => {
  near(besselJ0(1), 0.7651976865579666, 1e-15);
  near(besselJ0(2.404825557695773), 0, 1e-14);
  const rows = 1500, samples = 40, dopplerHz = 90, interval = 4e-4;
  const profile = tdlProfile("A", UNIT), count = profile.powers.length;
  const taps = movingTaps(profile, rows, { dopplerHz, interval, samples }, Generator.seeded(1));
  for (let lag = 0; lag < samples; lag += 3) {
    let real = 0, imaginary = 0;
    for (let row = 0; row < rows; row++) {
      for (let tap = 0; tap < count; tap++) {
        const p = 2 * (row * samples * count + tap), q = p + 2 * lag * count;
        const weight = 1 / (profile.powers[tap] * rows * count);
        real += weight * (taps[p] * taps[q] + taps[p + 1] * taps[q + 1]);
        imaginary += weight * (taps[p] * taps[q + 1] - taps[p + 1] * taps[q]);
      }
    }
    // The product of two unit complex variables deviates by at most 1, and all taps are independent.
    const bound = 5 / Math.sqrt(rows * count);
    near(real, besselJ0(2 * Math.PI * dopplerHz * interval * lag), bound, `lag ${lag}`);
    near(imaginary, 0, bound, `lag ${lag}`);
  }
});

Deno.test("the gain of a moving channel has the fourth moment 2 - Σ P²/20, and at a zero of J0 the correlation -Σ P²/20", () => {
  // 2π·f_d·t is the first zero of J0.
  const motion = { dopplerHz: 2.404825557695773 / (2 * Math.PI), interval: 1, samples: 2 };
  for (const [powers, rows] of [[[1], 150_000], [[0.8, 0.2], 100_000]] as const) {
    const profile = { delays: new Float64Array(powers.length), powers: Float64Array.from(powers), lineOfSight: false };
    const taps = movingTaps(profile, rows, motion, Generator.seeded(20));
    const h = frequencyResponse(taps, profile, { count: 1, spacing: 1 });
    let fourth = 0, product = 0;
    for (let row = 0; row < rows; row++) {
      const [now, later] = [4 * row, 4 * row + 2].map((at) => h[at] ** 2 + h[at + 1] ** 2);
      fourth += now ** 2 / rows;
      product += now * later / rows;
    }
    const share = powers.reduce((sum, power) => sum + power ** 2, 0) / 20;
    // Of exponential gains the variance of the square is 4! - 2², that of the product of two 2² - 1.
    near(fourth, 2 - share, 4 * Math.sqrt(20 / rows));
    near(product, 1 - share, 4 * Math.sqrt(3 / rows));
    assert.ok(powers.length > 1 || product < 1 - 4 * Math.sqrt(3 / rows));
  }
});

Deno.test("a moving line of sight turns at f_d·cos(π/4) and keeps its modulus; standing taps do not move", () => {
  const profile = tdlProfile("D", UNIT), count = profile.powers.length, samples = 5;
  const motion = { dopplerHz: 100, interval: 1e-3, samples };
  const taps = movingTaps(profile, 3, motion, Generator.seeded(4));
  const amplitude = Math.sqrt(profile.powers[0]);
  for (let row = 0; row < 3; row++) {
    const phase = (sample: number) => {
      const at = 2 * (row * samples + sample) * count;
      near(Math.hypot(taps[at], taps[at + 1]), amplitude, 1e-12);
      return Math.atan2(taps[at + 1], taps[at]);
    };
    const step = 2 * Math.PI * 100 * 1e-3 * Math.SQRT1_2;
    for (let sample = 1; sample < samples; sample++) {
      near(Math.cos(phase(sample) - phase(sample - 1) - step), 1, 1e-12);
      near(Math.sin(phase(sample) - phase(sample - 1) - step), 0, 1e-12);
    }
  }
  const standing = movingTaps(profile, 2, { ...motion, dopplerHz: 0 }, Generator.seeded(4));
  assert.deepEqual(standing.slice(0, 2 * count), standing.slice(2 * count, 4 * count));
});

Deno.test("synthetic profile, Doppler shift and symbol time", () => {
  const { powers, delays } = exponentialProfile(3, 2);
  const total = 1 + Math.exp(-1) + Math.exp(-2);
  assert.deepEqual([...powers], [1, Math.exp(-1), Math.exp(-2)].map((power) => power / total));
  assert.deepEqual([...delays], [0, 2, 4]);
  near(maximumDopplerHz(3.6, 0.299792458), 1, 1e-15);
  near(ofdmSymbolInterval(15) * 14, 1e-3, 1e-18);
  near(ofdmSymbolInterval(60) * 14, 0.25e-3, 1e-18);
});

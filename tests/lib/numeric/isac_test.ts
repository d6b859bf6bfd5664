/** Power between a receiver and an echo, against the optimality conditions of its concave programme. */
import assert from "node:assert/strict";
import {
  communicationRate,
  type IsacChannels,
  IsacUtility,
  rateOnlyAllocation,
  scalarizedAllocation,
  sensingSnr,
} from "../../../lib/numeric/antenna/isac.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { projectOntoSimplex } from "../../../lib/numeric/link/water_filling.ts";

function drawn(seed: number, subcarriers: number, totalPower: number, snr: number): IsacChannels {
  const generator = Generator.seeded(seed);
  const gains = () =>
    (generator.standardExponential(subcarriers) as Float64Array).map((gain) => gain * snr * subcarriers / totalPower);
  return { communication: gains(), sensing: gains(), totalPower };
}

/** Projected gradient from equal power, halving the step until the utility rises. */
function byGradient(utility: IsacUtility): Float64Array {
  const { totalPower, sensing: { length: count } } = utility.channels;
  let power = new Float64Array(count).fill(totalPower / count), value = utility.at(power), step = totalPower;
  for (let taken = 0; taken < 10_000 && step > 1e-30; step *= 2, taken++) {
    const gradient = utility.gradient(power), before = value;
    while (step > 1e-30) {
      const next = projectOntoSimplex(power.map((p, k) => p + step * gradient[k]), totalPower);
      if (utility.at(next) > before) {
        [power, value] = [next, utility.at(next)];
        break;
      }
      step /= 2;
    }
    if (value - before < 1e-12 * before) break;
  }
  return power;
}

Deno.test("the allocation meets the optimality conditions, whatever the dimensions and the SNR", () => {
  const cases = [[1, 12, 1, 10], [2, 3, 40, 0.1], [3, 64, 1e-3, 300], [4, 1, 1, 1], [5, 256, 1, 1000], [6, 8, 1, 1e-6]];
  for (const [seed, subcarriers, totalPower, snr] of cases) {
    const channels = drawn(seed, subcarriers, totalPower, snr);
    for (const weight of [0, 0.05, 0.4, 0.7, 0.95, 1]) {
      const utility = new IsacUtility(channels, weight);
      const power = scalarizedAllocation(utility), gradient = utility.gradient(power);
      assert.ok(Math.abs(power.reduce((sum, p) => sum + p, 0) / totalPower - 1) < 1e-12);
      // A price, met wherever there is power and nowhere exceeded.
      const price = Math.max(...gradient);
      power.forEach((p, k) => {
        assert.ok(p >= 0);
        if (p > 1e-9 * totalPower) assert.ok(gradient[k] > price * (1 - 1e-6), `${gradient[k]} against ${price}`);
      });
    }
  }
});

Deno.test("the projected gradient climbs to the same utility", () => {
  for (const weight of [0.1, 0.4, 0.8]) {
    const utility = new IsacUtility(drawn(1, 12, 1, 3), weight), best = utility.at(scalarizedAllocation(utility));
    const climbed = utility.at(byGradient(utility));
    assert.ok(climbed <= best && climbed > best * (1 - 1e-6), `${climbed} against ${best}`);
  }
});

Deno.test("at the ends of the weight stand water-filling and the strongest echo", () => {
  const channels = drawn(5, 12, 2, 10), water = rateOnlyAllocation(channels);
  const rateAlone = scalarizedAllocation(new IsacUtility(channels, 0));
  rateAlone.forEach((p, k) => assert.ok(Math.abs(p - water[k]) < 1e-12, `${p} against ${water[k]}`));
  const echoAlone = scalarizedAllocation(new IsacUtility(channels, 1)), strongest = channels.sensing;
  echoAlone.forEach((p, k) => assert.equal(p, strongest[k] === Math.max(...strongest) ? 2 : 0));
});

Deno.test("a heavier echo trades rate for it, and never both ways", () => {
  const channels = drawn(6, 24, 1, 10);
  let rate = Infinity, echo = 0;
  for (let weight = 0; weight <= 1; weight += 0.1) {
    const power = scalarizedAllocation(new IsacUtility(channels, weight));
    const [nextRate, nextEcho] = [communicationRate(power, channels), sensingSnr(power, channels)];
    assert.ok(nextRate <= rate * (1 + 1e-12) && nextEcho >= echo * (1 - 1e-12), `${weight}`);
    [rate, echo] = [nextRate, nextEcho];
  }
});

Deno.test("no other allocation is better, and none is above 1", () => {
  const channels = drawn(7, 8, 1, 10), utility = new IsacUtility(channels, 0.4);
  const best = utility.at(scalarizedAllocation(utility)), generator = Generator.seeded(8);
  assert.ok(best <= 1);
  for (let trial = 0; trial < 500; trial++) {
    const shares = generator.standardExponential(8) as Float64Array, total = shares.reduce((sum, x) => sum + x, 0);
    assert.ok(utility.at(shares.map((x) => x / total)) <= best);
  }
});

Deno.test("the slope of the utility is its gradient", () => {
  const utility = new IsacUtility(drawn(9, 4, 1, 10), 0.4), power = Float64Array.of(0.1, 0.2, 0.3, 0.4), step = 1e-6;
  utility.gradient(power).forEach((slope, k) => {
    const up = power.map((p, i) => p + (i === k ? step : 0)), down = power.map((p, i) => p - (i === k ? step : 0));
    const found = (utility.at(up) - utility.at(down)) / (2 * step);
    assert.ok(Math.abs(found / slope - 1) < 1e-7, `${found} against ${slope}`);
  });
});

Deno.test("channels without any gain leave equal power and a utility of 0", () => {
  const none = new Float64Array(3), some = Float64Array.of(1, 4, 2);
  const silent = new IsacUtility({ communication: none, sensing: none, totalPower: 3 }, 0.4);
  assert.deepEqual([...scalarizedAllocation(silent)], [1, 1, 1]);
  assert.equal(silent.at([1, 1, 1]), 0);
  const deaf = new IsacUtility({ communication: none, sensing: some, totalPower: 3 }, 0.4);
  assert.deepEqual([...scalarizedAllocation(deaf)], [0, 3, 0]);
  assert.equal(deaf.at([0, 3, 0]), 0.4);
  // Where the strongest echo carries no rate, it gets what the rate is not worth.
  const apart = new IsacUtility(
    { communication: Float64Array.of(50, 0), sensing: Float64Array.of(0, 1), totalPower: 1 },
    0.8,
  );
  const [rate, echo] = scalarizedAllocation(apart);
  assert.ok(rate > 0 && echo > 0 && Math.abs(rate + echo - 1) < 1e-15);
  const [slope, price] = apart.gradient([rate, echo]);
  assert.ok(Math.abs(slope / price - 1) < 1e-9, `${slope} against ${price}`);
});

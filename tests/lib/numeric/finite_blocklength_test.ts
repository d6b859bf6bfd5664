/** The normal approximation: closed forms, published values, and a bound that was computed without it. */
import assert from "node:assert/strict";
import {
  complexAwgn,
  normalApproximationErrorRate,
  parallelAwgn,
} from "../../../lib/numeric/link/finite_blocklength.ts";
import { normalQuantile } from "../../../lib/numeric/linalg/error_function.ts";
import vectors from "../../data/finite_blocklength/vectors.json" with { type: "json" };

const near = (actual: number, expected: number, relative = 1e-12) =>
  assert.ok(Math.abs(actual - expected) <= relative * Math.abs(expected), `${actual} is not ${expected}`);

type Channel = ReturnType<typeof complexAwgn>;

/** Capacity and dispersion of a real channel use; snr is linear. */
function realAwgn(snr: number): Channel {
  const { capacity, dispersion } = complexAwgn(snr);
  return { capacity: capacity / 2, dispersion: dispersion / 2 };
}

/** The rate at which packets of n channel uses fail with a probability, bits per channel use. */
function normalApproximationRate(
  { capacity, dispersion }: Channel,
  blockErrorRate: number,
  { blocklength, thirdOrder = false }: { blocklength: number; thirdOrder?: boolean },
): number {
  const backoff = -Math.sqrt(dispersion / blocklength) * normalQuantile(blockErrorRate);
  return capacity - backoff + (thirdOrder ? Math.log2(blocklength) / (2 * blocklength) : 0);
}

Deno.test("capacity and dispersion in closed form, with every digit at low SNR", () => {
  const { capacity, dispersion } = complexAwgn(1);
  assert.equal(capacity, 1);
  near(dispersion, 0.75 * Math.LOG2E ** 2);
  // log2(1 + s) and 2s·log2²e for small s.
  near(complexAwgn(1e-12).capacity, 1e-12 * Math.LOG2E, 1e-11);
  near(complexAwgn(1e-12).dispersion, 2e-12 * Math.LOG2E ** 2, 1e-11);
  assert.deepEqual(complexAwgn(0), { capacity: 0, dispersion: 0 });
  // At high SNR the dispersion tends to log2²e, 2.0814 bits².
  near(complexAwgn(1e9).dispersion, Math.LOG2E ** 2, 1e-9);
  // A complex use is two real ones: the rates agree at 2n real uses.
  const complex = normalApproximationRate(complexAwgn(3), 1e-4, { blocklength: 150 });
  near(complex, 2 * normalApproximationRate(realAwgn(3), 1e-4, { blocklength: 300 }));
  const mean = parallelAwgn([0, 1, 3]);
  near(mean.capacity, (1 + 2) / 3);
  near(mean.dispersion, (0.75 + 1 - 1 / 16) / 3 * Math.LOG2E ** 2);
});

/** Real channel uses after which the normal approximation reaches a share of capacity. */
function blocklengthFor(power: number, blockErrorRate: number, share: number, thirdOrder: boolean): number {
  const channel = realAwgn(power);
  let blocklength = 50;
  while (normalApproximationRate(channel, blockErrorRate, { blocklength, thirdOrder }) < share * channel.capacity) {
    blocklength++;
  }
  return blocklength;
}

Deno.test("blocklengths for 90 % of capacity lie where Polyanskiy, Poor and Verdú put them", () => {
  // Their table of bounds on the least blocklength, AWGN: converse and the best achievability bound.
  for (
    const { power, blockErrorRate, converse, achievable } of [
      { power: 1, blockErrorRate: 1e-3, converse: 2550, achievable: 2814 },
      { power: 100, blockErrorRate: 1e-6, converse: 147, achievable: 188 },
    ]
  ) {
    const blocklength = blocklengthFor(power, blockErrorRate, 0.9, true);
    assert.ok(blocklength >= converse && blocklength <= achievable * 1.01, `${blocklength}`);
    // Their rule of thumb without the third-order term: n = (Q⁻¹(eps)/(1 - share))²·V/C².
    const { capacity, dispersion } = realAwgn(power);
    const rule = (normalQuantile(blockErrorRate) / 0.1) ** 2 * dispersion / capacity ** 2;
    assert.equal(blocklengthFor(power, blockErrorRate, 0.9, false), Math.ceil(rule));
  }
});

Deno.test("the distance from the converse bound stays a few bits a packet, however long", () => {
  const gaps = (power: number, thirdOrder: boolean) =>
    vectors.converse.filter((row) => row.power === power && row.blocklength >= 500).map((row) => {
      const approximation = normalApproximationRate(realAwgn(power), row.block_error_rate, {
        blocklength: row.blocklength,
        thirdOrder,
      });
      return row.blocklength * (row.rate - approximation);
    });
  for (const power of [1, 100]) {
    const [shortest, ...longer] = gaps(power, true);
    assert.ok(shortest > 0 && shortest < 7);
    assert.ok(longer.every((gap) => Math.abs(gap - shortest) < 0.25), `${longer} after ${shortest}`);
    // Without the third-order term the distance grows by log2(n)/2: more than a bit from 500 to 2800.
    const plain = gaps(power, false);
    assert.ok(plain.at(-1)! - plain[0] > 1);
  }
});

Deno.test("error rate and rate are inverse to each other", () => {
  const channel = parallelAwgn([0.3, 2, 15]);
  for (const thirdOrder of [false, true]) {
    for (const blockErrorRate of [1e-9, 1e-3, 0.2, 0.5, 0.9]) {
      const options = { blocklength: 128, thirdOrder };
      const rate = normalApproximationRate(channel, blockErrorRate, options);
      near(normalApproximationErrorRate(channel, rate, options), blockErrorRate, 1e-9);
    }
  }
  near(normalApproximationErrorRate(channel, channel.capacity, { blocklength: 77 }), 0.5);
});

Deno.test("without dispersion a packet arrives below capacity and only there", () => {
  const silent = complexAwgn(0);
  assert.equal(normalApproximationErrorRate(silent, 0.1, { blocklength: 100, thirdOrder: true }), 1);
  assert.equal(normalApproximationErrorRate(silent, 0, { blocklength: 100 }), 1);
  assert.equal(normalApproximationErrorRate({ capacity: 2, dispersion: 0 }, 1, { blocklength: 100 }), 0);
});

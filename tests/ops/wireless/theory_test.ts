/** Monte-Carlo bit error rates against closed forms, through the operations: at least 100 errors a point, fixed seeds. */
import assert from "node:assert/strict";
import randomBits from "../../../ops/source/random_bits.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import channel from "../../../ops/wireless/channel.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import bitErrorRate from "../../../ops/metrics/bit_error_rate.ts";
import { dbToLinear } from "../../../lib/numeric/decibel.ts";
import type { Modulation } from "../../../lib/numeric/modulation.ts";
import { wilsonInterval } from "../../../lib/numeric/statistics.ts";
import { bitErrorRateAwgn, bitErrorRateRayleigh } from "../../../lib/numeric/theory.ts";
import { outputOf, runOperation } from "../harness.ts";

const MINIMUM_ERRORS = 100;

/** Sends random bits and counts errors, stage by stage as a recipe would. */
async function simulate(modulation: Modulation, preset: string, snr_db: number, bit_count: number, seed: number) {
  const { bits } = (await runOperation(randomBits, { params: { bit_count, seed } })).outputs;
  const { symbols } = (await runOperation(digitalModulate, { inputs: { bits }, params: { modulation } })).outputs;
  const { rx_symbols } = (await runOperation(channel, {
    inputs: { symbols },
    params: { channel: preset, snr_db, seed: seed + 1000 },
  })).outputs;
  const received = (await runOperation(digitalDemodulate, { inputs: { rx_symbols } })).outputs.bits;
  const { metrics } = await runOperation(bitErrorRate, {
    inputs: {
      candidate: { ...outputOf(received), kind: received.kind },
      reference: { ...outputOf(bits), kind: bits.kind },
    },
  });
  return { errors: Number(metrics["channel.error_count"]), trials: Number(metrics["channel.compare_bit_count"]) };
}

const POINTS: [Modulation, string, number[]][] = [
  ["bpsk", "awgn", [-4, 0, 4, 6]],
  ["qpsk", "awgn", [-2, 2, 6, 9]],
  ["qam16", "awgn", [0, 6, 12, 15]],
  ["bpsk", "flat_rayleigh", [0, 10, 20]],
  ["qpsk", "flat_rayleigh", [0, 10, 20]],
  ["qam16", "flat_rayleigh", [5, 15, 25]],
];

/** Three times as many expected errors as are asked for, so that the minimum is met but for a miracle. */
async function measure(modulation: Modulation, preset: string, snr_db: number, seed: number) {
  const esN0 = dbToLinear(snr_db);
  const expected = preset === "awgn" ? bitErrorRateAwgn(modulation, esN0) : bitErrorRateRayleigh(modulation, esN0);
  const bits = Math.max(24_000, Math.ceil(3 * MINIMUM_ERRORS / expected));
  const { errors, trials } = await simulate(modulation, preset, snr_db, bits, seed);
  const { low, high } = wilsonInterval(errors, trials);
  const inside = low <= expected && expected <= high;
  return { errors, inside, told: `${errors}/${trials}: ${expected} against ${low} … ${high}` };
}

// A 95 % interval misses its point once in twenty seeds. This seed is one under which no point is missed; that misses are
// no more frequent than they should be is held by the last test, whose seeds were not looked at.
const SEED = 6;

for (const [modulation, preset, snrs] of POINTS) {
  for (const snr_db of snrs) {
    Deno.test(`BER of ${modulation} over ${preset} at ${snr_db} dB meets the closed form`, async () => {
      const { errors, inside, told } = await measure(modulation, preset, snr_db, SEED);
      assert.ok(errors >= MINIMUM_ERRORS, `${errors} errors are too few`);
      assert.ok(inside, told);
    });
  }
}

Deno.test("over other seeds 95 % intervals miss the closed form no more often than they may", async () => {
  const misses: string[] = [];
  let intervals = 0;
  for (const seed of [101, 102, 103, 104]) {
    for (const [modulation, preset, snrs] of POINTS) {
      for (const snr_db of snrs) {
        const { inside, told } = await measure(modulation, preset, snr_db, seed);
        intervals++;
        if (!inside) misses.push(`${modulation} ${preset} ${snr_db} dB ${told}`);
      }
    }
  }
  assert.equal(intervals, 84);
  // Of 84 intervals 4.2 miss on average; more than 11 do with probability 0.001.
  assert.ok(misses.length <= 11, misses.join("\n"));
});

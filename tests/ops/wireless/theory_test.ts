/** Monte-Carlo bit error rates against closed forms, through the operations: at least 100 errors a point, fixed seeds. */
import assert from "node:assert/strict";
import randomBits from "../../../ops/source/random_bits.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import channel from "../../../ops/wireless/channel.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import errorRate from "../../../ops/metrics/error_rate.ts";
import { dbToLinear } from "../../../lib/numeric/link/decibel.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { tdlProfile } from "../../../lib/numeric/channel/delay_profile.ts";
import { gaussianTail } from "../../../lib/numeric/linalg/error_function.ts";
import { BITS_PER_SYMBOL, type Modulation } from "../../../lib/numeric/link/modulations.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { mean, standardDeviation, wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn, bitErrorRateRayleigh } from "../../../lib/numeric/link/theory.ts";
import { outputOf, runOperation } from "../harness.ts";
import { payloadInput, symbolsInput } from "../inputs.ts";

const [bitErrorRate] = errorRate;

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

/**
 * Bit error rate of blocks of `size` symbols that share a realisation, and a bound at 4 standard deviations: errors inside a block go
 * together, so the deviation is that between blocks.
 */
async function simulateBlocks(modulation: Modulation, params: JsonObject, size: number, blocks: number) {
  const perBlock = size * BITS_PER_SYMBOL[modulation];
  const bits = payloadInput(Generator.seeded(41).integers(0, 2, blocks * perBlock, "uint8"));
  const { symbols } = (await runOperation(digitalModulate, { inputs: { bits }, params: { modulation } })).outputs;
  const { rx_symbols } =
    (await runOperation(channel, { inputs: { symbols }, params: { seed: 42, ...params } })).outputs;
  const received = (await runOperation(digitalDemodulate, { inputs: { rx_symbols } })).outputs.bits.array().data;
  const sent = bits.array!.data, rates = new Float64Array(blocks);
  for (let i = 0; i < sent.length; i++) if (sent[i] !== received[i]) rates[Math.floor(i / perBlock)] += 1 / perBlock;
  return {
    rate: mean(rates),
    errors: mean(rates) * sent.length,
    reach: 4 * standardDeviation(rates) / Math.sqrt(blocks),
  };
}

async function assertBlocks(
  modulation: Modulation,
  params: JsonObject,
  size: number,
  blocks: number,
  expected: number,
) {
  const { rate, errors, reach } = await simulateBlocks(modulation, params, size, blocks);
  assert.ok(errors >= MINIMUM_ERRORS, `${errors} errors are too few`);
  assert.ok(reach < 0.2 * expected, `${reach} bounds nothing at ${expected}`);
  assert.ok(Math.abs(rate - expected) <= reach, `${rate}, not ${expected} ± ${reach}`);
}

for (
  const [tx_antennas, rx_antennas, snrs] of [[2, 2, [3, 13, 23]], [4, 4, [6, 16, 26]], [2, 3, [3, 13]], [2, 4, [
    3,
    8,
  ]]] as const
) {
  const branches = rx_antennas - tx_antennas + 1;
  for (const snr_db of snrs) {
    Deno.test(`zero forcing ${tx_antennas}x${rx_antennas} at ${snr_db} dB has the error rate of ${branches} Rayleigh branches`, async () => {
      const expected = bitErrorRateRayleigh("qpsk", dbToLinear(snr_db) / tx_antennas, branches);
      const vectors = Math.ceil(Math.max(4000, 1500 / expected) / tx_antennas);
      await assertBlocks(
        "qpsk",
        { channel: "mimo_flat", tx_antennas, rx_antennas, snr_db },
        tx_antennas,
        vectors,
        expected,
      );
    });
  }
}

Deno.test("a subcarrier without line of sight is a Rayleigh channel, whatever the profile", async () => {
  const grid = { ofdm_fft_size: 3, num_ofdm_symbols: 2, subcarrier_spacing_khz: 120, delay_spread_ns: 300, snr_db: 12 };
  const expected = bitErrorRateRayleigh("qam16", dbToLinear(12));
  for (const channel of ["ofdm_tdl", "ofdm_cdl"]) {
    for (const tdl_model of ["A", "B", "C"]) {
      await assertBlocks("qam16", { channel, tdl_model, ...grid }, 6, 4000, expected);
    }
  }
});

Deno.test("an unnormalised profile has the power of its table", async () => {
  const total = tdlProfile("A", { delaySpread: 1, normalise: false }).powers.reduce((sum, power) => sum + power);
  assert.ok(total > 3);
  const params = { channel: "ofdm_tdl", normalize_channel: false, ofdm_fft_size: 1, num_ofdm_symbols: 1, snr_db: 5 };
  await assertBlocks("qpsk", params, 1, 20_000, bitErrorRateRayleigh("qpsk", total * dbToLinear(5)));
});

Deno.test("the street canyon shadows the mean SNR by 7.82 dB of standard deviation around 0 dB", async () => {
  const items = 4000;
  const symbols = symbolsInput(new Float32Array(2 * items), { source_item_counts: Array(items).fill(1) });
  const { rx_symbols } = (await runOperation(channel, {
    inputs: { symbols },
    params: { channel: "urban_micro", ofdm_fft_size: 1, num_ofdm_symbols: 1, snr_db: 0, seed: 3 },
  })).outputs;
  const gains = Float64Array.from(rx_symbols.array("noise_variance").data as Float32Array, (n) => -10 * Math.log10(n));
  // An exponential power has the mean -2.507 dB and the standard deviation 5.570 dB on top.
  const deviation = Math.hypot(7.82, 5.570);
  assert.ok(Math.abs(mean(gains) + 2.507) < 4 * deviation / Math.sqrt(items), String(mean(gains)));
  assert.ok(Math.abs(standardDeviation(gains) / deviation - 1) < 4 / Math.sqrt(items));
});

Deno.test("BPSK against QPSK interferers meets the sum over their signs", async () => {
  const snr_db = 7, interference_sir_db = 5;
  for (const interferers of [1, 2, 5]) {
    const amplitude = Math.sqrt(dbToLinear(-interference_sir_db) / interferers / 2);
    let expected = 0, ways = 1;
    for (let k = 0; k <= interferers; k++) {
      const level = 1 + amplitude * (interferers - 2 * k);
      expected += ways / 2 ** interferers * gaussianTail(level / Math.sqrt(dbToLinear(-snr_db) / 2));
      ways *= (interferers - k) / (k + 1);
    }
    await assertBlocks(
      "bpsk",
      { channel: "interference_awgn", interferers, interference_sir_db, snr_db },
      1,
      60_000,
      expected,
    );
  }
});

/** Repetition over noise and fading against closed forms: majority through the operation, sums of LLRs in the library. */
import assert from "node:assert/strict";
import repetitionFamily from "../../../ops/channel/repetition.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import channel from "../../../ops/wireless/channel.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { dbToLinear } from "../../../lib/numeric/link/decibel.ts";
import { hardBits } from "../../../lib/numeric/link/modulation.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { combineRepetition } from "../../support/repetition.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn, bitErrorRateRayleigh } from "../../../lib/numeric/link/theory.ts";
import { outputOf, runOperation } from "../harness.ts";
import { payloadInput } from "../inputs.ts";

const [repetitionEncoder, repetitionDecoder] = repetitionFamily;

/** BPSK, whose copies meet independent noise and gains. */
async function send(factor: number, params: JsonObject, count: number) {
  const sent = Generator.seeded(17).integers(0, 2, count, "uint8");
  const { coded_bits } = (await runOperation(repetitionEncoder, {
    inputs: { bits: payloadInput(sent) },
    params: { factor },
  })).outputs;
  const { symbols } = (await runOperation(digitalModulate, {
    inputs: { bits: coded_bits },
    params: { modulation: "bpsk" },
  })).outputs;
  const { rx_symbols } =
    (await runOperation(channel, { inputs: { symbols }, params: { seed: 18, ...params } })).outputs;
  const { bits, llr } = (await runOperation(digitalDemodulate, { inputs: { rx_symbols } })).outputs;
  const hard =
    (await runOperation(repetitionDecoder, { inputs: { coded_bits: { ...outputOf(bits), kind: bits.kind } } }))
      .outputs.bits.array().data as Uint8Array;
  const soft = hardBits(combineRepetition(llr.array().data as Float32Array, factor));
  const errors = (received: Uint8Array) => received.reduce((sum, bit, i) => sum + Number(bit !== sent[i]), 0);
  return { hard: errors(hard), soft: errors(soft) };
}

function agrees(errors: number, trials: number, expected: number, what: string) {
  assert.ok(errors >= 100, `${what}: ${errors} errors are too few`);
  const { low, high } = wilsonInterval(errors, trials, 0.999);
  assert.ok(low <= expected && expected <= high, `${what}: ${expected} is not within ${low} … ${high}`);
}

/** More than half of the copies wrong; an even split gives 1, so it is wrong for a bit that is 0. */
function majority(factor: number, p: number): number {
  let rate = 0, ways = 1;
  for (let wrong = 0; wrong <= factor; wrong++) {
    const probability = ways * p ** wrong * (1 - p) ** (factor - wrong);
    rate += 2 * wrong > factor ? probability : 2 * wrong === factor ? probability / 2 : 0;
    ways *= (factor - wrong) / (wrong + 1);
  }
  return rate;
}

for (const [factor, snr_db] of [[2, 0], [3, 1], [5, -2]]) {
  Deno.test(`${factor} copies at ${snr_db} dB: majority and combining meet their closed forms`, async () => {
    const snr = dbToLinear(snr_db), count = 60_000;
    const awgn = await send(factor, { channel: "awgn", snr_db }, count);
    agrees(awgn.hard, count, majority(factor, bitErrorRateAwgn("bpsk", snr)), "AWGN, majority");
    agrees(awgn.soft, count, bitErrorRateAwgn("bpsk", factor * snr), "AWGN, combining");
    const fading = await send(factor, { channel: "flat_rayleigh", snr_db }, count);
    agrees(fading.hard, count, majority(factor, bitErrorRateRayleigh("bpsk", snr)), "Rayleigh, majority");
    agrees(fading.soft, count, bitErrorRateRayleigh("bpsk", snr, factor), "Rayleigh, combining");
    assert.ok(awgn.soft < awgn.hard && fading.soft < fading.hard);
  });
}

Deno.test("known sums, and groups that are not whole are refused", () => {
  assert.deepEqual([...combineRepetition(Float32Array.of(1, -3, 0.5, 2, -1, -1), 3)], [-1.5, 0]);
  assert.deepEqual([...combineRepetition(new Float32Array(0), 4)], []);
  for (const factor of [0, 2, 1.5, -1]) {
    assert.throws(() => combineRepetition(new Float32Array(3), factor), RangeError);
  }
});

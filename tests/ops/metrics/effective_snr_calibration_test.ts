/**
 * The stored factors of effective Es/N0 against block error rates of NR LDPC. A channel is one draw of TDLA30, TDLB100 or TDLC300 over
 * 72 subcarriers of 60 kHz, the same for all blocks of recipes/effective_snr_calibration.yaml. Its threshold is the Es/N0 of 10 % block
 * errors; the factor has the least RMS, over all channels, of (effective Es/N0 at the threshold - threshold over AWGN) in dB.
 *
 * `UPDATE_BETAS=1 deno test -A tests/ops/metrics/effective_snr_calibration_test.ts` calibrates every row on 60 channels and stores
 * it; without UPDATE_BETAS other channels are compared with the stored factors.
 */
import assert from "node:assert/strict";
import nrLdpcDecoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import reports from "../../../ops/metrics/link_abstraction.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import nrTransportFormat from "../../../ops/source/nr_transport_format.ts";
import wirelessChannel from "../../../ops/wireless/channel.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import stored from "../../../lib/numeric/data/effective_snr_betas.json" with { type: "json" };
import { exponentialEffectiveSnrDb, informationEffectiveSnrDb } from "../../../lib/numeric/link/link_abstraction.ts";
import { MODULATION_BY_BITS } from "../../../lib/numeric/link/modulations.ts";
import { parseYaml } from "../../../lib/contract/yaml.ts";
import { runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";
import { needs } from "../../support/needs.ts";
import { sizeOf } from "../../support/sample.ts";

const STORED = new URL("../../../lib/numeric/data/effective_snr_betas.json", import.meta.url);
const PROFILES = ["TDLA30", "TDLB100", "TDLC300"], CHANNELS = 60, BLOCKS = 200, TARGET = 0.1;
const recipe = parseYaml(
  await Deno.readTextFile(new URL("../../../recipes/effective_snr_calibration.yaml", import.meta.url)),
) as unknown as { steps: { id: string; params?: JsonObject }[] };
const paramsOf = (id: string): JsonObject => recipe.steps.find((step) => step.id === id)!.params ?? {};

type Row = typeof stored.rows[number];

/** The link of a row: its block errors on a channel, null for AWGN, at an Es/N0. */
async function linkOf({ mcs_table, mcs_index }: Pick<Row, "mcs_table" | "mcs_index">, blocks: number) {
  const { outputs: { format }, metrics } = await runOperation(nrTransportFormat, {
    params: { ...paramsOf("format"), mcs_table, mcs_index },
  });
  const size = Number(metrics["nr.transport_block_size_bits"]), bits = payloadInput(someBits(size * blocks));
  const { coded_bits } =
    (await runOperation(nrLdpcEncoder, { inputs: { bits, format }, params: paramsOf("encoder") })).outputs;
  const { symbols } =
    (await runOperation(digitalModulate, { inputs: { bits: coded_bits }, params: paramsOf("modulator") })).outputs;
  const receive = async (channel: number | null, snr: number) => {
    const seed = channel ?? 0, own = paramsOf("wireless_channel");
    const rows = symbols.array().data.length / 2 / Number(own.ofdm_fft_size);
    const fading = { ...own, tdl_model: PROFILES[seed % PROFILES.length], num_ofdm_symbols: rows };
    return (await runOperation(wirelessChannel, {
      inputs: { symbols },
      params: { ...(channel === null ? {} : fading), snr_db: float(snr), seed },
    })).outputs.rx_symbols;
  };
  return {
    blocks,
    receive,
    async errors(channel: number | null, snr: number): Promise<number> {
      const rx_symbols = await receive(channel, snr);
      const { llr } =
        (await runOperation(digitalDemodulate, { inputs: { rx_symbols }, params: paramsOf("demodulator") })).outputs;
      const { report } = (await runOperation(nrLdpcDecoder, { inputs: { llr }, params: paramsOf("decoder") })).outputs;
      const { crc_passed } = report.json() as { crc_passed: boolean[] };
      assert.equal(crc_passed.length, blocks);
      return crc_passed.filter((passed) => !passed).length;
    },
  };
}

type Link = Awaited<ReturnType<typeof linkOf>>;
const logit = (rate: number) => Math.log(rate / (1 - rate));

/** The Es/N0 in dB of 10 % block errors on a channel, by steps along the logarithm of the odds of an error. */
async function thresholdOf({ errors, blocks }: Link, channel: number | null, guess: number): Promise<number> {
  // Between two Es/N0 with more and with less errors the odds decide; outside, steps of at most 1 dB.
  let low: [number, number] | undefined, high: [number, number] | undefined, at = guess;
  for (let trial = 0; trial < 20; trial++) {
    const odds = logit((await errors(channel, at) + 0.5) / (blocks + 1)) - logit(TARGET);
    if (odds > 0) low = [at, odds];
    else high = [at, odds];
    if (low && high) {
      if (high[0] - low[0] < 0.12) return (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1]);
      const share = Math.min(Math.max(low[1] / (low[1] - high[1]), 0.2), 0.8);
      at = low[0] + share * (high[0] - low[0]);
    } else at += Math.min(Math.max(odds / 8, -1), 1) + Math.sign(odds) * 0.05;
  }
  throw new Error(`No threshold of channel ${channel} near ${guess} dB`);
}

/** Es/N0 of the elements of a channel at an Es/N0, those of one code word. */
async function elementsOf({ receive, blocks }: Link, channel: number, snr: number): Promise<Float64Array> {
  const variances = (await receive(channel, snr)).array("noise_variance").data as Float32Array;
  return Float64Array.from(variances.subarray(0, variances.length / blocks), (variance) => 1 / variance);
}

const MAPPINGS = {
  eesm: (snrs: Float64Array, beta: number, _bits: number) => exponentialEffectiveSnrDb(snrs, beta),
  rbir: (snrs: Float64Array, beta: number, bits: number) =>
    informationEffectiveSnrDb(snrs, beta, MODULATION_BY_BITS[bits]),
};
type Method = keyof typeof MAPPINGS;

const rms = (values: number[]) => Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);

/** The factor of least RMS, by golden section over its decibels from -15 to 25. */
function bestBeta(deviation: (beta: number) => number) {
  const golden = (Math.sqrt(5) - 1) / 2, of = (db: number) => deviation(10 ** (db / 10));
  let low = -15, high = 25;
  while (high - low > 0.02) {
    const first = high - golden * (high - low), second = low + golden * (high - low);
    if (of(first) < of(second)) high = second;
    else low = first;
  }
  const beta = Number((10 ** ((low + high) / 20)).toPrecision(3));
  return { beta, rms_db: Number(deviation(beta).toFixed(3)) };
}

async function calibrate(
  { mcs_table, mcs_index, bits_per_symbol }: Pick<Row, "mcs_table" | "mcs_index" | "bits_per_symbol">,
) {
  const link = await linkOf({ mcs_table, mcs_index }, BLOCKS);
  const awgn = await thresholdOf(await linkOf({ mcs_table, mcs_index }, 5 * BLOCKS), null, 3 * bits_per_symbol);
  const channels: Float64Array[] = [];
  for (let channel = 1; channel <= CHANNELS; channel++) {
    const own = await elementsOf(link, channel, 0);
    // Mutual information without a factor finds the neighbourhood.
    const guess = awgn - MAPPINGS.rbir(own.map((snr) => snr * 10 ** (awgn / 10)), 1, bits_per_symbol) + awgn;
    const threshold = await thresholdOf(link, channel, guess);
    channels.push(own.map((snr) => snr * 10 ** (threshold / 10)));
  }
  const of = (method: Method) =>
    bestBeta((beta) => rms(channels.map((snrs) => MAPPINGS[method](snrs, beta, bits_per_symbol) - awgn)));
  const row = { mcs_table, mcs_index, bits_per_symbol, awgn_threshold_db: Number(awgn.toFixed(3)) };
  return { ...row, eesm: of("eesm"), rbir: of("rbir") };
}

const CALIBRATED = [[4, 2], [9, 2], [13, 4], [19, 6], [25, 6]];

Deno.test({
  name: "factors are calibrated on request",
  ...needs("UPDATE_BETAS=1: it writes the stored factors again", Deno.env.get("UPDATE_BETAS")),
  async fn() {
    const rows = [];
    for (const [mcs_index, bits_per_symbol] of CALIBRATED) {
      rows.push(await calibrate({ mcs_table: "table_1", mcs_index, bits_per_symbol }));
      console.log(JSON.stringify(rows.at(-1)));
    }
    const facts = { recipe: "recipes/effective_snr_calibration.yaml", target_bler: TARGET, channels: CHANNELS };
    await Deno.writeTextFile(STORED, JSON.stringify({ ...facts, rows }, null, 2) + "\n");
  },
});

Deno.test("stored factors come from enough channels, with an RMS below 0.3 dB", () => {
  assert.ok(stored.channels >= 50 && stored.target_bler === TARGET);
  assert.deepEqual(stored.rows.map(({ mcs_index, bits_per_symbol }) => [mcs_index, bits_per_symbol]), CALIBRATED);
  for (const { mcs_index, eesm, rbir } of stored.rows) {
    assert.ok(eesm.rms_db < 0.3 && rbir.rms_db < 0.3, `${mcs_index}`);
  }
});

Deno.test("on other channels, 10 % of the blocks fail where the effective Es/N0 is the threshold over AWGN", async () => {
  const effectiveSnr = reports.find(({ id }) => id === "metrics.effective_snr")!;
  for (const { mcs_table, mcs_index, awgn_threshold_db: awgn } of stored.rows.slice(0, sizeOf(1, Infinity))) {
    const link = await linkOf({ mcs_table, mcs_index }, BLOCKS), found: number[] = [];
    for (let channel = CHANNELS + 1; channel <= CHANNELS + 3; channel++) {
      const own = await elementsOf(link, channel, 0);
      const mean = own.reduce((sum, snr) => sum + snr / own.length, 0);
      const threshold = await thresholdOf(link, channel, awgn - 10 * Math.log10(mean) + 1);
      const rx_symbols = await link.receive(channel, threshold);
      for (const method of ["eesm", "rbir"]) {
        const { metrics } = await runOperation(effectiveSnr, {
          inputs: { rx_symbols },
          params: { method, mcs_table, mcs_index },
        });
        found.push(Number(metrics["channel.effective_snr_db"]) - awgn);
      }
    }
    assert.ok(rms(found) < 0.3, `row ${mcs_index}: ${found}`);
  }
});

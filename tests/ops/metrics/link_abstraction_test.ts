/** Capacity, mutual information and effective Es/N0 against closed forms. */
import assert from "node:assert/strict";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import operations from "../../../ops/metrics/link_abstraction.ts";
import fadingStatistics from "../../../ops/metrics/fading_statistics.ts";
import wirelessChannel from "../../../ops/wireless/channel.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import ofdmChannelState from "../../../ops/wireless/ofdm_channel_state.ts";
import { declareUnit } from "../../../lib/artifact/statistical_unit.ts";
import { recordedPooled, recordedRate } from "../../../lib/contract/metric_metadata.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { calibratedBeta, exponentialEffectiveSnrDb } from "../../../lib/numeric/link/link_abstraction.ts";
import { bitInterleavedStatistics } from "../../../lib/numeric/link/link_adaptation.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, symbolsInput } from "../inputs.ts";

const [ergodicCapacity, outageCapacity, mutualInformation, effectiveSnr] = operations;
const RX = { kind: "channel.rx_symbols.complex_numpy" };

/** The integral of a function over [0, 60] with the weight e^-x, by the midpoint rule. */
function exponentialMean(of: (x: number) => number): number {
  const steps = 200_000, width = 60 / steps;
  let sum = 0;
  for (let i = 0; i < steps; i++) {
    const x = (i + 0.5) * width;
    sum += of(x) * Math.exp(-x) * width;
  }
  return sum;
}
const near = (found: unknown, expected: number, tolerance: number) =>
  assert.ok(Math.abs(Number(found) - expected) <= tolerance, `${found} instead of ${expected}`);

Deno.test("ergodic capacity of Rayleigh fading, and of 2 x 2 antennas, is Telatar's", async () => {
  const params = {
    ofdm_fft_size: 1,
    num_ofdm_symbols: 1,
    delay_spread_ns: float(0),
    noise_variance: float(0.1),
    seed: 3,
  };
  const { state } =
    (await runOperation(ofdmChannelState, { inputs: { symbols: symbolsInput(20_000) }, params })).outputs;
  const one = await runOperation(ergodicCapacity, { inputs: { channel_state: state } });
  near(one.metrics["capacity.ergodic_bps_hz"], exponentialMean((x) => Math.log2(1 + 10 * x)), 0.03);
  near(one.metrics["channel.snr_db"], 10, 1e-9);
  for (const time_variation of ["static", "doppler"]) {
    const sent = await runOperation(mimoOfdmChannel, {
      inputs: { symbols: symbolsInput(2 * 40 * 2000) },
      params: {
        ...{ channel_model: "iid", ofdm_fft_size: 1, num_ofdm_symbols: 40, snr_db: float(10), seed: 5, time_variation },
        ...time_variation === "doppler" ? { mobility_kmh: float(500) } : {},
      },
    });
    const found = await runOperation(ergodicCapacity, { inputs: { channel_state: sent.outputs.state } });
    // The eigenvalues of two by two Gaussian matrices have the density (1 + (1 - x)²) e^-x / 2 each.
    const telatar = exponentialMean((x) => (1 + (1 - x) ** 2) * Math.log2(1 + 5 * x));
    near(found.metrics["capacity.ergodic_bps_hz"], telatar, 0.12);
  }
});

Deno.test("grids of a realisation in motion are one unit of capacities and fades; those of a static channel one each", async () => {
  const params = { channel_model: "tdl", ofdm_fft_size: 4, num_ofdm_symbols: 14, tx_antennas: 1, rx_antennas: 1 };
  const symbols = symbolsInput(4 * 14 * 30);
  const unitsOf = async (state: InputArtifact) => {
    const [ergodic, outage, fades] = await Promise.all(
      [ergodicCapacity, outageCapacity, fadingStatistics].map((operation) =>
        runOperation(operation, {
          inputs: { channel_state: state },
          params: operation === fadingStatistics ? { level_db: float(0), symbol_interval_s: float(1e-4) } : {},
        })
      ),
    );
    return [
      recordedPooled(ergodic.metadata, "capacity.ergodic_bps_hz")!.sums.units,
      recordedRate(outage.metadata, "capacity.outage_probability")!.units,
      recordedPooled(fades.metadata, "fading.below_level_fraction")!.sums.units,
    ];
  };
  const driven = { ...params, time_variation: "doppler", mobility_kmh: float(100) };
  const { state } = (await runOperation(mimoOfdmChannel, { inputs: { symbols }, params: driven })).outputs;
  assert.deepEqual(await unitsOf(state), [1, 1, 1]);
  // Each grid of a frozen state is a realisation of its own, whatever unit the symbols have.
  const items = symbolsInput(4 * 14 * 30, declareUnit({}, "packet", { size: 840, total: 1680 }));
  const frozen = (await runOperation(ofdmChannelState, {
    inputs: { symbols: items },
    params: { ofdm_fft_size: 4, num_ofdm_symbols: 14, mobility_kmh: float(500) },
  })).outputs.state;
  const [ergodic, outage, fades] = await unitsOf(frozen);
  assert.deepEqual([ergodic, outage], [30, 30]);
  assert.ok(fades > 1);
});

Deno.test("outage of Rayleigh fading is 1 - exp(-(2^R - 1)/snr), and few grids give no outage capacity", async () => {
  const params = {
    ofdm_fft_size: 1,
    num_ofdm_symbols: 1,
    delay_spread_ns: float(0),
    noise_variance: float(0.1),
    seed: 3,
  };
  const of = async (count: number, asked: JsonObject) => {
    const { state } =
      (await runOperation(ofdmChannelState, { inputs: { symbols: symbolsInput(count) }, params })).outputs;
    return await runOperation(outageCapacity, { inputs: { channel_state: state }, params: asked });
  };
  const found = await of(20_000, { rate_bps_hz: float(2), outage_probability: float(0.1) });
  near(found.metrics["capacity.outage_probability"], 1 - Math.exp(-0.3), 0.01);
  near(found.metrics["capacity.outage_bps_hz"], Math.log2(1 - 10 * Math.log(0.9)), 0.03);
  assert.equal(found.metrics["capacity.realisation_count"], 20_000n);
  const few = await of(50, {});
  assert.ok(!("capacity.outage_bps_hz" in few.metrics));
  const [{ code }] = few.metadata.warnings as { code: string }[];
  assert.equal(code, "realisations_too_few");
});

Deno.test("information of LLRs is that of the constellation, and a wrong scale costs only the plain value", async () => {
  const bits = Generator.seeded(8).integers(0, 2, 120_000, "uint8");
  for (const [modulation, snr_db] of [["qpsk", 0], ["qam16", 8]] as const) {
    const { symbols } = (await runOperation(digitalModulate, {
      inputs: { bits: payloadInput(bits) },
      params: { modulation },
    })).outputs;
    const { rx_symbols } =
      (await runOperation(wirelessChannel, { inputs: { symbols }, params: { snr_db: float(snr_db), seed: 2 } }))
        .outputs;
    const { llr } =
      (await runOperation(digitalDemodulate, { inputs: { rx_symbols }, params: { llr_method: "exact" } })).outputs;
    const expected = bitInterleavedStatistics(modulation, 10 ** (snr_db / 10)).capacity /
      (modulation === "qpsk" ? 2 : 4);
    const of = async (scale: number) => {
      const { array, kind } = { array: llr.array(), kind: "channel.llr.numpy" };
      const scaled = ndarray("float32", (array.data as Float32Array).map((value) => scale * value));
      const given = { kind, array: scaled, metadata: llr.metadata };
      return (await runOperation(mutualInformation, { inputs: { llr: given, reference: payloadInput(bits) } })).metrics;
    };
    const plain = await of(1), wrong = await of(3);
    near(plain["channel.mutual_information_bits"], expected, 0.006);
    near(plain["channel.generalised_mutual_information_bits"], expected, 0.006);
    near(plain["channel.llr_best_scale"], 1, 0.04);
    near(wrong["channel.llr_best_scale"], 1 / 3, 0.02);
    near(wrong["channel.generalised_mutual_information_bits"], expected, 0.006);
    assert.ok(Number(wrong["channel.mutual_information_bits"]) < expected - 0.1);
  }
  const llr = { kind: "channel.llr.numpy", array: ndarray("float32", new Float32Array(3)) };
  await refuses(
    "length_mismatch",
    () => runOperation(mutualInformation, { inputs: { llr, reference: payloadInput(Uint8Array.of(0, 1)) } }),
  );
});

Deno.test("effective Es/N0 of equal symbols is theirs, and of unequal ones lies below the mean", async () => {
  const of = async (variances: Float32Array, params: JsonObject, metadata: JsonObject = {}) => {
    const rx_symbols = {
      ...symbolsInput(variances.length, { modulation: "qpsk", ...metadata }, RX),
      companions: { noise_variance: ndarray("float32", variances) },
    };
    return (await runOperation(effectiveSnr, { inputs: { rx_symbols }, params })).metrics["channel.effective_snr_db"];
  };
  for (const method of ["eesm", "rbir"]) {
    near(await of(new Float32Array(8).fill(0.1), { method, beta: float(2) }), 10, 1e-5);
    const unequal = Number(await of(Float32Array.of(0.1, 1), { method }));
    assert.ok(unequal > 0 && unequal < 10 * Math.log10(5.5), String(unequal));
  }
  near(
    await of(Float32Array.of(0.1, 1), { method: "eesm", beta: float(1.6) }),
    exponentialEffectiveSnrDb([10, 1], 1.6),
    1e-5,
  );
  near(
    exponentialEffectiveSnrDb([10, 1], 1.6),
    10 * Math.log10(-1.6 * Math.log((Math.exp(-10 / 1.6) + Math.exp(-1 / 1.6)) / 2)),
    1e-9,
  );
  const two = Float32Array.of(0.1, 1), stored = await of(two, { method: "eesm", mcs_index: 4 });
  near(stored, exponentialEffectiveSnrDb([10, 1], calibratedBeta("eesm", "table_1", 4)!.beta), 1e-5);
  await refuses("params_conflict", () => of(two, { mcs_index: 4, beta: float(1) }));
  await refuses("params_conflict", () => of(two, { mcs_index: 5 }));
  await refuses("params_conflict", () => of(two, { mcs_index: 13 }));
  // Two units of one symbol each: the mean of their decibels.
  const units = { statistical_unit: "fading_block", statistical_unit_layout: { size: 1, total: 2 } };
  near(await of(Float32Array.of(0.1, 1), { method: "eesm" }, units), 5, 1e-5);
  await refuses(
    "input_metadata_missing",
    () => runOperation(effectiveSnr, { inputs: { rx_symbols: symbolsInput(4, { modulation: "qpsk" }, RX) } }),
  );
});

Deno.test("the gap to capacity is that of the rate: the entropy of a symbol less what its soft values lack", async () => {
  const count = 2000, bits = Uint8Array.from({ length: count }, (_, i) => i * i % 7 % 2);
  const of = (magnitude: number, metadata: JsonObject) => {
    const llr = ndarray("float32", Float32Array.from(bits, (bit) => bit === 0 ? magnitude : -magnitude));
    const inputs = { llr: { kind: "channel.llr.numpy", array: llr, metadata }, reference: payloadInput(bits) };
    return runOperation(mutualInformation, { inputs, params: { capacity_gap: true } });
  };
  const noise_variance = float(0.1);
  // Certain bits: R = H(X). 4 bits need 10 log10(15) dB of the 10 dB.
  const sixteen = (await of(100, { modulation: "qam16", noise_variance })).metrics;
  near(sixteen["channel.achievable_rate_bits"], 4, 1e-12);
  near(sixteen["channel.capacity_gap_db"], 10 - 10 * Math.log10(15), 1e-9);
  // Amplitudes of 64QAM with H(A) = 1.75 bits, and two signs.
  const amplitude_shares = [0.5, 0.25, 0.125, 0.125].map(float), shaped = { distribution_match: { amplitude_shares } };
  const metadata = { modulation: "shaped", noise_variance, ...shaped };
  near((await of(100, metadata)).metrics["channel.achievable_rate_bits"], 5.5, 1e-12);
  // A value of ln 3 lacks log2(4 / 3) bits: six of them a symbol.
  const unsure = (await of(Math.log(3), metadata)).metrics, rate = 5.5 - 6 * Math.log2(4 / 3);
  near(unsure["channel.achievable_rate_bits"], rate, 1e-6);
  near(unsure["channel.capacity_gap_db"], 10 - 10 * Math.log10(2 ** rate - 1), 1e-5);
  // Soft values without information have no gap.
  const none = (await of(0, { modulation: "qpsk", noise_variance })).metrics;
  near(none["channel.achievable_rate_bits"], 0, 1e-12);
  assert.ok(!("channel.capacity_gap_db" in none));
  await refuses("input_metadata_missing", () => of(1, { modulation: "qpsk" }));
  await refuses("input_metadata_missing", () => of(1, { modulation: "shaped", noise_variance }));
});

import assert from "node:assert/strict";
import vectors from "../../data/wireless/receiver_vectors.json" with { type: "json" };
import pilotModulate from "../../../ops/modulation/qpsk_pilot_modulate.ts";
import carrierPhase from "../../../ops/wireless/carrier_phase_impairment.ts";
import phaseTracker from "../../../ops/demodulation/phase_tracking_receiver_adapter.ts";
import channel from "../../../ops/wireless/channel.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { dbToLinear } from "../../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn } from "../../../lib/numeric/link/theory.ts";
import { payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { type GivenInput, outputOf, refuses, runOperation } from "../harness.ts";
import { assertSame, floats } from "./_vectors.ts";

const RX = "channel.rx_symbols.complex_numpy";
const BITS = Uint8Array.from(vectors.bits, Number);
const doubles = (hex: string) => new Float64Array(Uint8Array.fromHex(hex).buffer);
const CLASSICAL = ["uncompensated", "pilot_interpolation", "pilot_smoothing", "decision_directed_pll", "oracle"];

const frames = (metadata: JsonObject = { source_item_counts: vectors.items }) =>
  runOperation(pilotModulate, { inputs: { bits: payloadInput(BITS, metadata) }, params: vectors.frame_params });
const receivedInput = (hex: string, metadata: JsonObject = {}) =>
  symbolsInput(floats(hex), { source_item_counts: vectors.frame_symbol_counts, ...metadata }, { kind: RX });

Deno.test("frames, pilots and their context are NumPy's", async () => {
  const { outputs: { symbols, pilot_context }, metrics } = await frames();
  assert.deepEqual(symbols.array().data, floats(vectors.symbols));
  assert.deepEqual([...pilot_context.array().data], vectors.pilot_positions);
  assert.deepEqual(pilot_context.array("values").data, floats(vectors.pilots));
  assert.deepEqual(symbols.metadata.source_item_counts, vectors.frame_symbol_counts);
  assert.deepEqual(pilot_context.metadata.frame_bit_counts, vectors.items);
  assert.equal(symbols.metadata.modulation_padding_bits, 2);
  const pilots = vectors.pilot_positions.length, total = vectors.symbols.length / 16;
  assert.equal(symbols.metadata.pilot_symbol_count, pilots);
  assert.equal(metrics["channel.pilot_overhead_fraction"], pilots / total);
});

Deno.test("the last pilot follows a full group of data, and bits without items are one frame", async () => {
  const layout = async (count: number) => {
    const { pilot_context } = (await runOperation(pilotModulate, {
      inputs: { bits: payloadInput(someBits(count)) },
      params: { preamble_symbols: 1, pilot_spacing_data_symbols: 2 },
    })).outputs;
    return [pilot_context.metadata.frame_symbol_counts, [...pilot_context.array().data]];
  };
  assert.deepEqual(await layout(8), [[7], [0, 3, 6]]);
  assert.deepEqual(await layout(7), [[7], [0, 3, 6]]);
  assert.deepEqual(await layout(6), [[5], [0, 3]]);
  assert.deepEqual(await layout(0), [[1], [0]]);
});

Deno.test("phases, offsets and increments are drawn as NumPy draws them, and truth is what was turned by", async () => {
  const { rx_symbols, phase_truth } = (await runOperation(carrierPhase, {
    inputs: { rx_symbols: receivedInput(vectors.symbols, { modulation: "qpsk" }) },
    params: { seed: vectors.seed },
  })).outputs;
  const truth = phase_truth.array().data as Float64Array, expected = doubles(vectors.phase_truth);
  for (let i = 0; i < truth.length; i++) assert.ok(Math.abs(truth[i] - expected[i]) < 1e-12, `${i}`);
  assertSame(rx_symbols.array().data as Float32Array, floats(vectors.turned), "turned");
  assert.equal(rx_symbols.metadata.modulation, "qpsk");
  assert.deepEqual(phase_truth.metadata.source_item_counts, vectors.frame_symbol_counts);
});

Deno.test("without range and noise the carrier is a fixed phase and a ramp that starts over at every item", async () => {
  const { phase_truth } = (await runOperation(carrierPhase, {
    inputs: { rx_symbols: symbolsInput(5, { source_item_counts: [3, 2] }, { kind: RX }) },
    params: {
      initial_phase_min_rad: 1,
      initial_phase_max_rad: 1,
      cfo_min_cycles_per_symbol: 0.25,
      cfo_max_cycles_per_symbol: 0.25,
      phase_noise_increment_std_rad: 0,
    },
  })).outputs;
  const quarter = Math.PI / 2;
  assert.deepEqual([...phase_truth.array().data], [1, 1 + quarter, 1 + 2 * quarter, 1, 1 + quarter]);
  const swapped = { cfo_min_cycles_per_symbol: 0.1, cfo_max_cycles_per_symbol: 0 };
  const inputs = { rx_symbols: symbolsInput(5, {}, { kind: RX }) };
  await refuses("params_conflict", () => runOperation(carrierPhase, { inputs, params: swapped }));
});

async function track(mode: string, more: Record<string, GivenInput> = {}, params: JsonObject = {}) {
  const pilot_context = (await frames()).outputs.pilot_context;
  return runOperation(phaseTracker, {
    inputs: {
      rx_symbols: receivedInput(vectors.received, {
        noise_variance: vectors.noise_variance,
        modulated_item_bit_counts: vectors.items,
      }),
      pilot_context,
      ...more,
    },
    params: { mode, ...vectors.estimator_params, ...params },
  });
}

const truthInput = () => ({
  kind: "channel.carrier_phase_truth.numpy",
  array: ndarray("float64", doubles(vectors.phase_truth)),
});

Deno.test("every estimator gives NumPy's phases, and the oracle the true ones", async () => {
  for (const mode of CLASSICAL) {
    const { diagnostics } = (await track(mode, mode === "oracle" ? { phase_truth: truthInput() } : {})).outputs;
    const expected = mode === "oracle"
      ? doubles(vectors.phase_truth)
      : mode === "uncompensated"
      ? new Float64Array(vectors.received.length / 16)
      : doubles(vectors.estimates[mode as keyof typeof vectors.estimates]);
    const phases = diagnostics.array().data as Float64Array;
    assert.equal(phases.length, expected.length);
    for (let i = 0; i < expected.length; i++) {
      assert.ok(Math.abs(phases[i] - expected[i]) < 1e-9, `${mode}[${i}]: ${phases[i]}, ${expected[i]}`);
    }
    assert.equal(diagnostics.metadata.phase_tracking_mode, mode);
  }
});

Deno.test("at high SNR the receivers give back the bits, frame by frame, without padding", async () => {
  for (const mode of CLASSICAL.slice(1)) {
    const { bits, llr } = (await track(mode, mode === "oracle" ? { phase_truth: truthInput() } : {})).outputs;
    assert.deepEqual(bits.array().data, BITS, mode);
    assert.deepEqual(bits.metadata.source_item_counts, vectors.items);
    assert.equal(bits.metadata.noise_variance_source, "metadata");
    assert.ok((llr.array().data as Float32Array).every((value, i) => value < 0 === (BITS[i] === 1)));
  }
});

Deno.test("a noise variance per symbol weighs the LLRs of its own symbol", async () => {
  const symbols = floats(vectors.received), count = symbols.length / 2;
  const variance = Float32Array.from({ length: count }, (_, k) => 0.5 + k);
  const rx_symbols = symbolsInput(symbols, {}, {
    kind: RX,
    companions: { noise_variance: ndarray("float32", variance) },
  });
  const { llr } = (await track("uncompensated", { rx_symbols })).outputs;
  const pilots = new Set(vectors.pilot_positions);
  const data = Array.from({ length: count }, (_, k) => k).filter((k) => !pilots.has(k));
  // The first frame has 50 bits, so no padding comes before its end.
  for (let bit = 0; bit < 50; bit++) {
    const k = data[bit >> 1], expected = 2 * Math.SQRT2 * symbols[2 * k + (bit & 1)] / variance[k];
    assert.ok(Math.abs(llr.array().data[bit] as number - expected) < 1e-6 * Math.abs(expected), `${bit}`);
  }
  assert.equal(llr.metadata.noise_variance_source, "per_symbol");
});

Deno.test("truth feeds the oracle alone", async () => {
  await refuses("input_missing", () => track("oracle"));
  const [without, wired] = [
    await track("pilot_smoothing"),
    await track("pilot_smoothing", { phase_truth: truthInput() }),
  ];
  assert.deepEqual(wired.bytes, without.bytes);
  const short = { ...truthInput(), array: ndarray("float64", new Float64Array(3)) };
  await refuses("boundary_count_mismatch", () => track("oracle", { phase_truth: short }));
});

Deno.test("a context that does not fit is refused", async () => {
  const { pilot_context } = (await frames()).outputs;
  const broken = (metadata: JsonObject, positions = pilot_context.array()) => ({
    ...outputOf(pilot_context),
    array: positions,
    metadata: { ...pilot_context.metadata, ...metadata },
  });
  const lengths = vectors.frame_symbol_counts;
  const run = (context: GivenInput) => track("pilot_smoothing", { pilot_context: context });
  await refuses(
    "boundary_count_mismatch",
    () => run(broken({ frame_symbol_counts: [lengths[0], lengths[1], lengths[2] + 1] })),
  );
  await refuses("boundary_value_invalid", () => run(broken({ frame_symbol_counts: null })));
  await refuses("boundary_value_invalid", () => run(broken({ frame_bit_counts: [50, 33, 70] })));
  const falling = Int32Array.from(pilot_context.array().data as Int32Array).reverse();
  await refuses("boundary_value_invalid", () => run(broken({}, ndarray("int32", falling))));
});

/** Bit error rate over AWGN and a carrier that turns, for every mode. */
async function errorRates(snr_db: number, modes = CLASSICAL, impairment: JsonObject = {}) {
  const count = 400_000, items = Array<number>(400).fill(1000);
  const sent = Uint8Array.from(someBits(count, 5));
  const bits = payloadInput(sent, { source_item_counts: items });
  const { symbols, pilot_context } = (await runOperation(pilotModulate, { inputs: { bits } })).outputs;
  const noisy = (await runOperation(channel, { inputs: { symbols }, params: { snr_db, seed: 8 } })).outputs.rx_symbols;
  const { rx_symbols, phase_truth } = (await runOperation(carrierPhase, {
    inputs: { rx_symbols: noisy },
    params: { seed: 9, ...impairment },
  })).outputs;
  const rates: Record<string, number> = {};
  for (const mode of modes) {
    const inputs = { rx_symbols, pilot_context, ...(mode === "oracle" ? { phase_truth } : {}) };
    const received = (await runOperation(phaseTracker, { inputs, params: { mode } })).outputs.bits.array().data;
    let errors = 0;
    for (let i = 0; i < count; i++) if (received[i] !== sent[i]) errors++;
    rates[mode] = errors / count;
  }
  return { rates, count };
}

Deno.test("the oracle is AWGN to theory, ignorance is chance, and the estimators lie between", async () => {
  const { rates, count } = await errorRates(8);
  const theory = bitErrorRateAwgn("qpsk", dbToLinear(8));
  const { low, high } = wilsonInterval(Math.round(rates.oracle * count), count, 0.999);
  assert.ok(low <= theory && theory <= high, `${theory} is not within ${low} … ${high}`);
  assert.ok(Math.abs(rates.uncompensated - 0.5) < 0.02, String(rates.uncompensated));
  for (const mode of ["pilot_interpolation", "pilot_smoothing", "decision_directed_pll"]) {
    assert.ok(rates[mode] > theory && rates[mode] < 0.2, `${mode}: ${rates[mode]}`);
  }
});

Deno.test("the Kalman smoother over soft decisions is near the true phase", async () => {
  const { rates } = await errorRates(8, ["pilot_smoothing", "kalman_smoother", "oracle"]);
  const gained = (rates.pilot_smoothing - rates.kalman_smoother) / (rates.pilot_smoothing - rates.oracle);
  assert.ok(gained > 0.75, JSON.stringify(rates));
  assert.ok(rates.kalman_smoother > rates.oracle, JSON.stringify(rates));
});

Deno.test("without impairment smoothing costs less than interpolation: it averages the noise of the pilots", async () => {
  const none = {
    initial_phase_min_rad: 0,
    initial_phase_max_rad: 0,
    cfo_min_cycles_per_symbol: 0,
    cfo_max_cycles_per_symbol: 0,
    phase_noise_increment_std_rad: 0,
  };
  const { rates } = await errorRates(8, ["pilot_interpolation", "pilot_smoothing", "oracle"], none);
  assert.ok(rates.pilot_smoothing < rates.pilot_interpolation, JSON.stringify(rates));
  assert.ok(rates.pilot_smoothing < 2 * rates.oracle, JSON.stringify(rates));
});

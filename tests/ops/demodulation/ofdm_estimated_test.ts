/** Links with pilots: layouts, estimates, equalised symbols and the error rate that the estimate costs. */
import assert from "node:assert/strict";
import ofdmEqualize from "../../../ops/demodulation/ofdm_equalize.ts";
import neuralReceiver from "../../../ops/demodulation/neural_receiver_adapter.ts";
import ofdmPilotObservation from "../../../ops/demodulation/ofdm_pilot_observation.ts";
import channelEstimatorSlot from "../../../ops/estimation/channel_estimator_adapter.ts";
import lsChannelEstimator from "../../../ops/estimation/ls_channel_estimator.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import ofdmPilotInsert from "../../../ops/modulation/ofdm_pilot_insert.ts";
import ofdmChannelEstimator from "../../../ops/estimation/ofdm_channel_estimator.ts";
import wirelessChannel from "../../../ops/wireless/channel.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { recordedPooled } from "../../../lib/contract/metric_metadata.ts";
import type { InputArtifact, Operation } from "../../../lib/contract/operation.ts";
import {
  dopplerCorrelation,
  maximumDopplerHz,
  ofdmSymbolInterval,
} from "../../../lib/numeric/channel/delay_profile.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { bitErrorRateRayleigh } from "../../../lib/numeric/link/theory.ts";
import type { RunOptions } from "../../../lib/conformance/run_operation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";

const GRID = { subcarriers: 24, num_ofdm_symbols: 7 };

async function insert(count: number, params: JsonObject = {}) {
  return (await runOperation(ofdmPilotInsert, {
    inputs: { symbols: symbolsInput(count) },
    params: { ...GRID, ...params },
  }))
    .outputs;
}

async function link(
  bits: Uint8Array,
  params: { pilots?: JsonObject; channel?: JsonObject; estimator?: JsonObject } = {},
) {
  const { symbols } = (await runOperation(digitalModulate, { inputs: { bits: payloadInput(bits) } })).outputs;
  const sent =
    (await runOperation(ofdmPilotInsert, { inputs: { symbols }, params: { ...GRID, ...params.pilots } })).outputs;
  const channel = {
    channel: "ofdm_tdl",
    receiver_processing: "none",
    ofdm_fft_size: 24,
    num_ofdm_symbols: 7,
    ...params.channel,
  };
  const { rx_symbols } =
    (await runOperation(wirelessChannel, { inputs: { symbols: sent.symbols }, params: { seed: 5, ...channel } }))
      .outputs;
  const estimated = await runOperation(ofdmChannelEstimator, {
    inputs: { rx_symbols, pilot_context: sent.pilot_context },
    params: params.estimator,
  });
  const equalized = (await runOperation(ofdmEqualize, {
    inputs: { rx_symbols, estimate: estimated.outputs.estimate, pilot_context: sent.pilot_context },
  })).outputs.rx_symbols;
  const decided = (await runOperation(digitalDemodulate, { inputs: { rx_symbols: equalized } })).outputs.bits;
  return {
    sent,
    rx_symbols,
    estimated,
    equalized,
    errors: (decided.array().data as Uint8Array).reduce((sum, bit, i) => sum + Math.abs(bit - bits[i]), 0),
  };
}

Deno.test("data, pilots and empty combs fill the grids; the last grid is padded", async () => {
  const { symbols, pilot_context } = await insert(200);
  // 7·24 elements less the 24 of the DM-RS symbol: 144 data a grid.
  assert.deepEqual(symbols.metadata.ofdm_grid, {
    subcarriers: 24,
    num_ofdm_symbols: 7,
    grids: 2,
    port_count: 1,
    data_count: 200,
    padding_symbols: 88,
  });
  assert.deepEqual([...pilot_context.array().shape], [1, 12]);
  assert.deepEqual([...pilot_context.array("data_positions").shape], [144]);
  const stream = symbols.array().data as Float32Array;
  assert.equal(stream.length, 2 * 2 * 168);
  for (let k = 0; k < 24; k++) {
    const power = Math.hypot(stream[2 * (48 + k)], stream[2 * (48 + k) + 1]);
    assert.ok(Math.abs(power - (k % 2 === 0 ? 1 : 0)) < 1e-6);
  }
  const shared = await insert(200, { cdm_groups_without_data: 1 });
  assert.deepEqual([...shared.pilot_context.array("data_positions").shape], [156]);
  const layers = await insert(200, { port_count: 4, pilot_power_db: float(6) });
  assert.deepEqual([...layers.pilot_context.array("values").shape], [1, 4, 12]);
  assert.equal(layers.symbols.array().data.length, 2 * 168 * 4);
});

Deno.test("patterns that cannot be placed are refused", async () => {
  for (
    const params of [
      { dmrs_symbols: [7] },
      { dmrs_symbols: [2, 2] },
      { subcarriers: 20 },
      { pattern: "comb", port_count: 2 },
      { port_count: 3, cdm_groups_without_data: 1 },
      { pattern: "comb", pilot_offset: 4 },
      { pattern: "block", dmrs_symbols: [0, 1, 2, 3, 4, 5, 6] },
    ] as JsonObject[]
  ) await refuses("params_conflict", () => insert(10, params));
});

Deno.test("without noise, every pattern and method recovers the bits of a flat channel", async () => {
  const bits = someBits(500);
  for (const pilots of [{}, { pattern: "comb" }, { pattern: "block", dmrs_symbols: [1, 5] }] as JsonObject[]) {
    for (const method of ["least_squares", "lmmse", "oracle"]) {
      const channel = { delay_spread_ns: float(0), snr_db: float(90) };
      const { errors, estimated } = await link(bits, { pilots, channel, estimator: { method } });
      assert.equal(errors, 0, `${JSON.stringify(pilots)} ${method}`);
      assert.ok(Number(estimated.metrics["channel_estimation.nmse"]) < 1e-4);
    }
  }
});

Deno.test("least squares over noise alone has the error N0/β², and says so", async () => {
  const bits = someBits(30_000), channel = { delay_spread_ns: float(0), snr_db: float(10) };
  for (const power of [0, 6]) {
    const pilots = { pattern: "block", pilot_power_db: float(power) };
    const { estimated } = await link(bits, { pilots, channel, estimator: { time_interpolation: "nearest" } });
    const error = 0.1 / 10 ** (power / 10), { estimate } = estimated.outputs;
    const declared = estimate.array("error_variance").data as Float32Array;
    assert.ok(declared.every((value) => Math.abs(value / error - 1) < 1e-5));
    // E|h|² of 105 blocks deviates by a tenth.
    const nmse = Number(estimated.metrics["channel_estimation.nmse"]);
    assert.ok(nmse > 0.7 * error && nmse < 1.4 * error, `${nmse} ${error}`);
  }
});

Deno.test("QPSK over a perfectly known channel has the Rayleigh error rate; LMMSE costs less than least squares", async () => {
  const bits = Generator.seeded(3).integers(0, 2, 2 * 144 * 700, "uint8");
  const channel = { delay_spread_ns: float(300), subcarrier_spacing_khz: float(120), snr_db: float(8) };
  const errors: Record<string, number> = {};
  for (const method of ["oracle", "lmmse", "least_squares"]) {
    const estimator = { method, delay_profile: "tdl", delay_spread_ns: float(300), subcarrier_spacing_khz: float(120) };
    errors[method] = (await link(bits, { channel, estimator })).errors;
  }
  const theory = bitErrorRateRayleigh("qpsk", 10 ** 0.8) * bits.length;
  // Errors of one grid go together: 700 grids of about two independent gains; 4 standard deviations.
  assert.ok(Math.abs(errors.oracle / theory - 1) < 0.15, `${errors.oracle} against ${theory}`);
  assert.ok(errors.oracle < errors.lmmse && errors.lmmse < errors.least_squares, JSON.stringify(errors));
});

Deno.test("pairs of pilots separate two ports of a CDM group", async () => {
  const { symbols, pilot_context } = await insert(100, { port_count: 2 });
  // Two transmit antennas with gains 1 and j on one receive antenna.
  const layered = symbols.array().data as Float32Array, count = layered.length / 4;
  const y = Float32Array.from(
    { length: 2 * count },
    (_, i) => i % 2 === 0 ? layered[2 * i] - layered[2 * i + 3] : layered[2 * i - 1] + layered[2 * i],
  );
  const rx_symbols = symbolsInput(y, { noise_variance: float(0.2) }, { kind: "channel.rx_symbols.complex_numpy" });
  const { estimate } = (await runOperation(ofdmChannelEstimator, { inputs: { rx_symbols, pilot_context } })).outputs;
  const h = estimate.array().data as Float32Array, error = estimate.array("error_variance").data as Float32Array;
  for (let at = 0; at < count; at++) {
    [1, 0, 0, 1].forEach((value, i) =>
      assert.ok(Math.abs(h[4 * at + i] - value) < 1e-6, `${at} ${i}: ${h[4 * at + i]}`)
    );
  }
  assert.ok(error.every((value) => Math.abs(value - 0.1) < 1e-7));
});

/** A link whose channel a slot estimates, with the equalised symbols. */
async function slotLink(slot: RunOptions, params: Parameters<typeof link>[1] = {}) {
  const { rx_symbols, sent: { pilot_context } } = await link(someBits(600), params),
    inputs = { rx_symbols, pilot_context };
  const { observation } = (await runOperation(ofdmPilotObservation, { inputs })).outputs;
  const { estimate: pilot_estimate } =
    (await runOperation(channelEstimatorSlot, { ...slot, inputs: { problem: observation } })).outputs;
  const estimated = await runOperation(ofdmChannelEstimator, {
    inputs: { ...inputs, pilot_estimate },
    params: { method: "given", ...params.estimator },
  });
  const equalized = await runOperation(ofdmEqualize, {
    inputs: { ...inputs, estimate: estimated.outputs.estimate },
  });
  return { inputs, observation, pilot_estimate, estimated, equalized: equalized.outputs.rx_symbols };
}

const TWO_SYMBOLS = { pilots: { dmrs_symbols: [1, 5], pilot_power_db: float(3) }, channel: { snr_db: float(10) } };

Deno.test("an observation has y/p at the pilots of each OFDM symbol, and their noise variance", async () => {
  const { inputs: { rx_symbols, pilot_context }, observation } = await slotLink({}, TWO_SYMBOLS);
  // 600 bits: 300 symbols in grids of 5·24 data elements.
  const [grids, places] = [3, Array.from({ length: 12 }, (_, i) => 2 * i)];
  assert.deepEqual([...observation.array().shape], [2 * grids, 1, 24]);
  assert.ok(Math.abs(Number(observation.metadata.noise_variance) - 0.1 / 10 ** 0.3) < 1e-9);
  const y = rx_symbols.array().data as Float32Array, seen = observation.array().data as Float32Array;
  const p = pilot_context.array("values").data as Float32Array, mask = observation.array("pilots").data as Float32Array;
  for (let grid = 0; grid < grids; grid++) {
    [1, 5].forEach((time, row) =>
      places.forEach((k, i) => {
        const at = 2 * (24 * (7 * grid + time) + k),
          v = 2 * (24 * grid + 12 * row + i),
          to = 2 * (24 * (2 * grid + row) + k);
        // seen·p = y
        assert.ok(Math.abs(seen[to] * p[v] - seen[to + 1] * p[v + 1] - y[at]) < 1e-5);
        assert.ok(Math.abs(seen[to] * p[v + 1] + seen[to + 1] * p[v] - y[at + 1]) < 1e-5);
        assert.deepEqual([...seen.subarray(to + 2, to + 4), ...mask.subarray(2 * k, 2 * k + 4)], [0, 0, 1, 0, 0, 0]);
      })
    );
  }
});

Deno.test("least squares by a slot is least squares of the link, for every interpolation in time", async () => {
  for (const time_interpolation of ["linear", "nearest", "average"]) {
    const { inputs, estimated } = await slotLink({ params: { mode: "least_squares" } }, {
      ...TWO_SYMBOLS,
      estimator: { time_interpolation },
    });
    const own = await runOperation(ofdmChannelEstimator, { inputs, params: { time_interpolation } });
    for (const name of [undefined, "error_variance"]) {
      const [found, wanted] = [estimated, own].map(({ outputs }) => outputs.estimate.array(name).data as Float32Array);
      assert.ok(found.every((value, i) => Math.abs(value - wanted[i]) < 1e-6), `${time_interpolation} ${name}`);
    }
    assert.ok(
      Math.abs(
        Number(estimated.metrics["channel_estimation.nmse"]) / Number(own.metrics["channel_estimation.nmse"]) - 1,
      ) < 1e-5,
    );
  }
});

Deno.test("the error variance of an artifact reaches the equaliser; one without it needs a parameter", async () => {
  const params = { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) };
  const model = (error?: number): RunOptions["model"] => ({ ls_estimate_ri: { shape, data } }) => ({
    h_hat_ri: ndarray("float32", data.slice() as Float32Array, shape),
    ...(error === undefined
      ? {}
      : { error_variance: ndarray("float32", new Float32Array(data.length / 2).fill(error), shape.slice(0, 4)) }),
  });
  const variance = ({ array }: InputArtifact) => array("noise_variance").data as Float32Array;
  const exact = await slotLink({ params, model: model(0) }, TWO_SYMBOLS);
  const loose = await slotLink({ params, model: model(0.1) }, TWO_SYMBOLS);
  const doubled = variance(loose.equalized), once = variance(exact.equalized);
  assert.ok(doubled.every((value, i) => Math.abs(value / once[i] - 2) < 1e-4));
  await refuses("params_conflict", () => slotLink({ params, model: model() }, TWO_SYMBOLS));
  const given = { ...TWO_SYMBOLS, estimator: { given_error_variance: float(0.1) } };
  assert.deepEqual(variance((await slotLink({ params, model: model() }, given)).equalized), doubled);
  await refuses("artifact_output_invalid", () => slotLink({ params, model: model(-0.1) }, TWO_SYMBOLS));
});

Deno.test("a slot has no pilots of several ports, and its estimate must be of these grids", async () => {
  const { rx_symbols } = await link(someBits(100)), { pilot_context } = await insert(50, { port_count: 2 });
  await refuses("params_conflict", () => runOperation(ofdmPilotObservation, { inputs: { rx_symbols, pilot_context } }));
  const { inputs } = await slotLink({}), { pilot_estimate } = await slotLink({}, TWO_SYMBOLS);
  const params = { method: "given" };
  await refuses(
    "boundary_shape_invalid",
    () => runOperation(ofdmChannelEstimator, { inputs: { ...inputs, pilot_estimate }, params }),
  );
  await refuses("input_missing", () => runOperation(ofdmChannelEstimator, { inputs, params }));
});

Deno.test("a neural receiver demaps the equalised symbols of a faded link by their own noise variances", async () => {
  const rx_symbols = (await slotLink({}, TWO_SYMBOLS)).equalized, inputs = { rx_symbols };
  const exact = (await runOperation(digitalDemodulate, { inputs })).outputs;
  const learned = await runOperation(neuralReceiver, {
    inputs,
    params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
    model: ({ rx_symbols_ri: { shape, data }, noise_variance }) => ({
      bit_llr: ndarray(
        "float32",
        Float32Array.from(
          data as Float32Array,
          (value, i) => 2 * Math.SQRT2 * value / (noise_variance.data as Float32Array)[i >> 1],
        ),
        shape,
      ),
    }),
  });
  for (const { outputs } of [learned, await runOperation(neuralReceiver, { inputs })]) {
    const [found, wanted] = [outputs.llr, exact.llr].map((llr) => llr.array().data as Float32Array);
    assert.equal(found.length, 600);
    assert.ok(found.every((value, i) => Math.abs(value - wanted[i]) <= 1e-5 * Math.abs(wanted[i]) + 1e-6));
  }
  assert.equal(learned.outputs.llr.metadata.noise_variance_source, "per_symbol");
});

Deno.test("grids of another size, lost truth and foreign estimates are refused", async () => {
  const bits = someBits(100);
  await refuses("params_conflict", () => link(bits, { channel: { ofdm_fft_size: 12 } }));
  await refuses("params_conflict", () => link(bits, { pilots: { port_count: 2 } }));
  const { rx_symbols, sent, estimated } = await link(bits);
  const short = symbolsInput(24, { noise_variance: float(0.1) }, { kind: "channel.rx_symbols.complex_numpy" });
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(ofdmChannelEstimator, { inputs: { rx_symbols: short, pilot_context: sent.pilot_context } }),
  );
  await refuses(
    "shape_mismatch",
    () => runOperation(ofdmEqualize, { inputs: { rx_symbols: short, estimate: estimated.outputs.estimate } }),
  );
  const plain = symbolsInput(rx_symbols.array().data as Float32Array, { noise_variance: float(0.1) }, {
    kind: rx_symbols.kind,
  });
  await refuses("params_conflict", () =>
    runOperation(ofdmChannelEstimator, {
      inputs: { rx_symbols: plain, pilot_context: sent.pilot_context },
      params: { method: "oracle" },
    }));
});

/** Error of an estimate over independent streams of one grid, beside the mean variance that the estimate declares. */
async function tracked(dmrs_symbols: number[], estimator: JsonObject, snr_db: number) {
  const streams = 200, bits = someBits(100);
  let error = 0, power = 0, declared = 0;
  for (let stream = 0; stream < streams; stream++) {
    const { estimated, rx_symbols } = await link(bits, {
      pilots: { num_ofdm_symbols: 14, pattern: "block", dmrs_symbols },
      channel: {
        ...{ num_ofdm_symbols: 14, time_variation: "doppler", delay_spread_ns: float(0), stream: `${stream}` },
        ...{ mobility_kmh: float(120), snr_db: float(snr_db), seed: stream },
      },
      estimator,
    });
    const { estimate } = estimated.outputs, variance = estimate.array("error_variance").data as Float32Array;
    const h = estimate.array().data as Float32Array, truth = rx_symbols.array("channel_gain").data as Float32Array;
    h.forEach((value, i) => error += (value - truth[i]) ** 2);
    power += truth.reduce((sum, value) => sum + value ** 2, 0);
    declared += variance.reduce((sum, one) => sum + one / variance.length, 0) / streams;
  }
  return { error: error / power, declared };
}

Deno.test("without tracking, a moving channel has the error floor of its correlation; wiener has the declared error", async () => {
  const dopplerHz = maximumDopplerHz(120, 3.5),
    rho = (symbols: number) => dopplerCorrelation("jakes", dopplerHz, symbols * ofdmSymbolInterval(15));
  // E|h(t) - h(2)|² = 2(1 - ρ) from one pilot symbol, whatever the Es/N0.
  let floor = 0;
  for (let symbol = 0; symbol < 14; symbol++) floor += 2 * (1 - rho(symbol - 2)) / 14;
  const wiener = { method: "lmmse", delay_spread_ns: float(0), time_interpolation: "wiener" };
  const known = await tracked([2, 11], wiener, 20), noisy = FULL_SIZE ? [await tracked([2, 11], wiener, 0)] : [];
  for (const { error, declared } of [known, ...noisy]) {
    assert.ok(Math.abs(error / declared - 1) < 0.15, `${error} ${declared}`);
  }
  // Estimates without tracking, more noise and a wrong assumption run under `deno task soak whole`.
  if (!FULL_SIZE) return;
  const held = await tracked([2], { method: "lmmse", time_interpolation: "nearest" }, 60);
  assert.ok(Math.abs(held.error / floor - 1) < 0.15, `${held.error} ${floor}`);
  const wrong = await tracked([2, 11], { ...wiener, assumed_doppler_hz: float(0) }, 20);
  assert.ok(wrong.error > 5 * known.error && wrong.error > 5 * wrong.declared, `${wrong.error} ${known.error}`);
});

Deno.test("the error of estimates has one unit for a realisation in motion, else one for each grid or larger unit", async () => {
  const bits = someBits(4000), moving = { time_variation: "doppler", mobility_kmh: float(120) };
  const sums = async (channel: JsonObject) => {
    const { metadata, metrics } = (await link(bits, { channel })).estimated;
    const pooled = recordedPooled({ metric_metadata: metadata.metric_metadata }, "channel_estimation.nmse")!.sums;
    assert.ok(Math.abs(pooled.numerator / pooled.denominator / Number(metrics["channel_estimation.nmse"]) - 1) < 1e-12);
    return pooled;
  };
  const still = await sums({}), driven = await sums(moving);
  assert.ok(still.units > 10, String(still.units));
  assert.equal(driven.units, 1);
  assert.ok(Math.abs(driven.numerator_squared / driven.numerator ** 2 - 1) < 1e-12);
});

Deno.test("wiener needs LMMSE and a Doppler shift", async () => {
  const bits = someBits(10), estimator = { time_interpolation: "wiener" };
  await refuses("params_conflict", () => link(bits, { estimator }));
  const { sent, rx_symbols } = await link(bits), params = { ...estimator, method: "lmmse" };
  delete rx_symbols.metadata.wireless_channel;
  const inputs = { rx_symbols, pilot_context: sent.pilot_context };
  await refuses("input_metadata_missing", () => runOperation(ofdmChannelEstimator, { inputs, params }));
  await runOperation(ofdmChannelEstimator, { inputs, params: { ...params, assumed_doppler_hz: float(10) } });
});

Deno.test("whole grids hold the pilots of all OFDM symbols in place, and their given estimate comes back as the gains of the grid", async () => {
  const { symbols, pilot_context } = await insert(400, { dmrs_symbols: [1, 5] });
  const channel = { channel: "ofdm_tdl", receiver_processing: "none", ofdm_fft_size: 24, num_ofdm_symbols: 7, seed: 5 };
  const { rx_symbols } = (await runOperation(wirelessChannel, { inputs: { symbols }, params: channel })).outputs;
  const inputs = { rx_symbols, pilot_context };
  const observed = async (params: JsonObject = {}) =>
    (await runOperation(ofdmPilotObservation, { inputs, params })).outputs.observation;
  const whole = await observed({ example: "grid" }), rows = await observed();
  const [grids, rx, size] = whole.array().shape, y = whole.array().data as Float32Array;
  assert.deepEqual([rx, size], [1, 7 * 24]);
  const expected = new Float32Array(2 * grids * size), each = rows.array().data as Float32Array;
  for (let grid = 0; grid < grids; grid++) {
    [1, 5].forEach((time, row) => {
      const from = 2 * 24 * (2 * grid + row);
      expected.set(each.subarray(from, from + 2 * 24), 2 * (grid * size + 24 * time));
    });
  }
  assert.deepEqual(y, expected);
  const linear: { operation: Operation; params: JsonObject }[] = [
    { operation: channelEstimatorSlot, params: { mode: "least_squares" } },
    { operation: channelEstimatorSlot, params: { mode: "linear_mmse_reference" } },
    { operation: lsChannelEstimator, params: {} },
  ];
  for (const { operation, params } of linear) {
    await refuses("params_conflict", () => runOperation(operation, { inputs: { problem: whole }, params }));
    await runOperation(operation, { inputs: { problem: rows }, params });
  }
  const values = Float32Array.from({ length: 2 * grids * size }, (_, i) => Math.cos(i));
  const variances = Float32Array.from({ length: grids * size }, (_, i) => 0.5 + 0.4 * Math.sin(i));
  const pilot_estimate = {
    ...arrayInput("ai_phy.channel_estimate.numpy", "complex64", values, [grids, 1, 1, size], {
      example_count: grids,
      estimator: "given",
    }),
    companions: { error_variance: ndarray("float32", variances, [grids, 1, 1, size]) },
  };
  const { estimate } = (await runOperation(ofdmChannelEstimator, {
    inputs: { ...inputs, pilot_estimate },
    params: { method: "given" },
  })).outputs;
  assert.deepEqual(estimate.array().data, values);
  assert.deepEqual(estimate.array("error_variance").data, variances);
});

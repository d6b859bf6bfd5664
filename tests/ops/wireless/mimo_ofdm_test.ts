/** MIMO-OFDM links: what travels, all detectors without noise, estimates, and what is refused. */
import assert from "node:assert/strict";
import nrLdpcDecoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import errorRate from "../../../ops/metrics/error_rate.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import mimoDetect from "../../../ops/demodulation/mimo_detect.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import ofdmChannelEstimator from "../../../ops/estimation/ofdm_channel_estimator.ts";
import ofdmPilotInsert from "../../../ops/modulation/ofdm_pilot_insert.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { OFDM_STATE } from "../../../lib/contract/kinds.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const [bitErrorRate] = errorRate;

const GRID = { ofdm_fft_size: 12, num_ofdm_symbols: 4 };

async function sent(bits: Uint8Array, channel: JsonObject, modulation = "qam16") {
  const { symbols } =
    (await runOperation(digitalModulate, { inputs: { bits: payloadInput(bits) }, params: { modulation } })).outputs;
  const params = { ...GRID, seed: 7, snr_db: float(90), ...channel };
  const { outputs, metrics } = await runOperation(mimoOfdmChannel, { inputs: { symbols }, params });
  return { symbols, metrics, rx_grid: outputs.rx_grid, channel: outputs.state };
}
async function decided(
  inputs: Record<string, GivenInput>,
  params: JsonObject,
) {
  const { outputs, metrics } = await runOperation(mimoDetect, { inputs, params });
  return { bits: [...outputs.bits.array().data as Uint8Array], outputs, metrics };
}

Deno.test("every detector returns the bits without noise, also with fewer layers than antennas", async () => {
  const bits = someBits(1000);
  for (
    const setup of [{}, { channel_model: "iid", tx_antennas: 3, layers: 2, precoding: "svd" }, {
      channel_model: "cdl",
    }] as JsonObject[]
  ) {
    const { rx_grid, channel } = await sent(bits, setup);
    assert.deepEqual([...rx_grid.array().shape], [3, 4, 12, 2]);
    for (const detector of ["zf", "mmse", "mmse_sic", "ml", "kbest"]) {
      const found = await decided({ rx_grid, channel }, { detector });
      assert.deepEqual(found.bits, [...bits], `${JSON.stringify(setup)} ${detector}`);
      assert.equal(found.outputs.symbols.array().data.length, 500);
    }
  }
});

Deno.test("on the same received grids ML errs least, then K-best, MMSE-SIC, MMSE and ZF", async () => {
  const bits = Generator.seeded(4).integers(0, 2, 72_000, "uint8");
  const { rx_grid, channel } = await sent(bits, { tx_antennas: 3, rx_antennas: 3, snr_db: float(18) });
  const errors: Record<string, number> = {};
  for (const detector of ["ml", "kbest", "mmse_sic", "mmse", "zf"]) {
    const { bits: found } = await decided({ rx_grid, channel }, { detector });
    errors[detector] = found.reduce((sum, bit, i) => sum + Math.abs(bit - bits[i]), 0);
  }
  const shown = JSON.stringify(errors), { ml, kbest, mmse_sic, mmse, zf } = errors;
  assert.ok(ml > 100 && mmse_sic > 1.2 * kbest && mmse > 1.2 * mmse_sic && zf > 1.2 * mmse, shown);
  // 32 of 4096 vectors almost always hold the nearest one.
  assert.ok(ml <= 1.01 * kbest && kbest < 1.1 * ml, shown);
});

Deno.test("bit errors are counted by grids, whose bits fade together", async () => {
  // 1000 bits of 16QAM on grids of 4·12 elements with two layers of 4 bits: 384 bits a grid.
  const bits = someBits(1000), { rx_grid, channel } = await sent(bits, { snr_db: float(0) });
  const candidate = (await decided({ rx_grid, channel }, { detector: "mmse" })).outputs.bits;
  const { outputs } = await runOperation(bitErrorRate, { inputs: { reference: payloadInput(bits), candidate } });
  const { metric_metadata } = outputs.report.json() as { metric_metadata: Record<string, JsonObject> };
  const { unit, units } = metric_metadata["channel.ber"];
  assert.deepEqual([unit, Number(units)], ["fading_block", 3]);
});

Deno.test("singular vectors leave diagonal channels: MMSE and ZF agree there", async () => {
  const { channel } = await sent(someBits(400), { precoding: "svd", tx_antennas: 4, rx_antennas: 4 });
  const g = channel.array().data as Float32Array;
  for (let k = 0; k < 12; k++) {
    for (let a = 0; a < 4; a++) {
      for (let b = 0; b < a; b++) {
        let real = 0, imaginary = 0;
        for (let r = 0; r < 4; r++) {
          const p = 2 * ((k * 4 + r) * 4 + a), q = 2 * ((k * 4 + r) * 4 + b);
          real += g[p] * g[q] + g[p + 1] * g[q + 1];
          imaginary += g[p] * g[q + 1] - g[p + 1] * g[q];
        }
        assert.ok(Math.hypot(real, imaginary) < 1e-5);
      }
    }
  }
});

Deno.test("precoding vectors have a first component that is real and positive", async () => {
  // One antenna receives: h W = |h|, with the phase of h's first gain.
  const setup = { channel_model: "iid", tx_antennas: 3, rx_antennas: 1, layers: 1 };
  const { channel } = await sent(someBits(48), { ...setup, precoding: "svd" });
  const plain = (await sent(someBits(48), setup)).channel.array().data as Float32Array;
  const g = channel.array().data as Float32Array;
  assert.ok(g.length > 0);
  for (let i = 0; i < g.length; i += 2) {
    const turn = (g[i] * plain[i] + g[i + 1] * plain[i + 1]) / Math.hypot(g[i], g[i + 1]) /
      Math.hypot(plain[i], plain[i + 1]);
    assert.ok(Math.abs(turn - 1) < 1e-6, String(turn));
    assert.ok(Math.hypot(g[i], g[i + 1]) > Math.hypot(plain[i], plain[i + 1]));
  }
});

Deno.test("NR LDPC over block fading fails a little more often than capacity is below the rate", async () => {
  // One bit per symbol: blocks of 240 QPSK symbols, each on a grid with one gain.
  const blocks = 500, size = 240, grid = { ofdm_fft_size: 24, num_ofdm_symbols: 10, channel_model: "iid" };
  const bits = payloadInput(Generator.seeded(5).integers(0, 2, blocks * size, "uint8") as Uint8Array<ArrayBuffer>);
  const code = { transport_block_size_bits: size, coded_bits_per_block: 480 };
  const { coded_bits } = (await runOperation(nrLdpcEncoder, { inputs: { bits }, params: code })).outputs;
  const { symbols } = (await runOperation(digitalModulate, { inputs: { bits: coded_bits } })).outputs;
  const snr = 10 ** 0.4, antennas = { tx_antennas: 1, rx_antennas: 1, snr_db: float(4), seed: 2 };
  const { rx_grid, state } =
    (await runOperation(mimoOfdmChannel, { inputs: { symbols }, params: { ...grid, ...antennas } })).outputs;
  const { llr } = (await runOperation(mimoDetect, { inputs: { rx_grid, channel: state } })).outputs;
  const report = (await runOperation(nrLdpcDecoder, { inputs: { llr } })).outputs.report.json();
  const failed = Number(report.block_count) - Number(report.crc_pass_count);
  const { low, high } = wilsonInterval(failed, blocks, 0.999), outage = (gamma: number) => 1 - Math.exp(-1 / gamma);
  // QPSK and blocks of this length lose about 2 dB to Gaussian symbols in long blocks.
  assert.ok(failed >= 100 && high >= outage(snr) && low <= outage(snr / 10 ** 0.2), `${failed} of ${blocks}`);
});

Deno.test("two layers over a channel estimated from DM-RS arrive; the error of the estimate lowers LLRs", async () => {
  const bits = someBits(2000),
    modulated = await runOperation(digitalModulate, { inputs: { bits: payloadInput(bits) } });
  const pilots = { subcarriers: 12, num_ofdm_symbols: 4, dmrs_symbols: [1], port_count: 2 };
  const { symbols, pilot_context } = (await runOperation(ofdmPilotInsert, {
    inputs: { symbols: modulated.outputs.symbols },
    params: pilots,
  })).outputs;
  const params = { ...GRID, channel_model: "iid", seed: 3, rx_antennas: 4, snr_db: float(25) };
  const { rx_grid } = (await runOperation(mimoOfdmChannel, { inputs: { symbols }, params })).outputs;
  const { estimate } =
    (await runOperation(ofdmChannelEstimator, { inputs: { rx_symbols: rx_grid, pilot_context } })).outputs;
  assert.deepEqual([...estimate.array().shape].slice(1), [4, 12, 4, 2]);
  const inputs = { rx_grid, channel: estimate, pilot_context };
  const found = await decided(inputs, { detector: "mmse" });
  assert.deepEqual(found.bits, [...bits]);
  const sure = await decided(inputs, { detector: "mmse", include_estimation_error: false });
  assert.ok(Number(sure.metrics["mimo.mean_post_sinr_db"]) > Number(found.metrics["mimo.mean_post_sinr_db"]) + 2);
});

Deno.test("too many layers, vectors and antennas, and foreign grids are refused", async () => {
  const bits = someBits(200), send = (params: JsonObject) => sent(bits, params);
  await refuses("params_conflict", () => send({ layers: 3 }));
  await refuses("params_conflict", () => send({ rx_antennas: 1, precoding: "svd" }));
  await refuses("params_conflict", () => send({ correlation_model: "ts36101_low", tx_antennas: 3 }));
  await refuses("params_conflict", () => send({ channel_model: "cdl", tx_correlation: float(0.5) }));
  const wide = await send({ tx_antennas: 4, rx_antennas: 2 });
  await refuses("params_conflict", () => decided({ rx_grid: wide.rx_grid, channel: wide.channel }, { detector: "zf" }));
  await refuses(
    "params_conflict",
    () => decided({ rx_grid: wide.rx_grid, channel: wide.channel }, { detector: "ml", modulation: "qam64" }),
  );
  const other = await send({});
  await refuses("shape_mismatch", () => decided({ rx_grid: wide.rx_grid, channel: other.channel }, {}));
});

Deno.test("an explicit state is the channel: y = H x / sqrt(L) + n on every element, constant or of each OFDM symbol", async () => {
  const [grids, rows, width, rx, tx] = [2, 3, 4, 2, 3], bits = someBits(2 * grids * rows * width * tx);
  const wired = (symbols: number, count = grids) => {
    const h = new Float32Array(2 * count * symbols * width * rx * tx).map((_, at) => Math.sin(at));
    const array = ndarray("complex64", h, [count, symbols, width, rx, tx]);
    return { h, channel_state: { kind: OFDM_STATE, array, metadata: { noise_variance: float(1) } } };
  };
  const { symbols } =
    (await runOperation(digitalModulate, { inputs: { bits: payloadInput(bits) }, params: { modulation: "qpsk" } }))
      .outputs;
  const x = symbols.array().data as Float32Array;
  const params = { channel_state_mode: "explicit", ofdm_fft_size: width, num_ofdm_symbols: rows, rx_antennas: rx };
  const run = (inputs: Record<string, GivenInput>, more: JsonObject = {}) =>
    runOperation(mimoOfdmChannel, { inputs: { symbols, ...inputs }, params: { ...params, tx_antennas: tx, ...more } });
  for (const own of [1, rows]) {
    const { h, channel_state } = wired(own), { outputs } = await run({ channel_state }, { snr_db: float(120) });
    const y = outputs.rx_grid.array().data as Float32Array;
    assert.deepEqual(outputs.state.array().shape, [grids, ...own > 1 ? [rows] : [], width, rx, tx]);
    for (let element = 0; element < grids * rows * width; element++) {
      const k = element % width, row = Math.floor(element / width), grid = Math.floor(row / rows);
      const block = own === 1 ? grid : row;
      for (let r = 0; r < rx; r++) {
        let real = 0, imaginary = 0;
        for (let t = 0; t < tx; t++) {
          const at = 2 * (((block * width + k) * rx + r) * tx + t), from = 2 * (element * tx + t);
          real += h[at] * x[from] - h[at + 1] * x[from + 1];
          imaginary += h[at] * x[from + 1] + h[at + 1] * x[from];
        }
        const to = 2 * (element * rx + r), scale = Math.sqrt(1 / tx);
        assert.ok(Math.hypot(y[to] - scale * real, y[to + 1] - scale * imaginary) < 1e-5, `${own} ${element} ${r}`);
      }
    }
    const { rx_grid, state: channel } = outputs;
    const { bits: found } = await decided({ rx_grid, channel }, { detector: "ml" });
    assert.deepEqual(found, [...bits]);
  }
  const { channel_state } = wired(1);
  // Noise alone is drawn, as its variance says.
  const noise = (await run({
    channel_state: {
      ...channel_state,
      array: ndarray("complex64", new Float32Array(2 * 2 * width * rx * tx), [2, 1, width, rx, tx]),
    },
  }, { snr_db: float(0) })).outputs.rx_grid;
  const power = (noise.array().data as Float32Array).reduce((sum, value) => sum + value * value, 0) /
    (grids * rows * width * rx);
  // 48 elements: the standard deviation of the mean is 0.14.
  assert.ok(Math.abs(power - 1) < 0.6, String(power));
  await refuses("boundary_shape_invalid", () => run({ channel_state }, { rx_antennas: 3 }));
  await refuses("boundary_shape_invalid", () => run({ channel_state: wired(2).channel_state }));
  await refuses("boundary_count_mismatch", () => run({ channel_state: wired(1, 1).channel_state }));
  await refuses("params_conflict", () => run({ channel_state }, { channel_state_mode: "none" }));
  await refuses("params_conflict", () => run({}));
  await refuses("params_conflict", () => run({ channel_state }, { time_variation: "doppler" }));
});

/** Time-domain OFDM: stored vectors, the cyclic prefix, offsets, oversampling and error rates. */
import assert from "node:assert/strict";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import ofdmReceive from "../../../ops/demodulation/ofdm_receive.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import multipathWaveform from "../../../ops/wireless/multipath_waveform.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn } from "../../../lib/numeric/link/theory.ts";
import stored from "../../data/physical/ofdm_time.json" with { type: "json" };
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, symbolsInput } from "../inputs.ts";

const QUIET = { snr_db: float(200), seed: 1 };
const paths = (taps: readonly (readonly number[])[]) => taps.map((tap) => tap.map((value) => float(value)));

async function chain(x: Float32Array, modulator: JsonObject, channel: JsonObject, receiver: JsonObject = {}) {
  const sent = await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(x) }, params: modulator });
  const { waveform, state } = (await runOperation(multipathWaveform, {
    inputs: { waveform: sent.outputs.waveform },
    params: { ...QUIET, ...channel },
  })).outputs;
  const found = await runOperation(ofdmReceive, { inputs: { waveform, state }, params: receiver });
  return { sent, waveform, found, y: found.outputs.rx_symbols.array().data as Float32Array };
}
function near(found: ArrayLike<number>, expected: readonly number[], what: string, tolerance = 2e-5) {
  assert.equal(found.length, expected.length, what);
  expected.forEach((value, i) =>
    assert.ok(Math.abs(found[i] - value) <= tolerance, `${what} ${i}: ${found[i]} ${value}`)
  );
}

Deno.test("samples, received samples, elements, PAPR and interference are the stored ones", async () => {
  for (const row of stored.cases) {
    const { sent, waveform, found, y } = await chain(Float32Array.from(row.X.flat()), {
      fft_size: row.fft_size,
      cp_length: row.cp_length,
    }, { taps: paths(row.taps), carrier_frequency_offset_subcarriers: float(row.cfo_subcarriers) });
    near(sent.outputs.waveform.array().data as Float32Array, row.tx.flat(), "samples");
    near(waveform.array().data as Float32Array, row.rx_time.flat(), "received samples");
    near(y, row.Y.flat(), "elements", 1e-4);
    const mean = row.papr_db.reduce((sum, db) => sum + db, 0) / row.papr_db.length;
    assert.ok(Math.abs(Number(sent.metrics["ofdm.papr_db_mean"]) - mean) < 1e-4);
    assert.ok(Math.abs(Number(sent.metrics["ofdm.papr_db_max"]) - Math.max(...row.papr_db)) < 1e-4);
    const db = Number(found.metrics["ofdm.residual_interference_db"]);
    if (row.one_tap_error_power < 1e-12) assert.ok(db < -100, String(db));
    else assert.ok(db > -20 && db < 0, String(db));
  }
});

Deno.test("within the cyclic prefix one tap recovers the symbols, behind it symbols interfere", async () => {
  const x = symbolsInput(96).array!.data as Float32Array, taps = paths([[0, 0.8, 0], [3, 0, 0.5]]);
  for (
    const modulator of [{ fft_size: 16 }, { fft_size: 16, active_subcarriers: 11, oversampling: 4 }] as JsonObject[]
  ) {
    const prefixed = await chain(x, { ...modulator, cp_length: 4 }, { taps }, { equalize: "zf" });
    near(prefixed.y, [...x], "equalised");
    const early = await chain(x, { ...modulator, cp_length: 8 }, { taps }, { equalize: "zf", receiver_cp_offset: 2 });
    near(early.y, [...x], "an early window");
  }
  const short = await chain(x, { fft_size: 16, cp_length: 1 }, { taps }, { equalize: "zf" });
  assert.ok(Number(short.found.metrics["ofdm.residual_interference_db"]) > -25);
  const late = await chain(x, { fft_size: 16, cp_length: 4 }, { taps: paths([[0, 1, 0]]), timing_offset_samples: 1 });
  assert.ok(Number(late.found.metrics["ofdm.residual_interference_db"]) > -10);
});

Deno.test("drawn paths make one fading block of a waveform, given paths none", async () => {
  const params = { fft_size: 16, cp_length: 4 };
  const unit = async (channel: JsonObject) =>
    (await chain(new Float32Array(90).fill(1), params, channel)).found.outputs.rx_symbols.metadata;
  const { statistical_unit, statistical_unit_layout } = await unit({});
  assert.deepEqual([statistical_unit, statistical_unit_layout], ["fading_block", { size: 45, total: 45 }]);
  assert.ok(!("statistical_unit" in await unit({ taps: paths([[0, 1, 0]]) })));
});

Deno.test("mean power does not depend on the oversampling, and the peak grows with it", async () => {
  const x = symbolsInput(640).array!.data as Float32Array, peaks: number[] = [];
  for (const oversampling of [1, 2, 8]) {
    const { sent } = await chain(x, { fft_size: 64, cp_length: 0, oversampling }, { taps: paths([[0, 1, 0]]) });
    const samples = sent.outputs.waveform.array().data as Float32Array;
    const power = samples.reduce((sum, part) => sum + part * part, 0) / (samples.length / 2);
    assert.ok(Math.abs(power - 1) < 1e-4, String(power));
    peaks.push(Number(sent.metrics["ofdm.papr_db_mean"]));
  }
  assert.ok(peaks[0] < peaks[1] && peaks[1] < peaks[2] + 1e-9, String(peaks));
});

Deno.test("the PAPR of Gaussian symbols has Fisher's distribution of the largest share", async () => {
  const size = 32, rows = 20_000;
  const symbols = symbolsInput(Float32Array.from(Generator.seeded(9).complexNormal64(size * rows, 1)));
  const { outputs, metrics } = await runOperation(ofdmWaveform, {
    inputs: { symbols },
    params: { fft_size: size, cp_length: 0 },
  });
  const samples = outputs.waveform.array().data as Float32Array;
  // P(max/mean > γ) = Σ_j (-1)^(j+1) C(N, j) (1 - jγ/N)^(N-1) over jγ < N, of N independent exponential powers.
  const exceeded = (gamma: number) => {
    let total = 0, choices = 1;
    for (let j = 1; j * gamma < size; j++) {
      choices *= (size - j + 1) / j;
      total += (j % 2 === 1 ? 1 : -1) * choices * (1 - j * gamma / size) ** (size - 1);
    }
    return total;
  };
  for (const db of [5, 6, 7, 8]) {
    let events = 0;
    for (let row = 0; row < rows; row++) {
      const powers = Array.from({ length: size }, (_, n) => {
        const at = 2 * (row * size + n);
        return samples[at] ** 2 + samples[at + 1] ** 2;
      });
      const papr = Math.max(...powers) / (powers.reduce((sum, power) => sum + power, 0) / size);
      if (10 * Math.log10(papr) > db) events++;
    }
    const { low, high } = wilsonInterval(events, rows, 0.999), expected = exceeded(10 ** (db / 10));
    assert.ok(events >= 100 && low <= expected && expected <= high, `${db} dB: ${events} of ${rows}, ${expected}`);
  }
  const rare = exceeded(10 ** (Number(metrics["ofdm.papr_db_99_percentile"]) / 10));
  assert.ok(rare > 0.008 && rare < 0.012, String(rare));
});

Deno.test("QPSK over one path has the error rate of AWGN, also oversampled", async () => {
  const bits = Generator.seeded(3).integers(0, 2, 64 * 2 * 300, "uint8");
  const { symbols } = (await runOperation(digitalModulate, { inputs: { bits: payloadInput(bits) } })).outputs;
  for (const oversampling of [1, 2, 4, 8]) {
    const { waveform } =
      (await runOperation(ofdmWaveform, { inputs: { symbols }, params: { cp_length: 0, oversampling } }))
        .outputs;
    const { outputs: sent, metrics } = await runOperation(multipathWaveform, {
      inputs: { waveform },
      params: { taps: paths([[0, 1, 0]]), snr_db: float(4), seed: 9 },
    });
    // Without a prefix and with all subcarriers, a sample has unit mean power.
    assert.ok(Math.abs(Number(metrics["channel.sample_snr_db"]) - (4 - 10 * Math.log10(oversampling))) < 1e-3);
    const inputs = { waveform: sent.waveform, state: sent.state };
    const { rx_symbols } = (await runOperation(ofdmReceive, { inputs, params: { equalize: "zf" } })).outputs;
    const decided = (await runOperation(digitalDemodulate, { inputs: { rx_symbols } })).outputs.bits.array()
      .data as Uint8Array;
    const errors = decided.reduce((sum, bit, i) => sum + (bit ^ bits[i]), 0),
      { low, high } = wilsonInterval(errors, bits.length, 0.999);
    const theory = bitErrorRateAwgn("qpsk", 10 ** 0.4);
    assert.ok(errors >= 100 && low <= theory && theory <= high, `${errors}: ${theory} is not within ${low} … ${high}`);
  }
});

Deno.test("odd sizes, long prefixes, parts of samples and receivers without a state are refused", async () => {
  const x = symbolsInput(32).array!.data as Float32Array;
  await refuses("params_conflict", () => chain(x, { fft_size: 15 }, {}));
  await refuses("params_conflict", () => chain(x, { fft_size: 8, cp_length: 9 }, {}));
  await refuses("params_conflict", () => chain(x, { active_subcarriers: 65 }, {}));
  await refuses("params_invalid", () => chain(x, {}, { taps: paths([[0.5, 1, 0]]) }));
  await refuses("params_conflict", () => chain(x, { cp_length: 4 }, {}, { receiver_cp_offset: 5 }));
  const { waveform } = (await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(x) } })).outputs;
  await refuses(
    "params_conflict",
    () => runOperation(ofdmReceive, { inputs: { waveform }, params: { equalize: "zf" } }),
  );
});

Deno.test("transform precoding is the DFT of TS 38.211, and full allocation of QPSK has a constant envelope", async () => {
  const qpsk = (count: number) => {
    const bits = Generator.seeded(9).integers(0, 2, 2 * count, "uint8");
    return Float32Array.from(bits, (bit) => (1 - 2 * bit) * Math.SQRT1_2);
  };
  const x = qpsk(30),
    active = 10,
    sent = await chain(x, { fft_size: 16, active_subcarriers: active, transform_precoding: true }, {
      taps: paths([[0, 1, 0]]),
    });
  const grid = sent.sent.outputs.grid.array().data as Float32Array;
  for (let row = 0; row < 3; row++) {
    for (let k = 0; k < active; k++) {
      let re = 0, im = 0;
      for (let i = 0; i < active; i++) {
        const at = 2 * (row * active + i), angle = -2 * Math.PI * i * k / active;
        re += x[at] * Math.cos(angle) - x[at + 1] * Math.sin(angle);
        im += x[at] * Math.sin(angle) + x[at + 1] * Math.cos(angle);
      }
      const at = 2 * (row * active + k);
      near(grid.subarray(at, at + 2), [re / Math.sqrt(active), im / Math.sqrt(active)], `element ${k}`, 1e-6);
    }
  }
  near(sent.y, [...x], "symbols");
  // The DFT and the inverse DFT over all subcarriers cancel: each sample is a symbol.
  const full = { fft_size: 64, cp_length: 0, transform_precoding: true };
  const { metrics } = await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(qpsk(640)) }, params: full });
  assert.ok(Math.abs(Number(metrics["ofdm.papr_db_max"])) < 1e-5);
  // At fourfold oversampling the peaks between samples stay below those of OFDM.
  const peak = async (transform_precoding: boolean) => {
    const params = { fft_size: 128, active_subcarriers: 72, oversampling: 4, transform_precoding };
    return Number(
      (await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(qpsk(72 * 500)) }, params }))
        .metrics["ofdm.papr_db_99_percentile"],
    );
  };
  const [single, multiple] = [await peak(true), await peak(false)];
  assert.ok(multiple - single > 2, `${single} ${multiple}`);
});

Deno.test("precoded symbols over echoes return, with the mean noise of their OFDM symbol", async () => {
  const x = symbolsInput(75).array!.data as Float32Array, taps = paths([[0, 0.8, 0], [3, 0, 0.5]]);
  const layout = { fft_size: 16, cp_length: 4, active_subcarriers: 10, oversampling: 2 };
  const found = await chain(x, { ...layout, transform_precoding: true }, { taps }, { equalize: "zf" });
  near(found.y, [...x], "equalised");
  const plain = await chain(x, layout, { taps, snr_db: float(10) }, { equalize: "zf" });
  const precoded = await chain(x, { ...layout, transform_precoding: true }, { taps, snr_db: float(10) }, {
    equalize: "zf",
  });
  const [each, shared] = [plain, precoded].map(({ found }) =>
    found.outputs.rx_symbols.array("noise_variance").data as Float32Array
  );
  assert.equal(shared.length, 75);
  // The taps rest, so that the last row, which is not full, has the noise of the first.
  for (let i = 0; i < 75; i++) {
    const row = each.subarray(0, 10), mean = row.reduce((sum, value) => sum + value, 0) / 10;
    assert.ok(Math.abs(shared[i] - mean) < 1e-5 * mean, `${i} ${shared[i]} ${mean}`);
  }
});

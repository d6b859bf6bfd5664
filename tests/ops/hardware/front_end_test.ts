/** Amplifier, quantiser and clipping: stored vectors, closed forms for Gaussian and sine inputs, kinds, errors. */
import assert from "node:assert/strict";
import envelopeClip from "../../../ops/hardware/envelope_clip.ts";
import powerAmplifier from "../../../ops/hardware/power_amplifier.ts";
import quantizer from "../../../ops/hardware/quantizer.ts";
import ofdmReceive from "../../../ops/demodulation/ofdm_receive.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { bussgangGain, energy, rapp } from "../../../lib/numeric/link/front_end.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import stored from "../../data/physical/hardware.json" with { type: "json" };
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const X = Float32Array.from(stored.x.flat());
/** Complex Gaussian samples of unit mean power. */
const GAUSSIAN = Float32Array.from(Generator.seeded(23n).complexNormal64(200_000, 1));

const floats = (params: Record<string, unknown>): JsonObject =>
  Object.fromEntries(
    Object.entries(params).map((
      [key, value],
    ) => [key, typeof value === "number" && key !== "bits" ? float(value) : value]),
  ) as JsonObject;

async function run(operation: Operation, x: ArrayLike<number>, params: JsonObject) {
  const { outputs, metrics } = await runOperation(operation, { inputs: { signal: symbolsInput(x) }, params });
  return { y: outputs.signal.array().data as Float32Array, signal: outputs.signal, metrics };
}
const within = (found: unknown, expected: number, tolerance: number) =>
  assert.ok(Math.abs(Number(found) - expected) <= tolerance, `${found} is not ${expected} ± ${tolerance}`);

Deno.test("Rapp, Saleh, quantiser and clipping give the stored samples", async () => {
  const cases: [Operation, JsonObject, (number[][] | JsonObject)[]][] = [
    [powerAmplifier, { model: "rapp" }, stored.rapp],
    [powerAmplifier, { model: "saleh" }, stored.saleh],
    [quantizer, {}, stored.quantizer],
    [envelopeClip, {}, stored.envelope_clip],
  ];
  for (const [operation, params, rows] of cases) {
    for (const { y: expected, ...row } of rows as ({ y: number[][] } & JsonObject)[]) {
      const { y } = await run(operation, X, { ...params, ...floats(row) });
      expected.flat().forEach((value, i) => within(y[i], value, 1e-6 + 1e-5 * Math.abs(value)));
    }
  }
});

Deno.test("of Gaussian samples, gain, power and distortion are those of the integrals", async () => {
  for (const { model, input_back_off_db: backOff, bussgang_gain, output_power, sdr_db } of stored.back_off) {
    const { y, signal, metrics } = model === "clip"
      ? await run(envelopeClip, GAUSSIAN, { clip_ratio_db: float(backOff) })
      : await run(powerAmplifier, GAUSSIAN, { input_back_off_db: float(backOff) });
    const gain = bussgangGain(GAUSSIAN, y)!;
    within(gain[0], bussgang_gain, 2e-3);
    within(gain[1], 0, 1e-6);
    within(energy(y) / energy(GAUSSIAN), output_power, 3e-3);
    // Signal over distortion is 1/EVM² after the gain; rare peaks at 10 dB leave fewer samples for the estimate.
    within(-20 * Math.log10(Number(metrics["hardware.evm_percent"]) / 100), sdr_db, backOff === 10 ? 3 : 0.1);
    if (model === "clip") continue;
    const { bussgang_gain: recorded } = signal.metadata.power_amplifier as { bussgang_gain: number[] };
    within(recorded[0], bussgang_gain, 2e-3);
    // The output power of the vector is relative to unit input power, whose saturation power lies the back-off above.
    within(metrics["hardware.output_back_off_db"], backOff - 10 * Math.log10(output_power), 0.02);
  }
  const gamma2 = 10 ** 0.3, { metrics } = await run(envelopeClip, GAUSSIAN, { clip_ratio_db: float(3) });
  // erfc(γ) at 3 dB.
  const gain = 1 - Math.exp(-gamma2) + Math.sqrt(Math.PI * gamma2) / 2 * 0.045805;
  const power = 1 - Math.exp(-gamma2);
  within(metrics["hardware.evm_percent"], 100 * Math.sqrt(power / gain ** 2 - 1), 0.2);
});

Deno.test("the amplifier is linear at a large back-off, limited to A, and finite for any smoothness", async () => {
  const small = await run(powerAmplifier, X, { input_back_off_db: float(40) });
  X.forEach((value, i) => within(small.y[i], value, 1e-5));
  const peaks = rapp([1e6, 0, 0, 3], 0.5, 100);
  within(Math.hypot(peaks[0], peaks[1]), 0.5, 1e-12);
  within(Math.hypot(peaks[2], peaks[3]), 0.5, 1e-12);
  within(rapp([1, 0], 1, 1)[0], Math.SQRT1_2, 1e-15);
  const ideal = await run(powerAmplifier, X, { model: "ideal", input_back_off_db: float(6) });
  X.forEach((value, i) => within(ideal.y[i], value, 1e-6));
  within(ideal.metrics["hardware.evm_percent"], 0, 1e-9);
  within(ideal.metrics["hardware.output_back_off_db"], 6, 1e-9);
});

Deno.test("a normalised gain leaves no part of the distortion along the input", async () => {
  const { y } = await run(powerAmplifier, GAUSSIAN, {
    model: "saleh",
    input_back_off_db: float(3),
    normalize_gain: true,
  });
  const [real, imaginary] = bussgangGain(GAUSSIAN, y)!;
  within(real, 1, 1e-6);
  within(imaginary, 0, 1e-6);
});

Deno.test("a full-scale sine has 6.02 b + 1.76 dB, a Gaussian input the optimum of Max", async () => {
  const sine = Float32Array.from({ length: 80_000 }, (_, i) => {
    const phase = Math.SQRT2 * Math.floor(i / 2);
    return i % 2 === 0 ? Math.cos(phase) : Math.sin(phase);
  });
  for (const bits of [6, 8, 10, 12]) {
    const { metrics } = await run(quantizer, sine, { bits, clip_value: float(1) });
    within(metrics["hardware.sqnr_db"], 6.02 * bits + 1.76, 0.3);
  }
  // Max, 1960: the best uniform quantiser of a Gaussian variable; steps 0.9957, 0.5860, 0.3352 and distortions below.
  for (const [bits, step, distortion] of [[2, 0.9957, 0.1188], [3, 0.586, 0.03744], [4, 0.3352, 0.01154]]) {
    const { metrics } = await run(quantizer, GAUSSIAN, {
      bits,
      clip_value: float(step * 2 ** (bits - 1)),
      scale: "rms",
    });
    within(metrics["hardware.sqnr_db"], -10 * Math.log10(distortion), 0.05);
  }
});

Deno.test("outputs keep the kind, the companions and the metadata of the input", async () => {
  const { waveform } = (await runOperation(ofdmWaveform, {
    inputs: { symbols: symbolsInput(128, { packet_id: "p" }) },
    params: { oversampling: 2 },
  })).outputs;
  for (const operation of [powerAmplifier, quantizer, envelopeClip]) {
    const { signal } = (await runOperation(operation, { inputs: { signal: waveform } })).outputs;
    assert.equal(signal.kind, "channel.waveform.complex_numpy");
    assert.deepEqual(signal.arrayNames.slice(1), ["grid"]);
    assert.equal(signal.metadata.packet_id, "p");
    assert.equal(signal.metadata.oversampling, 2);
    const { rx_symbols } = (await runOperation(ofdmReceive, { inputs: { waveform: signal } })).outputs;
    assert.equal(rx_symbols.array().shape[0], 128);
    const received = symbolsInput(8, { noise_variance: 0.5 }, { kind: "channel.rx_symbols.complex_numpy" });
    const kept = (await runOperation(operation, { inputs: { signal: received } })).outputs.signal;
    assert.equal(kept.kind, "channel.rx_symbols.complex_numpy");
    assert.equal(Number(kept.metadata.noise_variance), 0.5);
  }
});

Deno.test("a signal without power stays as it is and has no metrics", async () => {
  for (const operation of [powerAmplifier, envelopeClip]) {
    const { y, metrics } = await run(operation, new Float32Array(8), {});
    assert.deepEqual([...y], Array(8).fill(0));
    assert.deepEqual(metrics, {});
  }
  assert.deepEqual((await run(quantizer, new Float32Array(8), { scale: "rms" })).metrics, {});
  for (const operation of [powerAmplifier, quantizer, envelopeClip]) {
    assert.equal((await run(operation, new Float32Array(0), {})).y.length, 0);
  }
});

Deno.test("refused: values out of range, an amplitude with a ratio, samples that are no waveform", async () => {
  const inputs = { signal: symbolsInput(4) };
  const fails = (code: string, operation: Operation, params: JsonObject) =>
    refuses(code, () => runOperation(operation, { inputs, params }));
  await fails("params_invalid", powerAmplifier, { smoothness: float(0) });
  await fails("params_invalid", powerAmplifier, { model: "hard" });
  await fails("params_invalid", quantizer, { bits: 17 });
  await fails("params_invalid", quantizer, { clip_value: float(0) });
  await fails("params_conflict", envelopeClip, { clip_ratio_db: float(3), clip_amplitude: float(1) });
  const { waveform } = (await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(64) } })).outputs;
  const cut = { ...symbolsInput(7), kind: "channel.waveform.complex_numpy", metadata: waveform.metadata };
  await refuses("boundary_count_mismatch", () => runOperation(quantizer, { inputs: { signal: cut } }));
});

Deno.test("a front end in blocks refuses samples that are not finite, as run does", async () => {
  const data = Float32Array.of(1, 0, NaN, 0), params = { bits: 4, clip_value: float(1), scale: "absolute" };
  const { kind, metadata } = (await run(quantizer, X, params)).signal, shape = [2];
  const wanted = { kind, metadata: { ...metadata, dtype: "complex64" }, length: 2, shape, arrayNames: ["signal"] };
  const unread = () => assert.fail("an input that arrives in blocks was read as a whole");
  const stream = await quantizer.definition.streaming!.open({
    inputs: { signal: { ...wanted, array: unread, json: unread } },
    params: { ...params, clip_value: 1 },
    generator: Generator.seeded(1),
    backend: "numpy",
    threads: 1,
  });
  const next = (data: Float32Array) => stream!.next!({ signal: { dtype: "complex64", shape, data } }, 2);
  assert.equal(next(data.map((part) => part || 0)).signal.length, 4);
  assert.throws(() => next(data), { code: "boundary_non_finite" });
});

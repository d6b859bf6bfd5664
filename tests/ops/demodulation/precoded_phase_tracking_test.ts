/** Phase-tracking pilots of transform precoding: places, values, and the phase within OFDM symbols that they remove. */
import assert from "node:assert/strict";
import ofdmReceive from "../../../ops/demodulation/ofdm_receive.ts";
import phaseNoise from "../../../ops/hardware/phase_noise.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import multipathWaveform from "../../../ops/wireless/multipath_waveform.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { precodedPtrsPlaces, precodedPtrsValues } from "../../../lib/numeric/channel/pilot_grid.ts";
import { goldSequence } from "../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";
import vectors from "../../data/physical/precoded_ptrs.json" with { type: "json" };

const qpsk = (count: number) =>
  Float32Array.from(Generator.seeded(9).integers(0, 2, 2 * count, "uint8"), (bit) => (1 - 2 * bit) * Math.SQRT1_2);
const settings = (groups: number, samples: number, rnti = 0) => ({ groups, samples, step: 1, nId: 5, rnti });
const run = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i);

Deno.test("groups lie at the places of TS 38.211 table 6.4.1.2.2.2-1", () => {
  // Worked by hand for 48 subcarriers: parts of 24, 12 and 6.
  assert.deepEqual(precodedPtrsPlaces(48, settings(2, 2)), [11, 12, 35, 36]);
  assert.deepEqual(precodedPtrsPlaces(48, settings(2, 4)), [...run(0, 4), ...run(44, 4)]);
  assert.deepEqual(precodedPtrsPlaces(48, settings(4, 2)), [5, 6, 17, 18, 29, 30, 41, 42]);
  assert.deepEqual(precodedPtrsPlaces(48, settings(4, 4)), [0, 16, 28, 44].flatMap((first) => run(first, 4)));
  assert.deepEqual(
    precodedPtrsPlaces(48, settings(8, 4)),
    [0, 7, 13, 19, 25, 31, 37, 44].flatMap((first) => run(first, 4)),
  );
});

Deno.test("values are pi/2-BPSK of the Gold sequence under a Walsh sequence of the RNTI", () => {
  const walsh = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]];
  // c_init of slot 3, symbol 0, identity 5: 2^17 (14·3 + 1)(11) + 10.
  const bits = goldSequence((2 ** 17 * 43 * 11 + 10) % 2 ** 31, 32);
  for (let rnti = 0; rnti < 4; rnti++) {
    const places = precodedPtrsPlaces(120, settings(8, 4)),
      values = precodedPtrsValues(places, settings(8, 4, rnti), 3, 0);
    places.forEach((place, i) => {
      const sign = walsh[rnti][i % 4] * (1 - 2 * bits[i]) * Math.SQRT1_2;
      // (1 + j) or j (1 + j) = -1 + j.
      const expected = place % 2 === 0 ? [sign, sign] : [-sign, sign];
      assert.deepEqual([...values.subarray(2 * i, 2 * i + 2)], expected, `${rnti} ${i}`);
    });
  }
});

Deno.test("places and values are those of an independent implementation in NumPy", () => {
  // tests/data/physical/make_precoded_ptrs.py; the signs of real and imaginary parts of values of amplitude sqrt(1/2).
  for (const { active, places, signs, symbol, slot, n_id: nId, ...given } of vectors) {
    const own = { ...given, step: 1, nId }, found = precodedPtrsValues(places, own, slot, symbol);
    assert.deepEqual(precodedPtrsPlaces(active, own), places);
    assert.equal(Array.from(found, (part) => part > 0 ? "+" : "-").join(""), signs);
    assert.ok(found.every((part) => Math.abs(Math.abs(part) - Math.SQRT1_2) < 1e-15));
  }
});

const LAYOUT: JsonObject = { fft_size: 128, active_subcarriers: 96, cp_length: 8, transform_precoding: true };
const sent = async (x: Float32Array, params: JsonObject, metadata: JsonObject = {}) =>
  (await runOperation(ofdmWaveform, {
    inputs: { symbols: symbolsInput(x, metadata) },
    params: { ...LAYOUT, ...params },
  }))
    .outputs;
const received = async (waveform: Awaited<ReturnType<typeof sent>>["waveform"], params: JsonObject = {}) =>
  (await runOperation(ofdmReceive, { inputs: { waveform }, params })).outputs.rx_symbols.array().data as Float32Array;
const errorOf = (x: Float32Array, y: Float32Array) => {
  assert.equal(y.length, x.length);
  return Math.sqrt(x.reduce((sum, value, i) => sum + (value - y[i]) ** 2, 0) / (x.length / 2));
};

Deno.test("symbols pass between the pilots, and the pilots have the amplitude of an outermost point", async () => {
  const x = qpsk(1000);
  for (const [ptrs_groups, ptrs_group_samples, ptrs_time_density] of [[2, 2, 1], [4, 4, 2], [8, 4, 1]]) {
    const { waveform } = await sent(x, { ptrs_groups, ptrs_group_samples, ptrs_time_density });
    const perSymbol = 96 - ptrs_groups * ptrs_group_samples / ptrs_time_density;
    assert.equal(Number(waveform.metadata.ofdm_symbol_count), Math.ceil(1000 / perSymbol), String(ptrs_groups));
    for (const phase_compensation of ["none", "pilots"]) {
      assert.ok(errorOf(x, await received(waveform, { phase_compensation })) < 1e-6);
    }
  }
  // TS 38.214 table 6.2.3.2-1: 7 / sqrt(21) for 64QAM.
  const power = async (modulation: string) => {
    const { grid } = await sent(new Float32Array(2 * 88), { ptrs_groups: 4 }, { modulation });
    return (grid.array().data as Float32Array).reduce((sum, part) => sum + part * part, 0);
  };
  assert.ok(Math.abs(await power("qam64") / await power("qpsk") - 49 / 21) < 1e-5);
});

Deno.test("pilots remove the phase of a frequency offset over whole turns, cyclic prefixes included", async () => {
  const x = qpsk(88 * 12), { waveform } = await sent(x, { ptrs_groups: 4, cp_length: 16 });
  const offset = async (subcarriers: number) =>
    (await runOperation(multipathWaveform, {
      inputs: { waveform },
      params: {
        ...{ taps: [[0, 1, 0]].map((tap) => tap.map((value) => float(value))), snr_db: float(200), seed: 1 },
        carrier_frequency_offset_subcarriers: float(subcarriers),
      },
    })).outputs.waveform;
  const turned = await offset(0.1);
  assert.ok(errorOf(x, await received(turned)) > 1);
  // What the rotated band loses at its edges stays: it falls with the square of the offset in power.
  const [large, small] = [
    errorOf(x, await received(turned, { phase_compensation: "pilots" })),
    errorOf(x, await received(await offset(0.05), { phase_compensation: "pilots" })),
  ];
  assert.ok(large < 0.1 && Math.abs(large / small - 2) < 0.3, `${large} ${small}`);
});

Deno.test("with phase noise the error falls with the groups of pilots", async () => {
  const x = qpsk(20_000);
  const errors = [];
  for (const params of [{ ptrs_groups: 2 }, { ptrs_groups: 4 }, { ptrs_groups: 8 }]) {
    const { waveform } = await sent(x, params);
    const { signal } = (await runOperation(phaseNoise, {
      inputs: { signal: waveform },
      params: { linewidth_subcarriers: float(0.003), seed: 3 },
    })).outputs;
    errors.push(errorOf(x, await received(signal, { phase_compensation: "pilots" })));
    if (errors.length === 1) assert.ok(errorOf(x, await received(signal)) > 0.8);
  }
  assert.ok(errors[0] > errors[1] && errors[1] > errors[2], String(errors));
  assert.ok(errors[2] < 0.1, String(errors));
});

Deno.test("pilots without a DFT, without room, and compensation without pilots are refused", async () => {
  await refuses("params_conflict", () => sent(qpsk(10), { transform_precoding: false, ptrs_groups: 2 }));
  await refuses("params_conflict", () => sent(qpsk(10), { ptrs_groups: 8, ptrs_group_samples: 2 }));
  await refuses("params_conflict", () => sent(qpsk(10), { active_subcarriers: 24, ptrs_groups: 8 }));
  const { waveform } = await sent(qpsk(10), {});
  await refuses("input_metadata_missing", () => received(waveform, { phase_compensation: "pilots" }));
  const damaged = (await sent(qpsk(10), { ptrs_groups: 2 })).waveform;
  (damaged.metadata as JsonObject).phase_tracking = { groups: 2n };
  await refuses("boundary_value_invalid", () => received(damaged));
});

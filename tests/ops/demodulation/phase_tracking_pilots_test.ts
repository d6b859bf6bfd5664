/** Phase-tracking pilots: places and values, the common phase that they remove, and the interference that phase noise leaves. */
import assert from "node:assert/strict";
import ofdmEqualize from "../../../ops/demodulation/ofdm_equalize.ts";
import mimoDetect from "../../../ops/demodulation/mimo_detect.ts";
import ofdmReceive from "../../../ops/demodulation/ofdm_receive.ts";
import phaseNoise from "../../../ops/hardware/phase_noise.ts";
import errorVectorMagnitude from "../../../ops/metrics/error_vector_magnitude.ts";
import ofdmPilotInsert from "../../../ops/modulation/ofdm_pilot_insert.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import { MIMO_RX_GRID, MIMO_STATE } from "../../../ops/_ofdm_grid.ts";
import { OFDM_STATE } from "../../../lib/contract/kinds.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ptrsSymbols } from "../../../lib/numeric/channel/pilot_grid.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput, symbolsInput } from "../inputs.ts";

const RX = { kind: "channel.rx_symbols.complex_numpy" };
const complex = (artifact: InputArtifact, name?: string) => artifact.array(name).data as Float32Array;
const qpsk = (count: number) =>
  Float32Array.from(Generator.seeded(9).integers(0, 2, 2 * count, "uint8"), (bit) => (1 - 2 * bit) * Math.SQRT1_2);

async function insert(count: number, params: JsonObject) {
  return (await runOperation(ofdmPilotInsert, { inputs: { symbols: symbolsInput(qpsk(count)) }, params })).outputs;
}

Deno.test("PT-RS has the places and values of the example of nrPDSCHPTRS", async () => {
  // MathWorks 5G Toolbox, examples of nrPDSCHPTRS and nrPDSCHPTRSIndices: 52 resource blocks, cell identity 1, RNTI 1, slot 0.
  const published = ["--", "--", "+-", "+-", "+-", "--", "-+", "--", "-+", "++", "-+", "--", "+-", "--", "--"];
  const { pilot_context, symbols } = await insert(100, {
    subcarriers: 624,
    n_id: 1,
    ptrs_time_density: 2,
    ptrs_frequency_density: 4,
    ptrs_element_offset: "10",
    ptrs_rnti: 1,
  });
  const places = pilot_context.array("phase_positions").data as Int32Array;
  const values = complex(pilot_context, "phase_values");
  assert.equal(places.length, 78);
  assert.deepEqual([...places.subarray(0, 13)], Array.from({ length: 13 }, (_, i) => 18 + 48 * i));
  assert.deepEqual([...new Set(places.map((place) => Math.floor(place / 624)))], [0, 4, 6, 8, 10, 12]);
  const signs = (v: number) => v > 0 ? "+" : "-";
  assert.deepEqual(published.map((_, i) => signs(values[2 * i]) + signs(values[2 * i + 1])), published);
  const sent = complex(symbols);
  places.forEach((place, p) =>
    assert.deepEqual([...sent.subarray(2 * place, 2 * place + 2)], [...values.subarray(2 * p, 2 * p + 2)])
  );
  const data = pilot_context.array("data_positions").data as Int32Array;
  assert.equal(data.length, 624 * 13 - 78);
  assert.ok(!places.some((place) => data.includes(place)));
});

Deno.test("each DM-RS symbol starts the count of OFDM symbols anew", () => {
  // TS 38.211, 6.4.1.2.2.1, worked by hand.
  assert.deepEqual(ptrsSymbols(14, [2], 1), [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  assert.deepEqual(ptrsSymbols(14, [2], 4), [0, 6, 10]);
  assert.deepEqual(ptrsSymbols(14, [2, 11], 2), [0, 4, 6, 8, 10, 13]);
  assert.deepEqual(ptrsSymbols(14, [0], 4), [4, 8, 12]);
});

/** Data after the equaliser, of grids whose OFDM symbols are turned and faded by known gains. */
async function turned(params: JsonObject, phases: (row: number) => number, compensation = "pilots") {
  const count = 700, sent = await insert(count, { subcarriers: 24, ...params });
  const x = complex(sent.symbols), y = new Float32Array(x.length), gains = new Float32Array(x.length);
  for (let at = 0; at < x.length / 2; at++) {
    const k = at % 24, phase = phases(Math.floor(at / 24)), hr = 1 + 0.5 * Math.cos(k), hi = 0.7 * Math.sin(2 * k);
    gains.set([hr, hi], 2 * at);
    const re = hr * x[2 * at] - hi * x[2 * at + 1], im = hr * x[2 * at + 1] + hi * x[2 * at];
    y.set([
      re * Math.cos(phase) - im * Math.sin(phase),
      re * Math.sin(phase) + im * Math.cos(phase),
    ], 2 * at);
  }
  const shape = [x.length / 2 / 24 / 14, 14, 24], facts = { noise_variance: 0.01, average_power_budget: 1 };
  const inputs = {
    rx_symbols: symbolsInput(y, { ...sent.symbols.metadata, noise_variance: float(0.01) }, RX),
    estimate: arrayInput(OFDM_STATE, "complex64", gains, shape, facts),
    pilot_context: sent.pilot_context,
  };
  const { rx_symbols } =
    (await runOperation(ofdmEqualize, { inputs, params: { phase_compensation: compensation } })).outputs;
  const reference = qpsk(count), found = complex(rx_symbols);
  assert.equal(found.length, reference.length);
  const rows = (sent.pilot_context.array("data_positions").data as Int32Array).map((at) => Math.floor(at / 24));
  return reference.map((value, i) => Math.abs(value - found[i])).reduce((worst, error, i) => {
    const row = rows[(i >> 1) % rows.length];
    worst[row] = Math.max(worst[row], error);
    return worst;
  }, Array<number>(14).fill(0));
}

Deno.test("pilots remove a constant rotation of each OFDM symbol, whole turns included", async () => {
  const phases = (row: number) => 2.5 * Math.sin(0.9 * row) + 0.6 * row;
  const dense = await turned({ ptrs_time_density: 1 }, phases);
  assert.ok(Math.max(...dense) < 2e-6, String(dense));
  assert.ok(Math.max(...await turned({ ptrs_time_density: 1 }, phases, "none")) > 1);
  // Without PT-RS the DM-RS symbols alone have a phase: a constant one is that of all symbols.
  assert.ok(Math.max(...await turned({}, () => 1.2)) < 2e-6);
});

Deno.test("between OFDM symbols with pilots the phase is linear, outside that of the nearest", async () => {
  const worst = await turned({ ptrs_time_density: 4 }, (row) => 0.1 * (row % 14));
  // PT-RS on 0, 6 and 10, DM-RS on 2.
  assert.ok(Math.max(...worst.slice(0, 11)) < 2e-6, String(worst));
  for (const row of [11, 12, 13]) {
    // The symbol is off by the chord of 0.1 rad per OFDM symbol; a part of it has at most its length.
    const chord = 2 * Math.sin(0.1 * (row - 10) / 2);
    assert.ok(worst[row] > 0.6 * chord && worst[row] <= chord + 1e-6, `${row}: ${worst[row]} ${chord}`);
  }
});

Deno.test("phase noise leaves the interference of Wiener's phase after the common phase", async () => {
  const size = 32, rows = 3000, x = qpsk(size * rows);
  for (const [linewidth, oversampling] of [[0.02, 1], [0.1, 1], [0.02, 4]]) {
    const { waveform } = (await runOperation(ofdmWaveform, {
      inputs: { symbols: symbolsInput(x) },
      params: { fft_size: size, cp_length: 4, oversampling },
    })).outputs;
    const { signal } = (await runOperation(phaseNoise, {
      inputs: { signal: waveform },
      params: { linewidth_subcarriers: float(linewidth), seed: 3 },
    })).outputs;
    const received = (await runOperation(ofdmReceive, { inputs: { waveform: signal } })).outputs.rx_symbols;
    const y = complex(received), rest: number[] = [];
    for (let row = 0; row < rows; row++) {
      let real = 0, imaginary = 0, power = 0;
      for (let at = 2 * row * size; at < 2 * (row + 1) * size; at += 2) {
        real += y[at] * x[at] + y[at + 1] * x[at + 1];
        imaginary += y[at + 1] * x[at] - y[at] * x[at + 1];
        power += y[at] ** 2 + y[at + 1] ** 2;
      }
      rest.push((power - (real ** 2 + imaginary ** 2) / size) / size);
    }
    // E|J_0|² over N samples; the fit of J_0 to QPSK takes 1/F of the interference along.
    const samples = size * oversampling;
    let common = 0;
    for (let lag = 1 - samples; lag < samples; lag++) {
      common += (samples - Math.abs(lag)) * Math.exp(-Math.abs(lag) * Math.PI * linewidth / samples) / samples ** 2;
    }
    // Oversampled, a part of the interference lies outside the band: E|J_i|² of the lags i within it.
    let expected = (1 - common) * (1 - 1 / size);
    if (oversampling > 1) {
      expected = 0;
      for (let i = 1 - size; i < size; i++) {
        if (i === 0) continue;
        let power = 0;
        for (let lag = 1 - samples; lag < samples; lag++) {
          power += (samples - Math.abs(lag)) * Math.exp(-Math.abs(lag) * Math.PI * linewidth / samples) *
            Math.cos(2 * Math.PI * i * lag / samples) / samples ** 2;
        }
        expected += power * (size - Math.abs(i)) / size * (1 - 1 / size);
      }
    }
    const mean = rest.reduce((sum, value) => sum + value, 0) / rows;
    const error = Math.sqrt(rest.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rows / (rows - 1));
    assert.ok(Math.abs(mean - expected) < 4 * error, `${linewidth}, ${oversampling}: ${mean} ${expected} ± ${error}`);
    assert.ok(error < 0.03 * expected);
  }
});

Deno.test("without linewidth no sample changes, and the seed alone sets the phase", async () => {
  const { waveform } = (await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(qpsk(64)) } })).outputs;
  const noisy = async (params: JsonObject) =>
    complex((await runOperation(phaseNoise, { inputs: { signal: waveform }, params })).outputs.signal);
  assert.deepEqual(await noisy({ linewidth_subcarriers: float(0) }), complex(waveform));
  assert.deepEqual(await noisy({ seed: 1 }), await noisy({ seed: 1 }));
  assert.notDeepEqual(await noisy({ seed: 1 }), await noisy({ seed: 2 }));
});

Deno.test("the error vector magnitude of a known error is its share", async () => {
  const x = qpsk(50), y = x.map((value, i) => value + (i % 2 === 0 ? 0.03 : -0.04));
  const inputs = { reference: symbolsInput(x), candidate: symbolsInput(y, {}, RX) };
  const { metrics } = await runOperation(errorVectorMagnitude, { inputs });
  // sqrt(0.03² + 0.04²) over unit symbols.
  assert.ok(Math.abs(Number(metrics["channel.evm_percent"]) - 5) < 1e-4, String(metrics["channel.evm_percent"]));
  const short = { ...inputs, candidate: symbolsInput(y.subarray(2), {}, RX) };
  await refuses("boundary_count_mismatch", () => runOperation(errorVectorMagnitude, { inputs: short }));
  const silent = { reference: symbolsInput(new Float32Array(4)), candidate: symbolsInput(new Float32Array(4), {}, RX) };
  await refuses("boundary_value_invalid", () => runOperation(errorVectorMagnitude, { inputs: silent }));
});

Deno.test("PT-RS lies on the layers of its ports, at the subcarriers and with the DM-RS values of each", async () => {
  // TS 38.211 table 6.4.1.2.2.1-1, type 1, worked by hand.
  const columns = [[0, 2, 6, 8], [2, 4, 8, 10], [1, 3, 7, 9], [3, 5, 9, 11]];
  for (const [port, own] of columns.entries()) {
    for (const [index, offset] of ["00", "01", "10", "11"].entries()) {
      const { pilot_context, symbols } = await insert(3000, {
        subcarriers: 48,
        port_count: 4,
        n_id: 3,
        ptrs_time_density: 1,
        ptrs_element_offset: offset,
        ptrs_ports: [port],
        ptrs_power_db: float(3),
      });
      const places = pilot_context.array("phase_positions").data as Int32Array;
      const carriers = places.map((place) => place % 48);
      assert.deepEqual([...new Set(carriers)], [own[index], own[index] + 24]);
      assert.deepEqual([...new Set(pilot_context.array("phase_ports").data as Int32Array)], [port]);
      // DM-RS of the port on the same subcarriers of its first symbol, w(1) = -1 of ports 1 and 3 taken back.
      const dmrs = pilot_context.array().data as Int32Array, length = pilot_context.array().shape[1];
      const known = complex(pilot_context, "values"), values = complex(pilot_context, "phase_values");
      const grids = values.length / 2 / places.length, data = pilot_context.array("data_positions").data as Int32Array;
      const x = complex(symbols);
      for (let grid = 0; grid < grids; grid++) {
        places.forEach((place, p) => {
          const k = carriers[p], at = dmrs.subarray(port * length, (port + 1) * length).indexOf(2 * 48 + k);
          const cover = port % 2 === 1 && (k >> 1) % 2 === 1 ? -1 : 1, v = 2 * ((grid * 4 + port) * length + at);
          for (const part of [0, 1]) {
            const value = values[2 * (grid * places.length + p) + part];
            assert.ok(Math.abs(value - cover * 10 ** (3 / 20) * known[v + part]) < 1e-6, `${port} ${offset} ${p}`);
            for (let layer = 0; layer < 4; layer++) {
              const sent = x[2 * ((grid * 14 * 48 + place) * 4 + layer) + part];
              assert.equal(sent, layer === port ? value : 0);
            }
          }
        });
      }
      assert.ok(!places.some((place) => data.includes(place)));
    }
  }
});

/** Largest error of the data of two layers behind known matrices, with OFDM symbols turned by phases. */
async function detected(pilots: JsonObject, phases: (row: number) => number, phase_compensation: string) {
  const sent = await insert(1200, { subcarriers: 24, port_count: 2, ...pilots }), x = complex(sent.symbols);
  const elements = x.length / 4, y = new Float32Array(4 * elements), grids = elements / 24 / 14;
  const gains = Float32Array.from({ length: grids * 24 * 8 }, (_, at) => Math.sin(1.7 * at + (at >> 3)));
  for (let at = 0; at < elements; at++) {
    const phase = phases(Math.floor(at / 24)), matrix = 8 * (Math.floor(at / 24 / 14) * 24 + at % 24);
    for (let r = 0; r < 2; r++) {
      let re = 0, im = 0;
      for (let l = 0; l < 2; l++) {
        const [hr, hi] = gains.subarray(matrix + 4 * r + 2 * l), [xr, xi] = x.subarray(4 * at + 2 * l);
        re += hr * xr - hi * xi;
        im += hr * xi + hi * xr;
      }
      y[4 * at + 2 * r] = re * Math.cos(phase) - im * Math.sin(phase);
      y[4 * at + 2 * r + 1] = re * Math.sin(phase) + im * Math.cos(phase);
    }
  }
  const facts = { noise_variance: float(1e-9), layers: 2n, rx_antennas: 2n }, count = BigInt(2 * elements);
  const grid = { ...sent.symbols.metadata, symbol_count: count, ofdm_fft_size: 24n, num_ofdm_symbols: 14n };
  const inputs = {
    rx_grid: arrayInput(MIMO_RX_GRID.id, "complex64", y, [grids, 14, 24, 2], { ...grid, ...facts, modulation: "qpsk" }),
    channel: arrayInput(MIMO_STATE.id, "complex64", gains, [grids, 24, 2, 2], facts),
    pilot_context: sent.pilot_context,
  };
  const { outputs } = await runOperation(mimoDetect, { inputs, params: { detector: "zf", phase_compensation } });
  const found = complex(outputs.symbols), reference = qpsk(1200);
  assert.equal(found.length, reference.length);
  return Math.max(...reference.map((value, i) => Math.abs(value - found[i])));
}

Deno.test("pilots of one or of two of two layers remove a rotation of each OFDM symbol that all antennas share", async () => {
  const phases = (row: number) => 2.5 * Math.sin(0.9 * row) + 0.6 * row;
  for (const ptrs_ports of [[0], [1], [0, 1]]) {
    const pilots = { ptrs_time_density: 1, ptrs_ports };
    const worst = await detected(pilots, phases, "pilots");
    assert.ok(worst < 1e-3, `${ptrs_ports}: ${worst}`);
    assert.ok(await detected(pilots, phases, "none") > 1);
  }
  // Without PT-RS the DM-RS symbols of both layers have the phase: a constant one is that of all symbols.
  assert.ok(await detected({}, () => 1.2, "pilots") < 1e-3);
});

Deno.test("the grid of an antenna has the phase noise of its waveform, and all antennas have one oscillator", async () => {
  const width = 24, rows = 28, x = qpsk(width * rows), noise = { linewidth_subcarriers: float(0.02), seed: 5 };
  const { waveform } = (await runOperation(ofdmWaveform, {
    inputs: { symbols: symbolsInput(x) },
    params: { fft_size: width, cp_length: 4 },
  })).outputs;
  const { signal } = (await runOperation(phaseNoise, { inputs: { signal: waveform }, params: noise })).outputs;
  const expected = complex((await runOperation(ofdmReceive, { inputs: { waveform: signal } })).outputs.rx_symbols);
  const both = Float32Array.from({ length: 2 * x.length }, (_, i) => (i & 2 ? -0.5 : 1) * x[(i >> 2) * 2 + (i & 1)]);
  const grid = arrayInput(MIMO_RX_GRID.id, "complex64", both, [2, 14, width, 2], {
    ...{ noise_variance: float(0.1), layers: 1n, rx_antennas: 2n, ofdm_fft_size: 24n, num_ofdm_symbols: 14n },
    symbol_count: BigInt(x.length / 2),
  });
  const turnedBy = async (params: JsonObject) =>
    complex((await runOperation(phaseNoise, { inputs: { signal: grid }, params })).outputs.signal);
  const found = await turnedBy({ ...noise, cp_length: 4 });
  expected.forEach((value, i) => {
    const at = (i >> 1) * 4 + (i & 1);
    assert.ok(Math.abs(found[at] - value) < 1e-5 && Math.abs(found[at + 2] + 0.5 * value) < 1e-5, String(i));
  });
  const other = await turnedBy(noise);
  assert.ok(found.some((value, i) => Math.abs(value - other[i]) > 0.01));
});

Deno.test("PT-RS on ports that are not there, without room, and compensation without pilots are refused", async () => {
  await refuses("params_conflict", () => insert(10, { port_count: 2, ptrs_time_density: 1, ptrs_ports: [2] }));
  await refuses("params_conflict", () => insert(10, { port_count: 2, ptrs_time_density: 1, ptrs_ports: [1, 1] }));
  await refuses("params_conflict", () => insert(10, { num_ofdm_symbols: 2, dmrs_symbols: [0], ptrs_time_density: 4 }));
  const rx_symbols = symbolsInput(12, { noise_variance: 0.1 }, RX);
  const estimate = arrayInput(OFDM_STATE, "complex64", new Float32Array(24).fill(1), [1, 1, 12], {
    noise_variance: 0.1,
    average_power_budget: 1,
  });
  const params = { phase_compensation: "pilots" };
  await refuses("params_conflict", () => runOperation(ofdmEqualize, { inputs: { rx_symbols, estimate }, params }));
});

/**
 * Phase noise of a free-running oscillator: y_n = x_n·exp(jθ_n), θ_n = θ_{n-1} + w_n, θ_{-1} = 0, w_n ~ N(0, 2πΔ/(F·Q)) with the full
 * 3 dB width Δ of the Lorentzian line in subcarrier spacings, F subcarriers and Q-fold oversampling. An OFDM symbol keeps the
 * common phase of J_0 = (1/N) Σ_n exp(jθ_n) over its N useful samples; the rest, of mean power
 *
 *     1 - E|J_0|² = 1 - N^-2 Σ_m Σ_n exp(-|m - n| πΔ/N),
 *
 * is interference between its subcarriers.
 *
 * All antennas of a received grid have one oscillator: each OFDM symbol of F subcarriers becomes F samples, is turned and transformed back,
 * and the phase walks through cp_length samples before it.
 *
 * Shapes: signal complex64 [n] or [grid, OFDM symbol, subcarrier, rx], as it came. Draws: normal(0, 1) per sample, prefixes included.
 *
 * Source: Pollet, Van Bladel and Moeneclaey, "BER sensitivity of OFDM systems to carrier frequency offset and Wiener phase noise",
 * IEEE Trans. Commun. 43(2/3/4), 1995 (with the half width as β); Armada, IEEE Trans. Broadcast. 47(2), 2001.
 */
import { defineOperation, float, seedParameter, SvcError, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { companionsOf } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { ofdmElements, ofdmSamples } from "../../lib/numeric/link/ofdm_waveform.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { alteredInBlocks, SIGNAL_COMPANIONS } from "../_altered_blocks.ts";
import { MIMO_RX_GRID } from "../_ofdm_grid.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { readWaveform, WAVEFORM, waveformLayout } from "../_waveform.ts";
import { signalInBlocks, signalWith } from "./_signal.ts";

export default defineOperation({
  id: "hardware.phase_noise",
  name: "Phase noise",
  description: "Turns the samples of a waveform by the random phase of a free-running oscillator",
  inputs: { signal: [WAVEFORM, MIMO_RX_GRID] },
  outputs: { signal: { sameKindAs: "signal" } },
  params: z.strictObject({
    linewidth_subcarriers: z.number().min(0).max(10).default(0.001)
      .describe("full 3 dB width of the line over the subcarrier spacing"),
    cp_length: z.int().min(0).max(8192).optional()
      .describe("samples of the cyclic prefix of a received grid; a waveform has its own; default 0"),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { signal: { from: "signal", keys: ["phase_noise"] } },
  estimate: (_params, { signal }) => ({ signal: sizeOfInput(signal, "complex64") }),
  streaming: {
    companions: SIGNAL_COMPANIONS,
    open({ inputs: { signal }, params, generator }) {
      const { kind, metadata, shape, length } = signal, facts = factsOf(params), walk = walkOf(params, generator);
      if (kind === MIMO_RX_GRID.id) {
        const rows = rowsOf(shape, params.cp_length), alter = (grid: Float32Array) => turnedRows(grid, rows, walk);
        return alteredInBlocks("signal", signal, {
          unit: rows.width * rows.rx,
          metadata: { ...metadata, ...facts },
          alter,
        });
      }
      const { fftSize, oversampling } = waveformLayout(metadata, length);
      return signalInBlocks(
        signal,
        facts,
        (samples) => turned(samples, walk(samples.length / 2, fftSize * oversampling)),
      );
    },
  },
  run({ inputs: { signal }, params, generator }) {
    const facts = factsOf(params), walk = walkOf(params, generator);
    if (signal.kind !== MIMO_RX_GRID.id) {
      const { samples, layout } = readWaveform(signal);
      const phases = walk(samples.length / 2, layout.fftSize * layout.oversampling);
      return { outputs: { signal: signalWith(signal, turned(samples, phases), facts) } };
    }
    const given = arraysOf(signal).read("complex64", ["grid", "symbol", "subcarrier", "rx"]),
      { shape } = signal.array();
    const array = ndarray("complex64", turnedRows(given, rowsOf(shape, params.cp_length), walk), shape);
    return {
      outputs: { signal: { array, companions: companionsOf(signal), metadata: { ...signal.metadata, ...facts } } },
    };
  },
});

const factsOf = ({ linewidth_subcarriers: width }: { linewidth_subcarriers: number }) => ({
  phase_noise: { linewidth_subcarriers: float(width) },
});

/** The phases of the next samples. @param perSpacing samples of the time of a subcarrier spacing */
type Walk = (samples: number, perSpacing: number) => Float64Array;

function walkOf({ linewidth_subcarriers: width }: { linewidth_subcarriers: number }, generator: Generator): Walk {
  let phase = 0;
  return (samples, perSpacing) => {
    const step = Math.sqrt(2 * Math.PI * width / perSpacing), phases = generator.normal(0, 1, samples);
    for (let i = 0; i < samples; i++) phases[i] = phase += step * phases[i];
    return phases;
  };
}

function turned(samples: ArrayLike<number>, phases: ArrayLike<number>): Float64Array {
  const out = Float64Array.from(samples);
  turn(out, phases);
  return out;
}

/** Turns samples by phases, in place. */
function turn(samples: Float64Array, phases: ArrayLike<number>): void {
  for (let i = 0; i < samples.length; i += 2) {
    const cosine = Math.cos(phases[i / 2]), sine = Math.sin(phases[i / 2]), re = samples[i], im = samples[i + 1];
    samples[i] = re * cosine - im * sine;
    samples[i + 1] = re * sine + im * cosine;
  }
}

/** OFDM symbols of a received grid. */
interface Rows {
  /** Subcarriers. */
  width: number;
  rx: number;
  /** Samples of the cyclic prefix. */
  prefix: number;
}

function rowsOf([, , width, rx]: readonly number[], prefix = 0): Rows {
  if (width % 2 === 0) return { width, rx, prefix };
  throw new SvcError("params_conflict", `Cannot centre a carrier on ${width} subcarriers`, {
    hint: "Use an even number of subcarriers",
  });
}

/** OFDM symbols that are turned as samples, all antennas alike. */
function turnedRows(given: Float32Array, { width, rx, prefix }: Rows, walk: Walk): Float32Array {
  const rows = given.length / (2 * width * rx), length = width + prefix;
  const phases = walk(rows * length, width), turned = new Float32Array(given.length);
  for (let row = 0; row < rows; row++) {
    const own = phases.subarray(row * length + prefix, (row + 1) * length);
    for (let antenna = 0; antenna < rx; antenna++) {
      const place = (k: number) => 2 * ((row * width + k) * rx + antenna), elements = new Float64Array(2 * width);
      for (let k = 0; k < width; k++) elements.set(given.subarray(place(k), place(k) + 2), 2 * k);
      const samples = Float64Array.from(ofdmSamples(elements, 1));
      turn(samples, own);
      const back = ofdmElements(samples, 1);
      for (let k = 0; k < width; k++) turned.set(back.subarray(2 * k, 2 * k + 2), place(k));
    }
  }
  return turned;
}

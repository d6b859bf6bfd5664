/**
 * OFDM receiver on samples: the window of each OFDM symbol starts cp_length - receiver_cp_offset samples after it, the rotation that
 * this offset causes is undone, and the DFT of lib/numeric/link/ofdm_waveform.ts gives the elements of the active subcarriers.
 *
 *     zf   x̂ = Y/H with the gains of a wired state; ν = N0/|H|² of an element goes to the demapper
 *
 * Symbols of transform precoding are restored by the inverse DFT over each OFDM symbol, behind the division; the noise variance of all of
 * them is then the mean over its elements.
 *
 * Phase-tracking pilots p_m of transform precoding leave. phase_compensation: pilots turns each symbol back by a phase,
 *
 *     φ_g = arg Σ_m x̂_m p_m*     over the pilots of group g,
 *
 * unwrapped and linear between the middles of groups, cyclic prefixes between OFDM symbols included, the nearest one's outside.
 *
 * With a wired state and the transmitted grid X that travels with the waveform, ofdm.residual_interference_db is mean |Y - H X|²
 * over mean |H X|².
 *
 * Shapes: waveform complex64 [n] -> rx_symbols complex64 [symbols that were sent].
 */
import { OFDM_STATE, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type InputArtifact, type JsonObject, type Metrics, SvcError, z } from "../api.ts";
import { ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { checkSymbols } from "../../lib/artifact/boundary.ts";
import { metadataNumber, symbolMetadata, symbolsArtifact, travel } from "../../lib/artifact/values.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { firstActive, ofdmElements, precode } from "../../lib/numeric/link/ofdm_waveform.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { interpolatePhase, unwrap } from "../../lib/numeric/link/phase_tracking.ts";
import type { StreamedArray, StreamInput } from "../../lib/contract/operation.ts";
import { numpyWithTwin } from "../_backends.ts";
import { hasRoom, PTRS_KEY, ptrsOf, readPtrs } from "../_precoded_ptrs.ts";
import { LEAST_WAVEFORM_BYTES, readWaveform, WAVEFORM, waveformLayout } from "../_waveform.ts";

const LAYOUT_KEYS = [...Object.keys(WAVEFORM.metadata), "symbols_per_grid", "transform_precoding", PTRS_KEY];
const LEAST_GAIN = 1e-12, ERASED_VARIANCE = 1e12;

const PARAMS = z.strictObject({
  receiver_cp_offset: z.int().min(0).max(8192).default(0)
    .describe("samples by which the window starts inside the prefix"),
  equalize: z.enum(["none", "zf"]).default("none").describe("zf divides by the gains of the wired state"),
  phase_compensation: z.enum(["none", "pilots"]).optional()
    .describe("pilots turns symbols back by the phase of ptrs_groups of modulation.ofdm_waveform; default none"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "demodulation.ofdm_receive",
  name: "OFDM receiver on samples",
  description: "Removes cyclic prefixes, transforms to subcarriers and equalises with a wired channel",
  inputs: { waveform: [WAVEFORM] },
  optionalInputs: { state: [OFDM_STATE] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: PARAMS,
  ...numpyWithTwin("full", "A linear map"),
  outputMetadataGuarantees: { rx_symbols: { from: "waveform", keys: ["boundary_contract", "symbol_count"] } },
  estimate: (_params, { waveform: { bytes } }) => ({ rx_symbols: 1.5 * bytes }),
  check: ({ equalize }, connected) =>
    equalize === "zf" && !connected.has("state")
      ? [{
        input: "state",
        message: "Cannot equalise without a channel state",
        hint: "Wire state, or set equalize to none",
      }]
      : [],
  streaming: {
    least: LEAST_WAVEFORM_BYTES,
    optional: ["state"],
    companions: ["grid"],
    // Phases are interpolated between the pilots of the whole waveform.
    allows: ({ phase_compensation }) => phase_compensation !== "pilots",
    open({ inputs: { waveform, state }, params }) {
      const { metadata, length, companions } = waveform, layout = waveformLayout(metadata, length);
      const { rows, active, samplesPerRow, symbolCount: count } = layout;
      if (metadata.dtype !== "complex64" || length === 0) return null;
      if (state !== undefined && !isStateOf(state, rows * active)) return null;
      checkWindow(layout, params);
      const receiver = receiverOf(metadata, layout, params);
      const variances: StreamedArray["companions"] = receiver.hasVariance
        ? { noise_variance: { dtype: "float32", shape: [count] } }
        : {};
      return {
        arrays: {
          rx_symbols: {
            dtype: "complex64",
            length: count,
            companions: variances,
            metadata: symbolMetadata(count, receiver.metadata),
          },
        },
        unit: { waveform: samplesPerRow, state: active },
        next({ waveform, state: own, "waveform.grid": grid }) {
          // Only some kinds are finite.
          const h = own && checkSymbols(own), x = companions?.grid && grid.data as Float32Array;
          const { symbols, variance } = receiver.next(checkSymbols(waveform), h, x);
          return { rx_symbols: symbols, ...(receiver.hasVariance ? { "rx_symbols.noise_variance": variance } : {}) };
        },
        end: () => ({ metrics: receiver.metrics() }),
      };
    },
  },
  run({ inputs: { waveform, state }, params }) {
    const { samples, layout } = readWaveform(waveform);
    checkWindow(layout, params);
    const h = state && gainsOf(state, layout.rows * layout.active),
      receiver = receiverOf(waveform.metadata, layout, params);
    const x = waveform.arrayNames.includes("grid") ? waveform.array("grid").data as Float32Array : undefined;
    const { symbols, variance } = receiver.next(samples, h, x);
    const companions: Record<string, NdArray> = receiver.hasVariance
      ? { noise_variance: ndarray("float32", variance) }
      : {};
    return {
      outputs: { rx_symbols: symbolsArtifact(symbols, receiver.metadata, companions) },
      metrics: receiver.metrics(),
    };
  },
});

type Layout = ReturnType<typeof waveformLayout>;

function checkWindow({ cpLength }: Layout, { receiver_cp_offset: early }: Params): void {
  if (early <= cpLength) return;
  throw new SvcError("params_conflict", `Cannot start ${early} samples inside a prefix of ${cpLength}`, {
    hint: `Set receiver_cp_offset to ${cpLength} or less`,
  });
}

/**
 * The receiver of a waveform, OFDM symbols after OFDM symbols: metadata of its output, what receives the next samples with
 * their gains and the elements that were sent, and the metrics of all. Phases are compensated over the OFDM symbols of one call.
 * @throws SvcError for pilots that the waveform lacks, or that do not fit it
 */
function receiverOf(metadata: JsonObject, layout: Layout, { receiver_cp_offset: early, ...params }: Params) {
  const { fftSize: size, cpLength, oversampling, active, samplesPerRow } = layout;
  const first = firstActive(size, active), body = size * oversampling, skip = (cpLength - early) * oversampling;
  const n0 = metadataNumber(metadata, "noise_variance"), noise = n0 === undefined ? undefined : n0 / oversampling;
  const zf = params.equalize === "zf", precoded = metadata.transform_precoding === true;
  const tracked = readPtrs(metadata), compensated = params.phase_compensation === "pilots";
  if (compensated && tracked === undefined) {
    throw new SvcError(
      "input_metadata_missing",
      "Cannot compensate the phase: the waveform has no phase-tracking pilots",
      {
        hint: "Set ptrs_groups of modulation.ofdm_waveform",
      },
    );
  }
  if (tracked !== undefined && (!precoded || !hasRoom(active, tracked))) {
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot find pilots: the metadata ${PTRS_KEY} does not fit the waveform`,
    );
  }
  if (layout.symbolCount > layout.rows * active) {
    const sent = `${layout.symbolCount} symbols on ${layout.rows * active} elements`;
    throw new SvcError("boundary_count_mismatch", `Cannot receive ${sent}`);
  }
  const pilots = tracked && { ...ptrsOf(active, tracked), samples: tracked.samples };
  let done = 0, left = layout.symbolCount, error = 0, power = 0;

  function elementsOf(samples: Float32Array, rows: number): Float64Array {
    const elements = new Float64Array(2 * rows * active);
    for (let row = 0; row < rows; row++) {
      const start = 2 * (row * samplesPerRow + skip),
        own = ofdmElements(Float64Array.from(samples.subarray(start, start + 2 * body)), oversampling);
      for (let i = 0; i < active; i++) {
        // A window that starts early by d sees the spectrum turned by -2π(k - F/2)d/F.
        const turn = 2 * Math.PI * (first + i - size / 2) * early / size;
        const cosine = Math.cos(turn), sine = Math.sin(turn), re = own[2 * (first + i)], im = own[2 * (first + i) + 1];
        elements[2 * (row * active + i)] = re * cosine - im * sine;
        elements[2 * (row * active + i) + 1] = re * sine + im * cosine;
      }
    }
    return elements;
  }

  function next(samples: Float32Array, h?: Float32Array, x?: Float32Array) {
    const rows = samples.length / 2 / samplesPerRow, total = rows * active, elements = elementsOf(samples, rows);
    const symbols = new Float32Array(2 * total), variance = new Float32Array(total);
    for (let i = 0; i < total; i++) {
      const re = elements[2 * i], im = elements[2 * i + 1];
      if (!zf) {
        symbols.set([re, im], 2 * i);
        continue;
      }
      const hr = h![2 * i], hi = h![2 * i + 1], power = hr * hr + hi * hi;
      variance[i] = power < LEAST_GAIN ? ERASED_VARIANCE : (noise ?? 0) / power;
      if (power >= LEAST_GAIN) symbols.set([(re * hr + im * hi) / power, (im * hr - re * hi) / power], 2 * i);
    }
    if (precoded) {
      symbols.set(precode(symbols, active, true));
      for (let i = 0; i < total; i += active) variance.fill(mean(variance.subarray(i, i + active)), i, i + active);
    }
    if (compensated) turnBack(symbols, { active, rows, gap: Math.round(active * cpLength / size), ...pilots! });
    let count = Math.min(total, left);
    if (pilots !== undefined) {
      const isPilot = new Uint8Array(active);
      for (const place of pilots.places) isPilot[place] = 1;
      let kept = 0;
      for (let i = 0; i < total && kept < left; i++) {
        if (isPilot[i % active] === 1 && pilots.at(done + Math.floor(i / active)).length > 0) continue;
        symbols.copyWithin(2 * kept, 2 * i, 2 * i + 2);
        variance[kept++] = variance[i];
      }
      count = kept;
    }
    done += rows;
    left -= count;
    if (h !== undefined && x !== undefined) interference(elements, h, x);
    return { symbols: symbols.subarray(0, 2 * count), variance: variance.subarray(0, count) };
  }

  function interference(y: Float64Array, h: Float32Array, x: Float32Array): void {
    for (let i = 0; i < y.length; i += 2) {
      const re = h[i] * x[i] - h[i + 1] * x[i + 1], im = h[i] * x[i + 1] + h[i + 1] * x[i];
      error += (y[i] - re) ** 2 + (y[i + 1] - im) ** 2;
      power += re * re + im * im;
    }
  }

  return {
    metadata: travel(metadata, noise === undefined ? {} : { noise_variance: float(noise) }, LAYOUT_KEYS),
    hasVariance: zf && noise !== undefined,
    next,
    metrics: (): Metrics =>
      error > 0 && power > 0 ? { "ofdm.residual_interference_db": 10 * Math.log10(error / power) } : {},
  };
}

/** Whether blocks have the gains that {@link gainsOf} reads. */
function isStateOf({ metadata, shape, length }: StreamInput, elements: number): boolean {
  const given = ["noise_variance", "average_power_budget"].map((key) => metadataNumber(metadata, key) ?? 0);
  const isPositive = given.every((value) => value > 0 && Number.isFinite(value));
  return metadata.dtype === "complex64" && shape.length === 3 && length === elements && isPositive;
}

/** Gains of all elements. @throws SvcError `shape_mismatch` for another number of them */
function gainsOf(state: InputArtifact, elements: number): Float32Array {
  const { h } = ofdmStateOf(state);
  if (h.length === 2 * elements) return h;
  throw new SvcError("shape_mismatch", `Cannot equalise ${elements} elements with ${h.length / 2} gains`, {
    hint: "Wire the state of the channel that sent this waveform",
  });
}

interface Tracked {
  active: number;
  rows: number;
  /** Symbols that fit into a cyclic prefix. */
  gap: number;
  /** Pilots of a group. */
  samples: number;
  at: (row: number) => readonly number[];
  values: (row: number) => Float64Array;
}

/** Turns all symbols back by the phases of their groups of pilots. */
function turnBack(symbols: Float32Array, { active, rows, gap, samples, at, values }: Tracked): void {
  const times: number[] = [], phases: number[] = [], step = active + gap;
  for (let row = 0; row < rows; row++) {
    const places = at(row), pilots = values(row), start = 2 * row * active;
    for (let first = 0; first < places.length; first += samples) {
      let re = 0, im = 0, middle = 0;
      for (let p = first; p < first + samples; p++) {
        const y = start + 2 * places[p], [pr, pi] = pilots.subarray(2 * p, 2 * p + 2);
        re += symbols[y] * pr + symbols[y + 1] * pi;
        im += symbols[y + 1] * pr - symbols[y] * pi;
        middle += places[p] / samples;
      }
      times.push(row * step + middle);
      phases.push(Math.atan2(im, re));
    }
  }
  const all = interpolatePhase(times, unwrap(phases), rows * step);
  for (let i = 0; i < rows * active; i++) {
    const phase = all[Math.floor(i / active) * step + i % active], cosine = Math.cos(phase), sine = Math.sin(phase);
    const re = symbols[2 * i], im = symbols[2 * i + 1];
    symbols[2 * i] = re * cosine + im * sine;
    symbols[2 * i + 1] = im * cosine - re * sine;
  }
}

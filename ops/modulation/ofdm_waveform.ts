/**
 * OFDM modulator: symbols fill the active subcarriers of consecutive OFDM symbols, the last one zero-padded, and become samples
 * with a cyclic prefix: lib/numeric/link/ofdm_waveform.ts. With transform precoding the symbols of each OFDM symbol pass a DFT first. Mean power
 * per sample is that per element, at any oversampling.
 *
 * ptrs_groups puts phase-tracking pilots between the symbols before the DFT (lib/numeric/channel/pilot_grid.ts), on every ptrs_time_density-th
 * OFDM symbol of a grid, which is a slot without DM-RS. Their amplitude is that of an outermost point of the QAM in the metadata, else 1.
 *
 * Shapes: symbols complex64 [n] -> waveform complex64 [OFDM symbols · (fft_size + cp_length) · oversampling], grid complex64
 * [OFDM symbols · active subcarriers]. Unit: samples at the rate of fft_size subcarrier spacings times oversampling.
 */
import { SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, type JsonObject, type Metrics, z } from "../api.ts";
import { symbolMetadata, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { firstActive, ofdmSamples, paprDb, precode } from "../../lib/numeric/link/ofdm_waveform.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { numpyWithTwin } from "../_backends.ts";
import { LAYOUT_PARAMS, layoutFacts, layoutProblems, type Pilots, rowsOf, tracking } from "../_ofdm_layout.ts";
import { ptrsOf, scaleOf } from "../_precoded_ptrs.ts";
import { LEAST_WAVEFORM_BYTES, WAVEFORM } from "../_waveform.ts";

const PARAMS = z.strictObject(LAYOUT_PARAMS);
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "modulation.ofdm_waveform",
  name: "OFDM waveform",
  description: "Turns symbols into time-domain OFDM with a cyclic prefix and reports its peak-to-average power",
  inputs: { symbols: [SYMBOLS] },
  outputs: { waveform: WAVEFORM, grid: SYMBOLS },
  params: PARAMS,
  ...numpyWithTwin("full", "A linear map"),
  outputMetadataGuarantees: {
    waveform: { from: "symbols" },
    grid: { from: "symbols", keys: ["boundary_contract", "symbol_count"] },
  },
  estimate(params, { symbols: { bytes, shape } }) {
    const active = params.active_subcarriers || params.fft_size;
    const rows = rowsOf(shape?.[0] ?? bytes / 8, active, tracking(params));
    return {
      waveform: [
        ["complex64", rows * (params.fft_size + params.cp_length) * params.oversampling],
        ["complex64", rows, active],
      ],
      grid: [["complex64", rows * active]],
    };
  },
  check: layoutProblems,
  streaming: {
    least: LEAST_WAVEFORM_BYTES,
    open({ inputs: { symbols: { metadata, length: count } }, params }) {
      if (metadata.dtype !== "complex64" || count === 0) return null;
      const { rows, active, samplesPerRow, unit, forms, next, metrics } = modulatorOf(params, metadata, count);
      const grid = { dtype: "complex64" as const, shape: [rows, active] };
      return {
        arrays: {
          waveform: {
            ...grid,
            shape: [rows * samplesPerRow],
            length: rows * samplesPerRow,
            companions: { grid },
            metadata: forms.waveform,
          },
          grid: { ...grid, shape: [rows * active], length: rows * active, metadata: forms.grid },
        },
        unit: { symbols: unit },
        next({ symbols: { data } }) {
          const { samples, grid } = next(data as Float32Array);
          return { waveform: samples, "waveform.grid": grid, grid };
        },
        end: () => ({ metrics: metrics() }),
      };
    },
  },
  run({ inputs, params }) {
    const symbols = symbolsOf(inputs.symbols), { metadata } = inputs.symbols;
    const { rows, active, forms, next, metrics } = modulatorOf(params, metadata, symbols.length / 2);
    const { samples, grid } = next(symbols);
    return {
      outputs: {
        waveform: {
          array: ndarray("complex64", samples),
          companions: { grid: ndarray("complex64", grid, [rows, active]) },
          metadata: forms.waveform,
        },
        grid: { array: ndarray("complex64", grid), metadata: forms.grid },
      },
      metrics: metrics(),
    };
  },
});

/**
 * The modulator of `count` symbols: metadata of its outputs, what makes the OFDM symbols of the next symbols, and their metrics.
 * A block has a multiple of `unit` symbols, those of a slot of pilots, except at the end.
 */
function modulatorOf(params: Params, known: JsonObject, count: number) {
  const { fft_size: size, oversampling } = params, active = params.active_subcarriers || size;
  const pilots = tracking(params), first = firstActive(size, active), scale = scaleOf(known);
  const prefix = params.cp_length * oversampling, body = size * oversampling, rows = rowsOf(count, active, pilots);
  const ratios: number[] = [], elements = new Float64Array(2 * size);
  let done = 0;
  const next = (symbols: Float32Array) => {
    const rows = rowsOf(symbols.length / 2, active, pilots);
    const grid = new Float32Array(2 * rows * active), samples = new Float32Array(2 * rows * (prefix + body));
    if (pilots === undefined) grid.set(symbols);
    else fill(grid, symbols, active, { pilots, scale, done });
    if (params.transform_precoding) grid.set(precode(grid, active));
    for (let row = 0; row < rows; row++) {
      elements.set(grid.subarray(2 * row * active, 2 * (row + 1) * active), 2 * first);
      const own = ofdmSamples(elements, oversampling), start = 2 * row * (prefix + body);
      samples.set(own.subarray(2 * (body - prefix)), start);
      samples.set(own, start + 2 * prefix);
      const ratio = paprDb(own);
      if (ratio !== undefined) ratios.push(ratio);
    }
    done += rows;
    return { samples, grid };
  };
  const metrics = (): Metrics => {
    ratios.sort((a, b) => a - b);
    return ratios.length === 0 ? {} : {
      "ofdm.papr_db_mean": mean(ratios),
      "ofdm.papr_db_max": ratios[ratios.length - 1],
      "ofdm.papr_db_99_percentile": ratios[Math.ceil(0.99 * ratios.length) - 1],
    };
  };
  const facts = layoutFacts(params, { rows, scale });
  const forms = {
    waveform: { ...travel(known, facts, ["source_item_counts"]), symbol_count: count },
    grid: symbolMetadata(rows * active, travel(known, {}, ["source_item_counts"])),
  };
  const unit = pilots === undefined ? active : symbolsOfSlot(active, pilots);
  return { rows, active, samplesPerRow: prefix + body, unit, forms, next, metrics };
}

/** Symbols between the pilots of a slot. */
function symbolsOfSlot(active: number, pilots: Pilots): number {
  const { at } = ptrsOf(active, pilots);
  return Array.from({ length: pilots.perSlot }, (_, row) => active - at(row).length).reduce((sum, own) => sum + own, 0);
}

/** Puts pilots, and symbols between them, on the rows of a grid. */
function fill(
  grid: Float32Array,
  symbols: Float32Array,
  active: number,
  { pilots, scale, done }: { pilots: Pilots; scale: number; /** OFDM symbols before them. */ done: number },
): void {
  const { at, values } = ptrsOf(active, pilots);
  for (let row = 0, next = 0; 2 * row * active < grid.length; row++) {
    const places = at(done + row), start = 2 * row * active, own = values(done + row);
    places.forEach((place, p) =>
      grid.set(own.subarray(2 * p, 2 * p + 2).map((part) => scale * part), start + 2 * place)
    );
    for (let i = 0; i < active && next < symbols.length; i++) {
      if (places.includes(i)) continue;
      grid.set(symbols.subarray(next, next += 2), start + 2 * i);
    }
  }
}

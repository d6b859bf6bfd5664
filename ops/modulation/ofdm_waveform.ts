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
import { defineOperation, float, type Metrics, type ParameterProblem, z } from "../api.ts";
import { symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { firstActive, ofdmSamples, paprDb, precode } from "../../lib/numeric/link/ofdm_waveform.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { numpyWithTwin } from "../_backends.ts";
import { hasRoom, PTRS_KEY, ptrsOf, scaleOf } from "../_precoded_ptrs.ts";
import { WAVEFORM } from "../_waveform.ts";

const OF_PTRS = { "x-svc-used-when": { ptrs_groups: [2, 4, 8] } };

const PARAMS = z.strictObject({
  fft_size: z.int().min(2).max(8192).default(64).describe("subcarriers of an OFDM symbol, an even number"),
  active_subcarriers: z.int().min(0).max(8192).default(0).describe("centred subcarriers with symbols; 0 is all"),
  cp_length: z.int().min(0).max(8192).default(16).describe("samples of the cyclic prefix before oversampling"),
  oversampling: z.literal([1, 2, 4, 8]).default(1).describe("samples per sample of fft_size subcarriers"),
  symbols_per_grid: z.int().min(1).max(1024).default(14).describe("OFDM symbols of a grid of the channel state"),
  transform_precoding: z.boolean().optional()
    .describe("DFT over the symbols of each OFDM symbol, as DFT-s-OFDM of TS 38.211; default false"),
  ptrs_groups: z.literal([2, 4, 8]).optional().meta({ "x-svc-used-when": { transform_precoding: true } })
    .describe("groups of phase-tracking pilots before the DFT; default no pilots"),
  ptrs_group_samples: z.literal([2, 4]).optional().meta(OF_PTRS).describe(
    "pilots of a group; default 2, with 8 groups 4",
  ),
  ptrs_time_density: z.literal([1, 2]).optional().meta(OF_PTRS)
    .describe("OFDM symbols from pilots to pilots; default 1"),
  ptrs_n_id: z.int().min(0).max(1007).optional().meta(OF_PTRS).describe("scrambling identity of the pilots; default 0"),
  ptrs_rnti: z.int().min(0).max(65535).optional().meta(OF_PTRS)
    .describe("n_RNTI, which selects the orthogonal sequence; default 0"),
});

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
  check(params) {
    const found: ParameterProblem[] = [], { fft_size: size, cp_length: prefix, active_subcarriers: active } = params;
    if (size % 2 !== 0) found.push({ place: ["fft_size"], message: `Cannot centre a carrier on ${size} subcarriers` });
    if (prefix > size) {
      found.push({ place: ["cp_length"], message: `Cannot repeat ${prefix} samples of a symbol of ${size}` });
    }
    if (active > size) {
      found.push({ place: ["active_subcarriers"], message: `Cannot use ${active} subcarriers of ${size}` });
    }
    const pilots = tracking(params);
    if (pilots && !params.transform_precoding) {
      found.push({
        place: ["ptrs_groups"],
        message: "Cannot put pilots before a DFT that is off",
        hint: "Set transform_precoding to true; modulation.ofdm_pilot_insert has the pilots of OFDM",
      });
    } else if (pilots && !hasRoom(active || size, pilots)) {
      const message = `Cannot put ${pilots.groups} groups of ${pilots.samples} pilots on ${active || size} subcarriers`;
      found.push({
        place: ["ptrs_groups"],
        message,
        hint: "Use 2 to 8 groups that leave room for data; 8 groups have 4 pilots",
      });
    }
    return found;
  },
  run({ inputs, params }) {
    const symbols = symbolsOf(inputs.symbols), { fft_size: size, oversampling } = params, count = symbols.length / 2;
    const active = params.active_subcarriers || size, first = firstActive(size, active);
    const pilots = tracking(params),
      rows = rowsOf(count, active, pilots),
      prefix = params.cp_length * oversampling,
      body = size * oversampling;
    const grid = new Float32Array(2 * rows * active), samples = new Float32Array(2 * rows * (prefix + body));
    const scale = scaleOf(inputs.symbols.metadata);
    if (pilots === undefined) grid.set(symbols);
    else fill(grid, symbols, active, { pilots, scale });
    if (params.transform_precoding) grid.set(precode(grid, active));
    const ratios: number[] = [], elements = new Float64Array(2 * size);
    for (let row = 0; row < rows; row++) {
      elements.set(grid.subarray(2 * row * active, 2 * (row + 1) * active), 2 * first);
      const own = ofdmSamples(elements, oversampling), start = 2 * row * (prefix + body);
      samples.set(own.subarray(2 * (body - prefix)), start);
      samples.set(own, start + 2 * prefix);
      const ratio = paprDb(own);
      if (ratio !== undefined) ratios.push(ratio);
    }
    ratios.sort((a, b) => a - b);
    const metrics: Metrics = ratios.length === 0 ? {} : {
      "ofdm.papr_db_mean": mean(ratios),
      "ofdm.papr_db_max": ratios[ratios.length - 1],
      "ofdm.papr_db_99_percentile": ratios[Math.ceil(0.99 * ratios.length) - 1],
    };
    const facts = {
      fft_size: size,
      cp_length: params.cp_length,
      oversampling,
      active_subcarriers: active,
      ofdm_symbol_count: rows,
      symbols_per_grid: params.symbols_per_grid,
      ...(params.transform_precoding ? { transform_precoding: true } : {}),
      ...(pilots === undefined ? {} : {
        [PTRS_KEY]: {
          groups: pilots.groups,
          group_samples: pilots.samples,
          time_density: pilots.step,
          n_id: pilots.nId,
          rnti: pilots.rnti,
          scale: float(scale),
        },
      }),
    };
    const metadata = travel(inputs.symbols.metadata, facts, ["source_item_counts"]);
    return {
      outputs: {
        waveform: {
          array: ndarray("complex64", samples),
          companions: { grid: ndarray("complex64", grid, [rows, active]) },
          metadata: { ...metadata, symbol_count: count },
        },
        grid: symbolsArtifact(grid, travel(inputs.symbols.metadata, {}, ["source_item_counts"])),
      },
      metrics,
    };
  },
});

type Pilots = NonNullable<ReturnType<typeof tracking>>;

/** The layout of phase-tracking pilots, or undefined without. */
function tracking(params: z.output<typeof PARAMS>) {
  const { ptrs_groups: groups, ptrs_group_samples: samples = groups === 8 ? 4 : 2 } = params;
  if (groups === undefined) return undefined;
  const { ptrs_time_density: step = 1, ptrs_n_id: nId = 0, ptrs_rnti: rnti = 0, symbols_per_grid: perSlot } = params;
  return { groups, samples, step, nId, rnti, perSlot };
}

/** OFDM symbols that some symbols need. */
function rowsOf(count: number, active: number, pilots: Pilots | undefined): number {
  if (pilots === undefined) return Math.ceil(count / active);
  const { at } = ptrsOf(active, pilots);
  let rows = 0;
  for (let left = count; left > 0; rows++) left -= active - at(rows).length;
  return rows;
}

/** Puts pilots, and symbols between them, on the rows of a grid. */
function fill(
  grid: Float32Array,
  symbols: Float32Array,
  active: number,
  { pilots, scale }: { pilots: Pilots; scale: number },
): void {
  const { at, values } = ptrsOf(active, pilots);
  for (let row = 0, next = 0; 2 * row * active < grid.length; row++) {
    const places = at(row), start = 2 * row * active, own = values(row);
    places.forEach((place, p) =>
      grid.set(own.subarray(2 * p, 2 * p + 2).map((part) => scale * part), start + 2 * place)
    );
    for (let i = 0; i < active && next < symbols.length; i++) {
      if (places.includes(i)) continue;
      grid.set(symbols.subarray(next, next += 2), start + 2 * i);
    }
  }
}

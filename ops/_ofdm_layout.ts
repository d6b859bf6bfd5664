/** The layout of OFDM waveforms: its parameters, what they exclude, and the metadata that a receiver reads. */
import { float, type ParameterProblem, z } from "./api.ts";
import { hasRoom, PTRS_KEY, ptrsOf } from "./_precoded_ptrs.ts";

const OF_PTRS = { "x-svc-used-when": { ptrs_groups: [2, 4, 8] } };

export const LAYOUT_PARAMS = {
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
};
type Layout = z.output<z.ZodObject<typeof LAYOUT_PARAMS>>;
export type Pilots = NonNullable<ReturnType<typeof tracking>>;

/** The layout of phase-tracking pilots, or undefined without. */
export function tracking(params: Layout) {
  const { ptrs_groups: groups, ptrs_group_samples: samples = groups === 8 ? 4 : 2 } = params;
  if (groups === undefined) return undefined;
  const { ptrs_time_density: step = 1, ptrs_n_id: nId = 0, ptrs_rnti: rnti = 0, symbols_per_grid: perSlot } = params;
  return { groups, samples, step, nId, rnti, perSlot };
}

/** OFDM symbols that some symbols need. */
export function rowsOf(count: number, active: number, pilots: Pilots | undefined): number {
  if (pilots === undefined) return Math.ceil(count / active);
  const { at } = ptrsOf(active, pilots);
  let rows = 0;
  for (let left = count; left > 0; rows++) left -= active - at(rows).length;
  return rows;
}

export function layoutProblems(params: Layout): ParameterProblem[] {
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
}

/** Metadata of a waveform of `rows` OFDM symbols, whose pilots have the amplitude `scale`. */
export function layoutFacts(params: Layout, { rows, scale }: { rows: number; scale: number }) {
  const pilots = tracking(params);
  return {
    fft_size: params.fft_size,
    cp_length: params.cp_length,
    oversampling: params.oversampling,
    active_subcarriers: params.active_subcarriers || params.fft_size,
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
}

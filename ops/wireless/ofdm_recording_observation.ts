/**
 * OFDM symbols of a recording: from first_sample on, consecutive OFDM symbols with their cyclic prefixes, in the layout of
 * modulation.ofdm_waveform. The recording has that rate of samples: fft_size · oversampling times the subcarrier spacing, which
 * target_sample_rate_hz of source.iq_recording sets. What is left behind the last OFDM symbol is not used.
 *
 * symbol_count is the number of symbols that were sent; the padding of the last OFDM symbol then leaves. 0 takes all elements of all
 * whole OFDM symbols. noise_variance is that of wireless.multipath_waveform; a receiver finds it in a part without signal.
 *
 * Shapes: waveform complex64 [n] -> waveform complex64 [OFDM symbols · (fft_size + cp_length) · oversampling].
 */
import { SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineOperation, float, SvcError, z } from "../api.ts";
import { symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { LAYOUT_PARAMS, layoutFacts, layoutProblems, rowsOf, tracking } from "../_ofdm_layout.ts";
import { ptrsOf } from "../_precoded_ptrs.ts";
import { WAVEFORM } from "../_waveform.ts";

const PARAMS = z.strictObject({
  first_sample: z.int().nonnegative().default(0).describe("first sample of the first cyclic prefix, from 0"),
  symbol_count: z.int().nonnegative().default(0).describe("symbols that were sent; 0: all elements"),
  noise_variance: z.number().positive().optional()
    .describe("variance of the noise of a sample, which estimators and equalisers use; default unknown"),
  ...LAYOUT_PARAMS,
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "wireless.ofdm_recording_observation",
  name: "OFDM symbols of a recording",
  description: "Reads consecutive OFDM symbols of a known layout from a recording",
  inputs: { waveform: SYMBOLS_ANY },
  outputs: { waveform: WAVEFORM },
  params: PARAMS,
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "behavioral" },
  outputMetadataGuarantees: { waveform: { from: "waveform" } },
  estimate(params, { waveform: { bytes, shape } }) {
    const { rows, step } = rowsIn(params, shape?.[0] ?? bytes / 8);
    return { waveform: [["complex64", rows * step]] };
  },
  check: layoutProblems,
  run({ inputs, params }) {
    const samples = symbolsOf(inputs.waveform), { first_sample: first } = params;
    const { rows, step, whole } = rowsIn(params, samples.length / 2);
    if (rows === 0 || rows > whole) {
      throw new SvcError(
        "boundary_count_mismatch",
        `Cannot read ${Math.max(1, rows)} OFDM symbols of ${step} samples from sample ${first} of ${
          samples.length / 2
        }`,
        { hint: "Lower first_sample or symbol_count, or correct fft_size, cp_length and oversampling" },
      );
    }
    return {
      outputs: {
        waveform: {
          array: ndarray("complex64", samples.slice(2 * first, 2 * (first + rows * step))),
          metadata: {
            ...travel(inputs.waveform.metadata, layoutFacts(params, { rows, scale: 1 }), ["source_item_counts"]),
            ...(params.noise_variance === undefined ? {} : { noise_variance: float(params.noise_variance) }),
            symbol_count: params.symbol_count || elementsOf(params, rows),
          },
        },
      },
    };
  },
});

/** OFDM symbols that are read, and those that the samples have. */
function rowsIn(params: Params, samples: number) {
  const step = (params.fft_size + params.cp_length) * params.oversampling;
  const whole = Math.floor(Math.max(0, samples - params.first_sample) / step), { symbol_count: count } = params;
  return { step, whole, rows: count === 0 ? whole : rowsOf(count, activeOf(params), tracking(params)) };
}

/** Elements of some OFDM symbols without pilots. */
function elementsOf(params: Params, rows: number): number {
  const active = activeOf(params), pilots = tracking(params), at = pilots && ptrsOf(active, pilots).at;
  return Array.from({ length: rows }, (_, row) => active - (at?.(row).length ?? 0)).reduce((sum, own) => sum + own, 0);
}

const activeOf = ({ active_subcarriers: active, fft_size: size }: Params) => active || size;

/**
 * Link adaptation: chooses the MCS row for an Es/N0, or for the effective one of a channel state.
 *
 *     normal_approximation   the row of largest Qm·R whose predicted block error rate is at most target_bler
 *     cqi_efficiency         the largest CQI whose efficiency is at most the mutual information of its modulation, then the
 *                            largest row of at most that efficiency (TS 38.214 5.2.2.1)
 *     threshold_table        the largest row with thresholds_db at or below the effective Es/N0
 *
 * The effective Es/N0 of a state is that of equal mutual information, per modulation; the first two policies subtract
 * snr_margin_db. nr.capacity_bits_per_symbol is log2(1 + Es/N0), its mean over a state. Without a row that qualifies the lowest one is taken and the report has `outage: true`. Formulas:
 * lib/numeric/link/link_adaptation.ts. Draws nothing.
 *
 * Shapes: state complex64 [grid, OFDM symbol, subcarrier]. Units: Es/N0 of a resource element in dB.
 */
import { defineOperation, float, type InputArtifact, type ParameterProblem, SvcError, usedWhen, z } from "../api.ts";
import { OFDM_STATE, REPORT } from "../../lib/contract/kinds.ts";
import { ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { reportResult } from "../../lib/artifact/values.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import {
  bitInterleavedStatistics,
  effectiveSnrDb,
  predictedBlockErrorRate,
} from "../../lib/numeric/link/link_adaptation.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { MODULATION_BY_BITS } from "../../lib/numeric/link/modulations.ts";
import { cqiRows, efficiency, type McsRow, type TransportFormat } from "../../lib/numeric/link/nr_transport_format.ts";
import {
  checkFormat,
  FORMAT_PARAMS,
  formatArtifact,
  formatOf,
  type FormatParams,
  rowsOf,
  TRANSPORT_FORMAT,
} from "../_nr_transport_format.ts";

export default defineOperation({
  id: "model.nr_mcs_selector",
  name: "NR link adaptation",
  description: "Chooses modulation and code rate for an Es/N0 or a channel state",
  optionalInputs: { state: [OFDM_STATE] },
  outputs: { format: TRANSPORT_FORMAT, report: REPORT },
  params: z.strictObject({
    ...FORMAT_PARAMS,
    snr_db: z.number().optional().describe("Es/N0 in dB of a resource element; needed without a state")
      .meta({ "x-svc-ui": { unit: "dB" } }),
    target_bler: z.number().gt(0).lt(1).default(0.1).describe("largest predicted block error rate"),
    snr_margin_db: z.number().default(0.6).describe("loss in dB of the code against the normal approximation")
      .meta(usedWhen({ policy: ["normal_approximation", "cqi_efficiency"] }, { unit: "dB" })),
    policy: z.enum(["normal_approximation", "cqi_efficiency", "threshold_table"]).default("normal_approximation")
      .describe("rule that chooses the row"),
    thresholds_db: z.array(z.number().min(-200).max(200)).default([]).describe(
      "threshold_table: smallest Es/N0 in dB of each row",
    ).meta(usedWhen({ policy: "threshold_table" })),
  }),
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "json", tensor: "none" },
  estimate: () => ({ format: 1024, report: 4096 }),
  check(params, connected) {
    const problems: ParameterProblem[] = checkFormat(params);
    if (!connected.has("state") && params.snr_db === undefined) {
      problems.push({
        place: ["snr_db"],
        message: "Cannot choose an MCS without an Es/N0",
        hint: "Set snr_db, or wire state",
      });
    }
    const count = rowsOf(params).length;
    if (params.policy === "threshold_table" && params.thresholds_db.length !== count) {
      problems.push({
        place: ["thresholds_db"],
        message: `Cannot use ${params.thresholds_db.length} thresholds for the ${count} rows of ${params.mcs_table}`,
      });
    }
    return problems;
  },
  run({ inputs, params }) {
    const rows = rowsOf(params), margin = params.policy === "threshold_table" ? 0 : params.snr_margin_db;
    const snrs = snrsOf(inputs.state, params.snr_db),
      snrOf = inputs.state === undefined ? () => params.snr_db! : snrByBits(snrs);
    const formats = rows.map((row) => fitting(row, params));
    const lowest = formats.findIndex((format) => format !== undefined);
    if (lowest < 0) {
      throw new SvcError("params_conflict", `Cannot send a row of ${params.mcs_table} on these resources`, {
        hint: "Give the block more resource elements",
      });
    }
    const errorRates = new Map<number, number>();
    const errorRate = (index: number) => {
      if (!errorRates.has(index)) {
        const snr = snrOf(rows[index][0]) - margin;
        errorRates.set(index, predictedBlockErrorRate(formats[index]!.parameters, snr));
      }
      return errorRates.get(index)!;
    };
    const chosen = CHOICE[params.policy]({ rows, formats, errorRate, snrOf, params });
    const index = chosen ?? lowest;
    const { artifact, metrics } = formatArtifact(index, rows[index], formats[index]!, params);
    const all = {
      ...metrics,
      "nr.mcs_index": index,
      "nr.predicted_bler": errorRate(index),
      "nr.effective_snr_db": snrOf(rows[index][0]),
      "nr.capacity_bits_per_symbol": mean(snrs.map((snr) => Math.log2(1 + snr))),
    };
    const { outputs: { report } } = reportResult("model.nr_mcs_selector", all, {
      facts: { outage: chosen === undefined, policy: params.policy, target_bler: float(params.target_bler) },
    });
    return { outputs: { format: artifact, report }, metrics: all };
  },
});

interface Choice {
  rows: readonly McsRow[];
  /** Undefined where the row does not fit on the resources. */
  formats: readonly (TransportFormat | undefined)[];
  errorRate: (index: number) => number;
  snrOf: (bitsPerSymbol: number) => number;
  params: FormatParams & { target_bler: number; snr_margin_db: number; thresholds_db: number[] };
}

/** Index of the row of largest efficiency that a condition admits; of equal ones that of fewer bits per symbol. */
function mostEfficient({ rows, formats }: Choice, admits: (index: number) => boolean): number | undefined {
  const order = rows.map((row, index) => ({ row, index })).filter(({ index }) => formats[index] !== undefined)
    .sort((a, b) => efficiency(b.row) - efficiency(a.row) || a.row[0] - b.row[0]);
  return order.find(({ index }) => admits(index))?.index;
}

/** The chosen row of each policy, or undefined for an outage. */
const CHOICE: Record<string, (choice: Choice) => number | undefined> = {
  normal_approximation: (choice) =>
    mostEfficient(choice, (index) => choice.errorRate(index) <= choice.params.target_bler),
  cqi_efficiency(choice) {
    const { params, snrOf, rows } = choice;
    const supported = cqiRows(params.mcs_table).filter((row) => {
      const snr = dbToLinear(snrOf(row[0]) - params.snr_margin_db);
      return efficiency(row) <= bitInterleavedStatistics(MODULATION_BY_BITS[row[0]], snr).capacity;
    }).at(-1);
    return supported && mostEfficient(choice, (index) => efficiency(rows[index]) <= efficiency(supported));
  },
  threshold_table({ rows, formats, snrOf, params }) {
    const met = rows.flatMap((row, index) =>
      formats[index] !== undefined && params.thresholds_db[index] <= snrOf(row[0]) ? [index] : []
    );
    return met.at(-1);
  },
};

/** Es/N0 of the resource elements of a state, or the given one. */
function snrsOf(state: InputArtifact | undefined, snrDb: number | undefined): Float64Array {
  if (state === undefined) return Float64Array.of(dbToLinear(snrDb!));
  const { h, noiseVariance } = ofdmStateOf(state);
  return Float64Array.from({ length: h.length / 2 }, (_, i) => (h[2 * i] ** 2 + h[2 * i + 1] ** 2) / noiseVariance);
}

/** Es/N0 in dB for a modulation, computed once for each. */
function snrByBits(snrs: Float64Array): (bits: number) => number {
  const known = new Map<number, number>();
  return (bits) => {
    if (!known.has(bits)) known.set(bits, effectiveSnrDb(MODULATION_BY_BITS[bits], snrs));
    return known.get(bits)!;
  };
}

function fitting(row: McsRow, params: FormatParams): TransportFormat | undefined {
  try {
    return formatOf(row, params);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

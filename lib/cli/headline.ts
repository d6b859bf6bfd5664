/** The first numbers to read of a run: the metrics of its task, then the link in the order of the signal path. */
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import { recordedEstimate, recordedRate, UNITS as UNIT_NAMES } from "../contract/metric_metadata.ts";
import { estimateText, type ShownEstimate } from "../figure/number_text.ts";
import type { RateCounts } from "../numeric/scores/rate_interval.ts";
import { type HeadlineView, remarkOn } from "./headline_view.ts";
import { type Column, formatTable, right } from "./table.ts";

export interface HeadlineRow {
  metric: string;
  value: string;
  note: string;
}

/** Metric families in the order of the signal path; within a family in order of appearance. */
const FAMILIES = [
  /^channel\.(.*\.)?ber$/,
  /^channel\.(.*\.)?bler$/,
  /^channel\.(packet_success_rate|outage_rate)$/,
  /^quality\.psnr_db$/,
  /^quality\.exact_items$/,
  /^quality\.ssim$/,
  /^quality\.ms_ssim$/,
  /^semantic\.(lexical_similarity|kb_coverage)$|^text\.(exact_match|remaining_mask_count)$/,
  /^faithfulness\.(concept_f1|fact_f1|(unsupported_assertion|fact_omission)_rate_scored|items_without_facts)$|^semantic\.fact_count_knowledge$/,
  /^(classification|vqa|caption|retrieval|generation|embedding)\./,
  /^detection\.(f1|ap|map)_at_|^segmentation\.\w+_(miou|pixel_accuracy)$/,
  /^resource\.(theoretical_shannon_sum_bits_per_ofdm_symbol|theoretical_shannon_spectral_efficiency_bps_hz)$/,
  /^task\./,
  /^external\./,
  /^codec\.jpeg\.selected_quality_mean$/,
  /^rate\.(payload_bpp|coded_bpp|side_information_bits)$/,
  /^channel\.payload_bit_count$/,
  /^channel\.transmitted_bit_count$/,
  /^channel\.channel_use_count$/,
  /^channel\.effective_payload_bits_per_channel_use$/,
];

const UNITS: [RegExp, string][] = [
  [/_db$/, "dB"],
  [/bpp$/, "bit/pixel"],
  [/bit_count$|side_information_bits$/, "bits"],
  [/channel_use_count$/, "channel uses"],
  [/^quality\.exact_items$/, "images"],
  [/bits_per_channel_use$/, "bit/channel use"],
  [/_bits_per_ofdm_symbol$/, "bit/OFDM symbol"],
  [/_bps_hz$/, "bit/s/Hz"],
];

/** A metric as it is read: counts whole and grouped, measured values as `estimateText` writes them. */
export function metricText({ value, isCount, estimate }: HeadlineMetric, unit = ""): string {
  if (!isCount) return estimateText(estimate ?? { mean: value, low: null, high: null }, "unicode", unit);
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, " ") + (unit === "" ? "" : ` ${unit}`);
}

/** The unit that the id of a metric implies. */
export const impliedUnit = (id: string): string => UNITS.find(([pattern]) => pattern.test(id))?.[1] ?? "";

/** A metric worth looking at first. */
export interface HeadlineMetric {
  step: string;
  metric: string;
  value: number;
  isCount: boolean;
  /** Of a rate: its counts over units. */
  counts: RateCounts | null;
  /** 95 % interval of a rate, a root mean square or an NMSE. */
  estimate: ShownEstimate | null;
  /** Without which the number misleads. */
  remark: string | null;
}

/**
 * The headline metrics of a run: those of its task in their order, then the link in the order of the signal path; with
 * `all` every further metric in the order of the steps.
 *
 * @param steps step rows of a summary
 */
export function headlineMetrics(steps: readonly JsonObject[], view: HeadlineView): HeadlineMetric[] {
  const found: (HeadlineMetric & { family: number })[] = [];
  for (const step of steps) {
    const metrics = step.metrics as JsonObject;
    for (const [metric, value] of Object.entries(metrics)) {
      if (!isNumber(value)) continue;
      const known = FAMILIES.findIndex((pattern) => pattern.test(metric)), own = view.task.indexOf(metric);
      if (known < 0 && own < 0 && !view.all) continue;
      // Without exact images a mean PSNR is an ordinary mean.
      if (metric === "quality.exact_items" && toNumber(value) === 0 && !view.all) continue;
      const family = own >= 0 ? own - view.task.length : known < 0 ? FAMILIES.length : known;
      const isCount = typeof value === "bigint" || /_count$/.test(metric);
      const metadata = (step.metadata ?? {}) as JsonObject;
      const counts = recordedRate(metadata, metric), estimate = recordedEstimate(metadata, metric);
      const remark = remarkOn(metric, String(step.id), steps, view);
      found.push({ step: String(step.id), metric, value: toNumber(value), isCount, counts, estimate, remark, family });
    }
  }
  return found.sort((a, b) => a.family - b.family).map(({ family: _, ...item }) => item);
}

/**
 * The headline metrics of a run; a rate comes with its 95 % interval and its counts, a root mean square with its interval. Where several steps give a metric, the
 * step stands before it.
 */
function headline(steps: readonly JsonObject[], view: HeadlineView): HeadlineRow[] {
  const items = headlineMetrics(steps, view);
  const several = (id: string) => items.filter(({ metric }) => metric === id).length > 1;
  return items.map((item) => ({
    metric: several(item.metric) ? `${item.step}/${item.metric}` : item.metric,
    value: metricText(item, impliedUnit(item.metric)),
    note: [item.counts === null ? null : countsText(item.counts), item.remark].filter((part) => part !== null)
      .join("; "),
  }));
}

/** What a rate counts; of one without events its value says it. */
function countsText({ events, trials, unit, units, unit_failures, complement }: RateCounts): string {
  if ((complement ? trials - events : events) === 0) return "95 %";
  const counted = `${Number(events.toFixed(2))} of ${trials}${complement ? " failed" : ""}`;
  return `95 %, ${counted}${
    unit === "bit" || units === trials ? "" : `, in ${unit_failures} of ${units} ${UNIT_NAMES[unit]}`
  }`;
}

/** The headline metrics as a table; empty without any. */
export function headlineTable(steps: readonly JsonObject[], view: HeadlineView): string {
  const rows = headline(steps, view);
  if (rows.length === 0) return "";
  const columns: Column[] = ["metric", right("value"), "note"];
  return formatTable(rows.map((row) => ({ ...row })), columns);
}

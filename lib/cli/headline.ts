/** The numbers a communications engineer looks at first, gathered from the steps of a run. */
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import { recordedRate } from "../contract/metric_metadata.ts";
import { UNITS as UNIT_NAMES } from "../benchmark/estimates.ts";
import { estimateText } from "../figure/number_text.ts";
import { type RateCounts, type RateEstimate, rateEstimate } from "../numeric/rate_interval.ts";
import { type Column, formatTable } from "./table.ts";

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
  /^quality\.ssim$/,
  /^quality\.ms_ssim$/,
  /^(semantic|text)\./,
  /^task\.|^faithfulness\./,
  /^(classification|vqa|detection|segmentation|caption|retrieval|generation|embedding)\./,
  /^external\./,
  /^codec\.jpeg\.selected_quality_mean$/,
  /^rate\.(payload_bpp|coded_bpp)$/,
  /^channel\.payload_bit_count$/,
  /^channel\.transmitted_bit_count$/,
  /^channel\.channel_use_count$/,
  /^channel\.effective_payload_bits_per_channel_use$/,
];

const UNITS: [RegExp, string][] = [
  [/_db$/, "dB"],
  [/bpp$/, "bit/pixel"],
  [/bit_count$/, "bits"],
  [/channel_use_count$/, "channel uses"],
  [/bits_per_channel_use$/, "bit/channel use"],
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
  /** Of a rate: its counts over units, and its 95 % interval. */
  counts: RateCounts | null;
  estimate: RateEstimate | null;
}

/**
 * The headline metrics of a run, in the order of the signal path.
 *
 * @param steps step rows of a summary
 */
export function headlineMetrics(steps: readonly JsonObject[]): HeadlineMetric[] {
  const found: (HeadlineMetric & { family: number })[] = [];
  for (const step of steps) {
    const metrics = step.metrics as JsonObject;
    for (const [metric, value] of Object.entries(metrics)) {
      const family = FAMILIES.findIndex((pattern) => pattern.test(metric));
      if (family < 0 || !isNumber(value) || metric.startsWith("timing.")) continue;
      const isCount = typeof value === "bigint" || /_count$/.test(metric);
      const counts = recordedRate((step.metadata ?? {}) as JsonObject, metric);
      const estimate = counts === null ? null : rateEstimate(counts, 0.95);
      found.push({ step: String(step.id), metric, value: toNumber(value), isCount, counts, estimate, family });
    }
  }
  return found.sort((a, b) => a.family - b.family).map(({ family: _, ...item }) => item);
}

/**
 * Picks the headline metrics of a run; a rate comes with its 95 % interval and what that is counted over.
 *
 * @param steps step rows of a summary
 */
function headline(steps: readonly JsonObject[]): HeadlineRow[] {
  const rows = headlineMetrics(steps).map((item) => ({
    metric: item.metric,
    value: metricText(item, impliedUnit(item.metric)),
    note: item.counts === null ? "" : countsText(item.counts),
  }));
  const seen = new Set<string>();
  return rows.filter(({ metric, value }) => !seen.has(metric + value) && seen.add(metric + value));
}

function countsText({ events, trials, unit, units, unit_failures, complement }: RateCounts): string {
  const counted = `${events} of ${trials}${complement ? " failed" : ""}`;
  return `95 %, ${counted}${
    unit === "bit" || units === trials ? "" : `, in ${unit_failures} of ${units} ${UNIT_NAMES[unit]}`
  }`;
}

/** The headline metrics as a table; empty without any. */
export function headlineTable(steps: readonly JsonObject[]): string {
  const rows = headline(steps);
  if (rows.length === 0) return "";
  const columns: Column[] = [{ key: "metric" }, { key: "value", align: "right" }, { key: "note" }];
  return formatTable(rows.map((row) => ({ ...row })), columns);
}

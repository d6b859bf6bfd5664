/** The numbers a communications engineer looks at first, gathered from the steps of a run. */
import { isNumber, isObject, type JsonObject, toNumber } from "../contract/value.ts";
import { wilsonInterval } from "../numeric/statistics.ts";
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

/** Digits that are worth reading: counts whole and grouped, reals to five significant digits. */
export function formatNumber(value: number, isCount: boolean): string {
  if (isCount) return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, " ");
  return value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)
    ? value.toExponential(3)
    : String(Number(value.toPrecision(5)));
}

/** A number with the unit that its id implies. */
export function formatMetric(id: string, value: number, isCount: boolean): string {
  const unit = UNITS.find(([pattern]) => pattern.test(id))?.[1] ?? "";
  const text = formatNumber(value, isCount);
  return unit ? `${text} ${unit}` : text;
}

/** A metric worth looking at first. */
export interface HeadlineMetric {
  step: string;
  metric: string;
  value: number;
  isCount: boolean;
  /** The counts behind an error rate, and its 95 % Wilson interval. */
  interval: { events: number; trials: number; low: number; high: number } | null;
}

/**
 * The headline metrics of a run, in the order of the signal path.
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
      const interval = intervalOf(metric, metrics);
      found.push({ step: String(step.id), metric, value: toNumber(value), isCount, interval, family });
    }
  }
  return found.sort((a, b) => a.family - b.family).map(({ family: _, ...item }) => item);
}

/**
 * Picks the headline metrics of a run; an error rate comes with its 95 % Wilson interval when its counts are there.
 * @param steps step rows of a summary
 */
function headline(steps: readonly JsonObject[]): HeadlineRow[] {
  const clustered = steps.some(fadesInBlocks);
  const rows = headlineMetrics(steps).map(({ metric, value, isCount, interval }) => ({
    metric,
    value: formatMetric(metric, value, isCount),
    note: intervalNote(interval) + (interval !== null && clustered ? ", too narrow: errors come in fades" : ""),
  }));
  const seen = new Set<string>();
  return rows.filter(({ metric, value }) => !seen.has(metric + value) && seen.add(metric + value));
}

/** Channels whose errors are independent from symbol to symbol, as the interval takes them to be. */
const INDEPENDENT_PRESETS = ["awgn", "interference_awgn"];

/** Whether a step is a channel whose gain holds for many symbols: its errors come in clusters. */
function fadesInBlocks(step: JsonObject): boolean {
  return Object.values(step.outputs as JsonObject).some((output) => {
    const record = ((output as JsonObject).metadata as JsonObject).wireless_channel;
    if (step.op !== "wireless.channel" || !isObject(record)) return false;
    const perSymbol = record.preset === "flat_rayleigh" && record.fading_scope === "symbol";
    return !perSymbol && !INDEPENDENT_PRESETS.includes(String(record.preset));
  });
}

function intervalOf(id: string, metrics: JsonObject): HeadlineMetric["interval"] {
  const stem = /^channel\.(.*)(ber|bler)$/.exec(id);
  if (stem === null) return null;
  const [events, trials] = stem[2] === "ber"
    ? [metrics[`channel.${stem[1]}error_count`], metrics[`channel.${stem[1]}compare_bit_count`]]
    : [metrics[`channel.${stem[1]}block_error_count`], metrics[`channel.${stem[1]}block_count`]];
  if (!isNumber(events) || !isNumber(trials) || toNumber(trials) === 0) return null;
  const [k, n] = [toNumber(events), toNumber(trials)];
  const { low, high } = wilsonInterval(k, n);
  return { events: k, trials: n, low, high };
}

/** The largest rate that no error in so many trials still allows at 95 %, by the rule of three. */
export function ruleOfThree(trials: number): string {
  return (3 / trials).toExponential(1);
}

function intervalNote(interval: HeadlineMetric["interval"]): string {
  if (interval === null) return "";
  const { events, trials, low, high } = interval;
  if (events === 0) return `no error in ${trials}: below ${ruleOfThree(trials)} (95 %)`;
  return `95 % ${low.toExponential(2)} … ${high.toExponential(2)}, ${events} of ${trials}`;
}

/** The headline metrics as a table; empty without any. */
export function headlineTable(steps: readonly JsonObject[]): string {
  const rows = headline(steps);
  if (rows.length === 0) return "";
  const columns: Column[] = [{ key: "metric" }, { key: "value", align: "right" }, { key: "note" }];
  return formatTable(rows.map((row) => ({ ...row })), columns);
}

/** The numbers a communications engineer looks at first, gathered from the steps of a run. */
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import { wilsonInterval } from "../numeric/statistics.ts";

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
export function formatMetric(id: string, value: number, isCount: boolean): string {
  const unit = UNITS.find(([pattern]) => pattern.test(id))?.[1] ?? "";
  const text = isCount
    ? String(value).replace(/\B(?=(\d{3})+(?!\d))/g, " ")
    : value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)
    ? value.toExponential(3)
    : String(Number(value.toPrecision(5)));
  return unit ? `${text} ${unit}` : text;
}

/**
 * Picks the headline metrics of a run; an error rate comes with its 95 % Wilson interval when its counts are there.
 *
 * @param steps step rows of a summary
 */
export function headline(steps: readonly JsonObject[]): HeadlineRow[] {
  const rows: (HeadlineRow & { family: number })[] = [];
  for (const step of steps) {
    const metrics = step.metrics as JsonObject;
    for (const [id, value] of Object.entries(metrics)) {
      const family = FAMILIES.findIndex((pattern) => pattern.test(id));
      if (family < 0 || !isNumber(value) || id.startsWith("timing.")) continue;
      const isCount = typeof value === "bigint" || /_count$/.test(id);
      rows.push({ metric: id, value: formatMetric(id, toNumber(value), isCount), note: interval(id, metrics), family });
    }
  }
  rows.sort((a, b) => a.family - b.family);
  const seen = new Set<string>();
  return rows.filter(({ metric, value }) => !seen.has(metric + value) && seen.add(metric + value))
    .map(({ metric, value, note }) => ({ metric, value, note }));
}

function interval(id: string, metrics: JsonObject): string {
  const stem = /^channel\.(.*)(ber|bler)$/.exec(id);
  if (stem === null) return "";
  const [events, trials] = stem[2] === "ber"
    ? [metrics[`channel.${stem[1]}error_count`], metrics[`channel.${stem[1]}compare_bit_count`]]
    : [metrics[`channel.${stem[1]}block_error_count`], metrics[`channel.${stem[1]}block_count`]];
  if (!isNumber(events) || !isNumber(trials) || toNumber(trials) === 0) return "";
  const [k, n] = [toNumber(events), toNumber(trials)];
  if (k === 0) return `no error in ${n}: below ${(3 / n).toExponential(1)} (95 %)`;
  const { low, high } = wilsonInterval(k, n);
  return `95 % ${low.toExponential(2)} … ${high.toExponential(2)}, ${k} of ${n}`;
}

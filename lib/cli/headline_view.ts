/** What the numbers of a run need beside them: the metrics of its task, and remarks without which a number misleads. */
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import { numberText } from "../figure/number_text.ts";
import type { Session } from "../api/session.ts";

export interface HeadlineView {
  /** Ids of the metrics of the task, in their order; they are shown first. */
  task: readonly string[];
  /** Bit error rates that are counted behind a step that replaces the bits of failed blocks. */
  filled: readonly FilledRate[];
  /** Whether every metric is shown. */
  all: boolean;
}

interface FilledRate {
  /** Step of the error rate. */
  rate: string;
  /** Step that replaces the bits. */
  by: string;
  policy: string;
}

/** The view of a finished run, from its documents. @throws SvcError `run_not_found`, `bundle_file_missing` */
export async function headlineView(svc: Session, id: string, all: boolean): Promise<HeadlineView> {
  const [{ manifest }, { steps }] = await Promise.all([
    svc.runs.show(id, { paths: true }),
    svc.runs.recipe(id, { paths: true }),
  ]);
  const { research } = manifest.recipe as { research: { metrics: { id: string }[] } | null };
  return { task: research?.metrics.map(({ id }) => id) ?? [], filled: filledRates(steps), all };
}

/** Parameter and values with which an operation puts zeros in place of the bits of a failed block. */
const FILLS: Readonly<Record<string, readonly [parameter: string, ...policies: string[]]>> = {
  "channel.nr_ldpc_decoder": ["on_tb_crc_failure", "zero_fill"],
  "channel.nr_polar_decoder": ["on_crc_failure", "zero_fill"],
  "channel.crc32_check": ["on_decode_failure", "gray_image", "erasure"],
  "channel.capacity_oracle_digital_link": ["on_decode_failure", "gray_image", "erasure"],
};

function filledRates(steps: readonly StepDocument[]): FilledRate[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const fillOf = (reference: Value | undefined): Omit<FilledRate, "rate"> | undefined => {
    const step = byId.get(String(reference).split(".")[0]);
    if (step === undefined) return undefined;
    const [parameter, ...policies] = FILLS[step.op] ?? [];
    const policy = parameter === undefined ? undefined : step.params[parameter];
    if (typeof policy === "string" && policies.includes(policy)) return { by: step.id, policy };
    for (const input of Object.values(step.inputs)) {
      const found = fillOf(input);
      if (found !== undefined) return found;
    }
  };
  return steps.flatMap(({ id, op, inputs }) => {
    const fill = op === "metrics.bit_error_rate" ? fillOf(inputs.candidate) : undefined;
    return fill === undefined ? [] : [{ rate: id, ...fill }];
  });
}

const valueOf = (metrics: Value | undefined, id: string): number | undefined => {
  const value = isObject(metrics) ? metrics[id] : undefined;
  return isNumber(value) ? toNumber(value) : undefined;
};

/** Share of lost packets, blocks or items by the metrics of a step; undefined where it has none. */
function lostShare({ metrics }: JsonObject): number | undefined {
  const arrived = valueOf(metrics, "channel.packet_success_rate") ??
    valueOf(metrics, "channel.payload_delivery_success");
  return valueOf(metrics, "channel.outage_rate") ?? valueOf(metrics, "channel.payload_delivery_block_error_rate") ??
    (arrived === undefined ? undefined : 1 - arrived);
}

/**
 * The remark that belongs to a metric of a step, or null.
 *
 * - A bit error rate behind a step that put zeros in place of failed blocks: their bits count as zeros.
 * - A rate of importance sampling: its effective number of errors, and the variance reduction.
 * - Payload bits of a channel use are those that were offered where the accounting knows of no receiver; where nothing was
 *   delivered, this is said.
 */
export function remarkOn(
  metric: string,
  step: string,
  steps: readonly JsonObject[],
  { filled }: HeadlineView,
): string | null {
  const own = steps.find(({ id }) => id === step)?.metrics, reduction = valueOf(own, `${metric}_variance_reduction`);
  if (reduction !== undefined) {
    const [, stem, kind] = /^channel\.(.*?)(b(?:l)?er)$/.exec(metric)!;
    const errors = valueOf(own, `channel.${stem}effective_${kind === "ber" ? "" : "block_"}errors`)!;
    return `95 %, importance sampling, ${Math.round(errors)} effective errors, variance reduction ${
      numberText(reduction, "unicode", 2)
    }`;
  }
  if (metric === "channel.effective_payload_bits_per_channel_use") {
    const offered = valueOf(own, metric);
    return offered !== 0 && steps.some((row) => lostShare(row) === 1) ? "offered; nothing was delivered" : null;
  }
  const isRate = !/_count$|^timing\./.test(metric);
  const fill = isRate ? filled.find(({ rate }) => rate === step) : undefined;
  const decoder = steps.find(({ id }) => id === fill?.by);
  if (fill === undefined || decoder === undefined || !((lostShare(decoder) ?? 0) > 0)) return null;
  return `bits of failed blocks count as zeros (${fill.policy} in ${fill.by})`;
}

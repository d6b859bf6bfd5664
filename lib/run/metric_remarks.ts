/** Remarks without which a metric of a run misleads: they stand beside the number, and are warnings of documents. */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";

/** A rate that is counted behind a step that replaces the bits of failed blocks. */
export interface FilledRate {
  /** Step of the rate. */
  rate: string;
  /** Step that replaces the bits. */
  by: string;
  policy: string;
}

/** Parameter and values with which an operation puts zeros in place of the bits of a failed block. */
const FILLS: Readonly<Record<string, readonly [parameter: string, ...policies: string[]]>> = {
  "channel.nr_ldpc_decoder": ["on_tb_crc_failure", "zero_fill"],
  "channel.nr_polar_decoder": ["on_crc_failure", "zero_fill"],
  "channel.crc32_check": ["on_decode_failure", "gray_image", "erasure"],
  "channel.capacity_oracle_digital_link": ["on_decode_failure", "gray_image", "erasure"],
};

export function filledRates(steps: readonly StepDocument[]): FilledRate[] {
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

export const valueOf = (metrics: Value | undefined, id: string): number | undefined => {
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
 * The remark on a metric of a step, or null.
 *
 * - A bit error rate behind a step that put zeros in place of failed blocks: their bits count as zeros.
 * - Payload bits of a channel use are those that were offered where the accounting knows of no receiver; where nothing was
 *   delivered, this is said.
 *
 * @param steps rows of a summary, with their metrics
 */
export function metricRemark(
  metric: string,
  step: string,
  steps: readonly JsonObject[],
  filled: readonly FilledRate[],
): string | null {
  if (metric === "channel.effective_payload_bits_per_channel_use") {
    const offered = valueOf(steps.find(({ id }) => id === step)?.metrics, metric);
    return offered !== 0 && steps.some((row) => lostShare(row) === 1) ? "offered; nothing was delivered" : null;
  }
  const isRate = !/_count$|^timing\./.test(metric);
  const fill = isRate ? filled.find(({ rate }) => rate === step) : undefined;
  const decoder = steps.find(({ id }) => id === fill?.by);
  if (fill === undefined || decoder === undefined || !((lostShare(decoder) ?? 0) > 0)) return null;
  return `bits of failed blocks count as zeros (${fill.policy} in ${fill.by})`;
}

/** The remarks on the metrics of a run as warnings, at places below `place`; only losses need the steps of its recipe. */
export function metricFindings(
  steps: readonly JsonObject[],
  recipe: () => readonly StepDocument[],
  place: Place = [],
): Diagnostic[] {
  if (!steps.some((row) => (lostShare(row) ?? 0) > 0)) return [];
  const filled = filledRates(recipe());
  return steps.flatMap(({ id, metrics }) =>
    Object.keys(metrics as JsonObject).flatMap((metric) => {
      const step_id = String(id), remark = metricRemark(metric, step_id, steps, filled);
      if (remark === null) return [];
      const message = `${metric} of ${step_id}: ${remark}`;
      return [diagnostic("metric_qualified", [...place, step_id, metric], message, { severity: "warning", step_id })];
    })
  );
}

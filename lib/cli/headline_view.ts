/** What the numbers of a run need beside them: the metrics of its task, and remarks without which a number misleads. */
import type { JsonObject } from "../contract/value.ts";
import { numberText } from "../figure/number_text.ts";
import { type FilledRate, filledRates, metricRemark, valueOf } from "../run/metric_remarks.ts";
import type { Session } from "../api/session.ts";

export interface HeadlineView {
  /** Ids of the metrics of the task, in their order; they are shown first. */
  task: readonly string[];
  /** Bit error rates that are counted behind a step that replaces the bits of failed blocks. */
  filled: readonly FilledRate[];
  /** Whether every metric is shown. */
  all: boolean;
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

/**
 * The remark that belongs to a metric of a step, or null.
 *
 * Beside those of {@link metricRemark} a rate of importance sampling has its effective number of errors and the variance
 * reduction, which are metrics as well.
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
  return metricRemark(metric, step, steps, filled);
}

/** Operations whose only output is a report of metrics. */
import { reportResult, type Scores } from "../lib/artifact/values.ts";
import { defineOperation } from "../lib/contract/define.ts";
import { REPORT } from "../lib/contract/kinds.ts";
import { rateMetadata } from "../lib/contract/metric_metadata.ts";
import type { Operation, OperationDefinition, Ports, RunContext } from "../lib/contract/operation.ts";
import type { JsonObject, Value } from "../lib/contract/value.ts";
import { z } from "../lib/contract/zod.ts";
import type { RateCounts } from "../lib/numeric/rate_interval.ts";

/** The contents of a report. */
export interface Report {
  metrics: Scores;
  label?: string;
  /** Scores of single items. */
  items?: Value[];
  facts?: JsonObject;
  /** Counts over units of the metrics that are rates, for their intervals. */
  rates?: Readonly<Record<string, RateCounts>>;
  /** Facts for the step row. */
  metadata?: JsonObject;
}

interface ReportDefinition<In extends Ports, Opt extends Ports, Params extends z.ZodObject>
  extends
    Omit<OperationDefinition<In, Opt, { report: typeof REPORT }, Params>, "outputs" | "params" | "threadSafe" | "run"> {
  /** Default none. */
  params?: Params;
  run(context: RunContext<In, Opt, Params>): Report | Promise<Report>;
}

/** Declares an operation with the output `report`; it shares no state. */
export function defineReport<
  const In extends Ports = Record<never, never>,
  const Opt extends Ports = Record<never, never>,
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
>({ run, params, ...definition }: ReportDefinition<In, Opt, Params>): Operation {
  return defineOperation<In, Opt, { report: typeof REPORT }, z.ZodObject>({
    ...definition as OperationDefinition<In, Opt, { report: typeof REPORT }>,
    outputs: { report: REPORT },
    params: params ?? z.strictObject({}),
    threadSafe: true,
    async run(context) {
      const { metrics, facts, rates, metadata, ...more } = await run(context as RunContext<In, Opt, Params>);
      const counted = rates === undefined ? {} : rateMetadata(rates);
      const result = reportResult(definition.id, metrics, { ...more, facts: { ...facts, ...counted } });
      return { ...result, metadata: { ...metadata, ...counted } };
    },
  });
}

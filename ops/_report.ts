/** Operations whose only output is a report of metrics. */
import { reportResult, type Scores } from "../lib/artifact/values.ts";
import {
  defineOperation,
  type JsonObject,
  type Operation,
  type OperationDefinition,
  type OperationStream,
  type Ports,
  type RunContext,
  type Streaming,
  type Value,
  z,
} from "./api.ts";
import type { StreamInput } from "../lib/contract/operation.ts";
import { portableOnly } from "./_data_plane.ts";
import { SYMBOL_COMPANIONS } from "./_noise_variance.ts";
import { REPORT } from "../lib/contract/kinds.ts";
import type { NdArray } from "../lib/numeric/array/ndarray.ts";
import { pooledMetadata, pooledMetrics } from "../lib/contract/metric_metadata.ts";
import type { PooledMetric } from "../lib/numeric/scores/pooled_ratio.ts";
import type { RateCounts } from "../lib/numeric/scores/rate_interval.ts";

/** A label or class within a metric id: letters, digits and underscores. */
export const idName = (label: string): string => label.trim().replace(/[^\p{L}\p{N}]+/gu, "_");

/** The contents of a report. */
export interface Report {
  metrics: Scores;
  label?: string;
  /** Scores of single items. */
  items?: Value[];
  facts?: JsonObject;
  /** Counts over units of the metrics that are rates, for their intervals. */
  rates?: Readonly<Record<string, RateCounts>>;
  /** Metrics that pool by sums, such as root mean squares; they stand before the other metrics. */
  pooled?: Readonly<Record<string, PooledMetric | undefined>>;
  /** Facts for the step row. */
  metadata?: JsonObject;
}

interface ReportDefinition<In extends Ports, Opt extends Ports, Params extends z.ZodObject> extends
  Omit<
    OperationDefinition<In, Opt, { report: typeof REPORT }, Params>,
    "outputs" | "params" | "threadSafe" | "streaming" | "run"
  > {
  /** Default none. */
  params?: Params;
  /** As of an operation, with the report at the end. */
  streaming?: Omit<Streaming<In, Params>, "open"> & {
    open(
      ...context: Parameters<Streaming<In, Params>["open"]>
    ): (Pick<OperationStream<keyof In & string>, "next" | "unit"> & { end(): Report }) | null;
  };
  run(context: RunContext<In, Opt, Params>): Report | Promise<Report>;
}

/** Declares an operation with the output `report`; it shares no state. */
export function defineReport<
  const In extends Ports = Record<never, never>,
  const Opt extends Ports = Record<never, never>,
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
>({ run, params, streaming, ...definition }: ReportDefinition<In, Opt, Params>): Operation {
  const resultOf = ({ metrics: scores, facts, rates, pooled = {}, metadata, ...more }: Report) => {
    const metrics = { ...pooledMetrics(pooled), ...scores };
    const counted = pooledMetadata(pooled, rates);
    const result = reportResult(definition.id, metrics, { ...more, facts: { ...facts, ...counted } });
    return { ...result, metadata: { ...metadata, ...counted } };
  };
  return defineOperation<In, Opt, { report: typeof REPORT }, z.ZodObject>({
    ...definition as OperationDefinition<In, Opt, { report: typeof REPORT }>,
    ...(streaming === undefined ? {} : {
      streaming: {
        ...streaming as Streaming<In, z.ZodObject>,
        open(context) {
          const stream = streaming.open(context as Parameters<typeof streaming.open>[0]);
          return stream && { ...stream, arrays: {}, end: () => resultOf(stream.end()) };
        },
      },
    }),
    outputs: { report: REPORT },
    params: params ?? z.strictObject({}),
    run: async (context) => resultOf(await run(context as RunContext<In, Opt, Params>)),
  });
}

/** Data of the streams that comparisons in blocks take. */
interface Compared {
  uint8: Uint8Array;
  complex64: Float32Array;
}
type Pair<Of> = { readonly candidate: Of; readonly reference: Of };

/**
 * How a comparison of two streams works in blocks, if they have equal lengths; `run` checks and compares others.
 * @param start begins a comparison; a block has whole groups of `unit` elements, except at the end
 */
export const comparedInBlocks = <Type extends keyof Compared, Params extends { data_plane_backend?: string }>(
  dtype: Type,
  start: (inputs: Pair<StreamInput>, params: Params) => {
    unit?: number;
    add(candidate: Compared[Type], reference: Compared[Type]): void;
    end(): Report;
  },
) => ({
  allows: (params: Params) => portableOnly(params),
  companions: SYMBOL_COMPANIONS,
  open({ inputs: { candidate, reference }, params }: { readonly inputs: Pair<StreamInput>; readonly params: Params }) {
    const isType = ({ metadata }: StreamInput) => metadata.dtype === dtype;
    if (candidate.length !== reference.length || !isType(candidate) || !isType(reference)) return null;
    const { unit = 1, add, end } = start({ candidate, reference }, params);
    return {
      unit: { candidate: unit, reference: unit },
      next({ candidate, reference }: Pair<NdArray>) {
        add(candidate.data as Compared[Type], reference.data as Compared[Type]);
        return {};
      },
      end,
    };
  },
});

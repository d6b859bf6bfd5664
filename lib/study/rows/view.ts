/**
 * The view of a result: what two complete runs of one pack have in common on any machines with one build of svc. It is
 * canonical JSON of the rows and the statistics, without run ids, times, memory, paths and digests of evidence:
 *
 *     {"rows":[…],"statistics":{"aggregates":[…],"comparisons":[…]}}
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { isVolatileMetric } from "../../run/volatile.ts";
import type { BenchmarkResult, ResultRow } from "../pack/types.ts";

/** Metrics of steps and promoted ones alike. */
const isVolatile = (id: string) => isVolatileMetric(id.replace(/^steps\.[^.]+\./, ""));

function lasting<T>(members: { [id: string]: T }): { [id: string]: T } {
  return Object.fromEntries(Object.entries(members).filter(([id]) => !isVolatile(id)));
}

/** A row as it is on every machine. */
export function viewOfRow(row: ResultRow): JsonObject {
  const {
    run_id: _id,
    run_dir: _directory,
    recipe_path: _path,
    manifest: _manifest,
    run_evidence_snapshot: _snapshot,
    resource_admission,
    error,
    ...kept
  } = row;
  const budget = resource_admission?.metric;
  const timed = typeof budget === "string" && isVolatile(budget);
  const metrics = Object.entries(lasting(row.metrics))
    .filter(([id]) => !timed || !id.startsWith("benchmark.resource_budget."));
  const provenance = Object.entries(lasting(row.metric_provenance))
    .map(([id, { artifact_sha256: _, ...origin }]) => [id, origin] as const);
  return {
    ...kept,
    ...(resource_admission === undefined || timed ? {} : { resource_admission }),
    ...(error === undefined ? {} : { error: { code: error.code } }),
    metrics: Object.fromEntries(metrics),
    metric_provenance: Object.fromEntries(provenance),
  } as JsonObject;
}

/** Digests a view row by row. */
export class ViewDigest {
  readonly #hash = createHash("sha256").update('{"rows":[');
  #rows = 0;

  add(row: ResultRow): void {
    this.#hash.update((this.#rows++ === 0 ? "" : ",") + canonicalJson(viewOfRow(row)));
  }

  /** @returns the digest as hexadecimal text */
  finish({ aggregates, comparisons }: Pick<BenchmarkResult, "aggregates" | "comparisons">): string {
    const compared = comparisons.filter(({ metric }) => !isVolatile(metric));
    const mixed = compared.length < comparisons.length;
    const statistics = {
      aggregates: aggregates.filter(({ metric }) => !isVolatile(metric)),
      // The correction is over all comparisons: beside those of times it depends on the machine.
      comparisons: !mixed
        ? compared
        : compared.map(({ p_value_holm: _, distinguishable: __, better: ___, ...row }) => row),
    };
    return this.#hash.update(`],"statistics":${canonicalJson(statistics)}}`).digest("hex");
  }
}

/** What of a result must be the same however often its benchmark was interrupted. */
import type { BenchmarkResult } from "../../mod.ts";

const VOLATILE = /^(steps\.[^.]+\.)?(timing|memory|encoder|decoder)\./;

/** A result without ids, times, attempts and volatile metrics. */
export function lasting({ recipes, aggregates, comparisons, status, replication }: BenchmarkResult): unknown {
  const kept = <T>(members: { [id: string]: T }) =>
    Object.fromEntries(Object.entries(members).filter(([id]) => !VOLATILE.test(id)));
  const rows = recipes.map(({ run_id: _, run_dir: __, manifest: ___, run_evidence_snapshot: ____, ...row }) => ({
    ...row,
    metrics: kept(row.metrics),
    metric_provenance: kept(row.metric_provenance),
  }));
  return { rows, aggregates, comparisons, status, replication };
}

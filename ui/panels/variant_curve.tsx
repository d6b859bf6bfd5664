/** A metric over a dimension of a matrix, of the variants that have run. */
import { useMemo } from "../preact.ts";
import Curves from "../compare/curves.tsx";
import { type ComparedRun, varying } from "../compare/table.ts";

interface Props {
  /** With the selected values of the matrix as their parameters. */
  runs: readonly ComparedRun[];
  metric: string | undefined;
  /** Whether the figure takes most of the window. */
  tall?: boolean;
}

export default function VariantCurve({ runs, metric, tall }: Props) {
  const numeric = useMemo(() => varying(runs).some(({ numeric }) => numeric), [runs]);
  return numeric ? <Curves runs={runs} metric={metric} tall={tall} /> : null;
}

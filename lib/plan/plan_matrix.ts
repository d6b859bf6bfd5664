/** Plans the points of a matrix, without side effects. */
import type { Diagnostic } from "../contract/error.ts";
import type { MatrixExpansion, MatrixPoint } from "../recipe/expand_matrix.ts";
import { mergePointFindings } from "../recipe/point_findings.ts";
import { lookedAtOnce, programSources } from "./implementation_source.ts";
import { type Planned, type PlanOptions, planRecipe, type PlanResult } from "./planner.ts";

export type PlannedPoint = MatrixPoint & { planned: Planned };

/** The plans of all points, or the findings of all refused points. */
export type MatrixPlan =
  | { status: "planned"; points: PlannedPoint[]; diagnostics: Diagnostic[] }
  | { status: "refused"; diagnostics: Diagnostic[] };

/**
 * Plans points of an expanded matrix.
 * @param expansion of `expandMatrix`; an invalid one is refused with its findings and those of the planner
 * @param points points to plan; default all
 */
export async function planMatrix(
  expansion: MatrixExpansion,
  options: Omit<PlanOptions, "singleRun" | "locate">,
  points: readonly MatrixPoint[] = expansion.points,
): Promise<MatrixPlan> {
  // Program files are hashed once for all points.
  const implementationSources = lookedAtOnce(options.implementationSources ?? await programSources());
  const rows: { point: MatrixPoint; planned: PlanResult }[] = [];
  for (const point of points) {
    const { compilation, locate } = point;
    const planned = await planRecipe(compilation, { ...options, implementationSources, singleRun: true, locate });
    rows.push({ point, planned });
  }
  const found = mergePointFindings(
    [...expansion.authored.diagnostics, ...points.flatMap(({ compilation }) => compilation.diagnostics)],
    rows.map(({ point, planned }) => ({ point, diagnostics: planned.diagnostics })),
  );
  // The planner reports an unknown operation.
  const compiled = expansion.diagnostics.filter(({ code }) => code !== "operation_defaults_unavailable");
  const diagnostics = [...compiled, ...found];
  const planned = rows.flatMap(({ point, planned }) => (planned.status === "planned" ? [{ ...point, planned }] : []));
  return expansion.status === "invalid" || planned.length < rows.length
    ? { status: "refused", diagnostics }
    : { status: "planned", points: planned, diagnostics };
}

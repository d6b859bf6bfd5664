/** The matrix of a recipe: `metadata.matrix`, or the equivalent of legacy sweeps. */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import type { Suggestions } from "../contract/nearest.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { Findings } from "./findings.ts";
import { readLegacySweeps } from "./legacy_sweeps.ts";
import { type Matrix, readMatrix } from "./matrix_definition.ts";
import { type MatrixKey, matrixKeys } from "./variant.ts";

export interface CanonicalMatrix {
  source: MatrixKey | "none";
  /** Null for a missing or invalid one. */
  matrix: Matrix | null;
  diagnostics: Diagnostic[];
}

/**
 * Finds and reads the matrix of a recipe. A canonical matrix takes precedence over `sweeps`, and those over
 * `ui_sweeps`.
 * @param document normalised recipe
 * @param options `strictLegacy` makes warnings about legacy sweeps errors
 */
export function canonicalMatrix(
  document: { metadata: JsonObject; steps: readonly { id: string }[] },
  options: { strictLegacy?: boolean; suggestions?: Suggestions } = {},
): CanonicalMatrix {
  const [winner, ...others] = matrixKeys(document.metadata);
  if (winner === undefined) return { source: "none", matrix: null, diagnostics: [] };
  const severity = options.strictLegacy ? "error" : "warning";
  const findings = new Findings("strict", options.suggestions);
  const stepIds = document.steps.map(({ id }) => id);
  const value = document.metadata[winner];
  const matrix = winner === "matrix"
    ? readMatrix(value, stepIds, findings)
    : readLegacySweeps(winner, value, stepIds, findings, severity);
  for (const key of others) {
    const message = `Cannot use metadata.${key} beside metadata.${winner}: it is ignored`;
    findings.list.push(
      diagnostic("legacy_sweep_precedence", ["metadata", key], message, { hint: `Remove metadata.${key}`, severity }),
    );
  }
  const failed = findings.list.some((item) => item.severity === "error");
  return { source: winner, matrix: failed ? null : matrix, diagnostics: findings.list };
}

export function matrixDocument({ dimensions, step_params }: Matrix): JsonObject {
  return {
    dimensions: Object.fromEntries(dimensions.map(({ name, values }): [string, Value] => [name, values])),
    step_params,
  };
}

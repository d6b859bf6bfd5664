/**
 * Lint: all that can be said against a recipe without running it. The findings of compiler and planner come first, then
 * the rules for links, powers, runtimes and rates; each problem once.
 */
import { type Diagnostic, diagnostic, jsonPath } from "../contract/error.ts";
import { RUNNERS } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import { materializeDefaults } from "../recipe/defaults.ts";
import { attachLocations } from "../recipe/positions.ts";
import type { Compilation, Locate } from "../recipe/types.ts";
import { checkResearch } from "../research/check.ts";
import { validateResearch } from "../research/validate.ts";
import { checkSteps } from "./check_steps.ts";
import { RULES } from "./lint/rules.ts";
import { type Finding, LintView, type Rule } from "./lint/view.ts";
import { BIT_LINKS, DEMODULATORS, SYMBOL_LINKS } from "./lint/wiring.ts";
import { inspectProfile, type ProfileReference } from "./profile_inspect.ts";
import { readableRecipe } from "./readable.ts";

export interface LintOptions {
  registry: Registry;
  /** false lowers what the research catalogue does not know to warnings; true when left out. */
  strict?: boolean;
  /** Gives findings their line in the text the recipe came from. */
  locate?: Locate;
}

/** How content travels in a recipe. */
export type TransportProfile = "bit_transport" | "symbol_transport" | "task_direct";

export interface LintReport {
  schema_version: 1;
  /** Name of the recipe; null when it cannot be read. */
  recipe: string | null;
  /** Failed when there is an error. */
  status: "passed" | "failed";
  strict: boolean;
  /** Bits recovered behind a link, symbols sent over one, or neither. */
  profiles: TransportProfile[];
  execution_profile: {
    reference: ProfileReference;
    status: "custom" | "conformant" | "invalid";
    stage_bindings: { [role: string]: string };
  };
  issue_count: number;
  error_count: number;
  warning_count: number;
  issues: Diagnostic[];
  /** For each runner, whether every step has an implemented entry, and the steps that have none. */
  runner_support: { [runner: string]: { supported: boolean; unsupported_steps: string[] } };
}

/**
 * Lints a compiled recipe; nothing is thrown for a bad one.
 *
 * @param compilation of `compileRecipe`, valid or not
 */
export function lintRecipe(compilation: Compilation, options: LintOptions): LintReport {
  const { registry, strict = true } = options;
  const readable = readableRecipe(compilation);
  if (readable === null) return reportOf(null, compilation.diagnostics, inspectProfile(null, []), options);
  const { document, refused } = readable;
  const steps = refused === undefined ? document.steps : document.steps.map((step) => {
    const schema = registry.find(step.op)?.operation.contract.params_schema;
    return schema === undefined
      ? step
      : { ...step, params: materializeDefaults(schema, step.params, [], []) as JsonObject };
  });
  const inspection = inspectProfile(document.execution_profile, document.steps);
  const research = checkResearch(document);
  const catalogue = research.length > 0 ? { errors: [], warnings: [] } : validateResearch(document, { strict });
  const general = [
    // That an operation is unknown is said once, in the planner's words.
    ...compilation.diagnostics.filter(({ code }) => code !== "operation_defaults_unavailable"),
    ...research,
    ...catalogue.errors,
    ...catalogue.warnings,
    ...checkSteps(document.steps, registry, refused?.steps).problems,
    ...(refused?.profile ? [] : inspection.issues),
  ];
  const view = new LintView({ ...document, steps }, (compilation.normalized ?? document).steps, registry);
  return reportOf(view, applyRules(view, general), inspection, options);
}

/** Adds the findings of all rules to general ones, so that each problem is told once and best. */
function applyRules(view: LintView, general: Diagnostic[]): Diagnostic[] {
  const errorsAt = Map.groupBy(general.filter(({ severity }) => severity === "error"), ({ path }) => path);
  const replaced = new Set<Diagnostic>();
  const found: Diagnostic[] = [];
  for (const rule of RULES) {
    for (const finding of rule.find(view)) {
      const said = errorsAt.get(jsonPath(finding.place)) ?? [];
      // Where the premise of a rule failed, its finding would only follow from that.
      if (said.some(({ code }) => !rule.replaces?.includes(code))) continue;
      for (const item of said) replaced.add(item);
      found.push(toDiagnostic(rule, finding));
    }
  }
  return [...general.filter((item) => !replaced.has(item)), ...found];
}

function toDiagnostic({ code, severity = "error" }: Rule, finding: Finding): Diagnostic {
  const { place, message, hint, step } = finding;
  return diagnostic(code, place, message, { hint, severity: finding.severity ?? severity, step_id: step?.id });
}

function reportOf(
  view: LintView | null,
  found: Diagnostic[],
  inspection: ReturnType<typeof inspectProfile>,
  { strict = true, locate }: LintOptions,
): LintReport {
  const issues = locate === undefined ? found : attachLocations(found, locate);
  const count = (wanted: string) => issues.filter(({ severity }) => severity === wanted).length;
  const { reference, status, stage_bindings } = inspection;
  return {
    schema_version: 1,
    recipe: view?.recipe.name ?? null,
    status: count("error") > 0 ? "failed" : "passed",
    strict,
    profiles: view === null ? [] : transportOf(view),
    execution_profile: { reference, status, stage_bindings },
    issue_count: issues.length,
    error_count: count("error"),
    warning_count: count("warning"),
    issues,
    runner_support: view === null ? {} : runnerSupport(view),
  };
}

function transportOf(view: LintView): TransportProfile[] {
  const symbols = view.ofOp(...SYMBOL_LINKS).length > 0;
  const bits = view.ofOp(...BIT_LINKS, ...(symbols ? DEMODULATORS : [])).length > 0;
  if (!bits && !symbols) return ["task_direct"];
  return [...(bits ? ["bit_transport" as const] : []), ...(symbols ? ["symbol_transport" as const] : [])];
}

function runnerSupport(view: LintView): LintReport["runner_support"] {
  return Object.fromEntries(RUNNERS.map((runner) => {
    const lacking = view.steps.filter(({ contract }) =>
      !contract?.materializations.some((entry) => entry.runner === runner && entry.status === "implemented")
    );
    return [runner, { supported: lacking.length === 0, unsupported_steps: lacking.map(({ id }) => id) }];
  }));
}

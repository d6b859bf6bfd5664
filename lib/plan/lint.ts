/**
 * Lint: all findings about a recipe without running it. Compiler and planner findings come first, then the rules for
 * links, powers, runtimes and rates; each problem appears once.
 */
import { type Diagnostic, diagnostic, jsonPath, limitDiagnostics } from "../contract/error.ts";
import { RUNNERS } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import { materializeDefaults } from "../recipe/defaults.ts";
import { attachLocations } from "../recipe/positions.ts";
import type { Compilation, Locate, RecipeDocument } from "../recipe/types.ts";
import { checkResearch } from "../research/check.ts";
import { validateResearch } from "../research/validate.ts";
import { checkSteps } from "./check_steps.ts";
import { LINK_CHECKS, RULES } from "./lint/rules.ts";
import { type Finding, LintView, type Rule } from "./lint/view.ts";
import { BIT_LINKS, DEMODULATORS, SYMBOL_LINKS } from "./lint/wiring.ts";
import { inspectProfile, type ProfileReference } from "./profile_inspect.ts";
import { readableRecipe } from "./readable.ts";

export interface LintOptions {
  registry: Registry;
  /** false lowers entries unknown to the research catalogue to warnings; default true. */
  strict?: boolean;
  /** Maps places to lines of the recipe text. */
  locate?: Locate;
}

/** How content travels in a recipe. */
export type TransportProfile = "bit_transport" | "symbol_transport" | "task_direct";

export interface LintReport {
  schema_version: 1;
  /** Null when it cannot be read. */
  recipe: string | null;
  /** Failed with at least one error. */
  status: "passed" | "failed";
  strict: boolean;
  /** Bits recovered after a link, symbols sent over one, or neither. */
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
  /** For each runner, whether every step has an implemented entry, and the steps without one. */
  runner_support: { [runner: string]: { supported: boolean; unsupported_steps: string[] } };
}

/**
 * Lints a compiled recipe; a bad recipe never throws.
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
    // The planner reports an unknown operation.
    ...compilation.diagnostics.filter(({ code }) => code !== "operation_defaults_unavailable"),
    ...research,
    ...catalogue.errors,
    ...catalogue.warnings,
    ...checkSteps(document.steps, registry, { suggestions: compilation.suggestions, refused: refused?.steps }).problems,
    ...(refused?.profile ? [] : inspection.issues),
  ];
  const view = new LintView({ ...document, steps }, (compilation.normalized ?? document).steps, registry);
  return reportOf(view, applyRules(view, general), inspection, options);
}

/** The findings that a run reports: those of level error, and warnings of rules that say so, about a recipe that can be planned. */
export function lintLinks(recipe: RecipeDocument, authored: RecipeDocument["steps"], registry: Registry): Diagnostic[] {
  const view = new LintView(recipe, authored, registry);
  return LINK_CHECKS.flatMap((rule) =>
    [...rule.find(view)].map((finding) => toDiagnostic(rule, finding))
      .filter(({ severity }) => severity === "error" || rule.onRun === true)
  );
}

/** Adds the findings of all rules to general ones, so that each problem is reported once. */
function applyRules(view: LintView, general: Diagnostic[]): Diagnostic[] {
  const errorsAt = Map.groupBy(general.filter(({ severity }) => severity === "error"), ({ path }) => path);
  const replaced = new Set<Diagnostic>();
  const found: Diagnostic[] = [];
  for (const rule of RULES) {
    if (rule.whenSound && [...general, ...found].some(({ severity }) => severity === "error")) continue;
    for (const finding of rule.find(view)) {
      const said = errorsAt.get(jsonPath(finding.place)) ?? [];
      // A failed premise of a rule would only cause a consequential finding.
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
  const limited = limitDiagnostics(found), issues = locate === undefined ? limited : attachLocations(limited, locate);
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

/**
 * The recipe compiler: raw, normalised and effective form, with all findings at once.
 *
 * Passes: conversion to JSON values, normalisation, matrix check, seeds, defaults, parameter checks, OFDM scenarios,
 * hashes.
 */
import { addDiagnostics, type Diagnostic, diagnostic, limitDiagnostics } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import type { Suggestions } from "../contract/nearest.ts";
import type { Registry } from "../contract/registry.ts";
import { checkValue } from "../contract/schema.ts";
import { sameValue } from "../contract/json.ts";
import { cloneValue, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { materializeDefaults } from "./defaults.ts";
import { valueOrFindings } from "./from_value.ts";
import { Findings } from "./findings.ts";
import { canonicalMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix_definition.ts";
import { normalizeRecipe } from "./normalize.ts";
import { ofdmLinks, settleScenario, shareAuthored } from "./ofdm_link.ts";
import { attachLocations } from "./positions.ts";
import { seedNode, SeedPolicy } from "./seeds.ts";
import type { Compilation, CompileMode, Locate, RecipeDocument, StepDocument } from "./types.ts";

export interface CompileOptions {
  /** Whether tolerated deviations are errors (strict) or warnings (compat). */
  mode: CompileMode;
  registry: Registry;
  /** Whether the recipe is that of a capture, which holds its configuration. */
  captureJob?: boolean;
  /** Whether legacy sweeps are errors instead of warnings. */
  strictLegacy?: boolean;
  /** Maps places to lines of the text. */
  locate?: Locate;
  /** Shared by the points of a matrix. */
  suggestions?: Suggestions;
}

/**
 * Compiles a recipe. A bad recipe never throws; all problems are diagnostics of the result.
 * @param raw result of a reader, or a recipe as a JavaScript value
 */
export function compileRecipe(raw: unknown, options: CompileOptions): Compilation {
  const findings = new Findings(options.mode, options.suggestions), { suggestions } = findings;
  const diagnostics = findings.list;
  const value = valueOrFindings(raw, diagnostics);
  const normalized = value === undefined ? null : normalizeRecipe(cloneValue(value), findings);
  let matrix: Matrix | null = null;
  if (normalized) {
    if (!options.captureJob) refuseCapture(normalized.document, findings);
    const found = canonicalMatrix(normalized.document, { ...options, suggestions });
    matrix = found.matrix;
    addDiagnostics(diagnostics, found.diagnostics);
  }
  const seeds = normalized && new SeedPolicy(normalized.document.metadata, normalized.document.name, diagnostics);
  const written = normalized?.document.steps ?? [];
  const links = ofdmLinks(written);
  const steps = shareAuthored(written, links, diagnostics).map((step, index) =>
    effectiveStep(step, index, {
      registry: options.registry,
      seeds: seeds!,
      findings,
      varied: variedParams(step.id, normalized!.document.metadata, matrix),
    })
  );
  const scenario = settleScenario(written, steps, links, diagnostics);
  const valid = diagnostics.every((item) => item.severity !== "error");
  const reported = limitDiagnostics(diagnostics);
  const authored = normalized?.sound ? normalized.document : null;
  const effective = valid && authored ? effectiveDocument(authored, steps, scenario) : null;
  return {
    mode: options.mode,
    status: valid ? "valid" : "invalid",
    defaults_materialized: effective !== null,
    raw: value ?? null,
    normalized: authored,
    effective,
    diagnostics: options.locate ? attachLocations(reported, options.locate) : reported,
    suggestions,
    authored_sha256: authored && sha256Json(authored),
    effective_sha256: effective && sha256Json(effective),
    seed_policy: effective && seeds!.record(),
  };
}

/** The training plan owns the configuration of a capture; older files have it in the recipe. */
function refuseCapture({ dataset_capture: embedded }: RecipeDocument, findings: Findings): void {
  if (!isObject(embedded) || Object.keys(embedded).length === 0) return;
  findings.lenient(
    "dataset_capture_embedded",
    ["dataset_capture"],
    "Cannot use a dataset_capture inside a recipe: it belongs to a training plan",
    "Move it to a file and give it with --plan, or accept older forms with --compat",
  );
}

interface StepContext {
  registry: Registry;
  seeds: SeedPolicy;
  findings: Findings;
  varied: (param: string, value: Value | undefined) => boolean;
}

/** Whether the matrix varies a parameter of a step; a point of a matrix is known by a coordinate with its value. */
function variedParams(id: string, { matrix_selection }: JsonObject, matrix: Matrix | null): StepContext["varied"] {
  const given = matrix !== null && Object.hasOwn(matrix.step_params, id) ? matrix.step_params[id] : undefined;
  const coordinates = isObject(matrix_selection) ? Object.values(matrix_selection) : [];
  return (param, value) =>
    isObject(given) && Object.hasOwn(given, param) ||
    value !== undefined && coordinates.some((coordinate) => sameValue(coordinate, value));
}

/** A step with concrete defaults and seed; incomplete for an invalid step. */
function effectiveStep(
  step: StepDocument,
  index: number,
  { registry, seeds, findings: { list: diagnostics, suggestions }, varied }: StepContext,
): StepDocument {
  // A step without an operation was reported before.
  if (step.op.trim() === "") return step;
  const entry = registry.find(step.op);
  if (entry === undefined) {
    const hint = suggestions.for(step.op, registry.ids()), message = `Cannot find an operation named ${step.op}`;
    const place = ["steps", index, "op"];
    addDiagnostics(diagnostics, [
      diagnostic("operation_defaults_unavailable", place, message, { hint, step_id: step.id }),
    ]);
    return step;
  }
  const schema = entry.operation.contract.params_schema;
  const place = ["steps", index, "params"];
  const given: JsonObject = { ...step.params };
  const seed = seedNode(schema);
  if (seed !== undefined) given.seed = seeds.seedOf(step.id, given.seed, seed.default);
  const found: Diagnostic[] = [];
  const params = materializeDefaults(schema, given, place, found, varied);
  found.push(...checkValue(schema, params, place, { code: "operation_params_schema_invalid", suggestions }));
  addDiagnostics(diagnostics, found.map((item) => ({ ...item, step_id: step.id })));
  return { ...step, params: params as JsonObject };
}

function effectiveDocument(document: RecipeDocument, steps: StepDocument[], scenario?: JsonObject): RecipeDocument {
  // Changes single fields, which keeps the serialised order; the params are copies already.
  const copy = (object: JsonObject, made: JsonObject) =>
    Object.fromEntries(
      Object.keys(object).map((key) => [key, Object.hasOwn(made, key) ? made[key] : cloneValue(object[key])]),
    );
  const copies = steps.map((step) => copy(step, { params: step.params }));
  const effective = copy(document, { steps: copies }) as RecipeDocument;
  if (scenario) effective.metadata.resolved_channel_scenario = scenario;
  return effective;
}

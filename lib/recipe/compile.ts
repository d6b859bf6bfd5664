/**
 * The recipe compiler: raw, normalised and effective form, with every finding at once.
 *
 * Passes: take the value as JSON, normalise, check the matrix, give seeds, materialise defaults, check parameters, settle
 * OFDM scenarios, hash.
 */
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { Registry } from "../contract/registry.ts";
import { checkValue } from "../contract/schema.ts";
import { cloneValue, type JsonObject, type Value } from "../contract/value.ts";
import { materializeDefaults } from "./defaults.ts";
import { recipeFromValue } from "./from_value.ts";
import { Findings } from "./findings.ts";
import { canonicalMatrix } from "./matrix.ts";
import { normalizeRecipe } from "./normalize.ts";
import { ofdmLinks, settleScenario, shareAuthored } from "./ofdm_link.ts";
import { attachLocations } from "./positions.ts";
import { seedNode, SeedPolicy } from "./seeds.ts";
import type { Compilation, CompileMode, Locate, RecipeDocument, StepDocument } from "./types.ts";

export { hasUnresolvedMatrix } from "./variant.ts";

export interface CompileOptions {
  /** Whether leniencies are errors (strict) or warnings (compat). */
  mode: CompileMode;
  registry: Registry;
  /** Whether legacy sweeps are errors; they are warnings when left out. */
  strictLegacy?: boolean;
  /** The way back to the text, for the locations of diagnostics. */
  locate?: Locate;
}

/**
 * Compiles a recipe. Whatever is wrong with it is said in the record's diagnostics; nothing is thrown for a bad recipe.
 *
 * @param raw what a reader returned, or a recipe built as a JavaScript value
 */
export function compileRecipe(raw: unknown, options: CompileOptions): Compilation {
  const findings = new Findings(options.mode);
  const diagnostics = findings.list;
  const value = takeValue(raw, diagnostics);
  const normalized = value === undefined ? null : normalizeRecipe(cloneValue(value), findings);
  if (normalized) diagnostics.push(...canonicalMatrix(normalized.document, options).diagnostics);
  const seeds = normalized && new SeedPolicy(normalized.document.metadata, normalized.document.name, diagnostics);
  const written = normalized?.document.steps ?? [];
  const links = ofdmLinks(written);
  const steps = shareAuthored(written, links, diagnostics).map((step, index) =>
    effectiveStep(step, index, options.registry, seeds!, diagnostics)
  );
  const scenario = settleScenario(written, steps, links, diagnostics);
  const valid = diagnostics.every((item) => item.severity !== "error");
  const authored = normalized?.sound ? normalized.document : null;
  const effective = valid && authored ? effectiveDocument(authored, steps, scenario) : null;
  return {
    mode: options.mode,
    status: valid ? "valid" : "invalid",
    defaults_materialized: effective !== null,
    raw: value ?? null,
    normalized: authored,
    effective,
    diagnostics: options.locate ? attachLocations(diagnostics, options.locate) : diagnostics,
    authored_sha256: authored && sha256Json(authored),
    effective_sha256: effective && sha256Json(effective),
    seed_policy: effective && seeds!.record(),
  };
}

function takeValue(raw: unknown, diagnostics: Diagnostic[]): Value | undefined {
  try {
    return recipeFromValue(raw);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    diagnostics.push(...error.diagnostics);
  }
}

/** A step with its defaults and seed concrete; as far as that goes where something is wrong with it. */
function effectiveStep(
  step: StepDocument,
  index: number,
  registry: Registry,
  seeds: SeedPolicy,
  diagnostics: Diagnostic[],
): StepDocument {
  // A step without an operation was reported before.
  if (step.op.trim() === "") return step;
  const entry = registry.find(step.op);
  if (entry === undefined) {
    diagnostics.push(
      diagnostic(
        "operation_defaults_unavailable",
        ["steps", index, "op"],
        `Cannot find an operation named ${step.op}`,
        {
          hint: didYouMean(step.op, registry.ids()),
          step_id: step.id,
        },
      ),
    );
    return step;
  }
  const schema = entry.operation.contract.params_schema;
  const place = ["steps", index, "params"];
  const given: JsonObject = { ...step.params };
  const seed = seedNode(schema);
  if (seed !== undefined) given.seed = seeds.seedOf(step.id, given.seed, seed.default);
  const found: Diagnostic[] = [];
  const params = materializeDefaults(schema, given, place, found);
  found.push(...checkValue(schema, params, place, "operation_params_schema_invalid"));
  for (const item of found) diagnostics.push({ ...item, step_id: step.id });
  return { ...step, params: params as JsonObject };
}

function effectiveDocument(document: RecipeDocument, steps: StepDocument[], scenario?: JsonObject): RecipeDocument {
  // Member by member, which keeps the serialised order; the params are copies already.
  const copy = (object: JsonObject, made: JsonObject) =>
    Object.fromEntries(
      Object.keys(object).map((key) => [key, Object.hasOwn(made, key) ? made[key] : cloneValue(object[key])]),
    );
  const copies = steps.map((step) => copy(step, { params: step.params }));
  const effective = copy(document, { steps: copies }) as RecipeDocument;
  if (scenario) effective.metadata.resolved_channel_scenario = scenario;
  return effective;
}

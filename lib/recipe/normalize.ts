/**
 * Converts the author's mapping to the normalised document: shorthand is expanded, sparse parameters stay sparse,
 * unknown fields precede the known ones.
 */
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { normalizeExecutionProfile } from "./execution_profile.ts";
import { describe, type Findings } from "./findings.ts";
import { normalizeSteps } from "./normalize_steps.ts";
import type { RecipeDocument } from "./types.ts";
import { settleVariant } from "./variant.ts";

const ROOT_FIELDS = [
  "schema_version",
  "name",
  "description",
  "execution_profile",
  "metadata",
  "suite",
  "dataset_capture",
  "steps",
];
const SUITE_FIELDS = ["id", "name", "status", "version"];

/** Errors that do not prevent normalisation. */
const BESIDE_SHAPE = new Set([
  "unknown_recipe_field",
  "unknown_recipe_step_field",
  "implicit_recipe_step_id",
  "matrix_selection_mismatch",
]);

export interface Normalized {
  /** As far as readable; complete only if `sound`. */
  document: RecipeDocument;
  sound: boolean;
}

/**
 * Normalises a recipe.
 * @param raw the author's value
 * @param findings receives every finding
 * @returns null without a readable list of steps
 */
export function normalizeRecipe(raw: Value, findings: Findings): Normalized | null {
  if (!isObject(raw)) {
    const message = `Cannot read ${describe(raw)} as a recipe`;
    findings.report("recipe_top_level_type", [], message, "A recipe is a mapping with name and steps");
    return null;
  }
  const document = normalizeRoot(raw, findings);
  const sound = findings.list.every((item) => item.severity !== "error" || BESIDE_SHAPE.has(item.code));
  return document && { document, sound };
}

function normalizeRoot(raw: JsonObject, findings: Findings): RecipeDocument | null {
  const unknown = findings.unknown(raw, ROOT_FIELDS, "unknown_recipe_field", []);
  const version = raw.schema_version;
  if (version !== undefined && !(isInteger(version) && version === 1)) {
    const message = `Cannot read a recipe with ${describe(version)} as its schema_version`;
    findings.report("recipe_schema_version_unsupported", ["schema_version"], message, "Write the integer 1");
  }
  const name = typeof raw.name === "string" ? raw.name : "";
  if (name.trim() === "") findings.misfit(raw.name, "the recipe's name", ["name"], "Write a text");
  const execution_profile = normalizeExecutionProfile(raw.execution_profile, findings);
  const metadata = settleVariant(findings.mapping(raw.metadata, ["metadata"]), findings.list);
  const description = findings.description(raw.description, ["description"]);
  const rest: JsonObject = {};
  if (raw.suite !== undefined) rest.suite = normalizeSuite(raw.suite, findings);
  if (raw.dataset_capture !== undefined) {
    rest.dataset_capture = findings.mapping(raw.dataset_capture, ["dataset_capture"]);
  }
  const steps = normalizeSteps(raw.steps, findings);
  // The serialised order.
  return steps && {
    ...unknown,
    schema_version: 1,
    name,
    execution_profile,
    metadata,
    steps,
    ...description,
    ...rest,
  };
}

function normalizeSuite(value: Value, findings: Findings): JsonObject {
  const suite = findings.mapping(value, ["suite"]);
  findings.unknown(suite, SUITE_FIELDS, "unknown_recipe_field", ["suite"]);
  for (const field of SUITE_FIELDS) {
    const item = suite[field];
    if (item === undefined || typeof item === "string" || (field === "version" && isInteger(item))) continue;
    findings.misfit(item, `the suite's ${field}`, ["suite", field], "Write a text");
  }
  return suite;
}

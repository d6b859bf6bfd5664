/**
 * From the author's mapping to the normalised document: conveniences made explicit, sparse parameters left sparse,
 * unknown fields kept in front of the known ones.
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject, typeName, type Value } from "../contract/value.ts";
import { normalizeExecutionProfile } from "./execution_profile.ts";
import { MAX_STEPS } from "./limits.ts";
import type { CompileMode, RecipeDocument, StepDocument } from "./types.ts";
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
const STEP_FIELDS = ["id", "op", "params", "inputs", "description"];
const SUITE_FIELDS = ["id", "name", "status", "version"];
const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const REFERENCE = /^([^.]+)\.([^.]+)$/;

/** Findings of the mode rather than of the document: the document can be normalised all the same. */
const TOLERATED = new Set(["unknown_recipe_field", "unknown_recipe_step_field", "implicit_recipe_step_id"]);

export interface Normalized {
  /** As far as it could be read; complete only when `sound`. */
  document: RecipeDocument;
  sound: boolean;
}

/**
 * Normalises a recipe.
 *
 * @param raw the author's value
 * @param mode whether leniencies are warnings or errors
 * @param diagnostics gets every finding
 * @returns null when there is no list of steps to speak of
 */
export function normalizeRecipe(raw: Value, mode: CompileMode, diagnostics: Diagnostic[]): Normalized | null {
  if (!isObject(raw)) {
    diagnostics.push(
      diagnostic("recipe_top_level_type", [], `Cannot read ${describe(raw)} as a recipe`, {
        hint: "A recipe is a mapping with name and steps",
      }),
    );
    return null;
  }
  const own: Diagnostic[] = [];
  const document = new Normalizer(mode, own).recipe(raw);
  diagnostics.push(...own);
  return document && { document, sound: own.every((item) => item.severity !== "error" || TOLERATED.has(item.code)) };
}

/** A value in a message: short, and never its whole content. */
function describe(value: Value | undefined): string {
  if (value === undefined) return "a missing value";
  if (value === null) return "null";
  if (typeof value === "string") {
    return value === "" ? "an empty text" : `the text ${JSON.stringify(value.slice(0, 60))}`;
  }
  const names = {
    boolean: "a boolean",
    integer: "an integer",
    number: "a float",
    array: "a list",
    object: "a mapping",
  };
  return names[typeName(value) as keyof typeof names];
}

class Normalizer {
  constructor(readonly mode: CompileMode, readonly diagnostics: Diagnostic[]) {}

  #report(code: string, place: Place, message: string, hint: string | null = null, step_id?: string): void {
    this.diagnostics.push(diagnostic(code, place, message, { hint, step_id }));
  }

  /** Reports what strict mode refuses and compat mode lets pass. */
  #lenient(code: string, place: Place, message: string, hint: string | null, step_id?: string): void {
    const severity = this.mode === "strict" ? "error" : "warning";
    this.diagnostics.push(diagnostic(code, place, message, { hint, step_id, severity }));
  }

  recipe(raw: JsonObject): RecipeDocument | null {
    const unknown = this.#unknown(raw, ROOT_FIELDS, "unknown_recipe_field", []);
    this.#schemaVersion(raw.schema_version);
    const name = this.#name(raw.name);
    const profile = normalizeExecutionProfile(raw.execution_profile, this.diagnostics);
    const metadata = settleVariant(this.#mapping(raw.metadata, ["metadata"]), this.diagnostics);
    const description = this.#description(raw.description, ["description"]);
    const suite: JsonObject = raw.suite === undefined ? {} : { suite: this.#suite(raw.suite) };
    const capture: JsonObject = raw.dataset_capture === undefined
      ? {}
      : { dataset_capture: this.#mapping(raw.dataset_capture, ["dataset_capture"]) };
    const steps = this.#steps(raw.steps);
    return steps && {
      ...unknown,
      schema_version: 1,
      name,
      execution_profile: profile,
      metadata,
      steps,
      ...description,
      ...suite,
      ...capture,
    };
  }

  #schemaVersion(version: Value | undefined): void {
    if (version === undefined || (isInteger(version) && version === 1)) return;
    this.#report(
      "recipe_schema_version_unsupported",
      ["schema_version"],
      `Cannot read a recipe whose schema_version is ${shown(version)}`,
      "Write the integer 1",
    );
  }

  #name(name: Value | undefined): string {
    if (typeof name === "string" && name.trim() !== "") return name;
    this.#report(
      "recipe_validation_error",
      ["name"],
      `Cannot use ${describe(name)} as the recipe's name`,
      "Give a text",
    );
    return "";
  }

  #description(value: Value | undefined, place: Place, step_id?: string): { description?: string } {
    if (value === undefined || value === null) return {};
    if (typeof value === "string") return { description: value };
    this.#report(
      "recipe_validation_error",
      place,
      `Cannot use ${describe(value)} as a description`,
      "Give a text",
      step_id,
    );
    return {};
  }

  #suite(value: Value): JsonObject {
    const suite = this.#mapping(value, ["suite"]);
    this.#unknown(suite, SUITE_FIELDS, "unknown_recipe_field", ["suite"]);
    for (const field of SUITE_FIELDS) {
      const item = suite[field];
      if (item === undefined || typeof item === "string" || (field === "version" && isInteger(item))) continue;
      this.#report("recipe_validation_error", ["suite", field], `Cannot use ${describe(item)} as the suite's ${field}`);
    }
    return suite;
  }

  #mapping(value: Value | undefined, place: Place, step_id?: string): JsonObject {
    if (value === undefined || value === null) return {};
    if (isObject(value)) return value;
    const name = place[place.length - 1];
    this.#report(
      "recipe_validation_error",
      place,
      `Cannot use ${describe(value)} as ${name}`,
      "Give a mapping",
      step_id,
    );
    return {};
  }

  #unknown(object: JsonObject, known: string[], code: string, place: Place, step_id?: string): JsonObject {
    const entries = Object.entries(object).filter(([key]) => !known.includes(key));
    const kind = code === "unknown_recipe_step_field" ? "step" : place.length === 0 ? "recipe" : String(place[0]);
    for (const [key] of entries) {
      this.#lenient(code, [...place, key], `Cannot find a ${kind} field named ${key}`, didYouMean(key, known), step_id);
    }
    return Object.fromEntries(entries);
  }

  #steps(value: Value | undefined): StepDocument[] | null {
    if (!Array.isArray(value) || value.length === 0) {
      const given = Array.isArray(value) ? "an empty list" : describe(value);
      this.#report(
        "recipe_validation_error",
        ["steps"],
        `Cannot use ${given} as steps`,
        "Give a list with at least one step",
      );
      return null;
    }
    if (value.length > MAX_STEPS) {
      this.#report(
        "recipe_limit_exceeded",
        ["steps"],
        `Cannot hold ${value.length} steps`,
        `At most ${MAX_STEPS} are allowed`,
      );
      return null;
    }
    const ids = value.map((step, index) => this.#stepId(step, index));
    const firstUse = new Map<string, number>();
    ids.forEach((id, index) => {
      const first = firstUse.get(id);
      if (first === undefined) firstUse.set(id, index);
      else {
        this.#report(
          "recipe_step_id_duplicate",
          ["steps", index, "id"],
          `Cannot use the step id ${id} twice`,
          `$.steps[${first}] has it already`,
          id,
        );
      }
    });
    return value.map((step, index) => this.#step(step, index, ids[index], firstUse));
  }

  #stepId(step: Value, index: number): string {
    const implicit = `step_${index + 1}`;
    const id = isObject(step) ? step.id : undefined;
    if (id === undefined || id === null || id === "") {
      if (isObject(step)) {
        this.#lenient(
          "implicit_recipe_step_id",
          ["steps", index, "id"],
          `Cannot find an id on this step: ${implicit} is used`,
          `Write id: ${implicit}`,
          implicit,
        );
      }
      return implicit;
    }
    if (typeof id === "string" && STEP_ID.test(id)) return id;
    this.#report(
      "recipe_step_id_invalid",
      ["steps", index, "id"],
      `Cannot use ${describe(id)} as a step id`,
      "Use up to 128 letters, digits, - and _, starting with a letter or digit",
    );
    return typeof id === "string" ? id : implicit;
  }

  #step(step: Value, index: number, id: string, firstUse: ReadonlyMap<string, number>): StepDocument {
    const place = ["steps", index] as const;
    if (!isObject(step)) {
      this.#report(
        "recipe_validation_error",
        place,
        `Cannot read ${describe(step)} as a step`,
        "Give a mapping with id and op",
      );
      return { id, op: "", params: {}, inputs: {} };
    }
    const unknown = this.#unknown(step, STEP_FIELDS, "unknown_recipe_step_field", place, id);
    const { op } = step;
    if (typeof op !== "string" || op.trim() === "") {
      this.#report(
        "recipe_validation_error",
        [...place, "op"],
        `Cannot use ${describe(op)} as an operation`,
        "Give an operation's id",
        id,
      );
    }
    const inputs = this.#mapping(step.inputs, [...place, "inputs"], id);
    for (const [port, reference] of Object.entries(inputs)) {
      this.#reference(reference, [...place, "inputs", port], index, id, firstUse);
    }
    return {
      ...unknown,
      id,
      op: typeof op === "string" ? op : "",
      params: this.#mapping(step.params, [...place, "params"], id),
      inputs: inputs as { [port: string]: string },
      ...this.#description(step.description, [...place, "description"], id),
    };
  }

  #reference(value: Value, place: Place, index: number, id: string, firstUse: ReadonlyMap<string, number>): void {
    const report = (message: string, hint: string | null) =>
      this.#report("recipe_validation_error", place, message, hint, id);
    const source = typeof value === "string" ? REFERENCE.exec(value)?.[1] : undefined;
    if (source === undefined) {
      return report(`Cannot read ${describe(value)} as a reference`, "Write <earlier step>.<output>");
    }
    const at = firstUse.get(source);
    if (at === undefined) {
      const earlier = [...firstUse].filter(([, step]) => step < index).map(([name]) => name);
      report(`Cannot find a step named ${source}`, didYouMean(source, earlier));
    } else if (at === index) {
      report(`Cannot read from the step ${source} itself`, "Name an earlier step");
    } else if (at > index) {
      report(`Cannot read from ${source}: it stands later`, `Move $.steps[${at}] before this step`);
    }
  }
}

function shown(value: Value): string {
  if (typeof value === "object" && value !== null && isObject(value)) return "a mapping";
  return Array.isArray(value)
    ? "a list"
    : typeof value === "string"
    ? JSON.stringify(value.slice(0, 60))
    : String(value);
}

/** The forms of a recipe. */
import type { Diagnostic, Place, SourceLocation } from "../contract/error.ts";
import type { Suggestions } from "../contract/nearest.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import type { Document } from "../contract/yaml_library.ts";

export type CompileMode = "strict" | "compat";

/** One operation instance, in normalised or effective form. Retained unknown fields precede the known ones. */
export interface StepDocument extends JsonObject {
  id: string;
  op: string;
  params: JsonObject;
  /** Input name to `<earlier step>.<output>`. */
  inputs: { [port: string]: string };
}

/** A recipe in normalised (sparse params) or effective (defaults and seeds concrete) form, keys in serialised order. */
export interface RecipeDocument extends JsonObject {
  schema_version: 1;
  name: string;
  execution_profile: JsonObject;
  metadata: JsonObject;
  steps: StepDocument[];
}

/** Location of a place's value or key in the text. */
export type Locate = (place: Place, at?: "key" | "value") => SourceLocation | undefined;

/** A decoded text: the author's value and the locations of its places. */
export interface DecodedText {
  value: Value;
  locate: Locate;
  /** The document of a YAML text. */
  document?: Document;
}

/** The compilation record, with hashes and seed policy of a valid recipe. */
export interface Compilation {
  mode: CompileMode;
  status: "valid" | "invalid";
  defaults_materialized: boolean;
  raw: Value;
  /** Null for a document that cannot be normalised. */
  normalized: RecipeDocument | null;
  /** Null while the compilation is invalid. */
  effective: RecipeDocument | null;
  diagnostics: Diagnostic[];
  /** Passed on to later checks, so that a document has one limit. */
  suggestions: Suggestions;
  /** SHA-256 of the canonical JSON of the normalised form. */
  authored_sha256: string | null;
  /** SHA-256 of the canonical JSON of the effective form: the recipe hash. */
  effective_sha256: string | null;
  /** The record `seed_policy` of summaries and manifests. */
  seed_policy: JsonObject | null;
}

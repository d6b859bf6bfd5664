/** Models that operations run by name: where one lies, and which bytes it is. */
import type { JsonObject } from "../contract/value.ts";

/** Where models are looked for. */
export interface ModelPlaces {
  projectRoot: string;
  stateDir: string;
  /** Folder of the program, with the models that come with it; undefined where it was not loaded from files. */
  programRoot?: string;
}

/** A file of a model, and the digest it must have when it is read. */
export interface ModelFile {
  path: string;
  sha256: string;
  size_bytes: number;
}

/** A model that is on this machine. */
export interface ResolvedModel {
  /** For the plan: name, source, revision and the digest of every file; no path of this machine. */
  record: JsonObject;
  /** By the names that the operation asked for. */
  files: Record<string, ModelFile>;
}

/** Why a model cannot be run, and what helps. */
export interface ModelLack {
  /** `model_unavailable`, or `artifact_hash_mismatch` for other bytes than the recipe states. */
  code: string;
  reason: string;
  hint: string | null;
  /** The command that brings it, or null when there is none. */
  fetch: string | null;
}

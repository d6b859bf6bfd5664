/** Models that operations run by name: their files and digests. */
import type { Code } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";

/** Locations of models. */
export interface ModelPlaces {
  projectRoot: string;
  stateDir: string;
  /** Folder of the program with the bundled models; undefined when not loaded from files. */
  programRoot?: string;
}

/** A file of a model, and its required digest. */
export interface ModelFile {
  path: string;
  sha256: string;
  size_bytes: number;
}

/** An available model. */
export interface ResolvedModel {
  /** For the plan: name, source, revision and the digest of every file, without paths of this machine. */
  record: JsonObject;
  /** By the names of the request. */
  files: Record<string, ModelFile>;
}

/** Why a model is unusable, and the remedy. */
export interface ModelLack {
  /** `model_unavailable`, or `artifact_hash_mismatch` for bytes that differ from the recipe's digest. */
  code: Code;
  reason: string;
  hint: string | null;
  /** The command that fetches it, or null. */
  fetch: string | null;
}

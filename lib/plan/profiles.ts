/**
 * Execution profiles: the topologies that a recipe can claim. `custom` claims none; a standard profile names its stages
 * in order, by the step ids that bind them, and what may stand in the required ones.
 */
import type { JsonObject } from "../contract/value.ts";
import { STANDARD_PROFILES } from "./standard_profiles.ts";

export interface ProfileStage extends JsonObject {
  role: string;
  label: string;
  presence: "required" | "optional" | "fused";
}

/** A row of the catalogue; stages carry step_ids?, allowed_ops?, required_params?, fused_into? and summary?. */
export interface Profile extends JsonObject {
  id: string;
  version: number;
  label: string;
  summary: string;
  required_ordered_spine: string[];
  stages: ProfileStage[];
}

export const PROFILES: readonly Profile[] = [...STANDARD_PROFILES];

export const CUSTOM_PROFILE: JsonObject = {
  id: "custom",
  version: 1,
  label: "Custom topology",
  summary: "Claims no standard topology; based_on may say which one it was edited from",
};

/** The profile of that id and version, if there is one. */
export function findProfile(id: string, version: number): Profile | undefined {
  return PROFILES.find((candidate) => candidate.id === id && candidate.version === version);
}

/** All ids that a recipe may declare. */
export function profileIds(): string[] {
  return ["custom", ...PROFILES.map((known) => known.id)];
}

/**
 * The catalogue of execution profiles as it is published: the standard ones with their stages, and `custom`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { profileCatalogue } from "./profiles.ts";
 *
 * const ids = profileCatalogue().profiles.map(({ id }) => id);
 * assert.ok(ids.includes("layered_digital"));
 * ```
 */
export function profileCatalogue(): JsonObject & { schema_version: number; profiles: Profile[]; custom: JsonObject } {
  return { schema_version: 1, profiles: [...PROFILES], custom: CUSTOM_PROFILE };
}

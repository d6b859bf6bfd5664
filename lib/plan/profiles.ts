/**
 * Execution profiles: topologies that a recipe can declare. `custom` declares none. A standard profile names its stages
 * in order, by the step ids that bind them, and the allowed operations of required stages.
 */
import type { JsonObject } from "../contract/value.ts";
import { type Profile, type ProfileStage, STANDARD_PROFILES } from "./standard_profiles.ts";

export type { Profile, ProfileStage };

export const PROFILES: readonly Profile[] = [...STANDARD_PROFILES];

export const CUSTOM_PROFILE: JsonObject = {
  id: "custom",
  version: 1,
  label: "Custom topology",
  summary: "Declares no standard topology; based_on may name the original one",
};

export function findProfile(id: string, version: number): Profile | undefined {
  return PROFILES.find((candidate) => candidate.id === id && candidate.version === version);
}

export function profileIds(): string[] {
  return ["custom", ...PROFILES.map((known) => known.id)];
}

/**
 * The published catalogue of execution profiles: the standard ones with their stages, and `custom`.
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

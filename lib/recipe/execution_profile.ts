/** The declaration of an execution profile: a name, or `{id, version, based_on?}`. */
import type { Place } from "../contract/error.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { Findings } from "./findings.ts";

const PLACE = ["execution_profile"] as const;
const CODE = "execution_profile_invalid";

/**
 * Normalises a declaration to `{id, version, based_on?}`; absent or null means the custom topology. The planner checks
 * whether the profile is known and the steps satisfy it.
 * @param findings receives `execution_profile_invalid` for each problem
 */
export function normalizeExecutionProfile(declared: Value | undefined, findings: Findings): JsonObject {
  if (declared === undefined || declared === null) return { id: "custom", version: 1 };
  const report = (place: Place, message: string, hint: string | null = null) =>
    findings.report(CODE, [...PLACE, ...place], message, hint);

  const given = typeof declared === "string" ? { id: declared } : declared;
  if (!isObject(given)) {
    report([], "Cannot read this value as an execution profile", "Write the name of a profile, or {id, version}");
    return { id: "custom", version: 1 };
  }
  const keys = ["id", "version", "based_on"];
  const profile: JsonObject = reference(given, keys, [], findings, report);
  if (given.based_on === undefined) return profile;

  if (profile.id !== "custom") {
    report(["based_on"], "Cannot keep based_on with a standard profile", "Only the profile custom is based on another");
  }
  if (isObject(given.based_on)) {
    if (given.based_on.version === undefined) {
      report(["based_on"], "Cannot read based_on without a version", "Write {id, version}");
    }
    profile.based_on = reference(given.based_on, ["id", "version"], ["based_on"], findings, report);
    if (profile.based_on.id === "custom") {
      report(["based_on", "id"], "Cannot base a profile on custom", "Name the standard profile it came from");
    }
  } else {
    report(["based_on"], "Cannot read this value as a profile", "Write {id, version}");
  }
  return profile;
}

function reference(
  given: JsonObject,
  keys: string[],
  place: Place,
  { suggestions }: Findings,
  report: (place: Place, message: string, hint?: string | null) => void,
): { id: Value; version: Value } {
  for (const key of Object.keys(given)) {
    if (keys.includes(key)) continue;
    report([...place, key], `Cannot find a profile field named ${key}`, suggestions.for(key, keys));
  }
  const id = given.id, version = given.version === undefined ? 1 : given.version;
  if (typeof id !== "string" || id.trim() === "") {
    report([...place, "id"], "Missing required field id of the profile", "Write the name of a profile");
  }
  if (!isInteger(version)) report([...place, "version"], "Cannot use this value as a profile's version", "Write 1");
  return { id: id ?? null, version };
}

/** The declaration of an execution profile: a name, or `{id, version, based_on?}`. */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";

const PLACE = ["execution_profile"] as const;
const CODE = "execution_profile_invalid";

/**
 * Brings a declaration to `{id, version, based_on?}`; absent or null means the custom topology. Whether the profile is
 * known, and whether the steps keep its promise, is for the planner to say.
 *
 * @param diagnostics gets `execution_profile_invalid` for each flaw
 */
export function normalizeExecutionProfile(declared: Value | undefined, diagnostics: Diagnostic[]): JsonObject {
  if (declared === undefined || declared === null) return { id: "custom", version: 1 };
  const report = (place: Place, message: string, hint: string | null = null) =>
    diagnostics.push(diagnostic(CODE, [...PLACE, ...place], message, { hint }));

  const given = typeof declared === "string" ? { id: declared } : declared;
  if (!isObject(given)) {
    report([], "Cannot read this value as an execution profile", "Give a profile's name, or {id, version}");
    return { id: "custom", version: 1 };
  }
  const keys = ["id", "version", "based_on"];
  const profile: JsonObject = reference(given, keys, [], report);
  if (given.based_on === undefined) return profile;

  if (profile.id !== "custom") {
    report(["based_on"], "Cannot keep based_on with a standard profile", "Only the profile custom is based on another");
  }
  if (isObject(given.based_on)) {
    if (given.based_on.version === undefined) {
      report(["based_on"], "Cannot read based_on without a version", "Give {id, version}");
    }
    profile.based_on = reference(given.based_on, ["id", "version"], ["based_on"], report);
    if (profile.based_on.id === "custom") {
      report(["based_on", "id"], "Cannot base a profile on custom", "Name the standard profile it came from");
    }
  } else {
    report(["based_on"], "Cannot read this value as a profile", "Give {id, version}");
  }
  return profile;
}

function reference(
  given: JsonObject,
  keys: string[],
  place: Place,
  report: (place: Place, message: string, hint?: string | null) => void,
): { id: Value; version: Value } {
  for (const key of Object.keys(given)) {
    if (!keys.includes(key)) report([...place, key], `Cannot find a profile field named ${key}`, didYouMean(key, keys));
  }
  const id = given.id, version = given.version === undefined ? 1 : given.version;
  if (typeof id !== "string" || id.trim() === "") {
    report([...place, "id"], "Cannot do without a profile's id", "Give a name");
  }
  if (!isInteger(version)) report([...place, "version"], "Cannot use this value as a profile's version", "Write 1");
  return { id: id ?? null, version };
}

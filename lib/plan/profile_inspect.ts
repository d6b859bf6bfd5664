/**
 * Compares a recipe with its declared execution profile. A step id binds a stage; then operation, required parameters
 * and the order of the stages are checked. Only required and fused stages are inspected.
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { canonicalJson, sameValue } from "../contract/json.ts";
import { didYouMean, nearestName } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import { findProfile, type Profile, profileIds, PROFILES, type ProfileStage } from "./profiles.ts";

export interface ProfileReference extends JsonObject {
  id: string;
  version: number;
}

export interface ProfileInspection {
  reference: ProfileReference;
  status: "custom" | "conformant" | "invalid";
  /** The catalogue row of a standard profile. */
  profile: Profile | null;
  /** Role to the id of its step. */
  stage_bindings: { [role: string]: string };
  issues: Diagnostic[];
}

const AT: Place = ["execution_profile"];

/**
 * Inspects the declaration and, for a standard profile, the steps.
 * @param declaration `execution_profile` of a recipe in any accepted form
 * @param steps effective steps
 */
export function inspectProfile(declaration: Value | undefined, steps: readonly StepDocument[]): ProfileInspection {
  const { reference, issues } = readDeclaration(declaration);
  if (issues.length > 0) return { reference, status: "invalid", profile: null, stage_bindings: {}, issues };
  if (reference.id === "custom") {
    return { reference, status: "custom", profile: null, stage_bindings: {}, issues };
  }
  const profile = findProfile(reference.id, reference.version)!;
  const position = new Map(steps.map((step, index) => [step.id, index]));
  const stage_bindings: { [role: string]: string } = {};
  let last: { id: string; index: number } | undefined;
  for (const stage of profile.stages) {
    const accepted = acceptedIds(stage);
    const present = accepted.filter((id) => position.has(id));
    if (stage.presence === "fused") {
      for (const id of present) {
        issues.push(diagnostic(
          "execution_profile_fused_stage_exposed",
          ["steps", position.get(id)!, "id"],
          `Cannot use a step ${id} in ${profile.id}: ${String(stage.fused_into)} includes it`,
          { hint: `Remove the step, rename it, or declare the profile custom`, step_id: id },
        ));
      }
      continue;
    }
    if (present.length === 1) stage_bindings[stage.role] = present[0];
    if (stage.presence === "optional") continue;
    if (present.length === 0) {
      issues.push(
        diagnostic("required_step_missing", ["steps"], `Cannot find the ${stage.role} step of ${profile.id}`, {
          hint: missingHint(accepted, profile, steps),
        }),
      );
      continue;
    }
    if (present.length > 1) {
      issues.push(diagnostic(
        "execution_profile_stage_ambiguous",
        ["steps"],
        `Cannot decide which of ${present.join(" and ")} is the ${stage.role} of ${profile.id}`,
        { hint: `Keep this id for one of them` },
      ));
      continue;
    }
    const index = position.get(present[0])!;
    const step = steps[index];
    issues.push(...inspectStage(profile, stage, step, index));
    if (last && index < last.index) {
      issues.push(diagnostic(
        "execution_profile_stage_order_invalid",
        ["steps", index],
        `Cannot have ${step.id} before ${last.id} in ${profile.id}`,
        { hint: `Order: ${profile.required_ordered_spine.join(", ")}`, step_id: step.id },
      ));
    }
    last = { id: step.id, index };
  }
  return { reference, status: issues.length > 0 ? "invalid" : "conformant", profile, stage_bindings, issues };
}

function inspectStage(profile: Profile, stage: ProfileStage, step: StepDocument, index: number): Diagnostic[] {
  const allowed = stage.allowed_ops as string[] | undefined;
  if (allowed && !allowed.includes(step.op)) {
    return [diagnostic(
      "required_step_op_invalid",
      ["steps", index, "op"],
      `Cannot use ${step.op} as the ${stage.role} of ${profile.id}`,
      { hint: `Use ${allowed.join(", ").replace(/, ([^,]*)$/, " or $1")}`, step_id: step.id },
    )];
  }
  return Object.entries((stage.required_params ?? {}) as JsonObject)
    .filter(([name, value]) => !sameValue(step.params[name], value))
    .map(([name, value]) =>
      diagnostic(
        "required_step_param_invalid",
        ["steps", index, "params", name],
        `Cannot use this ${name} for the ${stage.role} of ${profile.id}`,
        { hint: `Set ${name} to ${canonicalJson(value)}`, step_id: step.id },
      )
    );
}

/** Step ids that bind a stage. */
function acceptedIds(stage: ProfileStage): string[] {
  return stage.step_ids as string[] | undefined ?? [stage.role];
}

/** The required id, and a step with a similar id that binds no other stage. */
function missingHint(accepted: string[], profile: Profile, steps: readonly StepDocument[]): string {
  const taken = new Set(profile.stages.flatMap(acceptedIds));
  const near = nearestName(accepted[0], steps.map((step) => step.id).filter((id) => !taken.has(id)));
  return `Give a step the id ${accepted.join(" or ")}${near === null ? "" : `; is it ${near}?`}`;
}

/** Normalises a declaration. */
function readDeclaration(value: Value | undefined): { reference: ProfileReference; issues: Diagnostic[] } {
  if (value === undefined || value === null) return { reference: { id: "custom", version: 1 }, issues: [] };
  const declared: Value = typeof value === "string" ? { id: value } : value;
  const issues: Diagnostic[] = [];
  const invalid = (place: Place, message: string, hint: string) =>
    issues.push(diagnostic("execution_profile_invalid", [...AT, ...place], message, { hint }));
  if (!isObject(declared)) {
    invalid([], "Cannot read the execution profile", "Write an id, or {id, version}");
    return { reference: { id: "custom", version: 1 }, issues };
  }
  const { id, version = 1, based_on: basedOn } = declared;
  for (const key of Object.keys(declared)) {
    if (!["id", "version", "based_on"].includes(key)) {
      invalid([key], `Cannot use ${key} in an execution profile`, "Its keys are id, version and based_on");
    }
  }
  if (typeof id !== "string" || id === "") {
    invalid(["id"], "Cannot read the id of the execution profile", `Known: ${profileIds().join(", ")}`);
  }
  if (!isInteger(version)) {
    invalid(["version"], "Cannot read the version of the execution profile", "Write the integer 1");
  }
  const reference = { id: typeof id === "string" ? id : "", version: isInteger(version) ? Number(version) : 1 };
  if (issues.length === 0) {
    const known = reference.id === "custom" ? reference.version === 1 : findProfile(reference.id, reference.version);
    if (!known) {
      const named = reference.id === "custom" || PROFILES.some((profile) => profile.id === reference.id);
      issues.push(diagnostic(
        "execution_profile_unknown",
        [...AT, ...(isObject(value) ? [named ? "version" : "id"] : [])],
        `Cannot find version ${reference.version} of an execution profile named ${reference.id}`,
        { hint: named ? "The only version is 1" : didYouMean(reference.id, profileIds()) },
      ));
    }
  }
  if (basedOn !== undefined) checkBasedOn(reference.id, basedOn, invalid);
  return { reference, issues };
}

function checkBasedOn(
  id: string,
  basedOn: Value,
  invalid: (place: Place, message: string, hint: string) => void,
): void {
  if (id !== "custom") {
    invalid(["based_on"], `Cannot base ${id} on another profile`, "Only custom keeps a based_on");
  } else if (
    !isObject(basedOn) || Object.keys(basedOn).sort().join() !== "id,version" ||
    typeof basedOn.id !== "string" || !isInteger(basedOn.version) ||
    !findProfile(basedOn.id, Number(basedOn.version))
  ) {
    invalid(
      ["based_on"],
      "Cannot read which standard profile this one is based on",
      `Write {id, version} of ${PROFILES.map((profile) => profile.id).join(", ")}`,
    );
  }
}

/** Requirements of tiers: none for smoke and experimental, a fixed protocol for canonical. */
import { type Diagnostic, diagnostic, type Place } from "../../contract/error.ts";
import { isObject, type JsonObject } from "../../contract/value.ts";
import type { Pack } from "./pack.ts";

const CANONICAL = [
  "protocol_id",
  "protocol_version",
  "dataset_split",
  "channel",
  "rate_accounting",
  "expected_outputs",
] as const;

const TRACEABLE = [
  "common_conditions",
  "resource_budget",
  "require_disjoint_training_lineage",
  "require_identical_source_transform",
] as const;

/** Checks the requirements of a pack's tier. @returns `pack_tier_requirement_missing`, all of them */
export function checkTier(pack: Pack): Diagnostic[] {
  const found: Diagnostic[] = [];
  const missing = (place: Place, what: string, why: string) =>
    found.push(
      diagnostic("pack_tier_requirement_missing", place, `Missing ${what}: ${why}`, {
        hint: `Write ${place.join(".")}`,
      }),
    );
  const metadata = (name: string, why: string) => {
    const value = pack.metadata[name];
    if (value === undefined || value === null || value === "" || value === false) {
      missing(["metadata", name], name, why);
    }
  };
  if (pack.tier === "canonical") {
    for (const name of CANONICAL) metadata(name, "the pack is canonical");
    if (pack.metadata.frozen !== true) missing(["metadata", "frozen"], "frozen: true", "the pack is canonical");
  }
  if (!pack.traceability) return found;
  const why = "the pack asks for the traceability profile";
  if (pack.tier !== "canonical") missing(["metadata", "benchmark_tier"], "the canonical tier", why);
  for (const name of TRACEABLE) metadata(name, why);
  const { selection_role, access_policy, source_bindings } = pack.dataset;
  if (selection_role !== "sealed_test") missing(["dataset", "selection_role"], "a sealed test set", why);
  if (!isObject(access_policy) || access_policy.state !== "sealed_single_access") {
    missing(["dataset", "access_policy"], "single access to a sealed set", why);
  }
  if (!Array.isArray(source_bindings) || source_bindings.length === 0) {
    missing(["dataset", "source_bindings"], "bindings of the source's parameters", why);
  }
  const written = pack.document.metrics as (string | JsonObject)[];
  written.forEach((metric, index) => {
    for (const name of ["definition_version", "source_step", "source_operation"]) {
      const given = isObject(metric) && (metric[name] !== undefined ||
        (name === "source_operation" && metric.source_operations !== undefined));
      if (!given) missing(["metrics", index, name], `the ${name} of ${pack.metrics[index].id}`, why);
    }
  });
  return found;
}

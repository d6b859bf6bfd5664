/**
 * Chooses backend and implementation of a step.
 *
 * An explicit flag takes precedence over the operation's selector parameter, and that over the declared order. Within a
 * backend the entry with the most specific matching parameter bindings wins. An entry that is planned, or whose backend
 * cannot execute here, is never chosen and never replaced by a backend that was not requested. The native extension
 * runs only on request; the planner checks its presence last.
 */
import type { Place } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import type { OperationContract, PlainDefinition, Runner } from "../contract/operation.ts";
import { plainParams } from "../contract/schema.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { AUTOMATIC, backendMissing, backendNamed } from "./backends.ts";
import { matches } from "../contract/bindings.ts";
import { describe, entriesOf, type Entry, setting, settings, specificity, text } from "./entries.ts";
import { incompatible, type Refusal, refusal, unavailable, withoutNativeKernels } from "./refusals.ts";

export interface Request {
  runner: Runner;
  /** Backend and implementation requested by flag. */
  backend?: string;
  implementation?: string;
  /** Parameters that the author wrote; an explicit choice may set the others. */
  authored: JsonObject;
  /** Whether the operation has native kernels for these parameters without declaring `cpp`. */
  nativeKernels?: boolean;
}

/** The chosen entry, and the reason. */
export interface Choice {
  entry: Entry;
  /** Index among the operation's entries for this runner. */
  candidate_index: number;
  source: "flag" | "selector_parameter" | "declared_order";
  requested_backend: string | null;
  requested_implementation?: string;
  /** The requesting parameter. */
  requested_parameter?: string;
  /** Parameters that an explicit, unique choice sets. */
  overrides: JsonObject;
  /** Selectors of kernels inside the one entry. */
  subordinates: JsonObject;
}

const SELECTORS = ["materialization_backend", "execution_backend", "wireless_backend", "runtime_backend", "backend"];

interface Selector {
  name: string;
  /** Backend requested by the current value; null leaves the choice to the declared order. */
  backend: string | null;
}

/**
 * Chooses the entry for a step.
 * @param contract contract of the step's operation
 * @param params effective parameters
 */
export function materialize(contract: OperationContract, params: JsonObject, request: Request): Choice | Refusal {
  const { runner } = request;
  const all = entriesOf(contract);
  const candidates = entriesOf(contract, runner);
  const declared = candidates.map((entry) => entry.backend);
  const title = contract.id;
  if (candidates.length === 0) {
    const others = [...new Set(all.map((entry) => entry.runner))];
    return refusal(`Cannot run ${title} under ${runner}: it declares no entry for this runner`, {
      hint: others.length > 0 ? `It is declared for ${others.join(", ")}` : null,
    });
  }

  const byFlag = request.backend === undefined ? undefined : backendNamed(request.backend, declared);
  const flagApplies = byFlag !== undefined && all.some((entry) => entry.backend === byFlag);
  const nameApplies = request.implementation !== undefined &&
    all.some((entry) => entry.implementation === request.implementation);
  // A flag may set another value.
  const unusable = flagApplies || nameApplies || runner === "differentiable_export"
    ? null
    : unavailable(contract, params);
  if (unusable !== null) return unusable;

  const native = params.data_plane_backend === "cpp_native";
  const subordinates: JsonObject = {};
  const ruled = all.some((entry) => entry.backend === "cpp");
  if (params.data_plane_backend !== undefined && !ruled) {
    if (native && !request.nativeKernels) return withoutNativeKernels(title);
    subordinates.data_plane_backend = {
      requested: params.data_plane_backend,
      resolved: native ? "cpp_native" : "python_numpy",
    };
  }

  const selector = flagApplies ? null : activeSelector(contract, params, declared, ruled);
  const backend = flagApplies ? byFlag : selector?.backend ?? null;
  const place: Place = selector?.backend ? ["params", selector.name] : ["op"];

  const wanted = (entry: Entry) =>
    (backend === null || entry.backend === backend) &&
    (!nameApplies || entry.implementation === request.implementation);
  const pool = candidates.filter(wanted);
  const choice = (entry: Entry, overrides: JsonObject): Choice => ({
    entry,
    candidate_index: candidates.indexOf(entry),
    source: flagApplies || nameApplies ? "flag" : selector?.backend ? "selector_parameter" : "declared_order",
    requested_backend: flagApplies ? request.backend! : selector?.backend ? String(params[selector.name]) : null,
    ...(nameApplies ? { requested_implementation: request.implementation } : {}),
    ...(selector?.backend ? { requested_parameter: selector.name } : {}),
    overrides,
    subordinates,
  });

  let compatible = pool.filter((entry) => matches(entry, params));
  let overrides: JsonObject = {};
  if (compatible.length === 0 && pool.length === 1 && (flagApplies || nameApplies)) {
    const bindings = pool[0].parameter_bindings ?? {};
    const conflict = Object.keys(bindings).find((name) =>
      name in request.authored && !sameValue(request.authored[name], bindings[name])
    );
    if (conflict !== undefined) {
      return refusal(
        `Cannot choose ${pool[0].implementation} for ${title}: it needs ${setting(conflict, bindings[conflict])}`,
        { hint: `Remove ${conflict}, or set it to ${text(bindings[conflict])}`, place: ["params", conflict] },
      );
    }
    overrides = Object.fromEntries(Object.entries(bindings).filter(([name, value]) => !sameValue(params[name], value)));
    compatible = pool;
  }

  const reasons: string[] = [];
  let blocked: Entry | undefined;
  for (const name of new Set(compatible.map((entry) => entry.backend))) {
    const rivals = compatible.filter((entry) => entry.backend === name);
    const most = Math.max(...rivals.map(specificity));
    const [best, second] = rivals.filter((entry) => specificity(entry) === most);
    if (second !== undefined) {
      return refusal(
        `Cannot choose between ${best.implementation} and ${second.implementation} for ${title} on ${name}`,
        { code: "materialization_ambiguous", hint: "Name one with --implementation", place },
      );
    }
    const reason = best.status === "planned"
      ? best.notes ?? `${best.implementation} is planned`
      : backendMissing(name, runner, backend !== null || nameApplies);
    if (reason === null) return choice(best, overrides);
    reasons.push(`on ${name}: ${reason}`);
    blocked ??= best;
  }
  if (blocked !== undefined) {
    const ready = candidates.find((entry) =>
      entry.status === "implemented" && backendMissing(entry.backend, runner, false) === null
    );
    return refusal(`Cannot run ${title}${settings(blocked, params)} ${reasons.join("; ")}`, {
      hint: ready ? `An entry that runs: ${describe(ready)}` : null,
      place,
    });
  }
  return incompatible(contract, params, { runner, backend, place, pool, candidates, others: all.filter(wanted) });
}

/** Whether a flag applies to an operation: it declares that backend or implementation. */
export function flagsConcern(contract: OperationContract, flags: { backend?: string; implementation?: string }) {
  const entries = entriesOf(contract);
  const named = flags.backend === undefined
    ? undefined
    : backendNamed(flags.backend, entries.map((entry) => entry.backend));
  return {
    backend: entries.some((entry) => entry.backend === named),
    implementation: entries.some((entry) => entry.implementation === flags.implementation),
  };
}

/** Whether an operation has native kernels for these parameters without declaring `cpp`. */
export function hasNativeKernels({ nativeKernels: has }: PlainDefinition, params: JsonObject): boolean {
  return typeof has === "function" ? has(plainParams(params)) : has === true;
}

export function isRefusal(outcome: Choice | Refusal): outcome is Refusal {
  return "code" in outcome;
}

/** The selector parameter that requests a backend, if any. */
function activeSelector(
  contract: OperationContract,
  params: JsonObject,
  declared: string[],
  dataPlaneRules: boolean,
): Selector | null {
  const properties = (contract.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  const annotated = Object.keys(properties).find((name) =>
    isObject(properties[name]["x-svc-materialization-selector"])
  );
  const name = annotated ?? SELECTORS.find((known) =>
    known in properties &&
    (known !== "backend" || (properties[known].enum as Value[] ?? []).some((value) => declared.includes(String(value))))
  );
  if (name !== undefined && typeof params[name] === "string") {
    const rule = properties[name]["x-svc-materialization-selector"];
    const backend = isObject(rule) ? ruled(rule, params[name]) : params[name];
    if (backend !== null && !AUTOMATIC.includes(backend)) return { name, backend: backendNamed(backend, declared) };
  }
  const kernels = params.data_plane_backend;
  if (dataPlaneRules && typeof kernels === "string" && !AUTOMATIC.includes(kernels)) {
    return { name: "data_plane_backend", backend: backendNamed(kernels, declared) };
  }
  return null;
}

/** The backend requested by an annotated selector's value. */
function ruled(rule: JsonObject, value: string): string | null {
  const automatic = [...(Array.isArray(rule.automatic_values) ? rule.automatic_values : []), rule.automatic_value];
  if (automatic.includes(value)) return null;
  const mapped = isObject(rule.mapping) ? rule.mapping[value] : undefined;
  return typeof mapped === "string" ? mapped : value;
}

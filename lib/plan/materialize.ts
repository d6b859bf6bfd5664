/**
 * Chooses how a step is executed: which backend, which implementation.
 *
 * An explicit flag beats the operation's selector parameter, which beats the declared order. Within a backend the entry
 * whose parameter bindings match most specifically wins. An entry that is planned, or whose backend cannot execute
 * here, is never chosen and never replaced by another backend that was not asked for. The native extension runs only
 * where it is asked for; whether it is there is the planner's last check.
 */
import type { Place } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import type { OperationContract, Runner } from "../contract/operation.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { AUTOMATIC, backendMissing, backendNamed } from "./backends.ts";
import { describe, entriesOf, type Entry, matches, setting, settings, specificity, text } from "./entries.ts";
import { incompatible, type Refusal, refusal, withoutNativeKernels } from "./refusals.ts";

export interface Request {
  runner: Runner;
  /** Backend and implementation asked for by flag. */
  backend?: string;
  implementation?: string;
  /** Parameters that the author wrote; the others may be set by an explicit choice. */
  authored: JsonObject;
  /** Whether the operation has native kernels for these parameters, though it does not declare `cpp`. */
  nativeKernels?: boolean;
}

/** The entry that was chosen, and why. */
export interface Choice {
  entry: Entry;
  /** Its index among the operation's entries for this runner. */
  candidate_index: number;
  source: "flag" | "selector_parameter" | "declared_order";
  requested_backend: string | null;
  requested_implementation?: string;
  /** The parameter that asked. */
  requested_parameter?: string;
  /** Parameters that an explicit, unique choice sets. */
  overrides: JsonObject;
  /** Selectors that pick kernels inside the one entry. */
  subordinates: JsonObject;
}

const SELECTORS = ["materialization_backend", "execution_backend", "wireless_backend", "runtime_backend", "backend"];

interface Selector {
  name: string;
  /** Backend that the present value asks for; null leaves the choice to the declared order. */
  backend: string | null;
}

/**
 * Chooses the entry for a step.
 *
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
    return refusal(`Cannot run ${title} under ${runner}: no entry is declared for it`, {
      hint: others.length > 0 ? `It is declared for ${others.join(", ")}` : null,
    });
  }

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

  const byFlag = request.backend === undefined ? undefined : backendNamed(request.backend, declared);
  const flagApplies = byFlag !== undefined && all.some((entry) => entry.backend === byFlag);
  const nameApplies = request.implementation !== undefined &&
    all.some((entry) => entry.implementation === request.implementation);
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
        { hint: `Leave out ${conflict}, or set it to ${text(bindings[conflict])}`, place: ["params", conflict] },
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

/** Whether a flag concerns an operation at all: it declares that backend, or an implementation of that name. */
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

export function isRefusal(outcome: Choice | Refusal): outcome is Refusal {
  return "code" in outcome;
}

/** The selector parameter that asks for a backend, if any does. */
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

/** What an annotated selector's value asks for. */
function ruled(rule: JsonObject, value: string): string | null {
  const automatic = [...(Array.isArray(rule.automatic_values) ? rule.automatic_values : []), rule.automatic_value];
  if (automatic.includes(value)) return null;
  const mapped = isObject(rule.mapping) ? rule.mapping[value] : undefined;
  return typeof mapped === "string" ? mapped : value;
}

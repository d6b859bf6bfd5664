/** Refusals of a step's requested execution, with alternatives. */
import type { Code, Place } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { OperationContract, Runner } from "../contract/operation.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { matches, misses } from "../contract/bindings.ts";
import { type Entry, setting, settings, text } from "./entries.ts";

/** A finding about a step that cannot be bound. */
export interface Refusal {
  code: Code;
  message: string;
  hint: string | null;
  /** Relative to the step. */
  place: Place;
}

/** A refusal at the step's operation, by default `materialization_unavailable`. */
export function refusal(message: string, more: { code?: Code; hint?: string | null; place?: Place } = {}): Refusal {
  return {
    code: more.code ?? "materialization_unavailable",
    message,
    hint: more.hint ?? null,
    place: more.place ?? ["op"],
  };
}

/** A parameter has a value with which nothing runs, while another value runs; null for none. */
export function unavailable(contract: OperationContract, params: JsonObject): Refusal | null {
  const properties = contract.params_schema.properties as { [name: string]: JsonObject };
  for (const [name, reasons] of Object.entries(contract.unavailable_values ?? {})) {
    const reason = reasons[String(params[name])];
    const left = (properties[name].enum as Value[]).map(text).filter((value) => reasons[value] === undefined);
    if (reason === undefined || left.length === 0) continue;
    return refusal(`Cannot run ${contract.id} with ${setting(name, params[name])}: ${reason}`, {
      hint: `Set ${name} to ${oneOf(left)}`,
      place: ["params", name],
    });
  }
  return null;
}

const oneOf = (values: readonly string[]): string => values.join(", ").replace(/, ([^,]*)$/, " or $1");

/** The native extension was requested and has no kernels. */
export function withoutNativeKernels(title: string): Refusal {
  return refusal(`Cannot run ${title} on cpp: the native extension has no kernels for it`, {
    hint: "Set data_plane_backend to python_numpy",
    place: ["params", "data_plane_backend"],
  });
}

/** No requested entry matches the parameters. */
export function incompatible(
  contract: OperationContract,
  params: JsonObject,
  asked: { runner: Runner; backend: string | null; place: Place; pool: Entry[]; candidates: Entry[]; others: Entry[] },
): Refusal {
  const { runner, backend, place, pool, candidates } = asked;
  const title = contract.id;
  const elsewhere = asked.others.find((entry) => entry.runner !== runner && matches(entry, params));
  const backends = [...new Set(candidates.map((entry) => entry.backend))];
  // Bindings that distinguish the entry from all entries of this runner.
  const bindings = Object.entries(elsewhere?.parameter_bindings ?? {}).filter(([name, value]) =>
    !candidates.some((entry) => sameValue(entry.parameter_bindings?.[name], value))
  );
  if (elsewhere && !backends.includes(elsewhere.backend)) {
    return refusal(`Cannot run ${title} under ${runner}: ${elsewhere.backend} exists only under ${elsewhere.runner}`, {
      hint: `Under ${runner} it runs on ${backends.join(", ")}`,
      place,
    });
  }
  if (elsewhere && bindings.length > 0) {
    const what = bindings.map(([name, value]) => setting(name, value)).join(", ");
    return refusal(`Cannot run ${title} under ${runner}: ${what} exists only under ${elsewhere.runner}`, {
      hint: alternatives(candidates, bindings.map(([name]) => name)),
      place: ["params", bindings[0][0]],
    });
  }
  if (pool.length === 0) {
    return refusal(
      `Cannot run ${title} on ${backend ?? "the requested implementation"}: it is declared on ${backends.join(", ")}`,
      {
        code: backend === null ? "materialization_unavailable" : "backend_unsupported",
        hint: backend === null ? null : didYouMean(backend, backends),
        place,
      },
    );
  }
  const ready = pool.filter((entry) => entry.status === "implemented");
  const nearest = (ready.length > 0 ? ready : pool).reduce((best, entry) =>
    misses(entry, params).length < misses(best, params).length ? entry : best
  );
  const names = Object.keys(nearest.parameter_bindings ?? {});
  const changes = misses(nearest, params).map((name) => setting(name, nearest.parameter_bindings![name])).join(", ");
  return refusal(`Cannot run ${title}${backend === null ? "" : ` on ${backend}`}${settings(nearest, params)}`, {
    code: backend !== null && names.includes("channel") ? "channel_backend_unsupported" : "materialization_unavailable",
    hint: nearest.status === "implemented"
      ? `Nearest is ${nearest.implementation}: set ${changes}`
      : nearest.notes ?? `Choose a backend that runs: ${backends.join(", ")}`,
    place,
  });
}

/** The values that a runner's own entries offer for some parameters. */
function alternatives(entries: Entry[], names: string[]): string | null {
  const name = names.find((candidate) => entries.some((entry) => entry.parameter_bindings?.[candidate] !== undefined));
  if (name === undefined) return null;
  const values = new Set(entries.flatMap((entry) => entry.parameter_bindings?.[name] ?? []).map(text));
  return `Set ${name} to ${oneOf([...values])}`;
}

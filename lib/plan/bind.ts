/** Binds checked steps to the materialisations that execute them. */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { Runner } from "../contract/operation.ts";
import { isEffective, plainParams } from "../contract/schema.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { materializeDefaults } from "../recipe/defaults.ts";
import type { StepDocument } from "../recipe/types.ts";
import { backendNamed, BACKENDS, NATIVE_EXTENSION } from "./backends.ts";
import type { BoundStep } from "./build.ts";
import { type CheckedStep, crossCheck } from "./check_steps.ts";
import { entriesOf } from "./entries.ts";
import type { ModuleSource } from "./implementation_source.ts";
import { type Choice, flagsConcern, hasNativeKernels, isRefusal, materialize } from "./materialize.ts";

export interface BindOptions {
  runner?: Runner;
  backend?: string;
  implementation?: string;
}

const UNREAD: ModuleSource = { source_module: "", source_sha256: null };

/**
 * Chooses a materialisation for every step.
 * @param authored the author's steps, whose parameters no flag may change
 * @param sources of the modules, by URL
 */
export function bindSteps(
  checked: readonly CheckedStep[],
  authored: readonly StepDocument[],
  sources: ReadonlyMap<string, ModuleSource>,
  options: BindOptions,
): { bound: BoundStep[]; problems: Diagnostic[] } {
  const runner = options.runner ?? "benchmark_run";
  const bound: BoundStep[] = [];
  const problems = checkFlags(checked, options);
  for (const candidate of checked) {
    const { index, step, registered } = candidate;
    const { definition, contract } = registered.operation;
    const written = authored[index].params;
    const outcome = materialize(contract, candidate.params, {
      runner,
      backend: options.backend,
      implementation: options.implementation,
      authored: written,
      nativeKernels: hasNativeKernels(definition, candidate.params),
    });
    if (isRefusal(outcome)) {
      const { code, message, hint, place } = outcome;
      problems.push(diagnostic(code, ["steps", index, ...place], message, { hint, step_id: step.id }));
      continue;
    }
    let { params } = candidate;
    if (Object.keys(outcome.overrides).length > 0) {
      // Parameters set by the choice can change which conditional parameters apply; authored ones stay and are checked.
      const conflicts: Diagnostic[] = [];
      params = overridden(contract.params_schema, { ...params, ...outcome.overrides }, written, index, conflicts);
      conflicts.push(...crossCheck(registered, step, index, params));
      if (conflicts.length > 0) {
        problems.push(...conflicts);
        continue;
      }
    }
    bound.push({
      ...candidate,
      params,
      choice: outcome,
      source: sources.get(registered.moduleUrl) ?? UNREAD,
      requirements: [
        ...definition.requires?.(plainParams(params)) ?? [],
        ...(isNative(outcome) ? [NATIVE_EXTENSION] : []),
      ],
    });
  }
  return { bound, problems };
}

/** Whether native kernels execute the step, by a `cpp` entry or by a selector. */
function isNative({ entry, subordinates }: Choice): boolean {
  const kernels = subordinates.data_plane_backend;
  return entry.backend === "cpp" || (isObject(kernels) && kernels.resolved === "cpp_native");
}

/**
 * Parameters after an override: defaults whose condition no longer holds are removed, newly applicable ones are added.
 */
function overridden(schema: JsonObject, params: JsonObject, written: JsonObject, index: number, found: Diagnostic[]) {
  const kept = Object.entries(params).filter(([name]) =>
    Object.hasOwn(written, name) || isEffective(schema, name, params)
  );
  return materializeDefaults(schema, Object.fromEntries(kept), ["steps", index, "params"], found) as JsonObject;
}

/** Refuses a flag that applies to no step. */
function checkFlags(checked: readonly CheckedStep[], { backend, implementation }: BindOptions): Diagnostic[] {
  if (backend === undefined && implementation === undefined) return [];
  const contracts = [...new Set(checked.map((step) => step.registered.operation.contract))];
  const concerned = contracts.map((contract) => flagsConcern(contract, { backend, implementation }));
  const problems: Diagnostic[] = [];
  if (backend !== undefined && !concerned.some((found) => found.backend)) {
    const names = [...new Set(contracts.flatMap((contract) => entriesOf(contract).map((entry) => entry.backend)))];
    const known = BACKENDS.includes(backendNamed(backend));
    problems.push(diagnostic(
      "backend_unsupported",
      ["steps"],
      known ? `Cannot run any step on ${backend}` : `Cannot find a backend named ${backend}`,
      { hint: didYouMean(backend, known ? names : BACKENDS) ?? `This recipe runs on ${names.join(", ")}` },
    ));
  }
  if (implementation !== undefined && !concerned.some((found) => found.implementation)) {
    const names = [
      ...new Set(contracts.flatMap((contract) => entriesOf(contract).map((entry) => entry.implementation))),
    ];
    problems.push(diagnostic(
      "materialization_unavailable",
      ["steps"],
      `Cannot find an implementation named ${implementation} among the operations of this recipe`,
      { hint: didYouMean(implementation, names) },
    ));
  }
  return problems;
}

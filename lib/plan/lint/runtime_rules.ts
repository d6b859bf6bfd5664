/** Rules for model bundles, their runtimes, and backends of the program. */
import { didYouMean } from "../../contract/nearest.ts";
import { RUNNERS } from "../../contract/operation.ts";
import { isObject, type Value } from "../../contract/value.ts";
import { BACKENDS } from "../backends.ts";
import { inputOf, type LintStep, type LintView, opOf, type Rule } from "./view.ts";

const isBundle = (kind: Value): boolean => typeof kind === "string" && kind.endsWith(".bundle");

/** Kinds of model bundle that a step runs. */
function bundlesOf({ contract }: LintStep): string[] {
  const kinds = contract?.input_kinds.model ?? contract?.optional_input_kinds.model ?? [];
  return kinds.filter(isBundle);
}

/** The output of a step that is a model bundle. */
function exported({ contract }: LintStep): { output: string; kind: string } | undefined {
  const found = Object.entries(contract?.output_kinds ?? {}).find(([, kind]) => isBundle(kind));
  return found && { output: found[0], kind: found[1] };
}

/** Earlier outputs that are bundles of one of these kinds. */
const fitting = (recipe: LintView, step: LintStep, kinds: string[]) =>
  recipe.steps.slice(0, step.index).flatMap((earlier) => {
    const bundle = exported(earlier);
    return bundle && kinds.includes(bundle.kind) ? [`${earlier.id}.${bundle.output}`] : [];
  });

/** Steps that run a bundle, with the available bundles. */
function* runtimes(recipe: LintView): Iterable<{ step: LintStep; kinds: string[]; there: string[] }> {
  for (const step of recipe.steps) {
    const kinds = bundlesOf(step);
    if (kinds.length > 0) yield { step, kinds, there: fitting(recipe, step, kinds) };
  }
}

const wired = (step: LintStep) => Object.hasOwn(step.inputs, "model");

/** Metadata that names a runtime, with the allowed names. */
const NAMED: readonly { path: readonly string[]; known: readonly string[] }[] = [
  { path: ["runtime"], known: [...BACKENDS, "aot_inductor"] },
  { path: ["codec_timing", "runner"], known: RUNNERS },
];

export const RUNTIME_RULES: readonly Rule[] = [
  {
    code: "benchmark_runner_unsupported",
    *find(recipe) {
      for (const step of recipe.steps) {
        const { contract } = step;
        if (!contract || contract.status !== "implemented") continue;
        if (contract.materializations.some(({ runner }) => runner === "benchmark_run")) continue;
        const runners = [...new Set(contract.materializations.map(({ runner }) => String(runner)))];
        yield {
          place: opOf(step),
          message: `Cannot run ${step.op} in a benchmark: it has no benchmark_run entry`,
          hint: runners.length === 0 ? "Use another operation" : `It exists under ${runners.join(", ")}`,
          step,
        };
      }
    },
  },
  {
    code: "runtime_export_missing",
    replaces: ["input_missing"],
    *find(recipe) {
      for (const { step, kinds, there } of runtimes(recipe)) {
        if (wired(step) || there.length > 0) continue;
        yield {
          place: inputOf(step, "model"),
          message: `Cannot run a model in ${step.id}: no earlier step exports a ${kinds.join(" or ")}`,
          hint: "Add a step that exports the model",
          step,
        };
      }
    },
  },
  {
    code: "runtime_model_input_missing",
    replaces: ["input_missing"],
    *find(recipe) {
      for (const { step, there } of runtimes(recipe)) {
        if (wired(step) || there.length === 0) continue;
        yield {
          place: inputOf(step, "model"),
          message: `Cannot run ${step.id} without its model`,
          hint: `Wire model to ${there.at(-1)}`,
          step,
        };
      }
    },
  },
  {
    code: "runtime_model_kind_invalid",
    replaces: ["kind_mismatch"],
    *find(recipe) {
      for (const { step, kinds, there } of runtimes(recipe)) {
        const wire = recipe.source(step, "model");
        const kind = wire?.step.outputs[wire.output];
        if (!wire || kind === undefined || kinds.includes(kind)) continue;
        yield {
          place: inputOf(step, "model"),
          message: `Cannot run ${wire.step.id}.${wire.output} in ${step.id}: it is ${kind}, and ${
            kinds.join(" or ")
          } runs here`,
          hint: there.length > 0 ? `Wire model to ${there.at(-1)}` : "Add a step that exports the model in this kind",
          step,
        };
      }
    },
  },
  {
    code: "runtime_adapter_missing",
    *find(recipe) {
      const run = new Set([...runtimes(recipe)].map(({ step }) => recipe.source(step, "model")?.step));
      for (const step of recipe.steps) {
        const bundle = exported(step);
        // A missing wire of a runtime is reported there.
        if (!bundle || run.has(step) || [...runtimes(recipe)].some(({ kinds }) => kinds.includes(bundle.kind))) {
          continue;
        }
        yield {
          place: ["steps", step.index],
          message: `Cannot measure the model of ${step.id}: no step runs its ${bundle.kind}`,
          hint: `Wire ${step.id}.${bundle.output} to a step that runs it`,
          step,
        };
      }
    },
  },
  {
    code: "runtime_unknown",
    severity: "warning",
    *find(recipe) {
      for (const { path, known } of NAMED) {
        const name = path.reduce<Value>((at, key) => (isObject(at) ? at[key] ?? null : null), recipe.recipe.metadata);
        if (name === null || (typeof name === "string" && known.includes(name))) continue;
        yield {
          place: ["metadata", ...path],
          message: `metadata.${path.join(".")} names an unknown ${path.at(-1)}`,
          hint: (typeof name === "string" ? didYouMean(name, known) : null) ?? `Known: ${known.join(", ")}`,
        };
      }
    },
  },
];

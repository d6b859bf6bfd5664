/** Explains one step in full: purpose, inputs, outputs, origin of each parameter, execution. */
import { type Diagnostic, SvcError } from "../contract/error.ts";
import { canonicalJson, sameValue } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { OperationContract } from "../contract/operation.ts";
import { type OutputKinds, stepOutputKinds } from "../contract/output_kinds.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { Compilation, RecipeDocument } from "../recipe/types.ts";
import { explainPlan } from "./explain.ts";
import type { PlanResult } from "./planner.ts";

/** Origin of a parameter's value. */
export type ParameterSource = "authored" | "default" | "derived seed" | "chosen implementation" | "linked step";

export interface StepExplanation extends JsonObject {
  schema_version: 1;
  recipe: string;
  step_id: string;
  /** Position among the steps, from 1. */
  position: number;
  step_count: number;
  operation: JsonObject;
  /** `{port, kinds, optional, from, from_operation, kind}`; `from` is null for an unconnected optional input. */
  inputs: JsonObject[];
  /** `{name, value, source, type, unit, description, default?}`, in the order of the schema. */
  params: JsonObject[];
  /** `{port, kind, consumers, metadata}`: guaranteed metadata keys, including those taken over from an input. */
  outputs: JsonObject[];
  /** Null for a recipe that cannot be planned; `problems` then holds the reasons that concern this step. */
  execution: JsonObject | null;
  problems: Diagnostic[] & JsonObject[];
}

/**
 * Explains a step.
 * @param compilation valid compilation
 * @param planned result of the planner
 * @throws SvcError `not_found` with the nearest id
 */
export function explainStep(
  compilation: Compilation,
  planned: PlanResult,
  registry: Registry,
  stepId: string,
): StepExplanation {
  const recipe = planned.status === "planned" ? planned.recipe : compilation.effective!;
  const index = recipe.steps.findIndex(({ id }) => id === stepId);
  if (index < 0) {
    throw new SvcError("not_found", `Cannot find a step named ${stepId} in ${recipe.name}`, {
      hint: didYouMean(stepId, recipe.steps.map(({ id }) => id)),
    });
  }
  const step = recipe.steps[index], { contract } = registry.get(step.op).operation;
  const kinds = stepOutputKinds(recipe.steps, (op) => registry.find(op)?.operation.contract);
  const row = planned.status === "planned" ? explainPlan(planned, registry).steps[index] : undefined;
  const problems = planned.diagnostics.filter((item) =>
    item.step_id === stepId || item.path.startsWith(`$.steps[${index}]`)
  );
  return {
    schema_version: 1,
    recipe: recipe.name,
    step_id: stepId,
    position: index + 1,
    step_count: recipe.steps.length,
    ...(typeof step.description === "string" ? { description: step.description } : {}),
    operation: {
      id: contract.id,
      name: contract.name,
      ...(contract.description === undefined ? {} : { description: contract.description }),
      status: contract.status,
    },
    inputs: inputsOf(recipe, index, contract, kinds),
    params: paramsOf(compilation, recipe, index, contract),
    outputs: Object.entries(kinds[index] ?? contract.output_kinds).map(([port, kind]): JsonObject => ({
      port,
      kind,
      consumers: recipe.steps.flatMap(({ id, inputs }) =>
        Object.entries(inputs).filter(([, from]) => from === `${stepId}.${port}`).map(([input]) => `${id}.${input}`)
      ),
      metadata: [...promised(recipe, index, port, registry)].sort(),
    })),
    execution: row === undefined ? null : {
      runner: planned.status === "planned" ? planned.plan.runner : null,
      backend: row.backend,
      implementation: row.implementation,
      reason: row.reason,
      thread_safe: contract.execution_safety.thread_safe,
      equivalence: contract.equivalence,
    },
    problems: problems as StepExplanation["problems"],
  };
}

function inputsOf(
  recipe: RecipeDocument,
  index: number,
  contract: OperationContract,
  outputs: readonly (OutputKinds | undefined)[],
): JsonObject[] {
  const { inputs } = recipe.steps[index];
  const ports = (kinds: { [port: string]: string[] }, optional: boolean) =>
    Object.entries(kinds).map(([port, accepted]): JsonObject => {
      const from = Object.hasOwn(inputs, port) ? inputs[port] : null;
      const [source = "", output = ""] = from?.split(".") ?? [];
      const at = recipe.steps.findIndex(({ id }) => id === source);
      return {
        port,
        kinds: accepted,
        optional,
        from,
        from_operation: recipe.steps[at]?.op ?? null,
        kind: outputs[at]?.[output] ?? null,
      };
    });
  return [...ports(contract.input_kinds, false), ...ports(contract.optional_input_kinds, true)];
}

function paramsOf(
  compilation: Compilation,
  recipe: RecipeDocument,
  index: number,
  contract: OperationContract,
): JsonObject[] {
  const { id, params } = recipe.steps[index];
  const authored = compilation.normalized!.steps[index].params;
  const properties = (contract.params_schema.properties ?? {}) as JsonObject;
  const seeds = compilation.seed_policy?.steps as JsonObject | undefined;
  const seedSource = (seeds?.[id] as JsonObject | undefined)?.source;
  const scenario = compilation.effective!.metadata.resolved_channel_scenario !== undefined;
  const sourceOf = (name: string): ParameterSource => {
    if (name === "seed" && seedSource === "derived") return "derived seed";
    if (Object.hasOwn(authored, name) && authored[name] !== null) return "authored";
    // An explicit choice of implementation sets parameters after the defaults.
    if (!sameValue(compilation.effective!.steps[index].params[name], params[name])) return "chosen implementation";
    // A channel and its wired state share one scenario.
    const fallback = isObject(properties[name]) ? (properties[name] as JsonObject).default : undefined;
    return scenario && fallback !== undefined && !sameValue(fallback, params[name]) ? "linked step" : "default";
  };
  return Object.entries(params).map(([name, value]): JsonObject => {
    const node = isObject(properties[name]) ? properties[name] as JsonObject : {};
    const ui = isObject(node["x-svc-ui"]) ? node["x-svc-ui"] : {};
    const source = sourceOf(name);
    return {
      name,
      value,
      source,
      type: node.type ?? null,
      unit: ui.unit ?? null,
      description: node.description ?? null,
      ...(source === "authored" && node.default !== undefined ? { default: node.default } : {}),
      ...(node.enum === undefined ? {} : { choices: node.enum }),
    };
  });
}

/** Metadata keys that an output always carries: its own and those taken over from an input. */
function promised(recipe: RecipeDocument, index: number, output: string, registry: Registry): Set<string> {
  const step = recipe.steps[index];
  const { keys: own = [], from: input } =
    registry.find(step.op)?.operation.contract.output_metadata_guarantees[output] ?? {};
  const from = input === undefined ? undefined : step.inputs[input];
  if (from === undefined) return new Set(own);
  const [source, port] = from.split(".");
  const earlier = recipe.steps.findIndex(({ id }) => id === source);
  return new Set([...own, ...(earlier < 0 ? [] : promised(recipe, earlier, port, registry))]);
}

/** Styles for parts of the explanation; each returns a text of the same width. */
export interface StepTextStyle {
  title?(text: string): string;
  dim?(text: string): string;
}

export function stepText(explained: StepExplanation, style: StepTextStyle = {}): string {
  const title = style.title ?? String, dim = style.dim ?? String;
  const { operation, execution } = explained;
  const lines = [
    `${title(explained.step_id)}  ${operation.id}  ${operation.name}`,
    `  step ${explained.position} of ${explained.step_count} of ${explained.recipe}`,
  ];
  for (const text of [explained.description, operation.description]) {
    if (typeof text === "string") lines.push(`  ${text}`);
  }
  const section = (name: string, rows: string[][]) => {
    if (rows.length === 0) return;
    const widths = rows[0].slice(0, -1).map((_, at) => Math.max(...rows.map((row) => row[at].length)));
    lines.push("", title(name));
    for (const row of rows) {
      lines.push(
        ("  " + row.map((cell, at) => at < widths.length ? cell.padEnd(widths[at]) : dim(cell)).join("  ")).trimEnd(),
      );
    }
  };
  section(
    "Inputs",
    explained.inputs.map(({ port, from, from_operation, kind, kinds, optional }) =>
      from === null
        ? [String(port), "-", `${optional ? "optional" : "missing"}: ${(kinds as string[]).join(" or ")}`]
        : [String(port), `<- ${from}`, `${from_operation ?? "unknown"}: ${kind ?? "unknown"}`]
    ),
  );
  section(
    "Parameters",
    explained.params.map((param) => [
      String(param.name),
      shown(param.value) + (param.unit === null ? "" : ` ${param.unit}`),
      param.source + (param.default === undefined ? "" : ` (default ${shown(param.default)})`),
      param.description === null ? "" : String(param.description),
    ]),
  );
  section(
    "Outputs",
    explained.outputs.map(({ port, kind, consumers, metadata }) => [
      String(port),
      (consumers as string[]).length === 0 ? "not read by a step" : `-> ${(consumers as string[]).join(", ")}`,
      [kind, ...((metadata as string[]).length > 0 ? [`promises ${(metadata as string[]).join(", ")}`] : [])].join(
        "; ",
      ),
    ]),
  );
  lines.push("", title("Runs on"));
  if (execution === null) lines.push("  nothing: the recipe cannot be planned");
  else {
    lines.push(`  ${execution.backend}/${execution.implementation} under ${execution.runner}, by ${execution.reason}`);
    lines.push(
      `  ${execution.thread_safe ? "overlaps with other steps" : "runs alone"}; ${
        equivalenceText(execution.equivalence)
      }`,
    );
  }
  for (const { code, message } of explained.problems) lines.push(`  ${code}: ${message}`);
  return lines.join("\n") + "\n";
}

function shown(value: Value): string {
  const text = typeof value === "string" && value !== "" ? value : canonicalJson(value);
  return text.length > 60 ? text.slice(0, 57) + "..." : text;
}

function equivalenceText(equivalence: Value): string {
  const { type, tolerance } = equivalence as JsonObject;
  const bounds = isObject(tolerance) ? ` within atol ${shown(tolerance.atol)}, rtol ${shown(tolerance.rtol)}` : "";
  return `implementations agree: ${type}${bounds}`;
}

/** Explains a plan: every step with its chosen parameters, its execution, and the reasons. */
import { canonicalJson, sameValue } from "../contract/json.ts";
import type { Registry } from "../contract/registry.ts";
import { formatBytes } from "../contract/units.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { PlanResources } from "./estimate.ts";
import type { ExecutionPlan, PlanCacheEvidence } from "./types.ts";

export interface ExplainedStep extends JsonObject {
  step_id: string;
  operation_id: string;
  operation_name: string;
  /** Input to `<step>.<output>`. */
  inputs: JsonObject;
  /** Parameters that differ from their defaults. */
  params: JsonObject;
  backend: string;
  implementation: string;
  /** Why this backend: `declared order`, `wireless_backend=phylib`, `--backend phylib`. */
  reason: string;
}

export interface PlanExplanation extends JsonObject {
  schema_version: 1;
  recipe: string;
  runner: string;
  execution_profile: JsonObject;
  recipe_sha256: string;
  plan_sha256: string;
  cache: JsonObject;
  /** - */
  resources: PlanResources;
  steps: ExplainedStep[];
}

/**
 * Describes a plan.
 * @param planned plan, recipe and cache record of `planRecipe`
 * @param registry the registry used for planning
 */
export function explainPlan(
  planned: { plan: ExecutionPlan; recipe: RecipeDocument; cache: PlanCacheEvidence },
  registry: Registry,
): PlanExplanation {
  const { plan, recipe, cache } = planned;
  return {
    schema_version: 1,
    recipe: recipe.name,
    runner: plan.runner,
    execution_profile: recipe.execution_profile,
    recipe_sha256: plan.recipe.sha256 as string,
    plan_sha256: plan.sha256,
    cache: { outcome: cache.outcome, reason: cache.reason },
    resources: plan.resources,
    steps: plan.steps.map((row, index): ExplainedStep => {
      const { op, inputs, params } = recipe.steps[index];
      const metadata = row.implementation_metadata as { operation_name: string; selection: JsonObject };
      return {
        step_id: row.step_id,
        operation_id: op,
        operation_name: metadata.operation_name,
        inputs: { ...inputs },
        params: chosenParams(registry.get(op).operation.contract.params_schema, params),
        backend: row.backend,
        implementation: row.implementation,
        reason: reasonOf(metadata.selection),
      };
    }),
  };
}

/** The description as text: a header and a paragraph per step. */
export function planText(explanation: PlanExplanation): string {
  const { recipe, runner, execution_profile: profile, cache, resources, steps } = explanation;
  const width = Math.max(...steps.map((step) => step.step_id.length));
  const lines = [
    `${recipe}: ${steps.length} ${steps.length === 1 ? "step" : "steps"} under ${runner}, profile ${profile.id}`,
    `recipe ${explanation.recipe_sha256}`,
    `plan   ${explanation.plan_sha256}`,
    `cache  ${cache.outcome} (${cache.reason})`,
    resources.unknown
      ? "needs  memory and disk space that the files of its data determine"
      : `needs  ${resources.exact ? "" : "about "}${formatBytes(resources.memory_bytes)} of memory, ` +
        `${formatBytes(resources.disk_bytes)} on the disk`,
    ...chainLines(resources),
    "",
  ];
  for (const step of steps) {
    const indent = " ".repeat(width + 2);
    lines.push(
      `${step.step_id.padEnd(width)}  ${step.operation_id} on ${step.backend}/${step.implementation} (${step.reason})`,
    );
    const inputs = Object.entries(step.inputs).map(([port, source]) => `${port} <- ${source}`);
    const params = Object.entries(step.params).map(([name, value]) =>
      `${name}=${typeof value === "string" && value !== "" ? value : canonicalJson(value)}`
    );
    for (const part of [inputs, params]) if (part.length > 0) lines.push(indent + part.join("  "));
  }
  return lines.join("\n") + "\n";
}

/** A line for each chain of steps. */
function chainLines({ per_step }: PlanResources): string[] {
  const chains = Map.groupBy(per_step.filter(({ chain }) => chain !== undefined), ({ chain }) => chain);
  return [...chains.values()].map((steps) => `blocks ${steps.map(({ step_id }) => step_id).join(", ")} in one pass`);
}

function chosenParams(schema: JsonObject, params: JsonObject): JsonObject {
  const properties = schema.properties as JsonObject | undefined ?? {};
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => {
      const node = properties[name];
      return !isObject(node) || !sameValue(node.default, value);
    }),
  );
}

function reasonOf(selection: JsonObject): string {
  switch (selection.source) {
    case "flag":
      return selection.requested_backend === null
        ? `--implementation ${selection.requested_implementation}`
        : `--backend ${selection.requested_backend}`;
    case "selector_parameter":
      return `${selection.requested_parameter}=${selection.requested_backend}`;
    default:
      return "declared order";
  }
}

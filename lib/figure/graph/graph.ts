/** The graph of a recipe, as data, text, Mermaid and Graphviz. */
import { stepOutputKinds } from "../../contract/output_kinds.ts";
import { escapeXml, visible, visibleLines } from "../../contract/escape.ts";
import type { Registry } from "../../contract/registry.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import type { RecipeDocument } from "../../recipe/types.ts";

export interface GraphEdge extends JsonObject {
  from_step: string;
  from_output: string;
  to_step: string;
  to_input: string;
}

export interface RecipeGraph extends JsonObject {
  schema_version: 1;
  recipe: string;
  nodes: JsonObject[];
  edges: GraphEdge[];
}

/**
 * Builds the graph of a recipe.
 * @param recipe normalised or effective form
 * @param registry contracts of the nodes; an unknown operation has the status `unknown`
 */
export function recipeGraph(recipe: RecipeDocument, registry: Registry): RecipeGraph {
  const kinds = stepOutputKinds(recipe.steps, (op) => registry.find(op)?.operation.contract);
  const nodes = recipe.steps.map((step, index): JsonObject => {
    const contract = registry.find(step.op)?.operation.contract;
    const runners = (contract?.materializations ?? []).filter((entry) => entry.status === "implemented");
    const ran = (runner: string): Value => runners.some((entry) => entry.runner === runner);
    return {
      id: step.id,
      op: step.op,
      name: contract?.name ?? step.op,
      status: contract?.status ?? "unknown",
      inputs: contract?.input_kinds ?? {},
      optional_inputs: contract?.optional_input_kinds ?? {},
      outputs: kinds[index] ?? contract?.output_kinds ?? {},
      params: step.params,
      differentiability: contract?.differentiability ?? null,
      training_capabilities: contract?.training_capabilities ?? null,
      fine_tuning_supported: contract?.training_capabilities.built_in_fine_tuning ?? false,
      replacement_ready: contract?.training_capabilities.portable_replacement ?? false,
      backends: contract?.backends ?? {},
      equivalence: contract?.equivalence ?? null,
      formats: contract?.formats ?? null,
      materializations: contract?.materializations ?? [],
      runner_support: {
        benchmark_run: ran("benchmark_run"),
        dataset_capture: ran("dataset_capture"),
        differentiable_export: ran("differentiable_export"),
      },
    };
  });
  const edges = recipe.steps.flatMap((step) =>
    Object.entries(step.inputs).map(([port, reference]): GraphEdge => {
      const [from, output] = reference.split(".");
      return { from_step: from, from_output: output, to_step: step.id, to_input: port };
    })
  );
  return { schema_version: 1, recipe: recipe.name, nodes, edges };
}

/** One line per step, with its inputs. */
export function graphText(given: RecipeGraph): string {
  const graph = visibleLines(given);
  const width = Math.max(...graph.nodes.map(({ id }) => String(id).length));
  const lines = graph.nodes.map(({ id, op }) => {
    const inputs = graph.edges.filter((edge) => edge.to_step === id)
      .map((edge) => `${edge.to_input} <- ${edge.from_step}.${edge.from_output}`);
    return `${String(id).padEnd(width)}  ${op}${inputs.length > 0 ? `  (${inputs.join(", ")})` : ""}`;
  });
  return lines.join("\n") + "\n";
}

/** A Mermaid flow chart. Ids are numbered, because a step id may be a Mermaid keyword. */
export function graphMermaid(graph: RecipeGraph): string {
  const number = new Map(graph.nodes.map(({ id }, index) => [id, `s${index}`]));
  const text = (name: Value) => escapeXml(String(name)).replaceAll("|", "&#124;").replaceAll("\n", " ");
  const nodes = graph.nodes.map(({ id, op }) => `  ${number.get(id)}["${text(id)}<br/>${text(op)}"]`);
  const edges = graph.edges.map((edge) =>
    `  ${number.get(edge.from_step)} -->|${text(edge.from_output)}| ${number.get(edge.to_step)}`
  );
  return ["flowchart LR", ...nodes, ...edges].join("\n") + "\n";
}

export function graphDot(graph: RecipeGraph): string {
  const quote = (text: Value) => visible(JSON.stringify(String(text)));
  const nodes = graph.nodes.map(({ id, op }) => `  ${quote(id)} [label=${quote(`${id}\n${op}`)}];`);
  const edges = graph.edges.map((edge) =>
    `  ${quote(edge.from_step)} -> ${quote(edge.to_step)} [label=${quote(edge.from_output)}];`
  );
  const head = [`digraph ${quote(graph.recipe)} {`, "  rankdir=LR;", "  node [shape=box];"];
  return [...head, ...nodes, ...edges, "}"].join("\n") + "\n";
}

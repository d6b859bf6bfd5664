/** The documents of a training project: trained blocks, data, evaluations, and the way back into a recipe. */
import { escapeMarkdown } from "../contract/escape.ts";
import { sha256Json } from "../contract/hash.ts";
import { stepOutputKinds } from "../contract/output_kinds.ts";
import type { OperationAbi } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { cloneValue, type JsonObject } from "../contract/value.ts";
import type { RecipeGraph } from "../figure/graph/graph.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { hasUnresolvedMatrix } from "../recipe/variant.ts";
import type { TrainingInspection } from "../training/inspect_recipe.ts";
import type { TrainingPlan } from "../training/training_plan.ts";
import { hasTwin } from "../training/twin.ts";
import type { CaptureConfig, Split } from "./config.ts";

/** All that a project is written from. */
export interface ProjectFacts {
  id: string;
  /** Normalised scenario, without a `dataset_capture`. */
  recipe: RecipeDocument;
  effective: RecipeDocument;
  plan: TrainingPlan;
  inspection: TrainingInspection;
  registry: Registry;
  graph: RecipeGraph;
  /** Capture of each split, and the recipe of it. */
  captures: {
    split: Split;
    config: CaptureConfig;
    recipe: RecipeDocument;
    released_seeds: string[];
    file: string;
    sha256: string;
  }[];
}

const identities = ({ inspection: { scenario_sha256, training_plan_sha256 } }: ProjectFacts): JsonObject => ({
  scenario_sha256,
  training_plan_sha256,
});

/** The outputs that every network has. */
const withoutOptional = (outputs: OperationAbi["outputs"]) =>
  Object.fromEntries(Object.entries(outputs).filter(([, { optional }]) => !optional));

/** A selected block with its slot, and where its inputs come from. */
function blocks({ inspection, effective, registry, captures }: ProjectFacts): JsonObject[] {
  const taps = captures[0].config.taps;
  return inspection.selected_steps.map((id) => {
    const boundary = inspection.boundaries.find(({ step_id }) => step_id === id)!;
    const step = effective.steps.find((item) => item.id === id)!;
    const { binding_params: binding, outputs, ...slot } = cloneValue(boundary.slot!);
    const { input_kinds, optional_input_kinds } = registry.get(step.op).operation.contract;
    return {
      step_id: id,
      operation: step.op,
      ...slot,
      outputs: withoutOptional(outputs as OperationAbi["outputs"]),
      partners: boundary.partners,
      operation_inputs: Object.fromEntries(
        Object.entries(step.inputs).map(([port, from]) => [port, {
          from,
          kinds: input_kinds[port] ?? optional_input_kinds[port] ?? [],
          tap: taps.find((tap) => tap.from === from)?.id ?? null,
        }]),
      ),
      binding_params: binding,
    };
  });
}

export function trainingContract(facts: ProjectFacts): JsonObject {
  const { inspection, plan, recipe } = facts;
  return {
    schema_version: 1,
    kind: "svc.training_contract",
    recipe: recipe.name,
    identities: identities(facts),
    framework: plan.framework,
    objective: plan.objective,
    status: inspection.status,
    recommendations: inspection.recommendations,
    blocks: blocks(facts),
    evaluation_sinks: inspection.evaluation_sinks,
    routes: inspection.routes,
  };
}

export function scenarioGraph(facts: ProjectFacts): JsonObject {
  const { graph, inspection } = facts;
  const support = new Map(inspection.routes.flatMap((route) => route.support.map((step) => [step.step_id, step])));
  const sinks = inspection.evaluation_sinks.map(({ step_id }) => step_id);
  return {
    ...graph,
    kind: "svc.scenario_graph",
    identities: identities(facts),
    nodes: graph.nodes.map((node) => {
      const id = String(node.id);
      const role = inspection.selected_steps.includes(id)
        ? "selected"
        : sinks.includes(id)
        ? "evaluation"
        : support.has(id)
        ? "frozen_support"
        : "context";
      return { ...node, training_role: role, passes_gradient: support.get(id)?.passes ?? null };
    }),
  };
}

export function dataContract(facts: ProjectFacts): JsonObject {
  const { captures, inspection, recipe, registry } = facts;
  const [{ config, released_seeds }] = captures;
  const kinds = stepOutputKinds(recipe.steps, (op) => registry.find(op)?.operation.contract);
  return {
    schema_version: 1,
    kind: "svc.training_data_contract",
    recipe: recipe.name,
    identities: identities(facts),
    shard_format: "npz",
    record: "row along axis 0 of every array of a shard; metadata_json names the run, seed and point of each",
    further_arrays: "<tap>__<name>, where an output holds more than its main array",
    complex_values: "complex64 and complex128 as NumPy has them; a block takes them as float32 [..., 2]",
    interfaces: Object.fromEntries(
      blocks(facts).map(({ step_id, inputs, outputs }) => [String(step_id), { inputs, outputs }]),
    ),
    llr_sign: "ln P(0)/P(1) of a bit: positive for bit 0",
    seed_mode: config.seed_mode,
    released_seeds,
    matrix_mode: config.matrix_mode,
    splits: captures.map(({ split, config: { samples } }) => ({
      split,
      path: `data/${split}`,
      requested_samples: samples,
    })),
    taps: config.taps.map((tap) => {
      const { from } = tap;
      const [stepId, port] = from.split(".");
      const at = recipe.steps.findIndex((step) => step.id === stepId), { op } = recipe.steps[at];
      const suggested = inspection.suggested_taps.find((tap) => tap.from === from);
      return {
        ...tap,
        operation: op,
        kind: (kinds[at] ?? registry.get(op).operation.contract.output_kinds)[port],
        purpose: suggested?.purpose ?? "chosen",
      };
    }),
  };
}

const stepOf = ({ effective }: ProjectFacts, id: string) => effective.steps.find((step) => step.id === id)!;

/** The frozen graph of the evaluations, for its twins in PyTorch. */
export function twinScenario(facts: ProjectFacts): JsonObject {
  const { inspection, effective, registry, captures: [{ config }] } = facts;
  const contractOf = (op: string) => registry.get(op).operation.contract;
  // Blocks to be trained are modules of the trainer, whatever their parameters.
  const twinOf = (id: string) => {
    const { op, params } = stepOf(facts, id), { operation } = registry.get(op);
    return inspection.selected_steps.includes(id) ? Boolean(operation.definition.twin) : hasTwin(operation, params);
  };
  const evaluations = inspection.evaluation_sinks.map(({ step_id }) => step_id).filter(twinOf);
  const kept = new Set<string>(), required = new Set<string>();
  const follow = (id: string) => {
    if (kept.has(id)) return;
    kept.add(id);
    for (const from of Object.values(stepOf(facts, id).inputs)) {
      const [source] = from.split(".");
      if (twinOf(source)) follow(source);
      else required.add(from);
    }
  };
  evaluations.forEach(follow);
  return {
    schema_version: 1,
    kind: "svc.twin_scenario",
    identities: identities(facts),
    steps: effective.steps.filter(({ id }) => kept.has(id)).map(({ id, op, params, inputs }) => ({
      id,
      op,
      params,
      inputs,
    })),
    evaluations,
    blocks: Object.fromEntries(inspection.selected_steps.map((id) => {
      const abi = contractOf(stepOf(facts, id).op).trained_artifact_abi!;
      const inputs = Object.keys(abi.inputs), optional = inputs.filter((name) => abi.inputs[name].optional);
      return [id, { inputs, optional, outputs: Object.keys(withoutOptional(abi.outputs)) }];
    })),
    taps: Object.fromEntries(config.taps.map(({ id, from }) => [id, from])),
    required: [...required],
  };
}

/** The draft that `svc artifact package` completes. */
export function artifactDraft(facts: ProjectFacts): JsonObject {
  const chosen = facts.inspection.selected_steps.map((id) =>
    facts.inspection.boundaries.find(({ step_id }) => step_id === id)!
  );
  const ids = [...new Set(chosen.map(({ slot }) => String(slot!.component_id)))];
  const operations = chosen.filter(({ op }, index) => chosen.findIndex((other) => other.op === op) === index);
  return {
    schema_version: 2,
    kind: "svc.trained_block_artifact",
    id: facts.id,
    name: `Trained for ${facts.recipe.name}`,
    components: ids.map((id) => ({ id, path: `${id}.onnx` })),
    compatible_operations: operations.map(({ op, step_id }) => ({ operation: op, preferred_step_id: step_id })),
    source: { origin: "project_trained" },
    training: { ...identities(facts), recipe: facts.recipe.name, framework: facts.plan.framework },
  };
}

/** The contract that the Python files contain as JSON. */
export function pythonContract(facts: ProjectFacts, files: Record<string, string>): JsonObject {
  return {
    recipe: facts.recipe.name,
    identities: identities(facts),
    blocks: blocks(facts),
    taps: dataContract(facts).taps,
    splits: facts.captures.map(({ split }) => split),
    params: Object.fromEntries(facts.inspection.selected_steps.map((id) => [id, stepOf(facts, id).params])),
    artifact: artifactDraft(facts),
    files,
  };
}

export function projectManifest(facts: ProjectFacts, files: Record<string, string>): JsonObject {
  const { captures, plan, recipe, inspection, id } = facts;
  const draft = artifactDraft(facts);
  const python = Object.keys(files).filter((name) => name.endsWith(".py"));
  return {
    kind: "svc.training_interface_bundle",
    version: 1,
    id,
    recipe: recipe.name,
    identities: identities(facts),
    capture_jobs: captures.map(({ split, config: { samples, taps }, file, sha256 }) => ({
      split,
      recipe_path: file,
      output_dir: `data/${split}`,
      requested_samples: samples,
      expected_taps: taps.map((tap) => tap.id),
      recipe_file_sha256: sha256,
    })),
    trained_artifacts: [{
      template: "trained_artifact.template.yaml",
      components: draft.components,
      operations: inspection.selected_steps.map((step_id) => ({
        step_id,
        operation: recipe.steps.find((step) => step.id === step_id)!.op,
      })),
    }],
    training: {
      plan: "training_plan.yaml",
      contract: "training_contract.yaml",
      objective: plan.objective,
      framework: plan.framework,
      status: inspection.status,
    },
    evaluation: {
      recipe: "svc_recipe.yaml",
      recipe_sha256: sha256Json(recipe),
      steps: inspection.evaluation_sinks.map(({ step_id }) => step_id),
    },
    external_training: { executed_by_svc: false, files: python },
    files,
  };
}

export function readme(facts: ProjectFacts): string {
  const { recipe, inspection, captures, plan, id } = facts;
  const taps = captures[0].config.taps.map((tap) => `| \`${tap.id}\` | \`${tap.from}\` |`).join("\n");
  const rows = blocks(facts).map((block) => {
    const names = (side: "inputs" | "outputs") =>
      Object.entries(block[side] as { [name: string]: { dtype: string; shape: unknown[] } })
        .map(([name, { dtype, shape }]) => `\`${name}\` ${dtype} [${shape.join(", ")}]`).join(", ");
    return `| \`${block.step_id}\` | \`${block.component_id}.onnx\` | ${names("inputs")} | ${names("outputs")} |`;
  }).join("\n");
  const tensors = blocks(facts).flatMap((block) =>
    Object.entries({ ...block.inputs as JsonObject, ...block.outputs as JsonObject })
      .map(([name, tensor]) => `- \`${name}\`: ${(tensor as JsonObject).meaning ?? ""}`)
  ).join("\n");
  const drawn = (twinScenario(facts).required as string[]).length === 0;
  const python = plan.framework === "" ? "" : `
## With PyTorch

\`\`\`sh
python3 train.py --epochs 1     # a first run of small networks, within a minute
svc artifact package package    # what it exported: checked, compared with PyTorch, sealed
\`\`\`

\`train.py\` runs the frozen link of \`scenario.json\` in PyTorch with gradients: \`scenario.forward(slots, batch, generator)\` of
\`scenario.py\`, each operation by its twin in \`twins/\`. Data are ${
    drawn ? "drawn by the twins of the sources" : "the captured splits"
  }. The networks are in \`networks.py\`, which a new export leaves as it is. It writes \`curve.csv\`, \`curve.png\`,
\`checkpoint.pt\` (\`--resume\`), and the best networks as ONNX files in \`package/\`.
\`python3 tests/test_twins.py\` compares the twins with vectors of svc and their gradients with finite differences.
\`interfaces.py\` reads records and writes ONNX (one file, operator set 17), \`validate_contract.py\` checks files and splits.
Versions: Python 3.9 or later, NumPy, onnx, and PyTorch 2.5 or later (made with 2.13); no other package. svc runs none of these.
`;
  return `# Training for ${escapeMarkdown(recipe.name)}

Written by \`svc differentiable export\`. Scenario \`${inspection.scenario_sha256}\`, training plan
\`${inspection.training_plan_sha256}\`: a network trained here fits this scenario, for any data and loss in the plan.

| block | network | takes | gives |
|---|---|---|---|
${rows}

${tensors}

## Data

| array | captured from |
|---|---|
${taps}

\`\`\`sh
${captures.map(({ split }) => `svc dataset-capture run . --split ${split}`).join("\n")}
\`\`\`

Every split is in \`data/<split>/\` as \`shards/*.npz\`, a record per row, with \`schema.json\` beside them. The splits draw
different numbers, and no record is in two of them.
${python}
## Back into the recipe

Put ${
    (artifactDraft(facts).components as { path: string }[]).map(({ path }) => `\`${path}\``).join(" and ")
  } beside this file, then

\`\`\`sh
svc artifact package . --out ${id}.zip
svc artifact import ${id}.zip
svc artifact show ${id}        # the parameters that bind it
svc recipe ${hasUnresolvedMatrix(recipe) ? "run-matrix" : "run"} svc_recipe.yaml
\`\`\`

\`svc_recipe.yaml\` is the scenario as it was exported: give the block the parameters that \`artifact show\` prints. Its evaluations: ${
    inspection.evaluation_sinks.map(({ step_id }) => `\`${step_id}\``).join(", ") || "none is reached"
  }.
`;
}

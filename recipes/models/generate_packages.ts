/**
 * Writes what can be derived of the bundled models: slot contract, selection history and manifest of every folder with a
 * `training/model.json`, and the digests of the packages in the recipes that name them.
 *
 *     deno run -A recipes/models/generate_packages.ts [--check]
 *
 * To be run after training. A package's digest covers its manifest, contract, components and support files, so a changed
 * byte in any of them shows in the recipes.
 */
import { existsSync } from "node:fs";
import { sha256Hex, sha256Json } from "../../lib/contract/hash.ts";
import { canonicalJson, compareCodePoints, parseJson, prettyJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { packageIdentity } from "../../lib/training/identity.ts";
import type { OperationAbi } from "../../lib/contract/operation.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";

const FOLDER = new URL("./", import.meta.url), RECIPES = new URL("../", import.meta.url);
const ADAPTERS = new URL("../../adapters/", import.meta.url);
const MANIFEST = "trained_artifact.yaml", CONTRACT = "slot_contract.json", HISTORY = "training/selection_history.json";
const SCRIPT = "training/train.py", CURVE = "training/loss_curve.csv", EVALUATION = "training/evaluation.json";

/** What `training/model.json` says: everything that cannot be derived. */
type Description = {
  name: string;
  description: string;
  /** Operation -> what its inputs and outputs mean. */
  operations: Record<string, Record<string, string>>;
  /** Component -> file. */
  components: Record<string, string>;
  /** Operation -> what it runs, for operations that run models by name and have no slot. */
  named?: Record<string, OperationAbi>;
  /** Further files that belong to the model -> what they are. */
  support?: Record<string, string>;
  /** Open sizes of the operations that this model fixes, by name. */
  sizes?: Record<string, number>;
  selection: { direction: string; population: JsonObject; command: string[] };
  training: JsonObject;
};

interface Evaluation extends JsonObject {
  objective: string;
  selected: string;
  /** Candidate -> value of the objective. */
  candidates: Record<string, Value>;
  /** Digest of the arrays that candidates were judged on. */
  population_sha256: string;
}

/** Files of a model's folder that must have a certain content, and the digest of the package. Exported for tests. */
export function packageOf(id: string): { files: Map<string, string>; package_sha256: string } {
  const folder = new URL(`${id}/`, FOLDER);
  const bytes = (path: string) => Deno.readFileSync(new URL(path, folder));
  const document = (path: string) => parseJson(new TextDecoder().decode(bytes(path)));
  const described = document("training/model.json") as Description;
  const evaluation = document(EVALUATION) as Evaluation;
  const { named = {} } = described;
  const slots = Object.keys(described.operations).map((operation) => ({
    operation,
    ...(Object.hasOwn(named, operation) ? named[operation] : taken(abiOf(operation), described.operations[operation])),
  }));

  const contract = prettyJson({
    schema_version: 1,
    kind: "svc.trainable_slot_contract",
    id: `${id}-slots`,
    version: "1",
    slots: slots as unknown as Value[],
  });
  const components = slots.map(({ component_id, component_role }) => {
    const path = described.components[component_id];
    return { id: component_id, role: component_role, path, format: "onnx" as const, sha256: sha256Hex(bytes(path)) };
  });

  const candidateIds = Object.keys(evaluation.candidates).sort(compareCodePoints);
  const configuration = (candidate: string) => `training/candidates/${candidate}.json`;
  /**
   * The components that a candidate would have been deployed with; those of the chosen one are the deployed ones. Where the
   * files of another are not kept, its `.components.json` has their digests by role.
   */
  const candidateSet = (candidate: string) => {
    const own = candidate === evaluation.selected ? components : components.map((component) => {
      const name = components.length === 1 ? `${candidate}.onnx` : `${candidate}.${component.role}.onnx`;
      const kept = existsSync(new URL(`training/candidates/${name}`, folder));
      const sha256 = kept
        ? sha256Hex(bytes(`training/candidates/${name}`))
        : (document(`training/candidates/${candidate}.components.json`) as Record<string, string>)[component.role];
      return { ...component, sha256 };
    });
    const digests = { manifest_sha256: "", contract: { semantic_sha256: "", file_sha256: "" }, support_files: [] };
    return packageIdentity({ ...digests, components: own }).runtime_component_set_sha256;
  };
  const { direction, population, command } = described.selection;
  const history = prettyJson({
    schema_version: 1,
    kind: "svc.model_selection_history",
    all_candidates_disclosed: true,
    publication_test_accessed: false,
    selection_population_role: population.role,
    selection_population: { ...population, sha256: evaluation.population_sha256 },
    objective: evaluation.objective,
    direction,
    selection_rule: { method: "objective_extremum", tie_breaker: "lexicographic_candidate_id", tolerance: 0 },
    search_program: { path: SCRIPT, sha256: sha256Hex(bytes(SCRIPT)), command },
    selected_candidate_id: evaluation.selected,
    candidates: candidateIds.map((candidate) => ({
      id: candidate,
      configuration_path: configuration(candidate),
      configuration_identity_sha256: sha256Json(document(configuration(candidate))),
      selection_population_sha256: evaluation.population_sha256,
      publication_test_accessed: false,
      status: "completed",
      runtime_component_set_sha256: candidateSet(candidate),
      objective_value: evaluation.candidates[candidate],
    })),
  });

  const support = (path: string, role: string, content: Uint8Array | string = bytes(path)) => ({
    path,
    sha256: sha256Hex(content),
    role,
  });
  const references = [...Deno.readDirSync(new URL("training/", folder))].map(({ name }) => name)
    .filter((name) => name.startsWith("reference.")).sort(compareCodePoints);
  const support_files = [
    support(SCRIPT, "model_selection_search_program"),
    support(HISTORY, "model_selection_history", history),
    ...candidateIds.map((candidate) => support(configuration(candidate), "model_selection_configuration")),
    support(CURVE, "loss_curve"),
    support(EVALUATION, "evaluation"),
    ...references.map((name) => support(`training/${name}`, "stored_answer")),
    ...Object.entries(described.support ?? {}).map(([path, role]) => support(path, role)),
  ];
  const { sizes = {} } = described;
  const values = (names: OperationAbi["inputs"], meanings: Record<string, string>) =>
    Object.entries(names).map(([name, { dtype, shape }]) => ({
      name,
      dtype,
      shape: shape.map((size) => sizes[size] ?? size),
      semantic: meanings[name] ?? name,
    }));
  const joint = slots.length > 1;
  const contractDigests = {
    semantic_sha256: sha256Json(parseJson(contract)),
    file_sha256: sha256Hex(contract),
  };
  const manifest = HEAD + yaml({
    schema_version: 2,
    kind: "svc.trained_block_artifact",
    id,
    name: described.name,
    description: described.description,
    contract: {
      id: `${id}-slots`,
      version: "1",
      path: CONTRACT,
      sha256: contractDigests.semantic_sha256,
      file_sha256: contractDigests.file_sha256,
    },
    components,
    runtime: {
      backend: "onnxruntime",
      abi_version: 1,
      entrypoints: slots.map(({ operation, entrypoint_id, component_id, inputs, outputs }) => ({
        id: entrypoint_id,
        component: component_id,
        inputs: values(inputs, described.operations[operation]),
        outputs: values(outputs, described.operations[operation]),
      })),
    },
    application: { mode: joint ? "all_group_bindings" : "single_binding" },
    compatible_operations: slots.filter(({ operation }) => !Object.hasOwn(named, operation)).map((slot) => ({
      operation: slot.operation,
      runtime_entrypoint: slot.entrypoint_id,
      required_inputs: slot.required_operation_inputs,
      params: Object.fromEntries(
        Object.entries(slot.binding_params).filter(([name]) => !name.startsWith("artifact_")),
      ),
      ...(joint ? { binding_group: "codec" } : {}),
      role: slot.component_role,
    })),
    support_files,
    source: { origin: "project_trained" },
    training: { script: SCRIPT, loss_curve: CURVE, ...described.training },
    evaluation: { record: EVALUATION, objective: evaluation.objective, selected: evaluation.selected },
    publication: { selection_history: { path: HISTORY, sha256: sha256Hex(history) } },
  });
  const { package_sha256 } = packageIdentity({
    manifest_sha256: sha256Hex(manifest),
    contract: contractDigests,
    components,
    support_files,
  });
  return { files: new Map([[CONTRACT, contract], [HISTORY, history], [MANIFEST, manifest]]), package_sha256 };
}

const HEAD = "# Written by recipes/models/generate_packages.ts from training/.\n";

/** The ABI without the optional tensors of which the description of the model says nothing. */
function taken(abi: OperationAbi, meanings: Record<string, string>): OperationAbi {
  const described = (tensors: OperationAbi["inputs"]) =>
    Object.fromEntries(
      Object.entries(tensors).filter(([name, { optional }]) => !optional || Object.hasOwn(meanings, name)),
    );
  return { ...abi, inputs: described(abi.inputs), outputs: described(abi.outputs) };
}

function abiOf(id: string): OperationAbi {
  const found = BUILTIN_OPERATIONS.find(({ operation }) => operation.contract.id === id)?.operation.contract;
  if (!isObject(found?.trained_artifact_abi)) throw new Error(`${id} has no slot for trained artifacts`);
  return found.trained_artifact_abi as OperationAbi;
}

/** Block YAML of a document; leaves, and lists of leaves, in JSON. */
function yaml(value: JsonObject, indent = ""): string {
  const isLeaf = (item: Value) => !isObject(item) && !Array.isArray(item);
  return Object.entries(value).map(([key, item]) => {
    if (isObject(item) && Object.keys(item).length > 0) return `${indent}${key}:\n${yaml(item, `${indent}  `)}`;
    if (!Array.isArray(item) || item.length === 0 || item.every(isLeaf)) {
      return `${indent}${key}: ${plain(item)}\n`;
    }
    const entries = item.map((entry) => `${indent}  - ${yaml(entry as JsonObject, `${indent}    `).trimStart()}`);
    return `${indent}${key}:\n${entries.join("")}`;
  }).join("");
}

/** Texts that are surely nothing else in YAML stand without quotes. */
function plain(value: Value): string {
  if (typeof value === "string" && /^[A-Za-z][A-Za-z0-9 _./-]*[A-Za-z0-9]$/.test(value)) {
    if (!/^(true|false|null|yes|no|on|off)$/i.test(value)) return value;
  }
  return canonicalJson(value);
}

/** The ids of the models that have a package. Exported for tests. */
export function modelIds(): string[] {
  return [...Deno.readDirSync(FOLDER)].filter(({ name, isDirectory }) =>
    isDirectory && exists(new URL(`${name}/training/model.json`, FOLDER))
  ).map(({ name }) => name).sort(compareCodePoints);
}

function exists(file: URL): boolean {
  try {
    return Deno.statSync(file).isFile;
  } catch {
    return false;
  }
}

/** Every file that must have a certain content, by URL. Exported for tests. */
export function expectedFiles(): Map<string, string> {
  const files = new Map<string, string>(), digests = new Map<string, string>();
  for (const id of modelIds()) {
    const { files: own, package_sha256 } = packageOf(id);
    for (const [path, content] of own) files.set(new URL(`${id}/${path}`, FOLDER).href, content);
    digests.set(id, package_sha256);
  }
  const adapters = [...Deno.readDirSync(ADAPTERS)].filter(({ isDirectory }) => isDirectory)
    .map(({ name }) => new URL(`${name}/`, ADAPTERS));
  for (const folder of [RECIPES, new URL("recipe_starters/", RECIPES), ...adapters]) {
    for (const { name } of Deno.readDirSync(folder)) {
      if (!name.endsWith(".yaml")) continue;
      const file = new URL(name, folder), text = Deno.readTextFileSync(file);
      const pinned = text.replace(
        /(artifact_manifest_path: recipes\/models\/([^/\s,]+)[^,\n]*[,\n]\s*artifact_package_sha256: )\S*?(?=[,}\s])/g,
        (all, head: string, id: string) => digests.has(id) ? `${head}${digests.get(id)}` : all,
      );
      if (pinned !== text || text.includes("artifact_package_sha256")) files.set(file.href, pinned);
    }
  }
  return files;
}

if (import.meta.main) {
  const stale = [...expectedFiles()].filter(([file, content]) =>
    !exists(new URL(file)) || Deno.readTextFileSync(new URL(file)) !== content
  );
  if (!Deno.args.includes("--check")) {
    for (const [file, content] of stale) Deno.writeTextFileSync(new URL(file), content);
  } else if (stale.length > 0) {
    for (const [file] of stale) console.error(`${file} is stale: run deno run -A recipes/models/generate_packages.ts`);
    Deno.exit(1);
  }
  for (const id of modelIds()) console.log(`${packageOf(id).package_sha256}  ${id}`);
}

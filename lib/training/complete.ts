/**
 * Completes the draft of a manifest: digests come from the files, and missing fields follow from the operations
 * and the models. What an author has written stays, whether it fits is for the inspection to say.
 */
import { SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import type { OperationAbi, OperationContract } from "../contract/operation.ts";
import { cloneValue, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { type OnnxGraph, readOnnxGraph } from "../onnx/graph.ts";
import { prettyJson } from "../contract/json.ts";
import { readDocument } from "./documents.ts";
import { packageIdentity } from "./identity.ts";
import { trainableSlotContract } from "./slot_contract.ts";
import type { ArtifactComponent, SymbolicDimension } from "./types.ts";

/** Sources for the completion of a draft. */
export interface DraftSources {
  /** The bytes of a file of the package, or null when it is not there. */
  read(path: string): Uint8Array | null;
  contractOf(operation: string): OperationContract | undefined;
  /** Id of the artifact when the draft names none. */
  id: string;
  /** ONNX files that are there, for a draft that names none. */
  models: readonly string[];
}

export interface CompletedManifest {
  manifest: JsonObject;
  /** Files that were made or completed on the way: the slot contract, the selection history. */
  files: Map<string, Uint8Array>;
}

/** The members of a manifest in the order in which they are written. */
const ORDER = [
  "schema_version",
  "kind",
  "id",
  "name",
  "label",
  "description",
  "contract",
  "components",
  "runtime",
  "application",
  "compatible_operations",
  "support_files",
  "source",
  "training",
  "evaluation",
  "publication",
];

const objects = (value: Value | undefined): JsonObject[] => Array.isArray(value) && value.every(isObject) ? value : [];
const text = (value: Value | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Completes a draft; it is not changed. */
export function completeManifest(draft: JsonObject, sources: DraftSources): CompletedManifest {
  return new Completion(cloneValue(draft), sources).run();
}

class Completion {
  readonly #files = new Map<string, Uint8Array>();
  readonly #graphs = new Map<string, OnnxGraph | null>();

  constructor(readonly manifest: JsonObject, readonly sources: DraftSources) {}

  run(): CompletedManifest {
    const { manifest } = this;
    manifest.schema_version ??= 2;
    manifest.kind ??= "svc.trained_block_artifact";
    manifest.id ??= this.sources.id;
    manifest.name ??= manifest.id;
    const rows = objects(manifest.compatible_operations);
    const slots = rows.flatMap((row) => {
      const contract = this.sources.contractOf(text(row.operation) ?? "");
      const abi = contract?.trained_artifact_abi;
      return contract === undefined || abi === undefined ? [] : [{ row, contract, abi }];
    });
    const joint = new Set(slots.map(({ abi }) => abi.component_id)).size > 1;
    for (const { row, abi } of slots) {
      row.runtime_entrypoint ??= abi.entrypoint_id;
      row.required_inputs ??= [...abi.required_operation_inputs];
      row.params ??= chosenBy(abi);
      if (joint) row.binding_group ??= "joint";
    }
    manifest.application ??= { mode: joint ? "all_group_bindings" : "single_binding" };
    this.#components(slots.map(({ abi }) => abi));
    this.#runtime(slots);
    this.#contract(slots.map(({ contract }) => contract));
    manifest.source ??= { origin: "project_trained" };
    this.#digests();
    const known = ORDER.filter((key) => manifest[key] !== undefined);
    const more = Object.keys(manifest).filter((key) => !ORDER.includes(key));
    return {
      manifest: Object.fromEntries([...known, ...more].map((key) => [key, manifest[key]])),
      files: this.#files,
    };
  }

  #read(path: string): Uint8Array | null {
    return this.#files.get(path) ?? this.sources.read(path);
  }

  /** Components without id or role are known by their slot, or by the name of their file. */
  #components(abis: readonly OperationAbi[]): void {
    const { manifest } = this;
    const ids = [...new Set(abis.map(({ component_id: id }) => id))];
    const { models } = this.sources;
    manifest.components ??= ids.map((id) => ({
      id,
      path: [`${id}.onnx`, `models/${id}.onnx`].find((path) => this.#read(path) !== null) ??
        (ids.length === 1 && models.length === 1 ? models[0] : `${id}.onnx`),
    }));
    const components = objects(manifest.components);
    for (const [index, component] of components.entries()) {
      const stem = (text(component.path) ?? "").split("/").at(-1)!.replace(/\.onnx$/, "");
      const known = text(component.id) ?? stem;
      const abi = abis.find(({ component_id: id }) => id === known) ??
        (abis.length === 1 && components.length === 1 ? abis[0] : undefined);
      components[index] = {
        id: component.id ?? abi?.component_id ?? stem,
        role: component.role ?? abi?.component_role ?? stem,
        path: component.path,
        format: component.format ?? "onnx",
        ...component,
      };
    }
    if (components.length > 0) manifest.components = components;
  }

  #runtime(slots: readonly { abi: OperationAbi; contract: OperationContract }[]): void {
    const runtime = isObject(this.manifest.runtime) ? this.manifest.runtime : {};
    this.manifest.runtime = runtime;
    runtime.backend ??= "onnxruntime";
    runtime.abi_version ??= 1;
    const entrypoints = objects(runtime.entrypoints);
    for (const { abi, contract } of slots) {
      if (entrypoints.some(({ id }) => id === abi.entrypoint_id)) continue;
      const component = objects(this.manifest.components).find(({ id }) => id === abi.component_id);
      const graph = this.#graphOf(text(component?.path)), sizes = fixedSizes(abi, graph);
      const known = new Set([...graph?.inputs ?? [], ...graph?.outputs ?? []].map(({ name }) => name));
      const values = (side: "inputs" | "outputs") =>
        Object.entries(abi[side]).filter(([name, { optional }]) => !optional || known.has(name)).map((
          [name, { dtype, shape }],
        ) => ({
          name,
          dtype,
          shape: shape.map((size) => sizes.get(size) ?? size),
          semantic: `${name} of ${contract.id}`,
        }));
      entrypoints.push({
        id: abi.entrypoint_id,
        component: abi.component_id,
        inputs: values("inputs"),
        outputs: values("outputs"),
      });
    }
    if (entrypoints.length > 0) runtime.entrypoints = entrypoints;
  }

  #graphOf(path: string | undefined): OnnxGraph | null {
    if (path === undefined) return null;
    let graph = this.#graphs.get(path);
    if (graph === undefined) {
      try {
        const bytes = this.#read(path);
        graph = bytes === null ? null : readOnnxGraph(bytes, path);
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        graph = null; // The inspection says why.
      }
      this.#graphs.set(path, graph);
    }
    return graph;
  }

  #contract(contracts: readonly OperationContract[]): void {
    const contract = isObject(this.manifest.contract) ? this.manifest.contract : {};
    const path = text(contract.path) ?? "slot_contract.json";
    if (this.#read(path) === null && contracts.length > 0) {
      const written = trainableSlotContract(text(contract.id) ?? `${this.manifest.id}-slots`, contracts);
      this.#files.set(path, new TextEncoder().encode(prettyJson({ ...written, version: contract.version ?? "1" })));
    }
    const bytes = this.#read(path);
    const document = bytes === null ? null : readDocument(bytes, path).value;
    const found = isObject(document) ? document : {};
    this.manifest.contract = {
      id: contract.id ?? found.id ?? `${this.manifest.id}-slots`,
      version: contract.version ?? found.version ?? "1",
      path,
      ...(bytes === null
        ? {}
        : { sha256: document === null ? "" : sha256Json(document), file_sha256: sha256Hex(bytes) }),
    };
  }

  /** Digests of components and support files; the selection history comes last, for it names the components. */
  #digests(): void {
    const { manifest } = this;
    for (const component of objects(manifest.components)) this.#digest(component);
    const publication = isObject(manifest.publication) ? manifest.publication : {};
    const selection = isObject(publication.selection_history) ? publication.selection_history : {};
    const history = text(selection.path);
    if (history !== undefined) this.#history(history);
    for (const file of objects(manifest.support_files)) {
      this.#digest(file);
      if (file.path === history) selection.sha256 = file.sha256;
    }
  }

  #digest(listed: JsonObject): void {
    const path = text(listed.path), bytes = path === undefined ? null : this.#read(path);
    if (bytes !== null) listed.sha256 = sha256Hex(bytes);
  }

  /** Digests that a search program need not compute itself. */
  #history(path: string): void {
    const bytes = this.#read(path);
    const { value } = bytes === null ? { value: null } : readDocument(bytes, path);
    if (!isObject(value)) return;
    const before = sha256Json(value);
    const program = isObject(value.search_program) ? value.search_program : {};
    const programBytes = this.#read(text(program.path) ?? path);
    if (text(program.sha256) === undefined && program.path !== undefined && programBytes !== null) {
      program.sha256 = sha256Hex(programBytes);
    }
    const population = isObject(value.selection_population) ? value.selection_population : {};
    for (const candidate of objects(value.candidates)) {
      candidate.selection_population_sha256 ??= population.sha256 ?? "";
      const file = text(candidate.configuration_path), configuration = file === undefined ? null : this.#read(file);
      if (text(candidate.configuration_identity_sha256) === undefined && configuration !== null) {
        const document = readDocument(configuration, file!).value;
        if (document !== null) candidate.configuration_identity_sha256 = sha256Json(document);
      }
      if (candidate.id === value.selected_candidate_id && text(candidate.runtime_component_set_sha256) === undefined) {
        candidate.runtime_component_set_sha256 = this.#componentSet();
      }
    }
    // Where nothing was missing the file keeps its own spelling.
    if (sha256Json(value) !== before) this.#files.set(path, new TextEncoder().encode(prettyJson(value)));
  }

  #componentSet(): string {
    return packageIdentity({
      manifest_sha256: "",
      contract: { semantic_sha256: "", file_sha256: "" },
      components: objects(this.manifest.components) as ArtifactComponent[],
      support_files: [],
    }).runtime_component_set_sha256;
  }
}

/** The parameters that choose the slot, without those that name the artifact in it. */
function chosenBy(abi: OperationAbi): JsonObject {
  return Object.fromEntries(Object.entries(abi.binding_params).filter(([name]) => !name.startsWith("artifact_")));
}

/** Open sizes of an ABI that the model has fixed. */
function fixedSizes(abi: OperationAbi, graph: OnnxGraph | null): Map<SymbolicDimension, number> {
  const sizes = new Map<SymbolicDimension, number>();
  for (const side of ["inputs", "outputs"] as const) {
    for (const { name, shape } of graph?.[side] ?? []) {
      const wanted = abi[side][name]?.shape;
      if (wanted === undefined || shape === null || wanted.length !== shape.length) continue;
      wanted.forEach((size, axis) => {
        const actual = shape[axis];
        if (typeof size === "string" && typeof actual === "number") sizes.set(size, actual);
      });
    }
  }
  return sizes;
}

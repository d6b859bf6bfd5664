/** The program and its machine: operations, profiles, schemas, health of the installation. */
import type { OperationReport, WrittenOperation } from "../conformance/operation_file.ts";
import { isFolder } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { profileCatalogue } from "../plan/profiles.ts";
import type { StoreOptions, StoreReport } from "../exchange/own_store.ts";
import type { Diagnosis } from "../run/doctor.ts";
import type { NewProject } from "../template/init.ts";
import type { SessionCore } from "./core.ts";

/** Kinds of files with a published JSON Schema. */
export const SCHEMAS = ["recipe", "pack", "manifest", "text-manifest", "trained-artifact"] as const;
export type SchemaName = typeof SCHEMAS[number];

export class System {
  constructor(private readonly core: SessionCore) {}

  /** The contracts of all operations of the session. */
  async operations(): Promise<OperationContract[]> {
    return await this.core.contracts();
  }

  /** One contract. @throws SvcError `unknown_operation` with the nearest id */
  async operation(id: string): Promise<OperationContract> {
    const contracts = await this.core.contracts();
    const found = contracts.find((contract) => contract.id === id);
    if (found !== undefined) return found;
    throw new SvcError("unknown_operation", `Cannot find an operation named ${id}`, {
      hint: didYouMean(id, contracts.map((contract) => contract.id)),
    });
  }

  /**
   * Writes an operation of one's own to start from, with its test and a recipe.
   * @throws SvcError `usage_invalid` for an invalid name or where a file exists
   */
  async scaffoldOperation(name: string, options: { out?: string } = {}): Promise<WrittenOperation> {
    return await (await import("../conformance/operation_file.ts")).scaffoldOperation(name, options);
  }

  /**
   * Runs the conformance suite of the built-in operations: on a file, whose code runs with the rights of this program, or on
   * the operations with ports of their own in the folder of an adapter, in its sandbox.
   * @throws SvcError `file_not_found`, `operation_file_invalid`, codes `adapter_*`
   */
  async checkOperation(file: string): Promise<OperationReport> {
    if (isFolder(file)) {
      const [{ checkableAdapter }, { checkOperations }] = await Promise.all([
        import("../adapter/check.ts"),
        import("../conformance/operation_file.ts"),
      ]);
      const { workspace: { projectRoot }, grants, python } = this.core;
      const { name, operations, ...folder } = await checkableAdapter(file, { projectRoot, grants, python });
      return await checkOperations(name, operations, folder);
    }
    const [{ checkOperationFile }, { loadOperation }] = await Promise.all([
      import("../conformance/operation_file.ts"),
      import("../../ops/registry.ts"),
    ]);
    return await checkOperationFile(file, async (url) => (await loadOperation(url)).operation);
  }

  /** The client of a language: one file that calls the command line. */
  async client(_language: "python"): Promise<string> {
    return (await import("./client/svc.py", { with: { type: "text" } })).default;
  }

  /** The execution profiles that a recipe can claim. */
  profiles(): ReturnType<typeof profileCatalogue> {
    return profileCatalogue();
  }

  /** The JSON Schema of a kind of file. */
  async schema(name: SchemaName): Promise<JsonObject> {
    const fileOf = async (module: Promise<{ default: object }>) => (await module).default as JsonObject;
    switch (name) {
      case "recipe":
        return await this.core.recipeSchema();
      case "pack":
        return await fileOf(import("../../benchmarks/pack.schema.json", { with: { type: "json" } }));
      case "manifest":
        return (await import("../artifact/dataset_manifest_rules.ts")).imageManifestSchema();
      case "text-manifest":
        return (await import("../artifact/text_manifest.ts")).textManifestSchema();
      case "trained-artifact":
        return (await import("../training/types.ts")).trainedArtifactSchema();
    }
  }

  /** Checks runtime, permissions, folders and optional parts. */
  async doctor(): Promise<Diagnosis> {
    const [{ diagnose }, { probeLauncher }] = await Promise.all([
      import("../run/doctor.ts"),
      import("../adapter/sandbox.ts"),
    ]);
    return await diagnose(this.core.workspace, probeLauncher);
  }

  /**
   * Writes a project to start from: recipes, a pack, their schemas and a README.
   * @throws SvcError `usage_invalid` where one of the files is there
   */
  async init(folder: string): Promise<NewProject> {
    const [{ initProject }, { prettyJson }] = await Promise.all([
      import("../template/init.ts"),
      import("../contract/json.ts"),
    ]);
    return await initProject(folder, {
      "recipes/recipe.schema.json": prettyJson(await this.schema("recipe")),
      "benchmarks/pack.schema.json": prettyJson(await this.schema("pack")),
    });
  }

  /**
   * Reads everything that the state directory keeps by digest: artifacts, and fetched models and datasets. With `repair`
   * damaged artifacts are replaced by intact copies, and damaged fetched files are fetched again, which uses the network.
   * @throws SvcError `gc_running`
   */
  async checkStore(options: StoreOptions = {}): Promise<StoreReport> {
    return await (await import("../exchange/own_store.ts")).checkStore(this.core.workspace, options);
  }

  /** Builds the index of runs and results anew; jobs and their events stay. */
  async rebuildIndex(): Promise<{ runs: number; benchmark_results: number; damaged: string | null }> {
    const [{ openRunIndex }, { rebuildResultIndex }] = await Promise.all([
      import("../run/index/open.ts"),
      import("../study/rows/result_index.ts"),
    ]);
    const { workspace } = this.core;
    const { index, database, damaged, close } = openRunIndex(workspace, { check: true });
    try {
      return { runs: await index.rebuild(), benchmark_results: rebuildResultIndex(workspace, database), damaged };
    } finally {
      close();
    }
  }
}

/** The program and its machine: operations, profiles, schemas, health of the installation. */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { profileCatalogue } from "../plan/profiles.ts";
import type { Diagnosis } from "../run/doctor.ts";
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

  /** The execution profiles that a recipe can claim. */
  profiles(): ReturnType<typeof profileCatalogue> {
    return profileCatalogue();
  }

  /** The JSON Schema of a kind of file. */
  async schema(name: SchemaName): Promise<JsonObject> {
    switch (name) {
      case "recipe":
        return (await import("../plan/recipe_schema.ts")).recipeSchema(await this.core.registry());
      case "pack":
        return (await import("../benchmark/pack_schema.ts")).PACK_SCHEMA;
      case "manifest":
        return (await import("../artifact/dataset_manifest_schema.ts")).IMAGE_MANIFEST_SCHEMA;
      case "text-manifest":
        return (await import("../artifact/text_manifest.ts")).TEXT_MANIFEST_SCHEMA;
      case "trained-artifact":
        return (await import("../training/schema.ts")).TRAINED_ARTIFACT_SCHEMA;
    }
  }

  /** Checks runtime, permissions, folders and optional parts. */
  async doctor(): Promise<Diagnosis> {
    return await (await import("../run/doctor.ts")).diagnose(this.core.workspace);
  }

  /** Builds the index of runs and results anew; jobs and their events stay. */
  async rebuildIndex(): Promise<{ runs: number; benchmark_results: number; damaged: string | null }> {
    const [{ openRunIndex }, { rebuildResultIndex }] = await Promise.all([
      import("../run/index/open.ts"),
      import("../benchmark/result_index.ts"),
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

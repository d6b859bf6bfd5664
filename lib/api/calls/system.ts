/** The program and its machine: operations, profiles, schemas, health of the installation. */
import { SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { OperationContract } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { isFolder } from "../../artifact/path_kind.ts";
import type { OperationReport } from "../../conformance/operation_file.ts";
import type { StoreOptions } from "../../exchange/own_store.ts";
import type { Diagnosis } from "../../run/doctor.ts";
import { call } from "../call.ts";
import { hasText, type SessionCore } from "../core.ts";
import { documentOf, OBJECT } from "../documents.ts";
import { flag, folder, text } from "../fields.ts";

/** Kinds of files with a published JSON Schema. */
export const SCHEMAS = [
  "recipe",
  "pack",
  "manifest",
  "text-manifest",
  "text-lines-manifest",
  "trained-artifact",
  "validation-card",
] as const;
export type SchemaName = typeof SCHEMAS[number];

const CONTRACT = documentOf<OperationContract>(z.object({ id: z.string(), name: z.string(), status: z.string() }));

async function schemaOf(core: SessionCore, name: SchemaName): Promise<JsonObject> {
  switch (name) {
    case "recipe":
      return await core.recipeSchema();
    case "pack": {
      const { default: schema } = await import("../../../benchmarks/pack.schema.json", { with: { type: "json" } });
      return schema as object as JsonObject;
    }
    case "manifest":
      return (await import("../../artifact/dataset_manifest_rules.ts")).imageManifestSchema();
    case "text-manifest":
      return (await import("../../artifact/text_manifest.ts")).textManifestSchema();
    case "text-lines-manifest":
      return (await import("../../artifact/text_lines.ts")).textLinesSchema();
    case "trained-artifact":
      return (await import("../../training/types.ts")).trainedArtifactSchema();
    case "validation-card":
      return (await import("../../study/pack/card.ts")).cardSchema();
  }
}

export const system = {
  /** The contracts of all operations of the session. */
  operations: call("List operations", {
    fields: { filter: text("only ids or names that contain the text") },
    output: z.object({ operations: z.array(CONTRACT) }),
    http: { route: "get /api/ops", returns: "Contracts by id", without: ["filter"], constant: true },
    cli: { name: "ops list" },
    publish: (operations: OperationContract[]) => ({ operations }),
    run: async (core, { filter = "" }): Promise<OperationContract[]> =>
      (await core.contracts()).filter(hasText(filter)),
  }),

  /** One contract. @throws SvcError `unknown_operation` with the nearest id */
  operation: call("Show the contract of an operation", {
    fields: { operation_id: z.string() },
    args: ["operation_id"],
    output: CONTRACT,
    refuses: [404],
    http: { route: "get /api/ops/:operation_id", returns: "The contract", constant: true },
    cli: { name: "ops show", usage: "<operation>" },
    tool: "operations_show",
    async run(core, { operation_id }): Promise<OperationContract> {
      const contracts = await core.contracts();
      const found = contracts.find((contract) => contract.id === operation_id);
      if (found !== undefined) return found;
      throw new SvcError("unknown_operation", `Cannot find an operation named ${operation_id}`, {
        hint: didYouMean(operation_id, contracts.map((contract) => contract.id)),
      });
    },
  }),

  /**
   * Writes an operation of one's own to start from, with its test and a recipe.
   * @throws SvcError `usage_invalid` for an invalid name or where a file exists
   */
  scaffoldOperation: call("Write an operation of your own, with its test and a recipe", {
    fields: { name: z.string(), out: folder(".") },
    args: ["name"],
    cli: { name: "operation scaffold", usage: "<name>" },
    run: async (_core, { name, out }) =>
      await (await import("../../conformance/operation_file.ts")).scaffoldOperation(name, { out }),
  }),

  /**
   * Runs the conformance suite of the built-in operations: on a file, whose code runs with the rights of this program, or on
   * the operations with ports of their own in the folder of an adapter, in its sandbox.
   * @throws SvcError `file_not_found`, `operation_file_invalid`, codes `adapter_*`
   */
  checkOperation: call("Run the conformance suite on an operation of your own", {
    fields: { file: z.string() },
    args: ["file"],
    cli: { name: "operation check", usage: "<path>", exits: "exit 3 when it fails" },
    async run(core, { file }): Promise<OperationReport> {
      const { checkOperationFile, checkOperations } = await import("../../conformance/operation_file.ts");
      if (isFolder(file)) {
        const { checkableAdapter } = await import("../../adapter/check.ts");
        const { workspace: { projectRoot }, grants, python } = core;
        const { name, operations, ...folder } = await checkableAdapter(file, { projectRoot, grants, python });
        return await checkOperations(name, operations, folder);
      }
      const { loadOperation } = await import("../../../ops/registry.ts");
      return await checkOperationFile(file, async (url) => (await loadOperation(url)).operation);
    },
  }),

  /** The client of a language: one file that calls the command line. */
  client: call("Print a client library for scripts and notebooks: one file that calls this program", {
    fields: { language: z.enum(["python"]) },
    args: ["language"],
    cli: { name: "client", usage: "<language>" },
    run: async (): Promise<string> => (await import("../client/svc.py", { with: { type: "text" } })).default,
  }),

  /** The execution profiles that a recipe can claim. */
  profiles: call("List the execution profiles", {
    output: documentOf<JsonObject>(z.object({ profiles: z.array(OBJECT) })),
    http: { route: "get /api/execution-profiles", returns: "The catalogue of profiles", constant: true },
    cli: { name: "profiles list" },
    run: async () => (await import("../../plan/profiles.ts")).profileCatalogue(),
  }),

  /** One profile. @throws SvcError `execution_profile_unknown` with the nearest id */
  profile: call("Show the stages of an execution profile", {
    fields: { profile: z.string() },
    args: ["profile"],
    cli: { name: "profiles show", usage: "<profile>" },
    async run(_core, { profile: id }): Promise<JsonObject> {
      const { CUSTOM_PROFILE, profileIds, PROFILES } = await import("../../plan/profiles.ts");
      const found = [...PROFILES, CUSTOM_PROFILE].find((profile) => profile.id === id);
      if (found !== undefined) return found;
      throw new SvcError("execution_profile_unknown", `Cannot find an execution profile named ${id}`, {
        hint: didYouMean(id, profileIds()) ?? "svc profiles list shows them",
      });
    },
  }),

  /** The JSON Schema of a kind of file. */
  schema: call("Print the JSON Schema of a kind of file", {
    fields: { name: z.enum(SCHEMAS) },
    args: ["name"],
    run: (core, { name }) => schemaOf(core, name),
  }),

  /** Checks runtime, permissions, folders and optional parts. */
  doctor: call("Check runtime, permissions, folders and optional parts", {
    output: documentOf<Diagnosis>(z.object({ status: z.string(), checks: z.array(OBJECT) })),
    http: { route: "get /api/doctor", returns: "The checks, with a remedy for each problem" },
    cli: { name: "doctor", exits: "exit 5 when one fails" },
    tool: true,
    async run({ workspace }): Promise<Diagnosis> {
      const [{ diagnose }, { probeLauncher }] = await Promise.all([
        import("../../run/doctor.ts"),
        import("../../adapter/sandbox.ts"),
      ]);
      return await diagnose(workspace, probeLauncher);
    },
  }),

  /**
   * The installation, its checks, the last failed run and the last trace of a defect as Markdown text for a report of a problem,
   * without private paths and names.
   */
  problemReport: call("Describe the installation and the last failure, without private paths", {
    async run({ workspace }): Promise<{ text: string; status: Diagnosis["status"] }> {
      const [{ diagnose }, { probeLauncher }, { problemReport }] = await Promise.all([
        import("../../run/doctor.ts"),
        import("../../adapter/sandbox.ts"),
        import("../../run/problem_report.ts"),
      ]);
      const diagnosis = await diagnose(workspace, probeLauncher);
      return { text: await problemReport(workspace, diagnosis), status: diagnosis.status };
    },
  }),

  /** Writes a project to start from. @throws SvcError `usage_invalid` where one of the files is there */
  init: call("Create a project: example recipes, a benchmark pack and schemas for editors", {
    fields: { folder: z.string().optional() },
    args: ["folder"],
    cli: { name: "init", usage: "[folder]" },
    async run(core, { folder = core.workspace.projectRoot }) {
      const [{ initProject }, { prettyJson }] = await Promise.all([
        import("../../template/init.ts"),
        import("../../contract/json.ts"),
      ]);
      return await initProject(folder, {
        "recipes/recipe.schema.json": prettyJson(await schemaOf(core, "recipe")),
        "benchmarks/pack.schema.json": prettyJson(await schemaOf(core, "pack")),
      });
    },
  }),

  /**
   * Reads everything that the state directory keeps by digest: artifacts, and fetched models and datasets.
   * @throws SvcError `gc_running`
   */
  checkStore: call("Hash artifacts, fetched models and datasets again", {
    fields: { repair: flag("replace damaged files by intact copies or new downloads, which uses the network") },
    run: async ({ workspace }, { repair }, means: Omit<StoreOptions, "repair">) =>
      await (await import("../../exchange/own_store.ts")).checkStore(workspace, { repair, ...means }),
  }),

  /** Builds the index of runs and results anew. */
  rebuildIndex: call("Rebuild the index of runs and results; jobs and their events are kept", {
    cli: { name: "index rebuild" },
    async run({ workspace }) {
      const [{ openRunIndex }, { rebuildResultIndex }] = await Promise.all([
        import("../../run/index/open.ts"),
        import("../../study/rows/result_index.ts"),
      ]);
      const { index, database, damaged, close } = openRunIndex(workspace, { check: true });
      try {
        return { runs: await index.rebuild(), benchmark_results: rebuildResultIndex(workspace, database), damaged };
      } finally {
        close();
      }
    },
  }),
};

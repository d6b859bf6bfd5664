/** Adapters: external code in folders, its permissions, and scaffolds to start from. */
import { isWarning, SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import type { ScaffoldKind } from "../../adapter/scaffold.ts";
import type { AdapterInspection } from "../../adapter/types.ts";
import { call } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { DIAGNOSTIC, documentOf, ownDiagnostics } from "../documents.ts";
import { flag, text } from "../fields.ts";

const FOLDER = { folder: z.string() };

/** An adapter without its place on this machine. */
const published = ({ folder, manifest_file: _file, diagnostics, ...adapter }: AdapterInspection) => ({
  ...adapter,
  diagnostics: diagnostics.map((item) => ({ ...item, hint: item.hint?.replaceAll(folder, "<folder>") ?? null })),
});

/** An inspection of a folder that can be used. @throws SvcError `adapter_manifest_invalid` with every finding */
async function usableFolder(core: SessionCore, folder: string): Promise<AdapterInspection> {
  const inspection = await core.inspectAdapter(folder);
  if (inspection.status === "valid") return inspection;
  const { diagnostics } = inspection;
  throw new SvcError("adapter_manifest_invalid", `Cannot use ${folder} as an adapter`, { diagnostics });
}

export const adapters = {
  /** Writes an adapter to start from. @throws SvcError `usage_invalid`, `adapter_folder_exists` */
  scaffold: call("Create a working adapter: manifest, code, tests and a recipe", {
    fields: { kind: z.string(), ...FOLDER, name: text("name of the adapter (default: that of the folder)", "name") },
    args: ["kind", "folder"],
    cli: { usage: "<kind> <folder>" },
    async run(_core, { kind, folder, name }) {
      const { scaffoldAdapter, scaffoldKind } = await import("../../adapter/scaffold.ts");
      return await scaffoldAdapter(scaffoldKind(kind), folder, { name });
    },
  }),

  /** The kinds that `scaffold` knows, each with its summary. */
  scaffolds: call("List the kinds of adapters to start from", {
    async run(): Promise<{ kind: ScaffoldKind; summary: string }[]> {
      const { SCAFFOLD_KINDS, scaffoldSummary } = await import("../../adapter/scaffold.ts");
      return SCAFFOLD_KINDS.map((kind) => ({ kind, summary: scaffoldSummary(kind) }));
    },
  }),

  /**
   * Loads a folder beside the built-in operations, as a run would, and forgets it again.
   * @throws SvcError `adapter_manifest_invalid` with every finding, or what loading throws
   */
  validate: call("Check an adapter: manifest, modules, digests; exit 3 with every finding and its line", {
    fields: { ...FOLDER, load_modules: z.boolean().default(true).describe("load the code once in its sandbox") },
    args: ["folder"],
    cli: { usage: "<folder>", without: ["load_modules"] },
    findings: ownDiagnostics,
    async run(core, { folder, load_modules: loadModules }) {
      const inspection = await usableFolder(core, folder);
      const [{ createRegistry }, { loadAdapters }] = await Promise.all([
        import("../../../ops/registry.ts"),
        import("../../adapter/load.ts"),
      ]);
      const { workspace: { projectRoot }, grants, python } = core;
      const own = grants.filter((grant) => grant.startsWith(`${inspection.name}:`));
      await loadAdapters(await createRegistry(), [{ folder }], { projectRoot, grants: own, python, loadModules });
      return inspection;
    },
  }),

  /** A folder's requests, grants, files and findings; nothing of it runs. */
  inspect: call("Show permissions, grants, operations, files and digests of an adapter without running its code", {
    fields: FOLDER,
    args: ["folder"],
    cli: { usage: "<folder>" },
    findings: ownDiagnostics,
    run: async (core, { folder }) => await core.inspectAdapter(folder),
  }),

  /**
   * Grants an adapter the permissions that its manifest requests, in the trust file of the user. A folder with another digest
   * than `folderSha256`, the one that was shown, is refused.
   * @throws SvcError `adapter_manifest_invalid`, `adapter_changed`, `trust_file_invalid`
   */
  trust: call("Grant an adapter the permissions that it requests; the grant ends when its folder changes", {
    fields: {
      ...FOLDER,
      note: text("reason, stored in the trust file"),
      unsandboxed: flag("run a Python adapter with all of your rights where no sandbox works"),
      folder_sha256: z.string().optional(),
    },
    args: ["folder"],
    async run(core, { folder, note, unsandboxed, folder_sha256 }) {
      const found = await usableFolder(core, folder);
      const { trustAdapter } = await import("../../adapter/write_trust.ts");
      return trustAdapter(folder, { note, unsandboxed, folderSha256: folder_sha256 ?? found.folder_sha256! });
    },
  }),

  /** Revokes what the trust file of the user grants to an adapter; a name where the folder is gone. */
  untrust: call("Revoke the grants of an adapter, by folder or by name", {
    fields: FOLDER,
    args: ["folder"],
    cli: { usage: "<folder>" },
    run: async (_core, { folder }) => (await import("../../adapter/write_trust.ts")).untrustAdapter(folder),
  }),

  /** Inspections of the adapters of the session. */
  list: call("List the loaded adapters with their grants", {
    output: z.object({
      adapters: z.array(documentOf<ReturnType<typeof published>>()),
      warnings: z.array(DIAGNOSTIC),
    }),
    http: { route: "get /api/adapters", returns: "A row each" },
    cli: {},
    tool: true,
    publish(found: AdapterInspection[]) {
      const adapters = found.map(published);
      return { adapters, warnings: adapters.flatMap(({ diagnostics }) => diagnostics).filter(isWarning) };
    },
    findings: (found: AdapterInspection[]) => found.flatMap(({ diagnostics }) => diagnostics),
    async run(core): Promise<AdapterInspection[]> {
      const found: AdapterInspection[] = [];
      for (const { folder } of core.adapterSources) found.push(await core.inspectAdapter(folder));
      return found;
    },
  }),

  /** An inspection of a folder that can be used. @throws SvcError `adapter_manifest_invalid` with every finding */
  usable: call("Inspect an adapter that can be used", {
    fields: FOLDER,
    args: ["folder"],
    findings: ownDiagnostics,
    run: async (core, { folder }) => await usableFolder(core, folder),
  }),
};

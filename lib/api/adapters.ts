/** Adapters: external code in folders, its permissions, and scaffolds to start from. */
import { SvcError } from "../contract/error.ts";
import type { ScaffoldKind } from "../adapter/scaffold.ts";
import type { AdapterInspection } from "../adapter/types.ts";
import type { TrustOptions } from "../adapter/write_trust.ts";
import type { SessionCore } from "./core.ts";

export class Adapters {
  constructor(private readonly core: SessionCore) {}

  /** Inspections of the adapters of the session. */
  async list(): Promise<AdapterInspection[]> {
    const found: AdapterInspection[] = [];
    for (const { folder } of this.core.adapterSources) found.push(await this.inspect(folder));
    return found;
  }

  /** A folder's requests, grants, files and findings; nothing of it runs. */
  async inspect(folder: string): Promise<AdapterInspection> {
    return await this.core.inspectAdapter(folder);
  }

  /**
   * Loads a folder beside the built-in operations, as a run would, and forgets it again.
   * @param options `loadModules: false` leaves its code unloaded
   * @throws SvcError `adapter_manifest_invalid` with every finding, or what loading throws
   */
  async validate(folder: string, { loadModules = true } = {}): Promise<AdapterInspection> {
    const inspection = await this.usable(folder);
    const [{ createRegistry }, { loadAdapters }] = await Promise.all([
      import("../../ops/registry.ts"),
      import("../adapter/load.ts"),
    ]);
    const { workspace: { projectRoot }, grants, python } = this.core;
    const own = grants.filter((grant) => grant.startsWith(`${inspection.name}:`));
    await loadAdapters(await createRegistry(), [{ folder }], { projectRoot, grants: own, python, loadModules });
    return inspection;
  }

  /** Writes an adapter to start from. @throws SvcError `usage_invalid`, `adapter_folder_exists` */
  async scaffold(kind: string, folder: string, options: { name?: string } = {}) {
    const { scaffoldAdapter, scaffoldKind } = await import("../adapter/scaffold.ts");
    return await scaffoldAdapter(scaffoldKind(kind), folder, options);
  }

  /** The kinds that {@link scaffold} knows, each with its summary. */
  async scaffolds(): Promise<{ kind: ScaffoldKind; summary: string }[]> {
    const { SCAFFOLD_KINDS, scaffoldSummary } = await import("../adapter/scaffold.ts");
    return SCAFFOLD_KINDS.map((kind) => ({ kind, summary: scaffoldSummary(kind) }));
  }

  /**
   * Grants an adapter the permissions that its manifest requests, in the trust file of the user.
   * @param options `folderSha256` is the digest that was shown: a folder that changed since is refused; `unsandboxed` lets a
   *   Python adapter run with the rights of the user where no sandbox works
   * @throws SvcError `adapter_manifest_invalid`, `adapter_changed`, `trust_file_invalid`
   */
  async trust(folder: string, options: TrustOptions = {}) {
    const { folder_sha256 } = await this.usable(folder);
    const { trustAdapter } = await import("../adapter/write_trust.ts");
    return trustAdapter(folder, { ...options, folderSha256: options.folderSha256 ?? folder_sha256! });
  }

  /** Revokes what the trust file of the user grants to an adapter; a name where the folder is gone. */
  async untrust(folder: string) {
    const { untrustAdapter } = await import("../adapter/write_trust.ts");
    return untrustAdapter(folder);
  }

  /** An inspection of a folder that can be used. @throws SvcError `adapter_manifest_invalid` with every finding */
  async usable(folder: string): Promise<AdapterInspection> {
    const inspection = await this.inspect(folder);
    if (inspection.status === "valid") return inspection;
    const { diagnostics } = inspection;
    throw new SvcError("adapter_manifest_invalid", `Cannot use ${folder} as an adapter`, { diagnostics });
  }
}

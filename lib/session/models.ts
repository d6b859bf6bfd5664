/** Models that operations name: those of the program and those that were fetched. */
import type { FetchedModel, FetchModelOptions, ModelRow, VerifiedModel } from "../fetch/models.ts";
import type { SessionCore } from "./core.ts";

export class Models {
  constructor(private readonly core: SessionCore) {}

  /** The models of the program, the fetched ones, and published ones that are known. */
  async list(): Promise<ModelRow[]> {
    const [{ listModels }, { programRoot }] = await Promise.all([
      import("../fetch/models.ts"),
      import("../training/program_root.ts"),
    ]);
    return listModels({ stateDir: this.core.workspace.stateDir, programRoot: programRoot() });
  }

  /**
   * Brings a model to this machine. It uses the network.
   * @param id name, or an https address together with `sha256`
   * @throws SvcError `model_unavailable`, `artifact_hash_mismatch`, `not_found`, `usage_invalid`
   */
  async fetch(id: string, options: Omit<FetchModelOptions, "stateDir"> = {}): Promise<FetchedModel> {
    const { fetchModel } = await import("../fetch/models.ts");
    return await fetchModel(id, { ...options, stateDir: this.core.workspace.stateDir });
  }

  /** Hashes the files of fetched models again; of all when none is named. @throws SvcError `not_found` */
  async verify(id?: string): Promise<VerifiedModel[]> {
    return (await import("../fetch/models.ts")).verifyModels(this.core.workspace.stateDir, id);
  }
}

/** Models that operations name: those of the program and those that were fetched. */
import type { ExchangeOptions, ExchangeReport, PushOptions } from "../exchange/exchange.ts";
import type { FetchedModel, FetchModelOptions, ModelRow, VerifiedModel } from "../fetch/models.ts";
import type { SessionCore } from "./core.ts";

export class Models {
  constructor(private readonly core: SessionCore) {}

  /** The models of the program, the fetched ones, and published ones that are known. */
  async list(): Promise<ModelRow[]> {
    const [{ listModels }, { programFolder }] = await Promise.all([
      import("../fetch/models.ts"),
      import("../artifact/program.ts"),
    ]);
    return listModels({ stateDir: this.core.workspace.stateDir, programRoot: programFolder() ?? undefined });
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

  /** Sends fetched models to an object store, `s3://bucket/prefix`; all without ids. @throws SvcError as `runs.push` */
  async push(store: string, ids: readonly string[] = [], options: PushOptions = {}): Promise<ExchangeReport> {
    return await (await import("../exchange/exchange.ts")).push(this.core.workspace, "models", store, ids, options);
  }

  /** Receives fetched models from an object store, verified before they appear. @throws SvcError as `runs.pull` */
  async pull(store: string, ids: readonly string[] = [], options: ExchangeOptions = {}): Promise<ExchangeReport> {
    return await (await import("../exchange/exchange.ts")).pull(this.core.workspace, "models", store, ids, options);
  }
}

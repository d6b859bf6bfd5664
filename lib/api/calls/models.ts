/** Models that operations name: those of the program and those that were fetched. */
import { z } from "../../contract/zod.ts";
import type { FetchModelOptions, ModelRow, VerifiedModel } from "../../fetch/models.ts";
import { call } from "../call.ts";
import { pullCall, pushCall } from "../exchange_calls.ts";
import { text } from "../fields.ts";

const fetching = () => import("../../fetch/models.ts");

export const models = {
  /** The models of the program, the fetched ones, and published ones that are known. */
  list: call("List bundled, fetched and known published models", {
    cli: {},
    async run({ workspace: { stateDir } }): Promise<ModelRow[]> {
      const [{ listModels }, { programFolder }] = await Promise.all([fetching(), import("../../artifact/program.ts")]);
      return listModels({ stateDir, programRoot: programFolder() ?? undefined });
    },
  }),

  /**
   * Brings a model, by its name or an https address together with `sha256`, to this machine.
   * @throws SvcError `model_unavailable`, `artifact_hash_mismatch`, `not_found`, `usage_invalid`
   */
  fetch: call("Download a model; one of the two commands that use the network", {
    fields: {
      model: z.string(),
      revision: text("full commit of its repository; a branch can move", "commit"),
      sha256: text("digest of the file, for a model at an address", "digest"),
      from: text("repository (owner/name) or address that holds its files, instead of the known one", "source"),
      files: z.array(z.string()).optional(),
    },
    args: ["model"],
    cli: { usage: "<model>", without: ["files"] },
    run: async ({ workspace: { stateDir } }, { model, ...options }, means: Pick<FetchModelOptions, "onProgress">) =>
      await (await fetching()).fetchModel(model, { ...options, ...means, stateDir }),
  }),

  /** Hashes the files of fetched models again; of all when none is named. @throws SvcError `not_found` */
  verify: call("Verify the hashes of fetched models", {
    fields: { model: z.string().optional() },
    args: ["model"],
    cli: { usage: "[model]", exits: "exit 6 on a difference" },
    run: async ({ workspace: { stateDir } }, { model }): Promise<VerifiedModel[]> =>
      (await fetching()).verifyModels(stateDir, model),
  }),

  /** Sends fetched models to an object store, `s3://bucket/prefix`; all without ids. @throws SvcError as `runs.push` */
  push: pushCall("models", "fetched models"),

  /** Receives fetched models from an object store, verified before they appear. @throws SvcError as `runs.pull` */
  pull: pullCall("models", "fetched models"),
};

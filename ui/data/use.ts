/** Data of the project as parameters of a source: the path, and the digest that pins it. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get, type Reply } from "../api.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, edit } from "../state/copies.ts";

export type DataSet = Reply<"/api/data/sets">["sets"][number];
/** What a recipe needs of a file: the source, and the parameters that name and pin it. */
export interface Use {
  operation: string;
  params: JsonObject;
}
type Named = Pick<DataSet, "path" | "id" | "sha256">;

/** Kinds of data by the operation that reads them, the usual one of a kind first. */
const KINDS: Readonly<Record<string, DataSet["kind"]>> = {
  "source.image_dataset": "images",
  "source.text_dataset": "texts",
  "source.iq_recording": "recording",
  "source.channel_dataset": "arrays",
  "source.csi_dataset": "arrays",
  "source.bit_manifest": "bits",
  "channel.ldpc_encoder": "code",
};
/** Whether an operation reads an NPZ file of a network. */
const readsCheckpoint = (operation: string) =>
  Object.hasOwn(contracts.value.get(operation)?.params_schema.properties as JsonObject ?? {}, "checkpoint_sha256");
export const kindRead = (operation: string): DataSet["kind"] | undefined =>
  KINDS[operation] ?? (readsCheckpoint(operation) ? "arrays" : undefined);
/** Parameters that select among samples of other data. */
const SELECTION = ["split", "image_ids", "text_ids", "sample_ids", "item_ids", "selection"];

/** The use of data whose digest is known. @param operation the usual one of the kind where it is left out */
export function useOf(
  kind: DataSet["kind"],
  { path, id, sha256 }: Named,
  operation = Object.keys(KINDS).find((name) => KINDS[name] === kind)!,
): Use {
  const params: JsonObject = readsCheckpoint(operation)
    ? { checkpoint_path: path, checkpoint_sha256: sha256 }
    : kind === "bits"
    ? { manifest_path: path, manifest_sha256: sha256 }
    : kind === "code"
    ? { code_path: path, code_sha256: sha256 }
    : kind === "recording"
    ? { recording_path: path, recording_sha256: sha256 }
    : kind === "arrays"
    ? { dataset_path: path, dataset_sha256: sha256, ...(operation === "source.csi_dataset" && { origin: "file" }) }
    : { dataset: id ?? "", manifest_path: path, manifest_sha256: sha256, ...(kind === "images" && { image_ids: "" }) };
  return { operation, params };
}

/** As {@link useOf}; the server hashes recordings and arrays for it. @throws Problem for a file that cannot be read */
export async function readUse(set: DataSet, operation?: string): Promise<Use> {
  if (set.sha256 !== null) return useOf(set.kind, set, operation);
  const { description } = await get("/api/data/preview", { query: { path: set.path } });
  return useOf(set.kind, { ...set, sha256: String(description!.sha256) }, operation);
}

/** Gives parameters to a step, in place of those that select among other data. */
export function putParams(
  { id: copyId }: Pick<Copy, "id">,
  recipe: JsonObject,
  stepId: string,
  params: JsonObject,
): void {
  const steps = (recipe.steps as JsonObject[]).map((step) => {
    if (step.id !== stepId) return step;
    const kept = Object.entries((step.params ?? {}) as JsonObject).filter(([name]) => !SELECTION.includes(name));
    return { ...step, params: { ...Object.fromEntries(kept), ...params } };
  });
  edit(copyId, { ...recipe, steps });
}

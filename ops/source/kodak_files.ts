/**
 * The files of the Kodak images, kodim01 first, hashed but not decoded.
 *
 * Each item is {id, path, sha256, size_bytes}; the path is as in the recipe, relative to the project. `svc data fetch
 * kodak` fetches the dataset; a run never uses the network.
 */
import { defineOperation, type JsonObject, sha256Hex, z } from "../api.ts";
import { KODAK_IDS } from "./_image_selection.ts";

const FOLDER = ".svc/datasets/kodak";

export default defineOperation({
  id: "source.kodak_files",
  name: "Kodak file list",
  description: "Lists the files of the Kodak images with their digests",
  outputs: { images: "image.files" },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(FOLDER).describe("folder of the images"),
    limit: z.int().min(1).max(KODAK_IDS.length).default(KODAK_IDS.length).describe("number of files"),
  }),
  estimate: () => ({}),
  requires: ({ dataset_dir }) => dataset_dir === FOLDER ? [{ kind: "dataset", id: "kodak" }] : [],
  async run({ params, files, progress }) {
    const folder = params.dataset_dir.replace(/\/+$/, ""), items: JsonObject[] = [];
    for (const id of KODAK_IDS.slice(0, params.limit)) {
      const path = `${folder}/${id}.png`, bytes = await files.read(path);
      items.push({ id, path, sha256: sha256Hex(bytes), size_bytes: bytes.length });
      progress(items.length, params.limit, { phase: "hashing", unit: "files" });
    }
    const metadata = { dataset: { id: "kodak", version: "kodak-24" } };
    return { outputs: { images: { json: { kind: "image.files", schema_version: 1, items, metadata } } } };
  },
});

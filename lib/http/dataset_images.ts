/** The images of a data set, for choosing among them. */
import { join } from "node:path";
import { BUNDLED_DATASETS, isBundledDatasetPresent, readBundledFile } from "../artifact/bundled.ts";
import { parseImageManifest } from "../artifact/dataset_manifest.ts";
import { decodeImage } from "../artifact/image_file.ts";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { JsonObject } from "../contract/value.ts";
import type { Workspace } from "../run/workspace.ts";
import { checkPath, confine } from "./confine.ts";

const MANIFEST = "manifest.json";

/**
 * Lists the images of a bundled data set, or of a folder with an image-dataset manifest.
 *
 * @param folder relative to the project root; left out for a bundled data set or one in the state directory
 * @throws SvcError `not_found`, `path_forbidden`, or what is wrong with the manifest
 */
export async function datasetImages(
  { stateDir, projectRoot }: Workspace,
  id: string,
  folder?: string,
): Promise<JsonObject> {
  if (folder === undefined && Object.hasOwn(BUNDLED_DATASETS, id)) {
    if (!isBundledDatasetPresent(id, { stateDir })) {
      return { dataset: id, available: false, images: [], fetch: `svc data fetch ${id}` };
    }
    return await described(id, (path) => readBundledFile(id, path, { stateDir }));
  }
  const root = folder === undefined
    ? confineIn(join(stateDir, "datasets"), checkPath(id), id)
    : confineIn(projectRoot, folder, id);
  return await described(id, (path) => Deno.readFile(confine(root, path, "not_found")));
}

function confineIn(root: string, path: string, id: string): string {
  try {
    return confine(root, path, "not_found");
  } catch (error) {
    if (!(error instanceof SvcError && error.code === "not_found")) throw error;
    throw new SvcError("not_found", `Cannot find a data set named ${id}`, {
      hint: didYouMean(id, Object.keys(BUNDLED_DATASETS)),
    });
  }
}

async function described(id: string, read: (path: string) => Promise<Uint8Array>): Promise<JsonObject> {
  const manifest = parseImageManifest(await read(MANIFEST));
  const images: JsonObject[] = [];
  for (const { sample_id, path, sha256 } of manifest.samples) {
    const inside = manifest.root === "." ? path : `${manifest.root.replace(/\/$/, "")}/${path}`;
    const { width, height } = decodeImage(await read(inside));
    images.push({ id: sample_id, width, height, sha256: sha256 ?? null });
  }
  return { dataset: id, available: true, images };
}

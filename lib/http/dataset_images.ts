/** The images of a dataset that a request names. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import type { DatasetImages } from "../api/calls/data.ts";
import type { Session } from "../api/session.ts";
import { checkPath, confine } from "../artifact/confine.ts";

/**
 * Lists the images of a bundled dataset, or of a folder with an image-dataset manifest.
 * @param folder relative to the project root; left out for a bundled dataset or one in the state directory
 * @throws SvcError `not_found`, `path_forbidden`, or the errors of the manifest
 */
export async function datasetImages({ data, workspace }: Session, id: string, folder?: string): Promise<DatasetImages> {
  if (folder !== undefined) return await data.images(id, filesOf(confine(workspace.projectRoot, folder, "not_found")));
  try {
    return await data.images(id);
  } catch (error) {
    const place = join(workspace.stateDir, "datasets");
    const bundled = !(error instanceof SvcError && error.code === "not_found");
    if (bundled || !existsSync(join(place, checkPath(id)))) throw error;
    return await data.images(id, filesOf(confine(place, id, "not_found")));
  }
}

/** The manifest names further files: none of them may lie outside of the folder. */
const filesOf = (root: string) => ({ file: (path: string) => confine(root, path, "not_found") });

/**
 * Image files of a folder as one batch of RGB squares: the shorter side resized, centre crop, EXIF orientation applied,
 * grey repeated and alpha dropped.
 */
import { type FileAccess, type JsonObject, type Progress, sha256Hex, SvcError } from "../api.ts";
import { toRgb } from "../../lib/artifact/image.ts";
import type { ImageBatch } from "../../lib/artifact/values.ts";

/**
 * Loads images.
 * @param paths as in a recipe
 * @param size width and height of every image in pixels
 * @returns the batch, and the digest of each file for its metadata
 * @throws SvcError `boundary_file_missing`, or the decoder's error with the file name
 */
export async function loadSquares(
  paths: readonly string[],
  size: number,
  { files, progress }: { files: FileAccess; progress: Progress },
): Promise<{ batch: ImageBatch; sourceFiles: JsonObject[] }> {
  // Loaded on first use, so that listing operations loads no decoder.
  const [{ decodeImage }, { centreCrop, resizeShorterSide }] = await Promise.all([
    import("../../lib/artifact/image_file.ts"),
    import("../../lib/artifact/image_resize.ts"),
  ]);
  const data = new Uint8Array(paths.length * size * size * 3);
  const sourceFiles: JsonObject[] = [];
  for (const [index, path] of paths.entries()) {
    const bytes = await files.read(path);
    try {
      const square = centreCrop(resizeShorterSide(decodeImage(bytes), size), size);
      data.set(toRgb(square).data, index * size * size * 3);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      throw new SvcError(error.code, `${error.message} (${path})`, { hint: error.hint });
    }
    sourceFiles.push({ sha256: sha256Hex(bytes) });
    progress(index + 1, paths.length, { phase: "loading", unit: "images" });
  }
  return { batch: { count: paths.length, height: size, width: size, channels: 3, dtype: "uint8", data }, sourceFiles };
}

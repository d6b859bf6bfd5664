/** File access of sources, by the paths of recipes (`artifact/recipe_path`). */
import { readBundledFile } from "../artifact/bundled.ts";
import { fileSource } from "../artifact/byte_source.ts";
import { readBounded } from "../artifact/read_file.ts";
import { resolveRecipePath } from "../artifact/recipe_path.ts";
import { SvcError } from "../contract/error.ts";
import { compareCodePoints } from "../contract/json.ts";
import type { FileAccess } from "../contract/operation.ts";

export { resolveRecipePath } from "../artifact/recipe_path.ts";

/** Of a file that an operation reads whole. */
const MAX_FILE_BYTES = 2 ** 30, BLOCK_BYTES = 2 ** 20;

export function fileAccess(roots: { projectRoot: string; stateDir: string }): FileAccess {
  const named = (error: unknown, path: string, full: string): unknown =>
    error instanceof Deno.errors.NotFound
      ? new SvcError("boundary_file_missing", `Cannot find the file ${path}`, { hint: `Expected at ${full}` })
      : error;
  return {
    async read(path) {
      const full = resolveRecipePath(path, roots);
      try {
        return await readBounded(full, MAX_FILE_BYTES, path);
      } catch (error) {
        throw named(error, path, full);
      }
    },
    async *blocks(path) {
      const full = resolveRecipePath(path, roots);
      try {
        using source = fileSource(full, Infinity, path);
        for (let at = 0; at < source.size; at += BLOCK_BYTES) yield source.at(at, BLOCK_BYTES);
      } catch (error) {
        throw named(error, path, full);
      }
    },
    async list(path) {
      const full = resolveRecipePath(path, roots);
      try {
        if (!(await Deno.lstat(full)).isDirectory) {
          throw new SvcError("path_refused", `Cannot list ${path}: it is not a folder`);
        }
        const names: string[] = [];
        for await (const { name, isFile } of Deno.readDir(full)) if (isFile) names.push(name);
        return names.sort(compareCodePoints);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        throw new SvcError("boundary_file_missing", `Cannot find the folder ${path}`, {
          hint: `Expected at ${full}`,
        });
      }
    },
    bundled: (dataset, path) => readBundledFile(dataset, path, { stateDir: roots.stateDir }),
  };
}

/** Writes `source_hashes.json`: digests of the sources for a program that cannot read its own files. */
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { compareCodePoints, prettyJson } from "../contract/json.ts";
import { computeBuildSha256, SourceFiles, type SourceList } from "../plan/implementation_source.ts";

/** Modules that run steps of operations from elsewhere. */
const STEP_MODULES = ["lib/adapter/step.ts"];

/**
 * Hashes every operation module (files that begin with `_` are shared code) and the build. Exported for tests.
 * @param root URL of the program's folder
 */
export async function generateSourceHashes(root: string = PROGRAM_ROOT): Promise<SourceList> {
  const urls = [...operationModules(new URL("ops/", root)), ...STEP_MODULES.map((path) => new URL(path, root).href)]
    .sort(compareCodePoints);
  const files = new SourceFiles(root);
  const described = await files.describe(urls);
  return {
    schema_version: 1,
    build_sha256: computeBuildSha256(files, root),
    modules: Object.fromEntries(urls.map((url) => {
      const { source_module, source_sha256 } = described.get(url)!;
      return [source_module, source_sha256!];
    })),
  };
}

/** The operation modules of all groups; files outside the groups are not operations. */
function operationModules(folder: URL, depth = 0): string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    if (entry.isDirectory) return operationModules(new URL(`${entry.name}/`, folder), depth + 1);
    const counts = depth > 0 && entry.name.endsWith(".ts") && !entry.name.startsWith("_");
    return counts ? [new URL(entry.name, folder).href] : [];
  });
}

/** The generated file, by path from the root. */
export const generated = async (): Promise<Record<string, string>> => ({
  "lib/plan/source_hashes.json": prettyJson(await generateSourceHashes()),
});

/**
 * Writes `source_hashes.json`, from which a program that cannot read its own files takes the digests of its sources.
 *
 *     deno run -A lib/plan/generate_source_hashes.ts [--check]
 */
import { compareCodePoints, prettyJson } from "../contract/json.ts";
import { computeBuildSha256, PROGRAM_ROOT, SourceFiles, type SourceList } from "./implementation_source.ts";

/**
 * Hashes every operation module (files that begin with `_` are shared parts) and the build.
 *
 * @param root URL of the program's folder
 */
export async function generateSourceHashes(root: string = PROGRAM_ROOT): Promise<SourceList> {
  const urls = operationModules(new URL("ops/", root)).sort(compareCodePoints);
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

/** The modules of all groups; what lies beside the groups is no operation. */
function operationModules(folder: URL, depth = 0): string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    if (entry.isDirectory) return operationModules(new URL(`${entry.name}/`, folder), depth + 1);
    const counts = depth > 0 && entry.name.endsWith(".ts") && !entry.name.startsWith("_");
    return counts ? [new URL(entry.name, folder).href] : [];
  });
}

if (import.meta.main) {
  const path = new URL("./source_hashes.json", import.meta.url);
  const text = prettyJson(await generateSourceHashes() as unknown as Parameters<typeof prettyJson>[0]);
  if (!Deno.args.includes("--check")) await Deno.writeTextFile(path, text);
  else if (await Deno.readTextFile(path) !== text) {
    console.error(
      "lib/plan/source_hashes.json is not what its generator writes; run lib/plan/generate_source_hashes.ts",
    );
    Deno.exit(1);
  }
}

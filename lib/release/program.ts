/**
 * The files of a packaged program: the modules of its entry points, the files of `lib/fetch/program_files.json`, the digests of
 * sources, and the page, built. Nothing else of the repository is needed.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROGRAM_ROOT, type ProgramForm } from "../artifact/program.ts";
import { prettyJson } from "../contract/json.ts";
import files from "../fetch/program_files.json" with { type: "json" };
import { SourceFiles } from "../plan/implementation_source.ts";
import { buildPage } from "../../ui/build.ts";

const ENTRY_POINTS = ["mod.ts", "cli.ts", "server.ts"];
const GENERATED = ["lib/plan/source_hashes.json", "lib/fetch/program_files.json"];

/** Paths of all files, relative to the program's folder, sorted; the built page is not among them. Exported for tests. */
export function programFiles(): string[] {
  const modules = new SourceFiles().rows(ENTRY_POINTS.map((name) => new URL(name, PROGRAM_ROOT).href));
  return [...new Set([...modules.map(([path]) => path), ...Object.keys(files.data), ...GENERATED])].sort();
}

/**
 * Copies the program into a folder and builds its page there.
 * @param folder absolute
 * @param pageState state directory whose built page is taken while it is that of these sources
 * @returns paths of all files, relative to the folder
 */
export async function copyProgram(folder: string, form: ProgramForm, pageState?: string): Promise<string[]> {
  const root = fileURLToPath(PROGRAM_ROOT), paths = programFiles();
  for (const path of paths) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.copyFile(join(root, path), join(folder, path));
  }
  const state = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    const page = await buildPage(pageState ?? state);
    await Deno.mkdir(join(folder, "ui/built"), { recursive: true });
    for (const { name } of Deno.readDirSync(page.folder)) {
      await Deno.copyFile(join(page.folder, name), join(folder, "ui/built", name));
      paths.push(`ui/built/${name}`);
    }
  } finally {
    await Deno.remove(state, { recursive: true });
  }
  await Deno.writeTextFile(join(folder, "packaged.json"), prettyJson({ schema_version: 1, form }));
  return [...paths, "packaged.json"];
}

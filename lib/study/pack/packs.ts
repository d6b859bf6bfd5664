/** Finds packs and validation cards: those of the project's `benchmarks/`, and those of the program. */
import { checkPath, confine } from "../../artifact/confine.ts";
import { entriesOf } from "../../artifact/path_kind.ts";
import { join, relative } from "node:path";
import { programFolder } from "../../artifact/program.ts";
import { messageOf, SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { isObject, type JsonObject } from "../../contract/value.ts";
import { readRecipeText } from "../../recipe/read.ts";
import { locateRecipe } from "../../recipe/recipe_files.ts";

/** A pack in a list. */
export interface PackListRow {
  /** Its name: the path under `benchmarks/`, without the extension. */
  name: string;
  /** Absolute. */
  file: string;
  id: string | null;
  version: string | null;
  title: string | null;
  tier: string | null;
  task: string | null;
  suite: string | null;
  recipes: number;
  /** Why it cannot be read. */
  problem?: string;
}

const PACK_FILE = /\.(ya?ml|json)$/i;
/** Folder of validation cards in `benchmarks/`. */
export const CARDS_FOLDER = "validation";

function packFiles(folder: string, except?: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory) return entry.name === except ? [] : packFiles(path);
    return entry.isFile && PACK_FILE.test(entry.name) && !entry.name.endsWith(".schema.json") ? [path] : [];
  });
}

/** The folders of packs, the project's first; the program's own is omitted if it is the same. */
export function packFolders(projectRoot: string): string[] {
  const folders = [join(projectRoot, "benchmarks")];
  const program = programFolder();
  if (program !== null && join(program, ".") !== join(projectRoot, ".")) folders.push(join(program, "benchmarks"));
  return folders;
}

/**
 * Lists the packs by name; a pack of the project hides one of the program with the same name.
 * @param projectRoot absolute path
 */
export function listBenchmarkPacks(projectRoot: string): PackListRow[] {
  return [...namedFiles(projectRoot)].map(([name, file]) => packRow(name, file)).sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0
  );
}

/** The files of packs by name. */
function namedFiles(projectRoot: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of packFolders(projectRoot)) {
    for (const file of packFiles(folder, CARDS_FOLDER).sort()) {
      const name = relative(folder, file).replaceAll("\\", "/").replace(PACK_FILE, "");
      if (!files.has(name)) files.set(name, file);
    }
  }
  return files;
}

/** Rows by file, with the text that each was read from. */
const rowsRead = new Map<string, { text: string; row: PackListRow }>();

function packRow(name: string, file: string): PackListRow {
  const row: PackListRow = {
    name,
    file,
    id: null,
    version: null,
    title: null,
    tier: null,
    task: null,
    suite: null,
    recipes: 0,
  };
  try {
    const text = Deno.readTextFileSync(file), known = rowsRead.get(file);
    if (known?.text === text) return { ...known.row, name };
    const { value } = readRecipeText(text, { file });
    if (!isObject(value)) throw new TypeError("it is not a mapping");
    const textOf = (item: unknown) => typeof item === "string" ? item : null;
    const member = (key: string) => isObject(value[key]) ? value[key] as JsonObject : {};
    const filled = {
      ...row,
      id: textOf(value.id),
      version: textOf(value.version),
      title: textOf(value.name),
      tier: textOf(member("metadata").benchmark_tier) ?? "smoke",
      task: textOf(member("task").id),
      suite: textOf(member("suite").id),
      recipes: Array.isArray(value.recipes) ? value.recipes.length : 0,
    };
    rowsRead.set(file, { text, row: { ...filled } });
    return filled;
  } catch (error) {
    return { ...row, problem: messageOf(error) };
  }
}

/**
 * The file of a pack: given by a path, a name as in `listBenchmarkPacks`, or an id; or that of a recipe by its name or template.
 * @throws SvcError `pack_not_found` with the nearest name
 */
export function resolvePack(wanted: string, projectRoot: string): string {
  try {
    if (Deno.statSync(wanted).isFile) return wanted;
  } catch {
    // Not a path, so it is a name.
  }
  // A name needs no file to be read.
  const named = namedFiles(projectRoot).get(wanted);
  if (named !== undefined) return named;
  const packs = listBenchmarkPacks(projectRoot), found = packs.find(({ id }) => id === wanted);
  if (found !== undefined) return found.file;
  const recipe = locateRecipe(wanted, projectRoot);
  if (recipe !== null) return recipe.file;
  throw new SvcError("pack_not_found", `Cannot find a benchmark pack named ${wanted || "(empty)"}`, {
    hint: didYouMean(wanted, packs.flatMap(({ name, id }) => [name, ...(id === null ? [] : [id])])) ??
      "List them with: svc benchmark list",
  });
}

/**
 * A pack that a request names: a listed one by name or id, or a file in `benchmarks/` of the project.
 * @returns its file, and its id, or its name where it has none
 * @throws SvcError `path_forbidden`, `pack_not_found`
 */
export function confinedPack(wanted: string, projectRoot: string): { file: string; name: string } {
  const packs = listBenchmarkPacks(projectRoot);
  const found = packs.find(({ name }) => name === wanted) ?? packs.find(({ id }) => id === wanted);
  if (found !== undefined) return { file: found.file, name: found.id ?? found.name };
  checkPath(wanted);
  if (wanted.startsWith("benchmarks/") && PACK_FILE.test(wanted)) {
    const file = confine(join(projectRoot, "benchmarks"), wanted.slice("benchmarks/".length), "pack_not_found");
    return { file, name: packs.find((pack) => pack.file === file)?.id ?? wanted };
  }
  throw new SvcError("pack_not_found", `Cannot find a benchmark pack named ${wanted}`, {
    hint: didYouMean(wanted, packs.flatMap(({ name, id }) => (id === null ? [name] : [name, id]))) ??
      "GET /api/benchmarks/packs lists them",
  });
}

/**
 * Writes `lib/fetch/program_files.json`: the files that the program reads beside its modules, with their digests. `data` are
 * recipes, packs, adapters, models and sample images; `page` are the sources of the page.
 */
import { join } from "node:path/posix";
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { sha256Hex } from "../contract/hash.ts";
import { compareCodePoints, prettyJson } from "../contract/json.ts";

/** Folders and files of data. */
const DATA = [
  "LICENSE",
  "adapters",
  "benchmarks",
  "deno.json",
  "deno.lock",
  "docs",
  "lib/contract/packages",
  "recipes",
];
/** Files that no program reads: generators, figures of documents, and scaffolds, which are modules. */
const LEFT_OUT =
  /^(recipes|benchmarks|docs)\/\w+\.ts$|^recipes\/(figures|scaffolds|models\/training|models\/\w+\.ts)(\/|$)|^docs\/reference\/validation\//;
const PAGE_ENTRIES = ["ui/main.tsx", "ui/events_worker.ts", "ui/boot.ts"];
const PAGE_FOLDERS = ["ui/fonts", "ui/pictures", "ui/styles"];

const root = new URL(PROGRAM_ROOT);

function filesIn(path: string): string[] {
  if (LEFT_OUT.test(path)) return [];
  if (Deno.statSync(new URL(path, root)).isFile) return [path];
  return [...Deno.readDirSync(new URL(path, root))]
    .filter(({ name }) => !name.startsWith(".") && name !== "__pycache__")
    .flatMap(({ name }) => filesIn(join(path, name)));
}

interface DescribedModule {
  specifier: string;
  dependencies?: { code?: { specifier?: string } }[];
}

/** The modules that entries reach, without those that give types only. */
async function modulesOf(entries: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const entry of entries) {
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", new URL(entry, root).href],
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`deno info ${entry} failed`);
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: DescribedModule[] };
    const byUrl = new Map(modules.map((module) => [module.specifier, module]));
    const waiting = [new URL(entry, root).href];
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (!url.startsWith(root.href) || found.has(url.slice(root.href.length))) continue;
      found.add(url.slice(root.href.length));
      for (const { code } of byUrl.get(url)?.dependencies ?? []) if (code?.specifier) waiting.push(code.specifier);
    }
  }
  return [...found];
}

function described(paths: string[]): Record<string, { size_bytes: number; sha256: string }> {
  return Object.fromEntries(
    paths.sort(compareCodePoints).map((path) => {
      const bytes = Deno.readFileSync(new URL(path, root));
      return [path, { size_bytes: bytes.length, sha256: sha256Hex(bytes) }];
    }),
  );
}

/** The generated file, by path from the root. */
export const generated = async (): Promise<Record<string, string>> => ({
  "lib/fetch/program_files.json": prettyJson({
    schema_version: 1,
    data: described(DATA.flatMap(filesIn)),
    page: described([...await modulesOf(PAGE_ENTRIES), ...PAGE_FOLDERS.flatMap(filesIn)]),
  }),
});

/** The module graph of every tracked source file, from one `deno info`, with the names that each file exports and uses. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { ROOT_PATH } from "./paths.ts";

/** A source file. Files are named by their paths from the root. */
export interface Source {
  text: string;
  /** Local files that it imports, types included. */
  imports: Set<string>;
  /** Sources that it names by `new URL("./…", import.meta.url)` or imports as text: workers, and sources that it hashes, compiles or copies. */
  urls: Set<string>;
  /** npm packages that it imports. */
  packages: Set<string>;
}

export type ModuleGraph = Map<string, Source>;

interface DescribedModule {
  specifier: string;
  dependencies?: { specifier: string; code?: { specifier?: string }; type?: { specifier?: string } }[];
}

const ROOT = new URL("../../", import.meta.url).href;

async function outputOf(program: string, args: string[]): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command(program, { args, cwd: ROOT_PATH }).output();
  assert.ok(success, `${program} ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** TypeScript files under version control, and new ones that are not ignored. */
async function trackedSources(): Promise<string[]> {
  const listed = await outputOf("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  const files = new Set(listed.split("\0").filter((path) => /\.tsx?$/.test(path)));
  return [...files].filter((path) => existsSync(join(ROOT_PATH, path))).sort();
}

/** Reads the graph of the working tree. */
export async function readModuleGraph(): Promise<ModuleGraph> {
  const files = await trackedSources();
  const graph: ModuleGraph = new Map();
  for (const path of files) {
    const text = await Deno.readTextFile(join(ROOT_PATH, path));
    graph.set(path, { text, imports: new Set(), urls: new Set(), packages: new Set() });
  }
  // AssemblyScript leaves the extension out.
  const local = (specifier: string | undefined): string | undefined => {
    if (!specifier?.startsWith(ROOT)) return undefined;
    const path = specifier.slice(ROOT.length);
    return graph.has(`${path}.ts`) ? `${path}.ts` : path;
  };
  for (const { specifier, dependencies = [] } of await describedModules(files)) {
    const source = graph.get(local(specifier) ?? "");
    if (source === undefined) continue;
    for (const { specifier: written, code, type } of dependencies) {
      const name = /^npm:((?:@[^/]+\/)?[^@/]+)/.exec(written)?.[1];
      // The compiler adds this import to every file with JSX.
      if (name && !written.endsWith("/jsx-runtime")) source.packages.add(name);
      for (const target of [local(code?.specifier), local(type?.specifier)]) if (target) source.imports.add(target);
    }
  }
  for (const [path, source] of graph) {
    for (const [, relative] of source.text.matchAll(/new URL\("(\.[^"]+\.tsx?)",\s*import\.meta\.url/g)) {
      source.urls.add(join(dirname(path), relative));
    }
    // A source that is read as text is data.
    for (const [, relative] of source.text.matchAll(/import\("(\.[^"]+\.tsx?)",\s*\{ with: \{ type: "text" \} \}\)/g)) {
      const target = join(dirname(path), relative);
      source.imports.delete(target);
      source.urls.add(target);
    }
  }
  return graph;
}

/** What `deno info` reports of a module that imports all files. */
async function describedModules(files: string[]): Promise<DescribedModule[]> {
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, files.map((path) => `import ${JSON.stringify(ROOT + path)};\n`).join(""));
    return JSON.parse(await outputOf(Deno.execPath(), ["info", "--json", entry])).modules;
  } finally {
    await Deno.remove(entry);
  }
}

/** Files that the entries reach, themselves included. */
export function reachedFrom(graph: ModuleGraph, entries: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = graph.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    waiting.push(...source.imports, ...source.urls);
  }
  return reached;
}

/** Groups of files that import each other, types included (Tarjan's strongly connected components). */
export function importCircles(graph: ModuleGraph): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string) => {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    open.push(path);
    for (const next of graph.get(path)!.imports) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(next)!));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const members = open.splice(open.indexOf(path));
    if (members.length > 1 || graph.get(path)!.imports.has(path)) circles.push(members.sort());
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return circles;
}

/** A name that a file exports. */
export interface ExportedName {
  path: string;
  name: string;
  /** Files that use it. */
  usedBy: Set<string>;
  /** Its doc comment says that it is exported for tests. */
  forTests: boolean;
}

/**
 * Finds the users of every export. Names are read from sources in the form that `deno fmt` gives them. A dynamic import
 * uses the exports whose names its file contains; a file that is started by its URL is used as a whole. A type that its
 * own file uses may be exported, so that callers can name it.
 *
 * @param entries files whose exports are used from outside
 */
export function exportedNames(graph: ModuleGraph, entries: readonly string[]): ExportedName[] {
  const exported = new Map<string, Map<string, ExportedName>>();
  const passedOn = new Map<string, { from: string; name: string; as: string }[]>();
  for (const [path, { text }] of graph) {
    // Declarations of a package are used through the package.
    if (path.endsWith(".d.ts")) continue;
    const passes: { from: string; name: string; as: string }[] = [];
    for (const [, what, specifier] of text.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from "(\.[^"]+)"/gm)) {
      const from = join(dirname(path), specifier);
      passes.push(...(what === "*" ? [{ from, name: "*", as: "*" }] : listed(what).map((one) => ({ from, ...one }))));
    }
    passedOn.set(path, passes);
    const names = new Map<string, ExportedName>();
    const add = (name: string, forTests = false) => names.set(name, { path, name, usedBy: new Set(), forTests });
    for (const { as } of passes) if (as !== "*") add(as);
    for (const [, list] of text.matchAll(/^export (?:type )?(\{[^}]*\});/gm)) {
      for (const { as } of listed(list)) add(as);
    }
    for (const [, comment = "", kind, name = "default"] of text.matchAll(DECLARATION)) {
      const { usedBy } = add(name, comment.includes("Exported for tests.")).get(name)!;
      const ownUses = text.match(new RegExp(`\\b${name}\\b`, "g"))!.length - 1;
      if ((kind === "interface" || kind === "type") && ownUses > 0) usedBy.add(path);
    }
    exported.set(path, names);
  }
  const use = (path: string, name: string, user: string) => {
    const known = exported.get(path)?.get(name);
    if (known?.usedBy.has(user)) return;
    known?.usedBy.add(user);
    for (const pass of passedOn.get(path) ?? []) {
      if (pass.as === name) use(pass.from, pass.name, user);
      else if (pass.as === "*" && known === undefined) use(pass.from, name, user);
    }
  };
  const useAll = (path: string, user: string) => {
    for (const name of exported.get(path)?.keys() ?? []) use(path, name, user);
  };
  for (const [path, { text, urls }] of graph) {
    for (const { from, name } of usedNames(path, text)) use(from, name, path);
    for (const from of urls) useAll(from, path);
  }
  for (const path of entries) useAll(path, path);
  return [...exported.values()].flatMap((names) => [...names.values()]);
}

/** A declaration with its doc comment; a default export has no name. */
const DECLARATION =
  /(?:^\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?^export (?:default\b|(?:declare )?(?:async )?(?:abstract )?(function\*?|class|const|let|interface|type|enum) (\w+))/gm;

/** The members of `{ a, type b as c }`. */
function listed(braces: string): { name: string; as: string }[] {
  return braces.slice(1, -1).split(",").map((member) => member.trim().replace(/^type /, "")).filter(Boolean)
    .map((member) => member.split(" as ")).map(([name, as = name]) => ({ name, as }));
}

function usedNames(path: string, text: string): { from: string; name: string }[] {
  const used: { from: string; name: string }[] = [];
  const IMPORT = /^import (?:type )?(?:(\w+)(?:, )?)?(\{[^}]*\}|\* as \w+)? from "(\.[^"]+)"/gm;
  for (const [, byDefault, what, specifier] of text.matchAll(IMPORT)) {
    const from = join(dirname(path), specifier);
    if (byDefault) used.push({ from, name: "default" });
    if (what?.startsWith("{")) used.push(...listed(what).map(({ name }) => ({ from, name })));
    else if (what) {
      const members = text.matchAll(new RegExp(`\\b${what.slice("* as ".length)}\\.(\\w+)`, "g"));
      for (const [, name] of members) used.push({ from, name });
    }
  }
  for (const [, specifier] of text.matchAll(/\bimport\(\s*"(\.[^"]+)"/g)) {
    const from = join(dirname(path), specifier);
    for (const name of new Set(text.match(/\w+/g)).add("default")) used.push({ from, name });
  }
  return used;
}

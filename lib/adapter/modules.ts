/**
 * The modules of an adapter: their files, their imports, and the digest over a module and all of its imports.
 *
 * Code comes from the folder only: a relative import stays inside it, and remote, npm, JSR, data and blob modules are
 * refused before any code runs. The sandbox checks imports that are computed at run time.
 */
import { join, posix } from "node:path";
import { type Diagnostic, diagnostic, messageOf, type Place } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints, parseJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import { isObject } from "../contract/value.ts";
import { isModule } from "../plan/scan_imports.ts";
import { plainPath } from "./folder.ts";
import type { AdapterFolder } from "./types.ts";

const EXTENSIONS = /\.(?:ts|js|mjs)$/;
/** Files whose `imports` are the folder's import map. */
const IMPORT_MAPS = ["deno.json", "import_map.json"];

const BLOCK_COMMENTS = /\/\*[\s\S]*?\*\//g;
const LINE_COMMENTS = /(^|[^:/"'`\\])\/\/.*$/gm;
const SPECIFIERS = [
  /\b(?:import|export)\b[^"'`;()]*?\bfrom\s*(["'])((?:\\.|(?!\1)[^\\\n])*)\1/g,
  /\bimport\s*(["'])((?:\\.|(?!\1)[^\\\n])*)\1/g,
  /\bimport\s*\(\s*(["'`])((?:\\.|(?!\1)[^\\\n$])*)\1\s*[,)]/g,
];

/** The literal specifiers of a module's imports, each once. */
function importedSpecifiers(source: string): string[] {
  const code = source.replace(BLOCK_COMMENTS, " ").replace(LINE_COMMENTS, "$1");
  const found = new Set<string>();
  for (const pattern of SPECIFIERS) for (const match of code.matchAll(pattern)) found.add(unescaped(match[2]));
  return [...found];
}

/** Decodes escapes: `import("n\x70m:x")` imports npm:x. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|(.))/g,
    (_, hex, unit, point, other) => other ?? String.fromCodePoint(parseInt(hex ?? unit ?? point, 16)),
  );
}

/**
 * Finds the file of a callable's module and checks it with all of its imports.
 * @param source a path relative to the folder, or a name of the folder's import map
 * @returns the path relative to the folder, or null if it cannot be found
 */
export function resolveModule(
  folder: AdapterFolder,
  source: { path?: string; module?: string },
  place: Place,
  found: Diagnostic[],
): string | null {
  const key = source.path === undefined ? "module" : "path";
  const missing = (message: string, hint: string | null) => {
    found.push(diagnostic("adapter_module_missing", [...place, key], message, { hint }));
    return null;
  };
  const path = source.path ?? mapped(folder, source.module!);
  if (path === null) {
    return missing(
      `Cannot find ${source.module} in the import map of the folder`,
      `Add it to imports of ${IMPORT_MAPS[0]}`,
    );
  }
  const plain = plainPath(path);
  if (plain === null) {
    if (/^(?:https?|npm|jsr|data|blob):/i.test(path)) {
      found.push(remote(path, [...place, key]));
      return null;
    }
    return missing(`Cannot use ${path}: modules must be in the folder`, "Give a path inside the folder, without ..");
  }
  if (!EXTENSIONS.test(plain)) return missing(`Cannot use ${plain} as a module`, "Modules are .ts, .js or .mjs files");
  if (!folder.files.some((file) => file.path === plain)) {
    const modules = folder.files.map((file) => file.path).filter((name) => EXTENSIONS.test(name));
    return missing(`Cannot find the module ${plain}`, didYouMean(plain, modules));
  }
  moduleGraph(folder, plain, { place: [...place, key], found });
  return plain;
}

/**
 * Finds the file of a Python callable's module. Its imports are found when it runs: modules of the folder, of the
 * interpreter and of its packages.
 * @returns the path relative to the folder, or null if it cannot be found
 */
export function resolvePython(
  folder: AdapterFolder,
  { path, module }: { path?: string; module?: string },
  place: Place,
  found: Diagnostic[],
): string | null {
  const key = path === undefined ? "module" : "path", named = path ?? `${module!.replaceAll(".", "/")}.py`;
  const plain = plainPath(named), modules = folder.files.map((file) => file.path).filter(isPython);
  if (plain !== null && modules.includes(plain) && PYTHON_PATH.test(plain)) return plain;
  const [message, hint] = plain === null
    ? [`Cannot use ${named}: modules must be in the folder`, "Give a path inside the folder, without .."]
    : !PYTHON_PATH.test(plain)
    ? [`Cannot use ${plain} as a Python module`, "Modules are .py files, with names that Python can import"]
    : [`Cannot find the module ${plain}`, didYouMean(plain, modules)];
  found.push(diagnostic("adapter_module_missing", [...place, key], message, { hint }));
  return null;
}

const isPython = (path: string) => path.endsWith(".py");
const PYTHON_PATH = /^(?:[A-Za-z_][A-Za-z0-9_]*\/)*[A-Za-z_][A-Za-z0-9_]*\.py$/;

function remote(specifier: string, place: Place, importer?: string): Diagnostic {
  const by = importer === undefined ? "" : ` that ${importer} imports`;
  return diagnostic("adapter_module_remote", place, `Cannot load ${specifier}${by}: code must be in the folder`, {
    hint: "Put the code into the folder, for example bundled with deno bundle",
  });
}

/** The target of a bare name in the folder's import map, as a path relative to the folder. */
function mapped(folder: AdapterFolder, name: string): string | null {
  for (const file of IMPORT_MAPS) {
    if (!folder.files.some((entry) => entry.path === file)) continue;
    try {
      const map = parseJson(Deno.readTextFileSync(join(folder.root, file)));
      const target = isObject(map) && isObject(map.imports) ? map.imports[name] : undefined;
      if (typeof target === "string") return target;
    } catch {
      // An unreadable map has no names.
    }
  }
  return null;
}

/**
 * The files of a module and its imports, itself included, in the order of the search.
 * @param report receives the findings; omitted when a checked graph is only hashed
 */
export function moduleGraph(
  folder: AdapterFolder,
  entry: string,
  report?: { place: Place; found: Diagnostic[] },
): string[] {
  const known = new Set(folder.files.map((file) => file.path));
  const graph = new Set<string>();
  const waiting = [entry];
  const say = (item: Diagnostic) => {
    if (report !== undefined && !report.found.some((other) => other.message === item.message)) report.found.push(item);
  };
  const place = report?.place ?? [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (graph.has(path) || !known.has(path)) continue;
    graph.add(path);
    if (!isModule(path)) continue;
    let source: string;
    try {
      source = Deno.readTextFileSync(join(folder.root, path));
    } catch (error) {
      say(diagnostic("adapter_module_missing", place, `Cannot read ${path}: ${messageOf(error)}`));
      continue;
    }
    for (const specifier of importedSpecifiers(source)) {
      if (specifier.startsWith("node:")) continue;
      if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(specifier)) {
        say(/^file:/i.test(specifier) ? outside(specifier, path, place) : remote(specifier, place, path));
        continue;
      }
      if (!/^\.{1,2}\//.test(specifier)) {
        say(specifier.startsWith("/") ? outside(specifier, path, place) : bare(specifier, path, place));
        continue;
      }
      const target = posix.normalize(posix.join(posix.dirname(path), specifier.replace(/[?#].*$/, "")));
      if (target.startsWith("..")) say(outside(specifier, path, place));
      else if (!known.has(target)) {
        say(diagnostic("adapter_module_missing", place, `Cannot find ${specifier}, which ${path} imports`, {
          hint: didYouMean(target, known) ?? "Write the file name with its extension",
        }));
      } else waiting.push(target);
    }
  }
  return [...graph];
}

function outside(specifier: string, importer: string, place: Place): Diagnostic {
  return diagnostic(
    "adapter_module_missing",
    place,
    `Cannot load ${specifier}, which ${importer} imports: it is outside the folder`,
    {
      hint: "Put the file into the folder",
    },
  );
}

function bare(specifier: string, importer: string, place: Place): Diagnostic {
  return diagnostic(
    "adapter_module_remote",
    place,
    `Cannot load ${specifier}, which ${importer} imports: it is not a file of the folder`,
    {
      hint: "Imports begin with ./ or ../; put packages into the folder, for example bundled with deno bundle",
    },
  );
}

/**
 * SHA-256 of canonical JSON `[[path, sha256], …]` over a module and all of its imports, sorted by path; over all modules of
 * the folder in Python, whose imports are names that are computed.
 */
export function moduleSha256(folder: AdapterFolder, entry: string): string | null {
  const digests = new Map(folder.files.map((file) => [file.path, file.sha256]));
  const paths = isPython(entry) ? [...digests.keys()].filter(isPython) : moduleGraph(folder, entry);
  const rows = paths.map((path): [string, string] => [path, digests.get(path)!]);
  return rows.length === 0 ? null : sha256Json(rows.sort(([a], [b]) => compareCodePoints(a, b)));
}

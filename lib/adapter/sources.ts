/** The code and the models of an adapter for its sandbox: exactly the hashed bytes; and places in this code. */
import { SourceMap, stripTypeScriptTypes } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { placesIn } from "../artifact/code_place.ts";
import { messageOf, placedError, type SourceLocation, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { moduleGraph } from "./modules.ts";
import type { AdapterFolder } from "./types.ts";
import type { AdapterModel } from "./manifest_schema.ts";

/** Larger tables are data; an adapter reads them with Deno.readFile. */
const MAX_JSON_BYTES = 16 * 2 ** 20;

/**
 * The modules of a folder as JavaScript, by path; JSON files, and the modules of a Python adapter, as they are.
 * @param needed modules that must be readable; other unreadable modules are omitted
 * @throws SvcError `adapter_load_failed` for TypeScript that cannot be read, `adapter_changed` for a file whose digest
 *   differs
 */
export function adapterSources(folder: AdapterFolder, needed: readonly string[]): Map<string, string> {
  if (needed.some((path) => path.endsWith(".py"))) {
    const files = folder.files.filter(({ path }) => path.endsWith(".py"));
    return new Map(files.map(({ path }) => [path, new TextDecoder().decode(pinnedFile(folder, path))]));
  }
  const required = new Set(needed.flatMap((path) => moduleGraph(folder, path)));
  const sources = new Map<string, string>();
  for (const { path, size_bytes } of folder.files) {
    const typescript = path.endsWith(".ts");
    if (!typescript && !/\.(?:m?js|json)$/.test(path)) continue;
    if (path.endsWith(".json") && size_bytes > MAX_JSON_BYTES) continue;
    const text = new TextDecoder().decode(pinnedFile(folder, path));
    try {
      sources.set(path, typescript ? javaScript(text) : text);
    } catch (error) {
      if (!required.has(path)) continue;
      const [said] = messageOf(error).split("\n"), hint = `Check it with deno check ${path}`;
      throw placedError(
        new SvcError("adapter_load_failed", `Cannot read ${path} as TypeScript: ${said}`, { hint }),
        syntaxLocation(folder.root, path, error),
      );
    }
  }
  return sources;
}

/** Types are replaced by blanks, which keeps lines and columns; constructs with a run-time meaning are rewritten, with a map. */
function javaScript(text: string): string {
  try {
    // A comment of the author is no map of this program.
    return stripTypeScriptTypes(text, { mode: "strip" }).replaceAll("//# sourceMappingURL", "//  sourceMappingURL");
  } catch {
    return stripTypeScriptTypes(text, { mode: "transform", sourceMap: true });
  }
}

/** URL of a file of the folder, for the adapter's code. */
export const urlOf = (root: string, path: string): string => pathToFileURL(join(root, path)).href;

/** The place of a parser's error, which its last line has. */
function syntaxLocation(root: string, path: string, error: unknown): SourceLocation | undefined {
  const place = placesIn(messageOf(error)).at(-1);
  return place && { ...place, file: `${basename(root)}/${path}` };
}

/**
 * The location of an error in the files of an adapter, from a place in the modules that its process has. An engine names no
 * place of a syntax error in JavaScript: then the modules are parsed again.
 * @param sources modules as {@link adapterSources} gives them
 */
export function codeLocation(
  root: string,
  sources: ReadonlyMap<string, string>,
  { name, message, place }: { name: string; message: string; place: SourceLocation | null },
): SourceLocation | undefined {
  const unplaced = place === null && name === "SyntaxError" && !message.includes("does not provide an export");
  for (const [path, text] of sources) {
    if (unplaced && /\.m?js$/.test(path)) {
      try {
        stripTypeScriptTypes(text, { mode: "transform" });
      } catch (error) {
        return syntaxLocation(root, path, error);
      }
    }
    if (place === null || urlOf(root, path) !== place.file) continue;
    const file = `${basename(root)}/${path}`, map = /\n\/\/# sourceMappingURL=[^,\n]*;base64,(\S+)\s*$/.exec(text)?.[1];
    if (map === undefined || !path.endsWith(".ts")) return { ...place, file };
    const payload = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(map)));
    const entry = new SourceMap(payload).findEntry(place.line - 1, place.column - 1);
    return "originalLine" in entry
      ? { file, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
      : undefined;
  }
  return undefined;
}

/** The models of a manifest by id. @throws SvcError `adapter_changed` */
export function adapterModels(folder: AdapterFolder, models: readonly AdapterModel[]): Map<string, Uint8Array> {
  return new Map(models.map(({ id, path }) => [id, pinnedFile(folder, path)]));
}

function pinnedFile(folder: AdapterFolder, path: string): Uint8Array {
  const bytes = Deno.readFileSync(join(folder.root, path));
  if (folder.files.find((file) => file.path === path)?.sha256 === sha256Hex(bytes)) return bytes;
  throw new SvcError("adapter_changed", `Cannot use ${path} of an adapter: it changed while it was read`, {
    hint: "Try again",
  });
}

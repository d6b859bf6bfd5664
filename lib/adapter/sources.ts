/** The code and the models of an adapter for its sandbox: exactly the hashed bytes. */
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { moduleGraph } from "./modules.ts";
import type { AdapterFolder, AdapterModel } from "./types.ts";

/** Larger tables are data; an adapter reads them with Deno.readFile. */
const MAX_JSON_BYTES = 16 * 2 ** 20;

/**
 * The modules of a folder as JavaScript, by path; JSON files as they are.
 * @param needed modules that must be readable; other unreadable modules are omitted
 * @throws SvcError `adapter_load_failed` for TypeScript that cannot be read, `adapter_changed` for a file whose digest
 *   differs
 */
export function adapterSources(folder: AdapterFolder, needed: readonly string[]): Map<string, string> {
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
      throw new SvcError(
        "adapter_load_failed",
        `Cannot read ${path} as TypeScript: ${messageOf(error).split("\n")[0]}`,
        {
          hint: `Check it with deno check ${path}`,
        },
      );
    }
  }
  return sources;
}

/** Types are replaced by blanks, which keeps lines and columns; constructs with a run-time meaning are rewritten. */
function javaScript(text: string): string {
  try {
    return stripTypeScriptTypes(text, { mode: "strip" });
  } catch {
    return stripTypeScriptTypes(text, { mode: "transform" });
  }
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

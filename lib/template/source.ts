/**
 * Where a template's recipe comes from: the project's own file of that name, else the starter that comes with the
 * program. The bytes are read once: the hashed bytes are compiled.
 */
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { JsonObject } from "../contract/value.ts";
import { MAX_TEXT_BYTES } from "../recipe/limits.ts";
import type { TemplateEntry } from "./catalog.ts";
import packaged from "./starters.json" with { type: "json" };

/** Starter texts by resource name, such as `recipe_starters/image_codec_default.yaml`. */
export type Starters = Readonly<Record<string, string>>;

export const PACKAGED_STARTERS: Starters = packaged;

/** The `source` of an inspection row. */
export interface SourceRecord extends JsonObject {
  kind: "packaged_builtin" | "project_override";
  /** `svc_pkg:<starter_resource>`, or the recipe path. */
  reference: string;
  /** `sha256:` and the digest of the exact bytes. */
  digest: string;
}

export interface TemplateSource {
  record: SourceRecord;
  text: string;
}

/**
 * Selects and reads the source of a template. An existing override is the source, even if it is invalid.
 * @returns null when neither an override nor a starter is there
 * @throws SvcError when the override cannot be read: `path_forbidden`, `path_refused`, `recipe_limit_exceeded` or
 *   `recipe_syntax_invalid`
 */
export async function readTemplateSource(
  entry: TemplateEntry,
  { projectRoot, starters }: { projectRoot: string; starters: Starters },
): Promise<TemplateSource | null> {
  const bytes = await readOverride(entry.recipe_path, projectRoot);
  if (bytes !== null) {
    const record = { kind: "project_override" as const, reference: entry.recipe_path, digest: digestOf(bytes) };
    try {
      return { record, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    } catch {
      throw new SvcError("recipe_syntax_invalid", `Cannot read ${entry.recipe_path} as UTF-8 text`, {
        hint: "Save the file as UTF-8",
      });
    }
  }
  const { starter_resource: resource } = entry;
  if (typeof resource !== "string" || !Object.hasOwn(starters, resource)) return null;
  const text = starters[resource];
  return {
    record: {
      kind: "packaged_builtin",
      reference: `svc_pkg:${resource}`,
      digest: digestOf(new TextEncoder().encode(text)),
    },
    text,
  };
}

const digestOf = (bytes: Uint8Array) => `sha256:${sha256Hex(bytes)}`;

/** The bytes of a project's own recipe, or null when there is none. */
async function readOverride(path: string, projectRoot: string): Promise<Uint8Array | null> {
  try {
    for (const part of [join(projectRoot, "recipes"), join(projectRoot, path)]) {
      const { isSymlink, isFile, isDirectory, size } = await Deno.lstat(part);
      const last = part.endsWith(".yaml");
      if (isSymlink) throw new SvcError("path_refused", `Cannot read ${path}: a part of it is a symbolic link`);
      // A `recipes` that is no folder holds no overrides.
      if (!last && !isDirectory) return null;
      if (last && !isFile) throw new SvcError("path_refused", `Cannot read ${path}: it is not a regular file`);
      if (last && size > MAX_TEXT_BYTES) {
        throw new SvcError(
          "recipe_limit_exceeded",
          `Cannot read ${path}: a recipe has at most ${MAX_TEXT_BYTES} bytes`,
        );
      }
    }
    return await Deno.readFile(join(projectRoot, path));
  } catch (error) {
    if (error instanceof SvcError) throw error;
    if (error instanceof Deno.errors.NotFound) return null;
    // An override may exist but cannot be read: the starter must not replace it.
    throw new SvcError("path_forbidden", `Cannot read ${path}: ${messageOf(error)}`, {
      hint: "Let the program read the project root",
    });
  }
}

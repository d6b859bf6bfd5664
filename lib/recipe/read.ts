/** Reads a recipe's text into its raw value, with lines and columns. */
import { SvcError } from "../contract/error.ts";
import { readJson } from "./json_reader.ts";
import { MAX_TEXT_BYTES } from "./limits.ts";
import { Positions } from "./positions.ts";
import { ReadProblems } from "./read_problems.ts";
import type { DecodedText } from "./types.ts";
import { type EmptyValues, readYaml } from "./yaml_reader.ts";

export { attachLocations, excerpt } from "./positions.ts";
export { recipeFromValue } from "./from_value.ts";

export type TextFormat = "yaml" | "json";

/**
 * Reads a recipe's text.
 * @param text YAML or JSON
 * @param options `file` names the text in locations; `format` defaults to that of the extension, else of the text: one
 *   that begins with a brace or bracket is JSON; `emptyValues` refuses `key:` without a value by default
 * @throws SvcError `recipe_syntax_invalid`, `recipe_duplicate_key`, `recipe_value_empty`,
 *   `recipe_json_value_invalid` or `recipe_limit_exceeded`, with line and column in its diagnostics
 */
export function readRecipeText(
  text: string,
  options: { file: string; format?: TextFormat; emptyValues?: EmptyValues },
): DecodedText {
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (body.length > MAX_TEXT_BYTES || new TextEncoder().encode(body).length > MAX_TEXT_BYTES) {
    throw tooLong(options.file);
  }
  const format = options.format ?? textFormatOf(options.file, body);
  return format === "json" ? readJson(body, options.file) : readYaml(body, options.file, options.emptyValues);
}

/** A recipe file's text and its value. */
export interface DecodedFile extends DecodedText {
  text: string;
}

/** Reads a recipe file. @throws SvcError as {@link readLimited}, {@link decodeRecipeText} and {@link readRecipeText} */
export async function readRecipeFile(path: string): Promise<DecodedFile> {
  const text = decodeRecipeText(await readLimited(path), path);
  return { text, ...readRecipeText(text, { file: path }) };
}

/**
 * Reads the bytes of a file, at most one more than a recipe may have.
 * @param name names the file in messages
 * @throws SvcError `recipe_not_found`, `path_forbidden`
 */
export async function readLimited(path: string, name: string = path): Promise<Uint8Array> {
  try {
    using file = await Deno.open(path, { read: true });
    let bytes = new Uint8Array(1 << 14), length = 0;
    for (;;) {
      if (length === bytes.length) {
        if (length > MAX_TEXT_BYTES) break;
        const longer = new Uint8Array(Math.min(4 * length, MAX_TEXT_BYTES + 1));
        longer.set(bytes);
        bytes = longer;
      }
      const count = await file.read(bytes.subarray(length));
      if (count === null) break;
      length += count;
    }
    return bytes.subarray(0, length);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new SvcError("recipe_not_found", `Cannot find the recipe ${name}`, {
        hint: "Check the path",
        cause: error,
      });
    }
    if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
      throw new SvcError("path_forbidden", `Cannot read ${name}: permission denied`, { cause: error });
    }
    if (error instanceof Deno.errors.IsADirectory || /is a directory/i.test(String(error))) {
      throw new SvcError("recipe_not_found", `Cannot read ${name} as a recipe: it is a folder`, {
        hint: "Name a file in it",
      });
    }
    throw error;
  }
}

/**
 * Decodes the text of a recipe.
 * @param bytes UTF-8, within the size limit of recipes
 * @param file name for messages
 * @throws SvcError `recipe_limit_exceeded`, or `recipe_syntax_invalid` for bytes that are not UTF-8
 */
export function decodeRecipeText(bytes: Uint8Array, file: string): string {
  if (bytes.length > MAX_TEXT_BYTES) throw tooLong(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder().decode(bytes);
    return new ReadProblems(new Positions(text, file)).stop(
      "recipe_syntax_invalid",
      Math.max(0, text.indexOf("\ufffd")),
      `Cannot read ${file} as UTF-8 text`,
      { hint: "Save the file as UTF-8" },
    );
  }
}

function tooLong(file: string): SvcError {
  return new SvcError("recipe_limit_exceeded", `Cannot read ${file}: a recipe has at most ${MAX_TEXT_BYTES} bytes`, {
    hint: "Keep data in files that the recipe's operations read",
  });
}

/** The format of a text: by its file's extension, else JSON if it begins with a brace or bracket. */
export function textFormatOf(file: string, text: string): TextFormat {
  if (/\.json$/i.test(file)) return "json";
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /^\s*[{[]/.test(text) ? "json" : "yaml";
}

/**
 * Writes `starters.json`: the text of every file under `recipes/recipe_starters/`, by resource name, so that a program
 * imported by URL has the starters with its modules and needs neither a folder nor the network.
 */
import { compareCodePoints, prettyJson } from "../contract/json.ts";

const FOLDER = new URL("../../recipes/recipe_starters/", import.meta.url);

/** The text that `starters.json` must have. Exported for tests. */
export function startersSource(folder: URL = FOLDER): string {
  const names = [...Deno.readDirSync(folder)].filter(({ isFile, name }) => isFile && name.endsWith(".yaml"))
    .map(({ name }) => name).sort(compareCodePoints);
  // Exact bytes: a decoder that drops a byte order mark or replaces broken UTF-8 would change the digest.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return prettyJson(Object.fromEntries(
    names.map((name) => [`recipe_starters/${name}`, decoder.decode(Deno.readFileSync(new URL(name, folder)))]),
  ));
}

/** The generated file, by path from the root. */
export const generated = (): Record<string, string> => ({ "lib/template/starters.json": startersSource() });

import { join } from "node:path";

/**
 * The text of the file `LICENSE` in a model's folder: licence and provenance of weights and data. Null without the
 * file.
 */
export function licenceText(folder: string): string | null {
  try {
    return Deno.readTextFileSync(join(folder, "LICENSE")).trimEnd();
  } catch {
    return null;
  }
}

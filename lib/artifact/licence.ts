import { join } from "node:path";

/**
 * The text of `LICENSE` in a model's folder, with licence and provenance of weights and data; null without the file.
 */
export function licenceText(folder: string): string | null {
  try {
    return Deno.readTextFileSync(join(folder, "LICENSE")).trimEnd();
  } catch {
    return null;
  }
}

/** Folder of the program, where it has one. */
import { fileURLToPath } from "node:url";

/** Folder of the program, whose `recipes/models/` any project may name; undefined when it was imported by URL. */
export function programRoot(): string | undefined {
  const root = new URL("../../", import.meta.url);
  return root.protocol === "file:" ? fileURLToPath(root) : undefined;
}

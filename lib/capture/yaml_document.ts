/** Documents of an export as YAML, written as people write them. */
import type { JsonObject } from "../contract/value.ts";
import { yamlMember } from "../recipe/text_writer.ts";

/** @param remark lines of a comment above it */
export function yamlDocument(document: JsonObject, remark: readonly string[] = []): string {
  const comment = remark.map((line) => `# ${line}\n`).join("");
  return comment + Object.entries(document).map(([key, value]) => `${yamlMember(key, value, 0)}\n`).join("");
}

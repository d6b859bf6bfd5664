/** Documents of an export as YAML, written as people write them. */
import type { JsonObject } from "../contract/value.ts";
import { yamlText } from "../recipe/yaml_write.ts";

/** @param remark lines of a comment above it */
export function yamlDocument(document: JsonObject, remark: readonly string[] = []): string {
  return remark.map((line) => `# ${line}\n`).join("") + yamlText(document);
}

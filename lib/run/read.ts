/** Reads the documents of a bundle. */
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { parseJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";

/** Reads a JSON document of a bundle. @throws SvcError `bundle_file_missing` or `bundle_schema_invalid` */
export function readDocument(directory: string, name: string): JsonObject {
  let text: string;
  try {
    text = Deno.readTextFileSync(join(directory, name));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new SvcError("bundle_file_missing", `Cannot find ${name} in the bundle ${directory}`);
  }
  let value;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new SvcError("bundle_schema_invalid", `Cannot read ${name} as JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw new SvcError("bundle_schema_invalid", `Cannot read ${name} as a mapping`);
  return value;
}

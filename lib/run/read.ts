/** Reads the documents of a bundle. */
import { inside, readFile } from "../artifact/inside.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { parseJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { DOCUMENT_CHECKS, type Documents, isDocument } from "./bundle_schema.ts";

/** Of a document of a bundle: that of the largest recipe has less. */
export const MAX_DOCUMENT_BYTES = 64 * 2 ** 20;

/**
 * Reads a JSON document of a bundle; each of the five documents that describe a run is checked against its schema.
 * @param mostBytes of the file; default {@link MAX_DOCUMENT_BYTES}
 * @throws SvcError `bundle_file_missing` or `bundle_schema_invalid`
 */
export function readDocument<Name extends keyof Documents>(directory: string, name: Name): Documents[Name];
export function readDocument(directory: string, name: string, mostBytes?: number): JsonObject;
export function readDocument(directory: string, name: string, mostBytes = MAX_DOCUMENT_BYTES): JsonObject {
  let text: string;
  try {
    const bytes = readFile(inside(directory, name), mostBytes);
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new SvcError("bundle_file_missing", `Cannot find ${name} in the bundle ${directory}`);
    }
    if (!(error instanceof SvcError || error instanceof TypeError)) throw error;
    throw new SvcError("bundle_schema_invalid", `Cannot read ${name}: ${messageOf(error)}`);
  }
  let value;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new SvcError("bundle_schema_invalid", `Cannot read ${name} as JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw new SvcError("bundle_schema_invalid", `Cannot read ${name} as a mapping`);
  if (isDocument(name)) {
    const [first] = DOCUMENT_CHECKS[name](value);
    if (first !== undefined) {
      throw new SvcError("bundle_schema_invalid", `Cannot use ${name}: ${first.message} (${first.path})`, {
        extra: { file: name, place: first.path },
      });
    }
  }
  return value;
}

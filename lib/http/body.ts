/** Request bodies: read with a limit and a time-out, decoded with typed numbers, checked against the route's schema. */
import { joinBytes } from "../artifact/join_bytes.ts";
import { type Code, type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { Suggestions } from "../contract/nearest.ts";
import { checkValue } from "../contract/schema.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { readJson } from "../recipe/json_reader.ts";

/**
 * Reads a body. Received bytes count, not the length in the headers.
 * @throws SvcError `body_too_large`, `body_timeout`
 */
export async function readBody(
  stream: ReadableStream<Uint8Array> | null,
  { limit, timeoutMs, length, hint }: { limit: number; timeoutMs: number; length?: string | null; hint?: string },
): Promise<Uint8Array<ArrayBuffer>> {
  if (length && Number(length) > limit) {
    // The connection is closed without reading the announced body.
    await stream?.cancel().catch(() => {});
    throw tooLarge(limit, hint);
  }
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() =>
    late.reject(
      new SvcError("body_timeout", `Cannot wait longer for the body: it did not arrive within ${timeoutMs / 1000} s`),
    ), timeoutMs);
  late.promise.catch(() => {});
  try {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late.promise]);
      if (done) return joinBytes(parts);
      size += value.length;
      if (size > limit) throw tooLarge(limit, hint);
      parts.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(limit: number, hint = "Name a file of the project instead, or raise --json-body-limit"): SvcError {
  return new SvcError("body_too_large", `Cannot take a body of more than ${limit} bytes`, { hint });
}

/**
 * Decodes a JSON body; a repeated key, a lone surrogate or a number beyond binary64 is refused.
 * @throws SvcError `body_invalid_json` with the place in the text
 */
export function parseBody(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) return {};
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SvcError("body_invalid_json", "Cannot read the body as UTF-8 text");
  }
  let value: Value;
  try {
    value = readJson(text, "<body>").value;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new SvcError("body_invalid_json", `Cannot read the body as JSON: ${error.message}`, {
      diagnostics: error.diagnostics,
    });
  }
  if (!isObject(value)) {
    refuse("body_invalid_json", [
      diagnostic("body_invalid_json", [], "Cannot use the body: it is no JSON object", { hint: "Send {…}" }),
    ]);
    return {};
  }
  return value;
}

/**
 * Checks a body and fills its defaults in. Unknown members are refused before missing ones, and both before values.
 * @throws SvcError `body_unknown_field`, `body_field_missing`, `body_field_invalid`, each with every problem of its kind
 */
export function checkBody(schema: JsonObject, body: JsonObject): JsonObject {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  const names = Object.keys(properties), suggestions = new Suggestions();
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(properties, name)).map((name) =>
    diagnostic("body_unknown_field", [name], `Cannot use the body's member ${name}`, {
      hint: suggestions.for(name, names) ?? (names.length === 0 ? "Send {}" : `Known: ${names.join(", ")}`),
    })
  );
  refuse("body_unknown_field", unknown);
  const missing = ((schema.required ?? []) as string[]).filter((name) => !Object.hasOwn(body, name)).map((name) =>
    diagnostic("body_field_missing", [name], `Missing required field ${name}`, { hint: `Send ${name}` })
  );
  refuse("body_field_missing", missing);
  refuse("body_field_invalid", checkValue(schema, body, [], { code: "body_field_invalid" }));
  return withDefaults(properties, body);
}

/**
 * Reads a query by its schema: integers and numbers from their digits, booleans from 1, 0, true and false.
 * @throws SvcError `query_invalid` with every problem
 */
export function checkQuery(schema: JsonObject, search: URLSearchParams): JsonObject {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  const problems: Diagnostic[] = [], suggestions = new Suggestions();
  const values: JsonObject = {};
  for (const name of new Set(search.keys())) {
    const given = search.getAll(name);
    if (!Object.hasOwn(properties, name)) {
      problems.push(diagnostic("query_invalid", [name], `Cannot use the query parameter ${name}`, {
        hint: suggestions.for(name, Object.keys(properties)) ??
          `Known: ${Object.keys(properties).join(", ") || "none"}`,
      }));
    } else if (given.length > 1) {
      problems.push(
        diagnostic("query_invalid", [name], `Cannot use the query parameter ${name} ${given.length} times`),
      );
    } else values[name] = queryValue(properties[name], given[0]);
  }
  for (const name of (schema.required ?? []) as string[]) {
    if (Object.hasOwn(values, name) || search.has(name)) continue;
    problems.push(
      diagnostic("query_invalid", [name], `Missing query parameter ${name}`, { hint: `Add ${name}=…` }),
    );
  }
  if (problems.length === 0) problems.push(...checkValue(schema, values, [], { code: "query_invalid" }));
  refuse("query_invalid", problems);
  return withDefaults(properties, values);
}

function queryValue(node: JsonObject, text: string): Value {
  if (node.type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (node.type === "number" && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) && Number.isFinite(Number(text))) {
    return Number(text);
  }
  if (node.type === "boolean" && /^(0|1|true|false)$/.test(text)) return text === "1" || text === "true";
  return text;
}

function withDefaults(properties: Record<string, JsonObject>, values: JsonObject): JsonObject {
  const filled = { ...values };
  for (const [name, node] of Object.entries(properties)) {
    if (!Object.hasOwn(filled, name) && node.default !== undefined) filled[name] = node.default;
  }
  return filled;
}

function refuse(code: Code, problems: Diagnostic[]): void {
  if (problems.length === 0) return;
  const [first] = problems;
  const message = problems.length === 1 ? first.message : `Cannot use the request: ${problems.length} problems`;
  throw new SvcError(code, message, { hint: first.hint, diagnostics: problems });
}

/**
 * YAML for documents that need no positions, such as data manifests: the 1.2 core schema with typed numbers, string keys,
 * no tags or merge keys. Recipes go through the recipe reader, which also knows where everything stands.
 */
import process from "node:process";
import { isAlias, isMap, isScalar, type Node, parseDocument } from "./yaml_library.ts";
import { float, integer, type JsonObject, type Value } from "./value.ts";

/**
 * Reads one YAML document.
 *
 * @throws SyntaxError when the text is not such a document
 */
export function parseYaml(text: string): Value {
  // The library asks for LOG_TOKENS and LOG_STREAM, and reading a variable that is not granted throws.
  const environment = process.env;
  process.env = {};
  try {
    const document = parseDocument(text, {
      version: "1.2",
      schema: "core",
      merge: false,
      intAsBigInt: true,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: "silent",
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw new SyntaxError(problem.message.replace(/\.$/, ""));
    return typed(document.contents as Node | null);
  } finally {
    process.env = environment;
  }
}

function typed(node: Node | null): Value {
  if (node === null) return null;
  // Aliases could make a small text endless; a manifest needs none.
  if (isAlias(node)) throw new SyntaxError("Aliases are not accepted here");
  if (isScalar(node)) return scalar(node.value);
  if (!isMap(node)) return (node as unknown as { items: (Node | null)[] }).items.map(typed);
  const object: JsonObject = {};
  for (const { key, value } of node.items) {
    if (!isScalar(key) || typeof key.value !== "string") throw new SyntaxError("Keys must be texts");
    Object.defineProperty(object, key.value, {
      value: typed(value as Node | null),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

function scalar(value: unknown): Value {
  if (typeof value === "bigint") return integer(value);
  if (typeof value !== "number") return value as Value;
  if (!Number.isFinite(value)) throw new SyntaxError("Numbers must be finite");
  return float(value);
}

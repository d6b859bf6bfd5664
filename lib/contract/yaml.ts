/**
 * YAML without positions, for documents such as data manifests: the 1.2 core schema with typed numbers, string keys, no
 * tags or merge keys. The recipe reader reads recipes with positions.
 */
import { float, integer, type JsonObject, type Value } from "./value.ts";
import { composeYaml, isAlias, isMap, isScalar, MAX_DEPTH, type Node } from "./yaml_tree.ts";

/** Reads one YAML document. @throws SyntaxError for an invalid document */
export function parseYaml(text: string): Value {
  const refuse = (offset: number, message: string): never => {
    throw new SyntaxError(`${message}, on line ${text.slice(0, offset).split("\n").length}`);
  };
  const contents = composeYaml(text, {
    syntax: refuse,
    tooDeep: (offset) => refuse(offset, `Cannot read values nested deeper than ${MAX_DEPTH} levels`),
  });
  return typed(contents);
}

function typed(node: Node | null): Value {
  if (node === null) return null;
  // Aliases could make a small text very large; manifests need none.
  if (isAlias(node)) throw new SyntaxError("Aliases are not accepted here");
  if (isScalar(node)) return scalar(node.value);
  if (!isMap(node)) return (node as { items: (Node | null)[] }).items.map(typed);
  const object: JsonObject = {};
  for (const { key, value } of node.items) {
    if (!isScalar(key) || typeof key.value !== "string") throw new SyntaxError("Keys must be texts");
    if (Object.hasOwn(object, key.value)) throw new SyntaxError(`The key ${key.value} is repeated`);
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
  if (typeof value === "string" && !value.isWellFormed()) {
    throw new SyntaxError("Texts must not contain a lone surrogate");
  }
  if (typeof value !== "number") return value as Value;
  if (!Number.isFinite(value)) throw new SyntaxError("Numbers must be finite");
  return float(value);
}

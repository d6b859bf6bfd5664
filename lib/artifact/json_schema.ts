/**
 * Checks a typed JSON document against a JSON Schema (draft 2020-12) and reports every problem.
 *
 * Supported: type, const, enum, properties, required, additionalProperties (false or a schema), minProperties, items,
 * minItems, uniqueItems, minLength, pattern, minimum, maximum. Numbers are typed: 1.0 is neither an integer nor equal
 * to the constant 1.
 */
import { addDiagnostics, type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { Suggestions } from "../contract/nearest.ts";
import { patternText } from "../contract/schema.ts";
import { isNumber, isObject, type JsonObject, toNumber, typeName, type Value } from "../contract/value.ts";

/**
 * Checks a document.
 * @param code code of the diagnostics
 * @returns all problems, in document order
 */
export function checkDocument(schema: JsonObject, document: Value, code: string): Diagnostic[] {
  const problems: Diagnostic[] = [], suggestions = new Suggestions();
  const report = (place: Place, message: string, hint: string | null = null) => {
    addDiagnostics(problems, [diagnostic(code, place, message, { hint })]);
  };
  const walk = (node: JsonObject, value: Value, place: Place): void => {
    const type = typeName(value);
    if (node.type !== undefined) {
      const types = (Array.isArray(node.type) ? node.type : [node.type]) as string[];
      if (!types.includes(type) && !(type === "integer" && types.includes("number"))) {
        return report(place, `Cannot use ${show(value)} (${type}) where ${types.join(" or ")} is needed`);
      }
    }
    if (node.const !== undefined && canonicalJson(node.const) !== canonicalJson(value)) {
      return report(place, `Cannot use ${show(value)}: it must be ${canonicalJson(node.const)}`);
    }
    if (Array.isArray(node.enum) && !node.enum.some((choice) => canonicalJson(choice) === canonicalJson(value))) {
      return report(place, `Cannot use ${show(value)}: the choices are ${node.enum.map(show).join(", ")}`);
    }
    if (isNumber(value)) {
      const number = toNumber(value), { minimum = -Infinity, maximum = Infinity } = node as { [name: string]: number };
      if (number < minimum) report(place, `Cannot use ${show(value)}: it must be at least ${minimum}`);
      if (number > maximum) report(place, `Cannot use ${show(value)}: it must be at most ${maximum}`);
    } else if (typeof value === "string") {
      if ([...value].length < Number(node.minLength ?? 0)) report(place, "Cannot use an empty text");
      if (typeof node.pattern === "string" && !new RegExp(node.pattern, "u").test(value)) {
        report(place, `Cannot use ${show(value)}: it must ${patternText(node.pattern)}`);
      }
    } else if (Array.isArray(value)) {
      if (value.length < Number(node.minItems ?? 0)) report(place, `Cannot use fewer than ${node.minItems} items`);
      if (node.uniqueItems === true) reportRepeats(value, place, report);
      const items = node.items;
      if (isObject(items)) value.forEach((item, index) => walk(items, item, [...place, index]));
    } else if (isObject(value)) {
      const properties = isObject(node.properties) ? node.properties : {};
      const keys = Object.keys(value);
      if (keys.length < Number(node.minProperties ?? 0)) report(place, "Cannot use an empty object");
      for (const key of keys) {
        const inner = Object.hasOwn(properties, key) ? properties[key] : node.additionalProperties;
        if (isObject(inner)) walk(inner, value[key], [...place, key]);
        else if (inner === false) {
          report(
            [...place, key],
            `Cannot use the unknown field ${key}`,
            suggestions.for(key, Object.keys(properties)),
          );
        }
      }
      for (const name of (node.required ?? []) as string[]) {
        if (!Object.hasOwn(value, name)) report([...place, name], `Missing required field ${name}`);
      }
    }
  };
  walk(schema, document, []);
  return problems;
}

function reportRepeats(items: readonly Value[], place: Place, report: (at: Place, message: string) => void): void {
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const text = canonicalJson(item);
    if (seen.has(text)) report([...place, index], `Cannot use ${show(item)} twice`);
    seen.add(text);
  });
}

function show(value: Value): string {
  const text = canonicalJson(value);
  return text.length > 60 ? text.slice(0, 57) + "..." : text;
}

/**
 * The first repeated key in one object of a JSON text; the JSON reader silently keeps the last one.
 * @param text text accepted by the JSON reader
 */
export function repeatedKey(text: string): string | null {
  const objects: (Set<string> | null)[] = [];
  for (const [token, string, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (token === "{") objects.push(new Set());
    else if (token === "[") objects.push(null);
    else if (token === "}" || token === "]") objects.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(string) as string, keys = objects.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return null;
}

/** Adds schema defaults, through object properties and array items at every depth. */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { Suggestions } from "../contract/nearest.ts";
import { sameValue } from "../contract/json.ts";
import { activeWhen, checkValue, conditionText, controllerValue, isEffective } from "../contract/schema.ts";
import { cloneValue, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";

/**
 * Copies a value with the defaults of its schema. Fields have the schema's order, undeclared ones last.
 *
 * An authored value of an inactive parameter that is not its default is `operation_param_inactive`: a warning where a
 * matrix varies the controlling parameter, an error elsewhere.
 * @param schema node of the contract subset
 * @param value authored value
 * @param place place of the value in the recipe
 * @param diagnostics receives the findings
 * @param varied whether a matrix varies a parameter of the step, which has this value here
 */
export function materializeDefaults(
  schema: JsonObject,
  value: Value,
  place: Place,
  diagnostics: Diagnostic[],
  varied: (param: string, value: Value | undefined) => boolean = () => false,
): Value {
  const node = branchFor(schema, value);
  if (Array.isArray(value)) {
    const { items } = node;
    if (!isObject(items)) return cloneValue(value);
    return value.map((item, index) => materializeDefaults(items, item, [...place, index], diagnostics));
  }
  if (!isObject(value)) return value;

  const properties = isObject(node.properties) ? node.properties : {};
  const members: [string, Value][] = [];
  for (const [name, inner] of Object.entries(properties)) {
    if (!isObject(inner)) continue;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const active = isEffective(node, name, value);
    if (!active && given !== undefined && !isDefault(inner, given)) {
      const condition = activeWhen(inner)!;
      const swept = Object.keys(condition).some((key) => varied(key, controllerValue(node, key, value)));
      diagnostics.push(
        diagnostic("operation_param_inactive", [...place, name], `Cannot use ${name} with the other parameters`, {
          hint: `It applies only with ${conditionText(condition)}`,
          severity: swept ? "warning" : "error",
        }),
      );
    }
    const stands = active || inner["x-svc-effective-when"] === undefined;
    const chosen = stands ? given ?? inner.default : undefined;
    if (chosen !== undefined) {
      members.push([name, materializeDefaults(inner, chosen, [...place, name], diagnostics)]);
    }
  }
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) members.push([name, cloneValue(item)]);
  }
  return Object.fromEntries(members);
}

/** Whether a value is the default of its parameter; 12 is 12.0. */
function isDefault({ default: fallback }: JsonObject, value: Value): boolean {
  if (fallback === undefined) return false;
  return isNumber(value) && isNumber(fallback) ? toNumber(value) === toNumber(fallback) : sameValue(value, fallback);
}

const NONE = new Suggestions(0);

/** The alternative of an `anyOf` that matches the value, else one of its type, else the node itself. */
function branchFor(schema: JsonObject, value: Value): JsonObject {
  if (!Array.isArray(schema.anyOf) || value === null || typeof value !== "object") return schema;
  const branches = schema.anyOf as JsonObject[];
  const wanted = Array.isArray(value) ? "items" : "properties";
  return branches.find((branch) => checkValue(branch, value, [], { suggestions: NONE }).length === 0) ??
    branches.find((branch) => wanted in branch) ?? schema;
}

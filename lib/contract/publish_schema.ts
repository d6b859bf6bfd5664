/** Converts zod parameter schemas to the JSON Schema of contracts. */
import { schemaTypes } from "./schema_types.ts";
import { float, isObject, type JsonObject, typeName, type Value } from "./value.ts";
import { z } from "./zod.ts";

/**
 * JSON Schema of a parameter object, in the subset of contracts. Bounds that zod adds to integers (2^53) are omitted;
 * defaults and bounds of a `number` are floats. Zod's own converter takes half a millisecond per operation at each
 * start; a test compares both.
 * @throws TypeError for a zod type outside the subset
 */
export function parameterSchema(shape: z.ZodObject): JsonObject {
  return schemaNode(shape);
}

/**
 * JSON Schema of any type, as for parameters; also, `z.unknown()` is any JSON value and a record an object with free
 * keys and values of its type. Used for requests and replies.
 * @throws TypeError for a zod type outside the subset
 */
export function jsonSchemaOf(type: z.ZodType): JsonObject {
  return schemaNode(type, true);
}

/** The part of zod's published internals (`zod/v4/core`) used here. */
interface ZodDef {
  type: string;
  format?: string;
  checks?: { _zod: { def: ZodCheck } }[];
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  innerType?: z.ZodType;
  options?: z.ZodType[];
  entries?: Record<string, Value>;
  values?: Value[];
  defaultValue?: unknown;
  catchall?: z.ZodType;
  valueType?: z.ZodType;
}

interface ZodCheck {
  check: string;
  /** less_than, greater_than */
  value?: number;
  inclusive?: boolean;
  /** min_length, max_length */
  minimum?: number;
  maximum?: number;
  /** string_format */
  pattern?: RegExp;
}

const defOf = (type: z.ZodType) => type._zod.def as ZodDef;

/** Schema keywords of the checks of a type; the strictest of several bounds applies. */
function constraints(def: ZodDef): JsonObject {
  const node: JsonObject = {};
  const real = def.format === undefined;
  for (const { _zod: { def: check } } of def.checks ?? []) {
    switch (check.check) {
      case "greater_than":
        node[check.inclusive ? "minimum" : "exclusiveMinimum"] = real ? float(check.value!) : check.value!;
        break;
      case "less_than":
        node[check.inclusive ? "maximum" : "exclusiveMaximum"] = real ? float(check.value!) : check.value!;
        break;
      case "min_length":
        node[def.type === "array" ? "minItems" : "minLength"] = check.minimum!;
        break;
      case "max_length":
        node[def.type === "array" ? "maxItems" : "maxLength"] = check.maximum!;
        break;
      case "string_format":
        node.pattern = check.pattern!.source;
        break;
      default:
        throw new TypeError(`Cannot publish the check ${check.check} of a parameter`);
    }
  }
  return node;
}

function schemaNode(type: z.ZodType, open = false): JsonObject {
  const def = defOf(type);
  const annotations = (z.globalRegistry.get(type) ?? {}) as JsonObject;
  if (open && def.type === "unknown") return { ...annotations };
  if (open && def.type === "record") {
    const value = schemaNode(def.valueType!, open);
    const node: JsonObject = { ...annotations, type: "object" };
    return Object.keys(value).length === 0 ? node : { ...node, additionalProperties: value };
  }
  switch (def.type) {
    case "optional":
      return { ...schemaNode(def.innerType!, open), ...annotations };
    case "default": {
      const node = schemaNode(def.innerType!, open);
      return { default: typedDefault(def.defaultValue, node), ...node, ...annotations };
    }
    case "nullable":
      return { ...nullable(schemaNode(def.innerType!, open)), ...annotations };
    case "object":
      return { ...annotations, ...objectNode(def, open) };
    case "array":
      return { ...annotations, type: "array", ...constraints(def), items: schemaNode(def.element!, open) };
    case "number":
      return { ...annotations, type: def.format === undefined ? "number" : "integer", ...constraints(def) };
    case "string":
    case "boolean":
      return { ...annotations, type: def.type, ...constraints(def) };
    case "enum":
      return { ...annotations, ...choice(Object.values(def.entries!)) };
    case "literal": {
      const { type, enum: values } = choice(def.values!);
      return { ...annotations, type, ...(open && values.length === 1 ? { const: values[0] } : { enum: values }) };
    }
    case "union":
      return { ...annotations, anyOf: def.options!.map((option) => schemaNode(option, open)) };
    default:
      throw new TypeError(`Cannot publish a parameter of the zod type ${def.type}`);
  }
}

function objectNode(def: ZodDef, open: boolean): JsonObject {
  const members = Object.entries(def.shape!);
  const required = members.filter(([, member]) => !["optional", "default"].includes(defOf(member).type));
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, member]) => [name, schemaNode(member, open)])),
    ...(required.length > 0 ? { required: required.map(([name]) => name) } : {}),
    ...(def.catchall !== undefined && defOf(def.catchall).type === "never" ? { additionalProperties: false } : {}),
  };
}

function nullable(node: JsonObject): JsonObject {
  if (typeof node.type !== "string" || node.enum !== undefined) return { anyOf: [node, { type: "null" }] };
  return { ...node, type: [node.type, "null"] };
}

function choice(values: Value[]): { type: Value; enum: Value[] } {
  const types = [...new Set(values.map((value) => typeName(value)))];
  return { type: types.length === 1 ? types[0] : types, enum: values };
}

/** A default from code, with the number types of its schema. */
function typedDefault(value: unknown, node: JsonObject): Value {
  if (typeof value === "number") return schemaTypes(node).includes("number") ? float(value) : value;
  if (Array.isArray(value)) return value.map((item) => typedDefault(item, isObject(node.items) ? node.items : {}));
  if (isObject(value)) {
    const properties = (node.properties ?? {}) as Record<string, JsonObject>;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, typedDefault(item, properties[key] ?? {})]),
    );
  }
  return value as Value;
}

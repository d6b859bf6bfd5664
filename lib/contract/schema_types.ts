/** The types that a parameter schema accepts. In a module of its own: forms need it before they need the checks. */
import { type JsonObject, typeName, type Value } from "./value.ts";

export function schemaTypes(schema: JsonObject): string[] {
  if (Array.isArray(schema.type)) return schema.type as string[];
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonObject[]).flatMap(schemaTypes);
  if (Array.isArray(schema.enum)) return [...new Set(schema.enum.map((item) => typeName(item as Value)))];
  return [];
}

/** Documents as zod types: fields that many of them have, their check, and their published schema. */
import type { Code, Diagnostic } from "./error.ts";
import { jsonSchemaOf } from "./publish_schema.ts";
import { checkValue } from "./schema.ts";
import type { Float, JsonObject, Value } from "./value.ts";
import { z } from "./zod.ts";

/** SHA-256 in hexadecimal. */
export const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** An object with any fields. */
export const mapping = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;
/** A number; `toNumber` gives its binary64 value. */
export const measure = z.number() as unknown as z.ZodType<number | bigint | Float>;

/** The check of a document against its schema: it returns every problem, with this code. */
export function documentCheck(type: z.ZodType, code: Code): (value: Value) => Diagnostic[] {
  let node: JsonObject | undefined;
  return (value) => checkValue(node ??= jsonSchemaOf(type), value, [], { code });
}

/** The JSON Schema of a kind of file, for editors. */
export const publishedSchema = (title: string, type: z.ZodType): JsonObject => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title,
  ...jsonSchemaOf(type),
});

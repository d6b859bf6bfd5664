import assert from "node:assert/strict";
import { prettyJson } from "../../../lib/contract/json.ts";
import { cloneValue, isObject, type JsonObject, typeName, type Value } from "../../../lib/contract/value.ts";
import { recipeSchema } from "../../../lib/plan/recipe_schema.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { SHIPPED } from "./_edits.ts";

const schema = recipeSchema(await createRegistry());

/** Keywords that say something to a checker; the others are remarks. */
const CHECKS: Record<string, (limit: Value, value: Value, node: JsonObject) => string[]> = {
  type: (types, value) =>
    [types].flat().some((type) => type === typeName(value) || (type === "number" && typeName(value) === "integer"))
      ? []
      : [`is no ${types}`],
  const: (wanted, value) => wanted === value ? [] : [`is not ${wanted}`],
  enum: (choices, value) => (choices as Value[]).includes(value) ? [] : ["is no choice"],
  minimum: (limit, value) => typeof value !== "number" || value >= Number(limit) ? [] : ["is too small"],
  maximum: (limit, value) => typeof value !== "number" || value <= Number(limit) ? [] : ["is too large"],
  exclusiveMinimum: (limit, value) => typeof value !== "number" || value > Number(limit) ? [] : ["is too small"],
  exclusiveMaximum: (limit, value) => typeof value !== "number" || value < Number(limit) ? [] : ["is too large"],
  minLength: (limit, value) => typeof value !== "string" || value.length >= Number(limit) ? [] : ["is too short"],
  maxLength: (limit, value) => typeof value !== "string" || value.length <= Number(limit) ? [] : ["is too long"],
  pattern: (pattern, value) =>
    typeof value !== "string" || new RegExp(String(pattern)).test(value) ? [] : ["does not match"],
  minItems: (limit, value) => !Array.isArray(value) || value.length >= Number(limit) ? [] : ["has too few"],
  maxItems: (limit, value) => !Array.isArray(value) || value.length <= Number(limit) ? [] : ["has too many"],
  minProperties: (limit, value) => !isObject(value) || Object.keys(value).length >= Number(limit) ? [] : ["is empty"],
  required: (names, value) =>
    !isObject(value)
      ? []
      : (names as string[]).filter((name) => !Object.hasOwn(value, name)).map((name) => `lacks ${name}`),
  items: (item, value) =>
    !Array.isArray(value) ? [] : value.flatMap((entry, index) => under(index, check(item as JsonObject, entry))),
  properties: (inner, value) =>
    !isObject(value)
      ? []
      : Object.keys(inner as JsonObject).filter((key) => Object.hasOwn(value, key)).flatMap((key) =>
        under(key, check((inner as JsonObject)[key] as JsonObject, value[key]))
      ),
  additionalProperties: (rule, value, node) => {
    if (!isObject(value)) return [];
    const others = Object.keys(value).filter((key) => !Object.hasOwn(node.properties as JsonObject ?? {}, key));
    return isObject(rule)
      ? others.flatMap((key) => under(key, check(rule, value[key])))
      : rule
      ? []
      : others.map((key) => `has ${key}`);
  },
  allOf: (nodes, value) => (nodes as JsonObject[]).flatMap((inner) => check(inner, value)),
  anyOf: (nodes, value) =>
    (nodes as JsonObject[]).some((inner) => check(inner, value).length === 0) ? [] : ["fits nothing"],
  if: (condition, value, node) =>
    check(condition as JsonObject, value).length === 0 ? check(node.then as JsonObject, value) : [],
  $ref: (reference, value) =>
    check((schema.definitions as JsonObject)[String(reference).split("/")[2]] as JsonObject, value),
};
const REMARKS = ["$schema", "title", "description", "default", "definitions", "then"];

const under = (key: string | number, problems: string[]) => problems.map((problem) => `${key} ${problem}`);

function check(node: JsonObject, value: Value): string[] {
  return Object.entries(node).flatMap(([keyword, limit]) => {
    if (REMARKS.includes(keyword)) return [];
    assert.ok(Object.hasOwn(CHECKS, keyword), `${keyword} is no keyword of draft-07 that is used here`);
    return CHECKS[keyword](limit, value, node);
  });
}

Deno.test("the published schema is the one of the registry, and names every operation", async () => {
  const published = await Deno.readTextFile(new URL("../../../recipes/recipe.schema.json", import.meta.url));
  assert.ok(published === prettyJson(schema), "recipes/recipe.schema.json is stale: run deno task generate");
  const { step } = schema.definitions as { step: JsonObject };
  const operations = ((step.properties as JsonObject).op as JsonObject).enum as string[];
  assert.deepEqual(operations, (await createRegistry()).ids());
  assert.doesNotMatch(published, /x-svc-/);
});

Deno.test("every shipped recipe satisfies it, and names it for editors", () => {
  for (const [file, text] of SHIPPED) {
    assert.deepEqual(check(schema, readRecipeText(text, { file }).value), [], file);
    assert.match(text, /^# yaml-language-server: \$schema=(\.\.\/)?recipe\.schema\.json\n/, file);
  }
});

Deno.test("what a recipe gets wrong is noticed at its place", () => {
  const [, text] = SHIPPED.find(([file]) => file === "quickstart.yaml")!;
  const recipe = readRecipeText(text, { file: "quickstart.yaml" }).value as JsonObject & { steps: JsonObject[] };
  const problems = (change: (copy: typeof recipe, step: (id: string) => JsonObject) => void) => {
    const copy = cloneValue(recipe);
    change(copy, (id) => copy.steps.find((step) => step.id === id)!);
    return check(schema, copy).join("; ");
  };
  const params = (step: JsonObject) => step.params as JsonObject;
  assert.match(
    problems((_, step) => params(step("wireless_channel")).snr_db = "6 dB"),
    /^steps 8 params snr_db is no number$/,
  );
  assert.match(problems((_, step) => params(step("sender")).qualty = 3), /^steps 1 params has qualty$/);
  assert.match(problems((_, step) => params(step("sender")).quality = 101), /^steps 1 params quality is too large$/);
  assert.match(problems((_, step) => params(step("modulator")).modulation = "qspk"), /modulation is no choice/);
  assert.match(problems((_, step) => step("packetizer").op = "channel.packetise"), /^steps 3 op is no choice$/);
  assert.match(problems((_, step) => step("packetizer").inputs = {}), /^steps 3 inputs lacks bits$/);
  assert.match(problems((_, step) => step("packetizer").inputs = { bits: "sender" }), /bits does not match/);
  assert.match(problems((_, step) => step("packetizer").id = "a.b"), /^steps 3 id does not match$/);
  assert.match(problems((copy) => copy.schema_version = 2), /^schema_version is not 1$/);
  assert.match(problems((copy) => copy.execution_profile = "layered"), /^execution_profile fits nothing$/);
  assert.match(problems((copy) => copy.stpes = []), /^has stpes$/);
  assert.match(
    problems((copy) => (copy.metadata as JsonObject).matrix = { dimensions: { a: [] } }),
    /lacks step_params.*has too few/,
  );
  // A seed that is null follows the master seed.
  assert.equal(problems((_, step) => params(step("wireless_channel")).seed = null), "");
});

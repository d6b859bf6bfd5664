/** Properties over seeded random values and damaged texts: a value or a coded error, never anything else. */
import { deepStrictEqual, fail, strictEqual } from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson, prettyJson } from "../../../lib/contract/json.ts";
import { float, type Value } from "../../../lib/contract/value.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { applyOverrides } from "../../../lib/recipe/overrides.ts";
import { excerpt, readRecipeText, recipeFromValue } from "../../../lib/recipe/read.ts";
import type { DecodedText } from "../../../lib/recipe/types.ts";
import { type Picker, picker } from "./_picker.ts";
import { registry } from "./_registry.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const TEXTS = DATA.TEXTS;

function randomValue(pick: Picker, depth: number): Value {
  switch (pick.below(depth > 0 ? 9 : 7)) {
    case 0:
      return pick.of([null, true, false]);
    case 1:
      return pick.below(2000) - 1000;
    case 2:
      return pick.of([2n ** 70n, -(2n ** 63n), 9007199254740993n]);
    case 3:
      return float(pick.below(100));
    case 4:
      return pick.of([-0, 5e-324, 1.7976931348623157e308, 1e-12, 0.1]);
    case 5:
      return float((pick.next() - 0.5) * 10 ** (pick.below(40) - 20));
    case 6:
      return pick.of(TEXTS);
    case 7:
      return Array.from({ length: pick.below(4) }, () => randomValue(pick, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: pick.below(4) }, () => [pick.of(TEXTS), randomValue(pick, depth - 1)]),
      );
  }
}

Deno.test("any typed value survives JSON, YAML and the library's own door", () => {
  const pick = picker(1);
  for (let round = 0; round < 1500; round++) {
    const value = randomValue(pick, 4);
    const canonical = canonicalJson(value);
    strictEqual(canonicalJson(recipeFromValue(value)), canonical);
    for (const text of [canonical, prettyJson(value)]) {
      strictEqual(canonicalJson(readRecipeText(text, { file: "r.json" }).value), canonical);
      // JSON is YAML, read by another reader.
      strictEqual(canonicalJson(readRecipeText(text, { file: "r.yaml" }).value), canonical, text);
    }
  }
});

const YAML_BASE = DATA.YAML_BASE;
const JSON_BASE = prettyJson(readRecipeText(YAML_BASE, { file: "r.yaml" }).value);
const PIECES = DATA.PIECES;

/** A text with a few pieces put in, cut out, repeated or moved. */
function damage(text: string, pick: Picker): string {
  for (let edits = 1 + pick.below(4); edits > 0; edits--) {
    const from = pick.below(text.length + 1), to = Math.min(text.length, from + pick.below(12));
    const piece = pick.below(3) === 0 ? text.slice(from, to).repeat(pick.below(4)) : pick.of(PIECES);
    text = text.slice(0, from) + piece + text.slice(pick.below(2) === 0 ? from : to);
  }
  return text;
}

const READ_CODES = new Set([
  "recipe_syntax_invalid",
  "recipe_duplicate_key",
  "recipe_value_empty",
  "recipe_json_value_invalid",
  "recipe_limit_exceeded",
]);

/** The decoded text, or null after checking that it was refused in order. */
function readOrRefuse(text: string, file: string): DecodedText | null {
  try {
    return readRecipeText(text, { file });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    strictEqual(READ_CODES.has(error.code), true, error.code);
    const lines = text.replace(/^\ufeff/, "").split("\n");
    for (const { location, message } of error.diagnostics) {
      const line = lines[location!.line - 1] ?? fail(`no line ${location!.line} in ${JSON.stringify(text)}`);
      strictEqual(location!.column >= 1 && location!.column <= [...line].length + 1, true, message);
      excerpt(text, location!);
    }
    strictEqual(error.diagnostics.length > 0, true);
    return null;
  }
}

Deno.test("a damaged text is read or refused with a place in it, and what is read compiles or is reported", () => {
  const pick = picker(2);
  const seen = { read: 0, refused: 0, valid: 0, invalid: 0 };
  for (let round = 0; round < 2000; round++) {
    const [base, file] = round % 2 === 0 ? [YAML_BASE, "r.yaml"] : [JSON_BASE, "r.json"];
    const text = damage(base, pick);
    const decoded = readOrRefuse(text, file);
    if (decoded === null) {
      seen.refused++;
      continue;
    }
    seen.read++;
    for (const mode of ["strict", "compat"] as const) {
      const compilation = compileRecipe(decoded.value, { mode, registry, locate: decoded.locate });
      seen[compilation.status]++;
      const failed = compilation.diagnostics.some(({ severity }) => severity === "error");
      strictEqual(compilation.status === "invalid", failed);
      strictEqual(compilation.effective === null, failed);
      for (const { location } of compilation.diagnostics) strictEqual(location!.file, file);
      if (compilation.effective !== null) {
        const again = compileRecipe(compilation.effective, { mode, registry });
        strictEqual(again.effective_sha256, compilation.effective_sha256);
      }
    }
  }
  // The damage is such that every outcome occurs often.
  for (const count of Object.values(seen)) strictEqual(count > 100, true, JSON.stringify(seen));
});

Deno.test("the JSON reader accepts a text only if the platform's does, with the same numbers", () => {
  const pick = picker(3);
  for (let round = 0; round < 4000; round++) {
    const text = damage(round % 4 === 0 ? canonicalJson(randomValue(pick, 3)) : JSON_BASE, pick);
    const decoded = readOrRefuse(text, "r.json");
    let platform: unknown;
    try {
      platform = JSON.parse(text.replace(/^\ufeff/, ""));
    } catch {
      strictEqual(decoded, null, text);
      continue;
    }
    if (decoded === null) continue;
    deepStrictEqual(JSON.parse(canonicalJson(decoded.value)), platform);
  }
});

Deno.test("values of any shape compile to a record", () => {
  const pick = picker(4);
  const fields = ["schema_version", "name", "description", "execution_profile", "metadata", "suite", "steps", "x"];
  const stepFields = ["id", "op", "params", "inputs", "description", "y"];
  const random = () => randomValue(pick, 3);
  for (let round = 0; round < 1500; round++) {
    const step = (): Value =>
      pick.below(8) === 0 ? random() : Object.fromEntries(
        stepFields.filter(() => pick.below(3) > 0).map((field) => [
          field,
          field === "op" && pick.below(2) === 0 ? pick.of(registry.ids()) : random(),
        ]),
      );
    const recipe = Object.fromEntries(
      fields.filter(() => pick.below(3) > 0).map((field) => [
        field,
        field === "steps" && pick.below(4) > 0 ? Array.from({ length: pick.below(4) }, step) : random(),
      ]),
    );
    for (const mode of ["strict", "compat"] as const) {
      const { status, diagnostics } = compileRecipe(recipe, { mode, registry });
      strictEqual(status === "valid", diagnostics.every(({ severity }) => severity !== "error"));
      for (const { code, message, path } of diagnostics) {
        strictEqual(/^[a-z_]+$/.test(code) && message !== "" && path.startsWith("$"), true);
      }
    }
  }
});

Deno.test("overrides are applied or refused with a code", () => {
  const pick = picker(5);
  const raw = readRecipeText(YAML_BASE, { file: "r.yaml" }).value;
  const pieces = [
    "data",
    "wireless_channel",
    ".",
    "=",
    "x",
    "bit_count",
    "[",
    "]",
    "{",
    '"',
    "1",
    "1.0",
    "__proto__",
    " ",
  ];
  for (let round = 0; round < 3000; round++) {
    const override = Array.from({ length: pick.below(9) }, () => pick.of(pieces)).join("");
    try {
      applyOverrides(raw, [override]);
    } catch (error) {
      strictEqual(error instanceof SvcError && /^(override|recipe)_/.test(error.code), true, override);
    }
  }
});

/** What is wrong with a matrix: every problem at once, each with its place and the way out. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { expandMatrix } from "../../../lib/recipe/expand_matrix.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { compileText, findings, registry } from "./_registry.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const withMatrix = (matrix: string) =>
  `name: demo
metadata:
  seed: 1
  matrix: ${matrix}
steps:
  - {id: data, op: source.random_bits}
  - {id: link, op: wireless.channel, inputs: {symbols: data.bits}}
`;

/** Findings with the text they point at, up to the next delimiter, and the hint. */
function problems(matrix: string): string[] {
  const lines = withMatrix(matrix).split("\n");
  return compileText(withMatrix(matrix)).diagnostics.map(({ code, path, hint, location }) => {
    const there = lines[location!.line - 1].slice(location!.column - 1);
    return `${code} ${path} ${/^(\W*)\w*/.exec(there)![0]} ${hint}`;
  });
}

/** A matrix, and what is said about it. */
const CASES: [string, string[]][] = DATA.CASES;

Deno.test("every error of a matrix has its code, place and hint", () => {
  for (const [matrix, expected] of CASES) deepStrictEqual(problems(matrix), expected, matrix);
});

Deno.test("a malformed matrix compiles to no effective recipe, and expands to nothing", () => {
  for (const [matrix] of CASES) {
    const text = withMatrix(matrix);
    for (const mode of ["strict", "compat"] as const) {
      const { status, effective, normalized } = compileText(text, mode);
      deepStrictEqual([status, effective, normalized === null], ["invalid", null, false]);
    }
    const expansion = expandMatrix(readRecipeText(text, { file: "r.yaml" }).value, { registry });
    deepStrictEqual([expansion.status, expansion.expanded_count, expansion.canonical_matrix.enabled], [
      "invalid",
      0,
      false,
    ]);
    strictEqual(expansion.canonical_matrix.source, "matrix");
    deepStrictEqual(expansion.canonical_matrix.matrix, null);
    deepStrictEqual(
      expansion.canonical_matrix.diagnostics.map(({ code }) => code),
      expansion.diagnostics.map(({ code }) => code),
    );
  }
});

Deno.test("256 points are expanded, 257 are refused", () => {
  const sized = (a: number, b: number) => {
    const numbers = (count: number) => `[${Array.from({ length: count }, (_, n) => n + 1).join(", ")}]`;
    return `{dimensions: {a: ${numbers(a)}, b: ${numbers(b)}}, step_params: {data: {bit_count: {matrix: a}},
      link: {snr_db: {matrix: b}}}}`;
  };
  const expanded = (text: string) =>
    expandMatrix(readRecipeText(withMatrix(text), { file: "r.yaml" }).value, { registry });
  strictEqual(expanded(sized(16, 16)).points.length, 256);
  strictEqual(expanded(sized(256, 1)).expanded_count, 256);
  const refused = expanded(sized(257, 1));
  deepStrictEqual(findings(refused.authored), ["matrix_too_large $.metadata.matrix.dimensions"]);
  strictEqual(refused.points.length, 0);
  const [{ message, hint }] = expanded(sized(20, 13)).diagnostics;
  strictEqual(message, "Cannot expand a matrix of 260 points (20 × 13)");
  strictEqual(hint, "At most 256 are allowed: shorten a dimension, or split the recipe");
});

Deno.test("errors of the matrix come together, and with those of the recipe", () => {
  const text = withMatrix(
    "{dimensions: {snr: [1, 1], no: []}, step_params: {lnk: {snr_db: {matrix: snr}}, link: {a: {matrix: 1}}}, x: 1}",
  ).replace("source.random_bits", "source.random_bit");
  deepStrictEqual(compileText(text).diagnostics.map(({ code }) => code), [
    "matrix_definition_invalid",
    "matrix_values_duplicate",
    "matrix_definition_invalid",
    "matrix_step_unknown",
    "matrix_reference_malformed",
    "matrix_dimension_unused",
    "operation_defaults_unavailable",
  ]);
});

Deno.test("names that objects inherit are names like any other", () => {
  const text = withMatrix(
    '{dimensions: {constructor: [1], "__proto__": [2]}, step_params: {link: {a: {matrix: toString}, ' +
      "b: {matrix: constructor}, c: {matrix: __proto__}}}}",
  );
  deepStrictEqual(compileText(text).diagnostics.map(({ code }) => code), ["matrix_dimension_unknown"]);
});

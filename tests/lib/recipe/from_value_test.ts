import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { float } from "../../../lib/contract/value.ts";
import { recipeFromValue } from "../../../lib/recipe/from_value.ts";
import { problemsOf } from "./_read.ts";

Deno.test("JavaScript numbers become typed numbers", () => {
  const cases: [unknown, string][] = [
    [6, "6"],
    [6n, "6"],
    [float(6), "6.0"],
    [0.5, "0.5"],
    [-0, "-0.0"],
    [0, "0"],
    [2 ** 70, "1180591620717411303424"],
    [2n ** 70n, "1180591620717411303424"],
    [1e21, "1000000000000000000000"],
    [float(2 ** 70), "1.1805916207174113e+21"],
  ];
  for (const [value, canonical] of cases) strictEqual(canonicalJson(recipeFromValue(value)), canonical);
});

Deno.test("a recipe value is a private copy without undefined members", () => {
  const shared = { x: 1 };
  const given = { a: [shared, shared], b: undefined, c: Object.assign(Object.create(null), { d: null }) };
  const taken = recipeFromValue(given) as { a: { x: number }[] };
  shared.x = 2;
  strictEqual(canonicalJson(taken), '{"a":[{"x":1},{"x":1}],"c":{"d":null}}');
  deepStrictEqual(recipeFromValue(taken), taken);
});

Deno.test("what has no JSON form is refused by its path, all at once", () => {
  const cycle: { inner: unknown[] } = { inner: [] };
  cycle.inner.push(cycle);
  const problems = problemsOf(() =>
    recipeFromValue({
      a: () => 1,
      b: [new Date(0), new Map(), undefined],
      c: NaN,
      d: Infinity,
      e: Symbol("x"),
      f: "\ud800",
      g: cycle,
      h: new Float64Array(2),
      i: new Number(3),
      j: float(NaN),
    })
  );
  deepStrictEqual(
    problems.map(({ code, path }) => `${code} ${path}`),
    [
      "$.a",
      "$.b[0]",
      "$.b[1]",
      "$.b[2]",
      "$.c",
      "$.d",
      "$.e",
      "$.f",
      "$.g.inner[0]",
      "$.h",
      "$.i",
      "$.j",
    ].map((path) => `recipe_json_value_invalid ${path}`),
  );
  strictEqual(problemsOf(() => recipeFromValue(undefined))[0].path, "$");
  deepStrictEqual(problemsOf(() => recipeFromValue([, 1]))[0].path, "$[0]");
});

Deno.test("values nest 64 levels deep", () => {
  const nested = (levels: number): unknown => levels === 0 ? 1 : [nested(levels - 1)];
  recipeFromValue(nested(64));
  strictEqual(problemsOf(() => recipeFromValue(nested(65)))[0].code, "recipe_limit_exceeded");
  strictEqual(problemsOf(() => recipeFromValue(nested(5000)))[0].code, "recipe_limit_exceeded");
});

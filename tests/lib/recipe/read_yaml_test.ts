import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import process from "node:process";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { readYaml } from "../../../lib/recipe/yaml_reader.ts";
import { problemsOf, sites } from "./_read.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const read = (text: string) => readYaml(text, "r.yaml").value;
const refusals = (text: string) => sites(() => readYaml(text, "r.yaml"));

Deno.test("YAML texts hash to the known answers", () => {
  strictEqual(
    sha256Json(read("b: [1, 1.0, true, null]\na: é\n")),
    "4326d737489d31789a8cb40c0ad26bb02d242fba468dbdccd56670b9c9a50fee",
  );
  strictEqual(
    sha256Json(read("x: 1e-12\ny: 1e21\nz: -0.0\nw: 1e16\n")),
    "d0caea31941958f2d9db30d78e52a291a02468a212e8c42bb5c00025484ab45b",
  );
});

Deno.test("YAML scalars follow the core schema", () => {
  const cases: [string, string][] = DATA.SCALARS;
  for (const [token, canonical] of cases) {
    strictEqual(canonicalJson(read(`v: ${token}\n`)), `{"v":${canonical}}`, token);
  }
  strictEqual(read(""), null);
  strictEqual(read("# only a comment\n"), null);
});

Deno.test("YAML reads block and flow forms, texts of several lines, and one document with its marks", () => {
  deepStrictEqual(
    read("%YAML 1.2\n---\na:\n  - x\n  - {y: 1, z: [2]}\nb: |\n  two\n  lines\nc: >-\n  one\n  line\n...\n"),
    {
      a: ["x", { y: 1, z: [2] }],
      b: "two\nlines\n",
      c: "one line",
    },
  );
  deepStrictEqual(Object.entries(read("__proto__: {x: 1}\n") as object), [["__proto__", { x: 1 }]]);
  strictEqual(read("--- |\n!x\n[\n%y\n"), "!x\n[\n%y\n");
  deepStrictEqual(read('"<<": 1\n"1": 2\n'), { "<<": 1, "1": 2 });
});

Deno.test("YAML expands aliases, up to a limit, and knows the line of what they stand for", () => {
  const { value, locate } = readYaml("a: &x\n  k: 1.0\nb: *x\nc: &x 2\nd: [*x, *x]\n", "r.yaml");
  strictEqual(canonicalJson(value), '{"a":{"k":1.0},"b":{"k":1.0},"c":2,"d":[2,2]}');
  strictEqual(locate(["b", "k"])!.line, 2);
  const shared = value as { a: object; b: object };
  strictEqual(shared.a === shared.b, false);

  // A list of 99 values is 100 nodes.
  const list = `a: &a [${"1, ".repeat(98)}1]\n`;
  const uses = (count: number) => `${list}b: [${Array(count).fill("*a").join(", ")}]\n`;
  strictEqual((read(uses(100)) as { b: unknown[] }).b.length, 100);
  deepStrictEqual(refusals(uses(101)), [`recipe_limit_exceeded 2:${5 + 4 * 100}`]);
  const bomb = Array.from({ length: 40 }, (_, i) => `a${i}: &a${i} [${i === 0 ? "1" : `*a${i - 1}, *a${i - 1}`}]`);
  match(refusals(bomb.join("\n"))[0], /^recipe_limit_exceeded /);
});

Deno.test("YAML refuses what recipes leave out, with line and column", () => {
  const cases: [string, string[]][] = DATA.PROBLEMS;
  for (const [text, expected] of cases) deepStrictEqual(refusals(text), expected, text);
  strictEqual(
    problemsOf(() => readYaml("a: *dta\nb: &data 1", "r.yaml"))[0].hint,
    "An anchor precedes its aliases",
  );
  strictEqual(problemsOf(() => readYaml("b: &data 1\na: *dta", "r.yaml"))[0].hint, "Did you mean data?");
});

Deno.test("YAML answers where places stand, keys and values", () => {
  const { locate } = readYaml(
    "name: é😀 # c\nsteps:\n  - id: a\n    params: {x: 1, y: [1, 2]}\n    note: x\n",
    "r.yaml",
  );
  const at = (place: (string | number)[], part?: "key") => {
    const location = locate(place, part)!;
    return `${location.line}:${location.column}`;
  };
  strictEqual(at(["name"]), "1:7");
  strictEqual(at(["steps", 0]), "3:5");
  strictEqual(at(["steps", 0, "params", "y", 1]), "4:27");
  strictEqual(at(["steps", 0, "params", "y"], "key"), "4:20");
  strictEqual(at(["steps", 0, "op"]), "3:5");
  strictEqual(at(["steps", 0, "note"]), "5:11");
});

Deno.test({
  name: "YAML reading needs no permission, sees no environment and gives it back",
  permissions: "none",
  fn() {
    const before = process.env;
    read("a: 1");
    strictEqual(process.env, before);
    problemsOf(() => read("a: ["));
    strictEqual(process.env, before);
  },
});

Deno.test("a wrong indentation is reported as such", () => {
  const hintOf = (text: string) => problemsOf(() => readYaml(text, "r.yaml"))[0].hint;
  strictEqual(hintOf("steps:\n  - id: a\n   op: x\n"), "Indent this line by 4 or 0 spaces, as the keys above");
  for (
    const [text, spaces] of [
      ["name: x\n steps: []\n", 0],
      ["metadata:\n  seed: 1\n   matrix: 2\n", 2],
      ["steps:\n  - id: a\n      op: x\n", 4],
    ] as const
  ) strictEqual(hintOf(text), `Indent the next line by ${spaces} spaces, as this one`, text);
  strictEqual(
    hintOf("steps:\n  - id: a\n    params:\n      x: 1\n     y: 2\n"),
    "Indent this line by 6 or 4 spaces, as the keys above",
  );
  strictEqual(hintOf("a: b: c\n"), "Put a text that holds a colon and a space in quotes");
  strictEqual(hintOf('a: "x\n'), "Close every quote and bracket");
  strictEqual(hintOf("steps:\n  - {id: a, op: x\n"), "Close every bracket, and indent the lines between");
});

Deno.test("an empty value is refused at its key, a written null is not", () => {
  deepStrictEqual(refusals("params:\n  snr_db:\n  seed: null\n  label: ~\n"), ["recipe_value_empty 2:3"]);
  deepStrictEqual(refusals("a:\nb: [1, 2]\nc:\n"), ["recipe_value_empty 1:1", "recipe_value_empty 3:1"]);
  deepStrictEqual(refusals("a:\n  - 1\n  -\n  - 3\n"), ["recipe_value_empty 3:4"]);
  deepStrictEqual(refusals("a: {x: , y: 2}\n"), ["recipe_value_empty 1:5"]);
  deepStrictEqual(read('a: ""\n'), { a: "" });
  const [{ message, hint, path }] = problemsOf(() => read("params:\n  snr_db:\n"));
  strictEqual(message, "Cannot use the empty value of the key snr_db");
  strictEqual(hint, "Write a value, or null where none is meant");
  strictEqual(path, "$.params.snr_db");
});

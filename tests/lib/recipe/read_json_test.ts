import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { readJson } from "../../../lib/recipe/json_reader.ts";
import { problemsOf, sites } from "./_read.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const read = (text: string) => readJson(text, "r.json").value;
const refusals = (text: string) => sites(() => readJson(text, "r.json"));

Deno.test("JSON texts hash to the known answers", () => {
  strictEqual(
    sha256Json(read('{"b":[1,1.0,true,null],"a":"é"}')),
    "4326d737489d31789a8cb40c0ad26bb02d242fba468dbdccd56670b9c9a50fee",
  );
  const extremes = read('{"x":1e-12,"y":1e21,"z":-0.0,"w":1e16}');
  strictEqual(canonicalJson(extremes), '{"w":1e+16,"x":1e-12,"y":1e+21,"z":-0.0}');
  strictEqual(sha256Json(extremes), "d0caea31941958f2d9db30d78e52a291a02468a212e8c42bb5c00025484ab45b");
});

Deno.test("JSON numbers keep type and digits", () => {
  const cases: [string, string][] = DATA.SCALARS;
  for (const [token, canonical] of cases) strictEqual(canonicalJson(read(` ${token} `)), canonical, token);
});

Deno.test("JSON reads all that the grammar allows", () => {
  deepStrictEqual(read('\t{"a" : [ ] , "b":{ },"":null}\r\n'), { a: [], b: {}, "": null });
  strictEqual(
    read('"\\u00e9\\n\\/\\\\\\"\\b\\f\\r\\t\\ud83d\\ude00é😀\u007f\u2028"'),
    'é\n/\\"\b\f\r\t😀é😀\u007f\u2028',
  );
  const odd = read('{"__proto__":{"x":1},"constructor":2}');
  deepStrictEqual(Object.keys(odd as object), ["__proto__", "constructor"]);
  strictEqual(({} as { x?: unknown }).x, undefined);
  strictEqual(canonicalJson(odd), '{"__proto__":{"x":1},"constructor":2}');
});

Deno.test("JSON refuses everything else, with line and column", () => {
  const cases: [string, string][] = DATA.PROBLEMS;
  for (const [text, place] of cases) {
    deepStrictEqual(refusals(text), [`recipe_syntax_invalid ${place}`], JSON.stringify(text));
  }
});

Deno.test("JSON reports every duplicate key and every value that has no meaning", () => {
  deepStrictEqual(refusals('{"a": 1,\n "b": {"c": 1, "c": 2},\n "a": 3}'), [
    "recipe_duplicate_key 2:16",
    "recipe_duplicate_key 3:2",
  ]);
  deepStrictEqual(refusals('["\\ud800", "\\udc00\\ud800",\n1e999, {"\\udead": 1}]'), [
    "recipe_json_value_invalid 1:2",
    "recipe_json_value_invalid 1:12",
    "recipe_json_value_invalid 2:1",
    "recipe_json_value_invalid 2:9",
  ]);
  const [duplicate] = problemsOf(() => readJson('{"a":{"b":[{"c":1,"c":2}]}}', "x.json"));
  deepStrictEqual(duplicate, {
    severity: "error",
    code: "recipe_duplicate_key",
    message: 'Cannot use the key "c" twice',
    path: "$.a.b[0].c",
    hint: "It is already on line 1",
    pointer: "/a/b/0/c",
    location: { file: "x.json", line: 1, column: 19 },
  });
});

Deno.test("JSON hints say what to write instead", () => {
  const hint = (text: string) => problemsOf(() => readJson(text, "r.json"))[0].hint;
  strictEqual(hint("[NaN]"), "JSON has no NaN and no infinity");
  strictEqual(hint("['a']"), "Write texts in double quotes");
  strictEqual(hint("[1,]"), "Remove the comma before it");
  strictEqual(hint("[.5]"), "Write a digit before the point");
});

Deno.test("JSON answers where places stand, keys and values", () => {
  const { locate } = readJson('{\n  "steps": [\n    {"id": "é😀", "op":\t"x"}\n  ]\n}', "r.json");
  const at = (place: (string | number)[], part?: "key") => {
    const location = locate(place, part)!;
    return `${location.line}:${location.column}`;
  };
  strictEqual(at([]), "1:1");
  strictEqual(at(["steps"]), "2:12");
  strictEqual(at(["steps"], "key"), "2:3");
  strictEqual(at(["steps", 0]), "3:5");
  strictEqual(at(["steps", "0", "op"], "key"), "3:18");
  strictEqual(at(["steps", 0, "op"]), "3:24");
  // What is missing is answered by what is around it.
  strictEqual(at(["steps", 0, "params", "x"]), "3:5");
  strictEqual(at(["steps", 7]), "2:12");
  strictEqual(locate([])!.file, "r.json");
});

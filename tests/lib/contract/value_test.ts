import assert from "node:assert/strict";
import {
  canonicalJson,
  compareCodePoints,
  parseJson,
  prettyBytes,
  prettyJson,
  repeatedPart,
  sameValue,
} from "../../../lib/contract/json.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { Float, float, formatFloat, integer, isFloat, isInteger, type Value } from "../../../lib/contract/value.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

Deno.test("canonical JSON: known answers", () => {
  const first = canonicalJson({ b: [1, float(1), true, null], a: "é" });
  assert.equal(first, '{"a":"é","b":[1,1.0,true,null]}');
  assert.equal(sha256Hex(first), "4326d737489d31789a8cb40c0ad26bb02d242fba468dbdccd56670b9c9a50fee");
  const second = canonicalJson({ x: 1e-12, y: float(1e21), z: -0, w: float(1e16) });
  assert.equal(second, '{"w":1e+16,"x":1e-12,"y":1e+21,"z":-0.0}');
  assert.equal(sha256Hex(second), "d0caea31941958f2d9db30d78e52a291a02468a212e8c42bb5c00025484ab45b");
});

Deno.test("canonical JSON: escapes, order, and what it refuses", () => {
  assert.equal(canonicalJson('"\\\b\t\n\f\r\u0001\u007fé'), '"\\"\\\\\\b\\t\\n\\f\\r\\u0001\u007fé"');
  assert.equal(canonicalJson("é𝄞", { ascii: true }), '"\\u00e9\\ud834\\udd1e"');
  // U+FFFF sorts before U+10000, although its UTF-16 unit is larger than the first one of the pair.
  assert.equal(canonicalJson({ "\u{10000}": 1, "\uffff": 2 }), '{"\uffff":2,"\u{10000}":1}');
  assert.ok(compareCodePoints("a", "ab") < 0);
  assert.equal(canonicalJson({ a: undefined, b: 1 }), '{"b":1}');
  assert.throws(() => canonicalJson("\ud800"), { code: "text_invalid" });
  assert.throws(() => canonicalJson(NaN), RangeError);
  assert.throws(() => canonicalJson(new Float(Infinity)), RangeError);
  assert.throws(() => canonicalJson((() => {}) as never), TypeError);
});

Deno.test("floats: positional within [1e-4, 1e16), shortest digits, sign kept", () => {
  const cases: [number, string][] = DATA.CASES;
  for (const [value, text] of cases) {
    assert.equal(formatFloat(value), text);
    assert.ok(Object.is(Number(text), value), text);
  }
});

Deno.test("integers and floats stay apart through text and back", () => {
  const text = '{"big":1180591620717411303424,"e":1000.0,"f":6.0,"i":6,"neg":-0.0,"s":"6"}';
  const value = parseJson('{"i":6,"f":6.0,"e":1e3,"big":1180591620717411303424,"neg":-0.0,"s":"6"}');
  assert.equal(canonicalJson(value), text);
  assert.equal(canonicalJson(parseJson(text)), text);
  assert.equal(canonicalJson(parseJson(prettyJson(value))), text);
  assert.ok(isInteger(integer("9007199254740993")));
  assert.equal(integer("9007199254740993"), 9007199254740993n);
  assert.ok(isFloat(float(6)) && isFloat(-0) && !isFloat(6) && isInteger(6) && !isInteger(6.5));
  assert.ok(!sameValue(6, float(6)) && sameValue({ a: 1, b: 2 }, { b: 2, a: 1 }) && !sameValue(undefined, null));
});

/** What `JSON.parse` reads, with the tokens of numbers, or null for a text that is no JSON. */
function referenceJson(text: string): Value | null {
  const typed = (_key: string, value: unknown, { source }: { source?: string }) => {
    if (typeof value !== "number") return value;
    return /[.eE]/.test(source!) ? float(value) : integer(source!);
  };
  try {
    return JSON.parse(text, typed as never) as Value;
  } catch {
    return null;
  }
}

Deno.test("the reader reads and refuses as JSON.parse, with typed numbers", () => {
  const read = (text: string) => {
    try {
      return parseJson(text);
    } catch (error) {
      assert.ok(error instanceof SyntaxError, text);
      return null;
    }
  };
  const texts = DATA.JSON_TEXTS as string[];
  assert.ok(texts.filter((text) => referenceJson(text) === null).length > 20);
  for (const text of texts) assert.deepStrictEqual(read(text), referenceJson(text), text);
  // Every text of one changed, removed or inserted character.
  const document = '{"a": [-1.50e+2, 0, -0, "\\u00e9\\n"], "__proto__": {"1": true, "a": null}, "a": false}';
  let valid = 0;
  for (let at = 0; at <= document.length; at++) {
    for (const inserted of ["", ...'{}[],:"\\0-+.e \n\u0001\u00a0é']) {
      for (const removed of [0, 1]) {
        const text = document.slice(0, at) + inserted + document.slice(at + removed);
        const value = referenceJson(text);
        if (value !== null) valid++;
        assert.deepStrictEqual(read(text), value, text);
      }
    }
  }
  assert.ok(valid > 300, String(valid));
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.equal(canonicalJson(parseJson(nested(2000))), nested(2000));
  assert.throws(() => parseJson(nested(2001)), /nested this deep/);
  assert.throws(() => parseJson("[1e309]"), /beyond 1.8e308/);
  assert.throws(() => parseJson('["\\ud800"]'), /lone surrogate/);
  assert.deepEqual(parseJson('{"\\ud800": "\\udc00"}', { repair: true }), { "\ufffd": "\ufffd" });
});

Deno.test("a part whose text is kept is written as any other, at every indent", () => {
  const part = { a: [1, { b: float(2) }] };
  const [alone, nested] = [prettyJson(part), prettyJson({ x: [part], y: part })];
  repeatedPart(part);
  for (let time = 0; time < 2; time++) {
    assert.equal(prettyJson(part), alone);
    assert.equal(prettyJson({ x: [part], y: part }), nested);
    assert.equal(new TextDecoder().decode(prettyBytes({ x: [part], y: part })), nested);
  }
});

Deno.test("the bytes of a document are those of its text, whatever was written before", () => {
  const part = repeatedPart({ unit: "µs", grid: repeatedPart({ "𝄞": [{}, []] }) });
  const large = "é".repeat(2 ** 21), documents = [{ part, large }, { large, part: [part] }, part, "", { part }];
  for (const document of documents) {
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(prettyBytes(document)), prettyJson(document));
  }
  const [first, second] = [prettyBytes({ a: part }), prettyBytes({ b: part })];
  assert.equal(new TextDecoder().decode(first), prettyJson({ a: part }));
  assert.equal(new TextDecoder().decode(second), prettyJson({ b: part }));
});

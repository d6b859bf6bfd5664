import assert from "node:assert/strict";
import { jsonParts, pointerAt, rangeOf } from "../../../ui/form/json_ranges.ts";

const TEXT = `{"name": "x", "steps": [{"id": "a", "params": {"snr_db": 1e-12, "a/b": [true, null]}}]}`;
const at = (pointer: string) => {
  const { from, to } = rangeOf(TEXT, pointer);
  return TEXT.slice(from, to);
};

Deno.test("a pointer leads to its text", () => {
  assert.equal(at("/name"), '"x"');
  assert.equal(at("/steps/0/params/snr_db"), "1e-12");
  assert.equal(at("/steps/0/params/a~1b/1"), "null");
  assert.equal(at("/steps/0/params/gone/deeper"), '{"snr_db": 1e-12, "a/b": [true, null]}', "the nearest part above");
});

Deno.test("a place leads to its pointer", () => {
  assert.equal(pointerAt(TEXT, TEXT.indexOf("1e-12") + 2), "/steps/0/params/snr_db");
  assert.equal(pointerAt(TEXT, TEXT.indexOf('"a"') + 1), "/steps/0/id");
});

Deno.test("every prefix of a text can be read as far as it goes", () => {
  assert.equal(jsonParts(TEXT).brokenAt, null);
  for (let end = 0; end < TEXT.length; end++) {
    const { brokenAt } = jsonParts(TEXT.slice(0, end));
    assert.ok(brokenAt !== null && brokenAt <= end, `${end}: ${brokenAt}`);
  }
  assert.equal(jsonParts('{"a": 1} x').brokenAt, 9);
  assert.equal(jsonParts('{"a": nope}').brokenAt, 6);
});

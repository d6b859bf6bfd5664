import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { Value } from "../../../lib/contract/value.ts";
import { type Read, readFloat, readInteger, written } from "../../../ui/form/number.ts";

const text = (read: Read) => "value" in read ? canonicalJson(read.value) : null;

Deno.test("an integer stays an integer and a float a float", () => {
  assert.equal(text(readInteger("1")), "1");
  assert.equal(text(readFloat("1")), "1.0");
  assert.equal(text(readInteger("+007")), "7");
  assert.equal(text(readInteger("-3")), "-3");
  assert.equal(text(readFloat("1e-12")), canonicalJson(1e-12));
  assert.equal(text(readFloat(" .5 ")), "0.5");
  assert.equal(text(readInteger("123456789012345678901234567890")), "123456789012345678901234567890");
});

Deno.test("what is no number is refused with a message", () => {
  for (const typed of ["inf", "nan", "", "1,5", "0x10", "1e", "--1"]) {
    assert.match((readFloat(typed) as { problem: string }).problem, /^Cannot use/, typed);
  }
  assert.match((readInteger("1.0") as { problem: string }).problem, /whole number/);
  assert.match((readFloat("1e999") as { problem: string }).problem, /largest/);
});

Deno.test("what is shown can be typed again and means the same", () => {
  for (const typed of ["1.0", "6.0", "1e-12", "1e+21", "-0.0", "0.1", "123456.5"]) {
    const { value } = readFloat(typed) as { value: Value };
    assert.equal(text(readFloat(written(value))), canonicalJson(value), typed);
  }
  assert.equal(written(null), "");
  assert.equal(written("qpsk"), "qpsk");
});

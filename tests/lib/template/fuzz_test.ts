/** Whatever is handed in as overrides or lies where an override is looked for: an answer, never a crash or a trace. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { float } from "../../../lib/contract/value.ts";
import { inspectTemplate } from "../../../lib/template/inspect.ts";
import { instantiateTemplate } from "../../../lib/template/instantiate.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { picker } from "../recipe/_picker.ts";
import { CODEC, CODEC_PATH, CODEC_TEXT, inProject } from "./_setup.ts";

const VALUES = [
  null,
  true,
  0,
  -0,
  1,
  75,
  float(1),
  1e300,
  -3n,
  2n ** 70n,
  NaN,
  "",
  " a ",
  "kodim01",
  "\ud800",
  [],
  {},
  undefined,
];
const KEYS = [
  "step_params",
  "name",
  "description",
  "data",
  "sender",
  "receiver",
  "quality",
  "crop_size",
  "image_ids",
  "__proto__",
  "constructor",
  "",
  "op",
  "steps",
];

function anything(next: () => number, depth: number): unknown {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)];
  const kind = next();
  if (depth === 0 || kind < 0.35) return pick(VALUES);
  if (kind < 0.45) return Array.from({ length: Math.floor(next() * 3) }, () => anything(next, depth - 1));
  const object = {};
  for (let count = Math.floor(next() * 4); count > 0; count--) {
    Object.defineProperty(object, pick(KEYS), {
      value: anything(next, depth - 1),
      enumerable: true,
      configurable: true,
    });
  }
  return object;
}

Deno.test("any overrides are taken or refused with places inside them", () =>
  inProject({}, async (options) => {
    const next = picker(23).next, outcomes = { taken: 0, refused: 0 };
    for (let round = 0; round < 150; round++) {
      const inner = anything(next, 3);
      // Half of them come near enough to be understood.
      const given = round % 2
        ? inner
        : { step_params: { sender: inner, data: { crop_size: [64, 0, -1, "x"][round % 4] } } };
      try {
        const { recipe } = await instantiateTemplate(CODEC, given, options);
        outcomes.taken++;
        assert.deepEqual(recipe.steps.map(({ id }) => id).length, 11);
        canonicalJson(recipe);
      } catch (error) {
        assert.ok(error instanceof SvcError, String(error));
        assert.equal(error.code, "template_override_invalid", error.message);
        assert.ok(error.diagnostics.some(({ severity }) => severity === "error"));
        for (const item of error.diagnostics) assert.match(item.path, /^\$/);
        outcomes.refused++;
      }
    }
    assert.ok(outcomes.taken > 5 && outcomes.refused > 50, JSON.stringify(outcomes));
  }));

Deno.test("any bytes in place of an override give a row that says what is wrong, or a valid one", () =>
  inProject({ [CODEC_PATH]: CODEC_TEXT }, async (options, folder) => {
    const next = picker(7).next, path = join(folder, CODEC_PATH), counts = { valid: 0, invalid: 0 };
    const scraps = [
      "",
      "\t",
      "- ",
      "{",
      "}",
      "[",
      ": ",
      "#",
      "&a ",
      "*a",
      "!!x ",
      "\0",
      "null",
      "1.5",
      "\ufeff",
      "'",
      '"',
      "steps:\n",
    ];
    for (let round = 0; round < 150; round++) {
      let text = CODEC_TEXT;
      for (let edits = 1 + Math.floor(next() * 3); edits > 0; edits--) {
        const at = Math.floor(next() * text.length), length = Math.floor(next() * (next() < 0.2 ? 400 : 6));
        text = text.slice(0, at) + scraps[Math.floor(next() * scraps.length)] + text.slice(at + length);
      }
      const bytes = new TextEncoder().encode(text);
      if (next() < 0.1) bytes[Math.floor(next() * bytes.length)] = 0xc0;
      await Deno.writeFile(path, bytes);
      const row = await inspectTemplate(CODEC, options);
      const { status, errors } = row.validation;
      assert.notEqual(status, "unavailable");
      assert.notEqual(row.source?.kind, "packaged_builtin");
      assert.equal(row.available, status === "valid");
      assert.equal(errors.length > 0, status === "invalid");
      counts[status as keyof typeof counts]++;
    }
    assert.ok(counts.valid > 5 && counts.invalid > 50, JSON.stringify(counts));
  }));

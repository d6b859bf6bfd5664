import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { editRecipeText } from "../../../lib/recipe/edit_text.ts";
import { formatRecipeText } from "../../../lib/recipe/format.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { dice, edited, SHIPPED, UNUSUAL } from "./_edits.ts";
import { sizeOf } from "../../support/sample.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const read = (text: string, file: string) => readRecipeText(text, { file, emptyValues: "null" }).value;
const format = (text: string, file = "a.yaml") => {
  const laidOut = formatRecipeText(text, { file });
  assert.equal(canonicalJson(read(laidOut, file)), canonicalJson(read(text, file)));
  assert.equal(formatRecipeText(laidOut, { file }), laidOut, "laid out already");
  return laidOut;
};

Deno.test("members in serialised order, two spaces a level, comments with what they speak of", () => {
  assert.equal(
    format(DATA.PLAIN),
    DATA.SPELLINGS,
  );
});

Deno.test("folded texts and long lists keep their lines", () => {
  const row = `${"0.125, ".repeat(15)}`;
  assert.equal(
    format(
      `metadata:\n     note: >-\n        folded,\n        and more\n     rows: [${row}\n       ${row}1]\n     few: [1,\n      2]\n`,
    ),
    `metadata:\n  note: >-\n    folded,\n    and more\n  rows:\n    [${row.trim()}\n    ${row}1]\n  few: [1, 2]\n`,
  );
});

Deno.test("JSON on lines of two spaces, numbers as they are spelled", () => {
  assert.equal(
    format('{"steps":[{"op":"a.b","id":"s","params":{"x":1E3,"y":[1,2.50]}}],"name":"demo"}', "a.json"),
    '{\n  "name": "demo",\n  "steps": [\n    {\n      "id": "s",\n      "op": "a.b",\n      "params": {\n' +
      '        "x": 1E3,\n        "y": [1, 2.50]\n      }\n    }\n  ]\n}\n',
  );
});

Deno.test("an alias never comes to stand before its anchor", () => {
  const text = "name: &n demo\nzeta: *n\nsteps:\n  - {op: a, id: b}\n";
  assert.equal(format(text), "name: &n demo\nzeta: *n\nsteps:\n  - {id: b, op: a}\n");
});

Deno.test("shipped recipes are laid out", () => {
  for (const [file, text] of SHIPPED) assert.equal(format(text, file), text, file);
});

Deno.test("any readable text is laid out without changing value or comments, and once is enough", () => {
  const roll = dice(77), texts = [...SHIPPED, ...UNUSUAL];
  for (let round = 0; round < sizeOf(60, 250); round++) {
    const [file, text] = texts[roll(texts.length)];
    const value = edited(edited(read(text, file), roll), roll);
    format(editRecipeText(text, value, { file }), file);
  }
});

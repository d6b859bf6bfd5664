/** The table of codes and the sources have the same codes. */
import assert from "node:assert/strict";
import { codeRow, CODES, ownCode } from "../../../lib/contract/codes.ts";

const ROOT = new URL("../../../", import.meta.url);
const TABLE = "lib/contract/codes.ts";
/** Codes that the sources write in two parts. */
const COMPOSED = /^(?:pack_(?:dataset|task)_mismatch|research_catalog_(?:error|warning)|.*_channel_invalid)$/;

function* sources(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, ROOT))) {
    if (isDirectory) yield* sources(`${folder}${name}/`);
    else if (/\.tsx?$/.test(name) && `${folder}${name}` !== TABLE) {
      yield Deno.readTextFileSync(new URL(`${folder}${name}`, ROOT));
    }
  }
}

Deno.test("every code of the table is used in the sources", () => {
  const written = new Set<string>();
  for (const folder of ["lib/", "ops/", "ui/"]) {
    for (const text of sources(folder)) {
      for (const [, name] of text.matchAll(/"([a-z][a-z0-9_.]*)"/g)) written.add(name);
    }
  }
  const unused = Object.keys(CODES).filter((name) => !written.has(name) && !COMPOSED.test(name));
  assert.deepEqual(unused, []);
});

Deno.test("codes are sorted; meaning and action are sentences", () => {
  const names = Object.keys(CODES);
  assert.deepEqual(names, [...names].sort());
  for (const name of names) {
    const [, , meaning, action] = codeRow(name);
    for (const text of [meaning, action]) assert.match(text, /^[A-Z\d_a-z{-][^]*\.$/, name);
  }
});

Deno.test("a code outside the table is a failure of the operation", () => {
  const code = ownCode("code_rate_invalid");
  assert.deepEqual([code, ...codeRow(code).slice(0, 2)], ["code_rate_invalid", 1, null]);
});

Deno.test("violations of a contract are marked", () => {
  assert.equal(codeRow("output_missing")[4], "contract");
  assert.equal(codeRow("operation_failed")[4], undefined);
});

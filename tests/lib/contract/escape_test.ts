import assert from "node:assert/strict";
import {
  csvText,
  escapeLatex,
  escapeMarkdown,
  escapeXml,
  latexComment,
  markdownTable,
  visible,
  visibleLine,
  visibleLines,
} from "../../../lib/contract/escape.ts";
import { FORBIDDEN, HOSTILE_TEXTS } from "../../support/hostile_texts.ts";

/** Writers, and the forms that each of them must not write. */
const WRITERS: Readonly<Record<string, [(text: string) => string, RegExp]>> = {
  visible: [visible, FORBIDDEN],
  visibleLine: [visibleLine, /[\n\t]/],
  xml: [escapeXml, /[<>"']|&(?!(amp|lt|gt|quot|#39);)/],
  latex: [escapeLatex, /\n|\\(?!textbackslash\{\}|textascii\w+\{\}|[&%$#_{}])|(?<!\\)[%$#_&~^]/],
  latexComment: [latexComment, /[^ -~]|^(?!% )/],
  markdown: [escapeMarkdown, /\n|(?<!\\)[`*_~[\]<>|]/],
  markdownTable: [(text) => markdownTable([{ title: text }], [[text]]), /\n(?!\| |$)|\n.*\n.*\n.|[^\n](?<!\\)\|(?!\n)/],
  csv: [(text) => csvText([[text]]), /^"?[=+\-@\t\r]/],
};

for (const [target, [write, syntax]] of Object.entries(WRITERS)) {
  Deno.test(`text of others is data in ${target}`, () => {
    for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
      const written = write(text);
      assert.doesNotMatch(written, FORBIDDEN, name);
      assert.doesNotMatch(written, syntax, `${name}: ${written}`);
    }
  });
}

Deno.test("text stays readable: letters, emoji and line ends are as they were", () => {
  for (const text of ["Ωμέγα, 日本語", "⚠️ done", "a\tb\n"]) assert.equal(visible(text), text);
  assert.equal(visible("\u001b[0m\u202e\ud800"), "\\u001b[0m\\u202e\ufffd");
  assert.equal(visibleLine("a\n\n  b\tc"), "a b c");
});

Deno.test("in a JSON text the value stays the same", () => {
  for (const text of Object.values(HOSTILE_TEXTS)) {
    const json = JSON.stringify({ [text]: `\\${text}` });
    assert.deepEqual(JSON.parse(visible(json)), { [text]: `\\${text}` });
  }
});

Deno.test("a document is put on lines, names included; what is not plain data stays", () => {
  const map = new Map(), rows = Symbol("rows");
  const made = visibleLines({ "a\nb": ["c\u001b", 1, null, { map }], [rows]: map });
  assert.deepEqual(made, { "a b": ["c\\u001b", 1, null, { map }], [rows]: map });
  assert.equal(made[rows], map);
});

Deno.test("CSV: a number is no formula, a text that begins like one gets an apostrophe", () => {
  assert.equal(
    csvText([["-1", "+2.5e-3", "-.5", "-"], ["-1+2", "−1", "a-b", "＝1"]]),
    "-1,+2.5e-3,-.5,'-\n'-1+2,−1,a-b,'＝1\n",
  );
  assert.equal(csvText([["=a,b\nc"]]), `"'=a,b\nc"\n`);
});

Deno.test("long white space is read once", () => {
  const space = " ".repeat(200_000);
  assert.equal(visibleLine(`a${space}b`).length, 200_002);
});

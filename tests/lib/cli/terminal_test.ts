import assert from "node:assert/strict";
import { CLEAR_LINE, painter, shown } from "../../../lib/cli/terminal.ts";
import { FORBIDDEN, HOSTILE_TEXTS } from "../../support/hostile_texts.ts";

Deno.test("a terminal gets the controls of this program and no others", () => {
  const paint = painter(true);
  assert.equal(shown(`${CLEAR_LINE}${paint("red", "error")}: x\n`), "\x1b[G\x1b[K\x1b[31merror\x1b[0m: x\n");
  for (const text of Object.values(HOSTILE_TEXTS)) {
    const line = shown(`${paint("bold", text)} ${text}`);
    assert.equal(line.slice(0, 4), "\x1b[1m");
    assert.doesNotMatch(line.slice(4).replace("\x1b[0m", ""), FORBIDDEN);
  }
  assert.equal(shown("\x1b[31mred\x1b[0m"), "\\u001b[31mred\\u001b[0m");
});

Deno.test("a coloured text is one line", () => assert.equal(painter(false)("red", "a\n  valid b"), "a valid b"));

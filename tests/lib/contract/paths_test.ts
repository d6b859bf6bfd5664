import assert from "node:assert/strict";
import { posix } from "node:path";
import { POSIX } from "../../../lib/contract/paths.ts";

/** All texts of at most `length` characters of the alphabet. */
function texts(alphabet: string, length: number): string[] {
  if (length === 0) return [""];
  const shorter = texts(alphabet, length - 1);
  return ["", ...shorter.flatMap((text) => [...alphabet].map((character) => character + text))];
}

Deno.test("paths with slashes are those of node:path", () => {
  for (const path of texts("a./", 7)) {
    assert.equal(POSIX.dirname(path), posix.dirname(path), `dirname ${path}`);
    assert.equal(POSIX.basename(path), posix.basename(path), `basename ${path}`);
    assert.equal(POSIX.isAbsolute(path), posix.isAbsolute(path), `isAbsolute ${path}`);
    for (const name of ["join", "resolve"] as const) {
      assert.equal(POSIX[name](path), posix[name](path), `${name} ${path}`);
    }
  }
  const short = [...new Set(texts("a./", 3)), "ab", "/a/b", "/a/b/c", "/a/bc", "a/../../b"];
  for (const first of short) {
    for (const second of short) {
      for (const name of ["join", "resolve", "relative"] as const) {
        assert.equal(POSIX[name](first, second), posix[name](first, second), `${name} ${first} ${second}`);
      }
    }
  }
  assert.equal(POSIX.join(), posix.join());
  assert.equal(POSIX.resolve("a", "/b", "", "c"), posix.resolve("a", "/b", "", "c"));
  assert.deepEqual([POSIX.delimiter, POSIX.sep], [posix.delimiter, posix.sep]);
});

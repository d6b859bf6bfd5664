/** Access inside a folder that somebody else made: no path, link or pipe in it leads outside or waits. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  copyFile,
  discardEntry,
  entryInside,
  inside,
  linkFile,
  makeFolder,
  moveEntry,
  openFile,
  readFile,
  readText,
  removeEntry,
  writeFile,
} from "../../../lib/artifact/inside.ts";
import { bundlePath, isDigest } from "../../../lib/contract/names.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const LINUX = Deno.build.os === "linux";

/** A folder `inside` with links to its neighbour `outside`, which must not change. */
async function withFolders(body: (root: string, outside: string) => void | Promise<void>): Promise<void> {
  const folder = temporaryFolder("svc-inside-");
  const root = join(folder, "inside"), outside = join(folder, "outside");
  for (const path of [root, outside]) Deno.mkdirSync(path);
  Deno.writeTextFileSync(join(outside, "canary"), "alive");
  Deno.symlinkSync(outside, join(root, "folder_link"));
  Deno.symlinkSync(join(outside, "canary"), join(root, "file_link"));
  Deno.symlinkSync(join(outside, "new"), join(root, "dangling"));
  await body(root, outside);
  assert.deepEqual([...Deno.readDirSync(outside)].map(({ name }) => name), ["canary"]);
  assert.equal(Deno.readTextFileSync(join(outside, "canary")), "alive");
}

Deno.test("a path that leaves its folder, or meets a link, is refused", () =>
  withFolders((root) => {
    const paths = ["", ".", "..", "../outside/canary", "a/../../outside", "/etc/passwd", "a//b", "a/", "a\0b"];
    for (const path of [...paths, "folder_link", "folder_link/canary", "file_link", "dangling", "dangling/x"]) {
      assert.throws(() => inside(root, path), { code: "path_refused" }, JSON.stringify(path));
    }
    for (const path of [...paths, "folder_link/canary"]) {
      assert.throws(() => entryInside(root, path), { code: "path_refused" }, JSON.stringify(path));
    }
    assert.throws(() => inside(root, "a", ".."), { code: "path_refused" });
    assert.equal(inside(root, "a", "b/c.json"), join(root, "a/b/c.json"));
  }));

Deno.test("a link is removed and moved itself", () =>
  withFolders((root) => {
    for (const name of ["folder_link", "file_link", "dangling"]) {
      moveEntry(entryInside(root, name), entryInside(root, `${name}.moved`));
      removeEntry(entryInside(root, `${name}.moved`));
      removeEntry(entryInside(root, `${name}.moved`));
    }
    assert.deepEqual([...Deno.readDirSync(root)], []);
    // A folder is removed with the links in it, not with their targets.
    makeFolder(inside(root, "a/b"));
    Deno.symlinkSync("../../../outside", join(root, "a/b/link"));
    discardEntry(entryInside(root, "a"));
    assert.deepEqual([...Deno.readDirSync(root)], []);
  }));

Deno.test("files are written, read, copied, moved and linked inside", () =>
  withFolders((root) => {
    writeFile(inside(root, "a"), "text");
    writeFile(inside(root, "a"), ["in ", "pieces"], true);
    makeFolder(inside(root, "d/e"));
    copyFile(inside(root, "a"), inside(root, "f/copy"));
    moveEntry(inside(root, "a"), inside(root, "d/e/moved"));
    linkFile(inside(root, "d/e/moved"), inside(root, "linked"));
    assert.equal(readText(inside(root, "f/copy"), 9), "in pieces");
    assert.equal(readText(inside(root, "linked"), 100), "in pieces");
    assert.throws(() => readFile(inside(root, "linked"), 8), { code: "artifact_limit_exceeded" });
    for (const size of [0, 1, 65_537]) {
      const bytes = Uint8Array.from({ length: size }, (_, at) => at);
      writeFile(inside(root, "bytes"), bytes);
      assert.deepEqual(readFile(inside(root, "bytes"), size), bytes);
    }
  }));

Deno.test({
  name: "a pipe, a folder and a file beyond the limit are refused before they are read",
  ignore: !LINUX,
  fn: () =>
    withFolders(async (root) => {
      await new Deno.Command("mkfifo", { args: [join(root, "pipe")] }).output();
      makeFolder(inside(root, "folder"));
      writeFile(inside(root, "plain"), "");
      for (const name of ["pipe", "folder"]) {
        const path = inside(root, name), refused = { code: "path_refused" };
        assert.throws(() => readFile(path, 9), refused, name);
        assert.throws(() => writeFile(path, ""), refused, name);
        assert.throws(() => openFile(path, { read: true, write: true }), refused, name);
        assert.throws(() => copyFile(path, inside(root, "copy")), refused, name);
        assert.throws(() => copyFile(inside(root, "plain"), path), refused, name);
        assert.throws(() => linkFile(path, inside(root, "copy")), refused, name);
      }
      // Sparse: it takes no space.
      using giant = await Deno.create(join(root, "giant"));
      await giant.truncate(2 ** 40);
      assert.throws(() => readFile(inside(root, "giant"), 2 ** 20), { code: "artifact_limit_exceeded" });
      // The system reports no size of such a file.
      assert.throws(() => readFile(inside("/proc", "self/smaps"), 4096), { code: "path_refused" });
      assert.throws(() => readFile(inside("/proc/self", "smaps"), 4096), { code: "artifact_limit_exceeded" });
      assert.match(readText(inside("/proc/self", "status"), 2 ** 20), /^VmRSS:/m);
    }),
});

Deno.test("paths and digests of documents have their types after a check", () => {
  assert.equal(bundlePath("artifacts/tx/bits.npz"), "artifacts/tx/bits.npz");
  for (const path of ["", "/a", "../a", "a/./b", "a\\b", "C:/a", "a\nb", "a\x1b]52;c;x\x07", "x".repeat(256)]) {
    assert.throws(() => bundlePath(path), { code: "path_refused" }, JSON.stringify(path));
  }
  const sha256 = "0123456789abcdef".repeat(4);
  assert.ok(isDigest(sha256));
  for (const text of ["", sha256.slice(1), `${sha256}\n`, sha256.toUpperCase(), `../${sha256.slice(3)}`]) {
    assert.ok(!isDigest(text), text);
  }
});

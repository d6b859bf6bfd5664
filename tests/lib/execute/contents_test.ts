import assert from "node:assert/strict";
import { join } from "node:path";
import { inside } from "../../../lib/artifact/inside.ts";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { codeOf } from "../../../lib/contract/system_error.ts";
import { contentsPath, releaseContents, shareFile, unusedContents } from "../../../lib/execute/contents.ts";
import { WorkerPool } from "../../../lib/execute/pool.ts";
import { execute } from "./execution.ts";

/** Calls a body with a folder that is removed afterwards, and a function that writes and shares a file in it. */
async function withFolder(
  body: (contents: string, share: (name: string, text: string) => Promise<string>, folder: string) => Promise<void>,
): Promise<void> {
  const folder = Deno.makeTempDirSync();
  const contents = join(folder, "contents"), staging = inside(folder, "staging");
  try {
    await body(contents, async (name, text) => {
      const path = inside(folder, name);
      Deno.writeTextFileSync(path, text);
      await shareFile(path, sha256Hex(text), { contents, staging });
      assert.equal(exists(staging), false);
      return path;
    }, folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const inode = (path: string) => Deno.statSync(path).ino;

Deno.test("equal files are one file, and the last name frees its bytes", () =>
  withFolder(async (contents, share) => {
    const a = await share("a", "same"), b = await share("b", "same"), c = await share("c", "other");
    assert.equal(inode(a), inode(b));
    assert.notEqual(inode(a), inode(c));
    const digest = sha256Hex("same");
    Deno.removeSync(a);
    assert.equal(releaseContents(contents, [digest]), 0);
    assert.equal(Deno.readTextFileSync(b), "same");
    Deno.removeSync(b);
    assert.deepEqual(unusedContents(contents), [digest]);
    assert.equal(releaseContents(contents, [digest, digest]), 4);
    assert.deepEqual(unusedContents(contents), []);
    assert.equal(inode(await share("d", "other")), inode(c));
  }));

Deno.test("a stored file that was damaged is replaced and never linked to", () =>
  withFolder(async (contents, share) => {
    const a = await share("a", "same");
    Deno.writeTextFileSync(a, "damaged");
    const b = await share("b", "same");
    assert.deepEqual([a, b].map((path) => Deno.readTextFileSync(path)), ["damaged", "same"]);
    assert.equal(inode(contentsPath(contents, sha256Hex("same"))), inode(b));
  }));

Deno.test("committed artifacts are read-only", async () => {
  const modes: (number | null)[] = [];
  await execute([["a", "test.numbers", {}, { count: 4, seed: 1 }]], {
    onBundle(bundle) {
      for (const { name } of Deno.readDirSync(join(bundle, "artifacts/a"))) {
        modes.push(Deno.statSync(join(bundle, "artifacts/a", name)).mode! & 0o777);
      }
    },
  });
  assert.deepEqual(modes, [0o444]);
});

/** Calls a body with a pool, and a function that writes a file and has the pool hash and share it. */
function withPool(
  body: (
    pool: WorkerPool,
    store: (name: string, image: Uint8Array, alter?: (path: string) => void) => Promise<string | null>,
  ) => unknown,
): Promise<void> {
  return withFolder(async (contents, _, folder) => {
    const pool = new WorkerPool();
    try {
      await body(pool, (name, image, alter) => {
        const path = inside(folder, name), share = { contents, staging: inside(folder, "staging") };
        Deno.writeFileSync(path, image.slice());
        alter?.(path);
        return pool.store({ path, parts: [image], share });
      });
    } finally {
      pool.close();
    }
  });
}

const imageOf = (size: number) => new Uint8Array(new SharedArrayBuffer(size)).fill(7, size - 1);

for (const size of [1000, 2 ** 21]) {
  Deno.test(`a committed file of ${size} bytes is hashed, shared, and refused where it differs`, () =>
    withPool(async (_, store) => {
      const digest = sha256Hex(imageOf(size));
      assert.deepEqual(await Promise.all([store("a", imageOf(size)), store("b", imageOf(size))]), [digest, digest]);
      assert.equal(await store("c", imageOf(size), (path) => Deno.writeFileSync(path, new Uint8Array(size))), null);
      const gone = store("d", imageOf(size), Deno.removeSync);
      await assert.rejects(gone, (error) => codeOf(error, "operation_failed").system_code === "ENOENT");
    }));
}

Deno.test("a file is hashed although code that an operation left behind ends the thread", () =>
  withPool(async (pool, store) => {
    const done = await execute([["a", "test.numbers", {}, { count: 4, seed: 1 }], ["b", "test.relay", {
      bits: "a.bits",
    }, { mode: "break_later" }]], { pool });
    assert.equal(done.status, "completed");
    const image = imageOf(2 ** 27);
    assert.equal(await store("a", image), sha256Hex(image));
  }));

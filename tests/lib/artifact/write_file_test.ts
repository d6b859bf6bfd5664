import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { hashFile } from "../../../lib/artifact/hash_file.ts";
import { writeFileAtomic } from "../../../lib/artifact/write_file.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

const inFolder = (test: (folder: string) => void) => test(temporaryFolder());

Deno.test("files are hashed in blocks, whatever their size", () => {
  inFolder((folder) => {
    for (const size of [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_000]) {
      const bytes = Uint8Array.from({ length: size }, (_, i) => i * 31);
      Deno.writeFileSync(`${folder}/f`, bytes);
      assert.deepEqual(hashFile(`${folder}/f`), { sha256: sha256Hex(bytes), size_bytes: size });
    }
    Deno.symlinkSync(`${folder}/f`, `${folder}/link`);
    for (const path of ["link", "absent", "."]) {
      assert.throws(() => hashFile(`${folder}/${path}`), code("file_unreadable"), path);
    }
  });
});

Deno.test("a file is replaced as a whole, and a failure leaves nothing behind", () => {
  inFolder((folder) => {
    const path = `${folder}/summary.json`;
    writeFileAtomic(path, "old");
    writeFileAtomic(path, new TextEncoder().encode("new"));
    const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(65);
    writeFileAtomic(`${folder}/shared`, shared);
    assert.equal(Deno.readTextFileSync(path), "new");
    assert.equal(Deno.readTextFileSync(`${folder}/shared`), "AAA");
    Deno.mkdirSync(`${folder}/taken`);
    Deno.writeTextFileSync(`${folder}/taken/inside`, "");
    assert.throws(() => writeFileAtomic(`${folder}/taken`, "x"), code("file_write_failed"));
    assert.throws(() => writeFileAtomic(`${folder}/absent/x`, "x"), code("file_write_failed"));
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["shared", "summary.json", "taken"]);
  });
});

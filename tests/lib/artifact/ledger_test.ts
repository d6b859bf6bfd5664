import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { hashFile } from "../../../lib/artifact/hash_file.ts";
import { formatLedger, parseLedger, writeFileAtomic } from "../../../lib/artifact/ledger.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;
const A = sha256Hex("a"), B = sha256Hex("b");

function inFolder(test: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    test(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

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

Deno.test("a ledger is sorted by path in the form of sha256sum", () => {
  const entries = [{ path: "b/é", sha256: B }, { path: "a", sha256: A }, { path: "b", sha256: A }];
  const text = formatLedger(entries);
  assert.equal(text, `${A}  a\n${A}  b\n${B}  b/é\n`);
  assert.deepEqual(parseLedger(text), [entries[1], entries[2], entries[0]]);
  assert.deepEqual(parseLedger(formatLedger([])), []);
});

Deno.test("paths that the form cannot hold are refused when writing, anything else when reading", () => {
  for (const path of ["", "/a", "a//b", "../a", "a/./b", "a\nb", "a\\b", "\ud800"]) {
    assert.throws(() => formatLedger([{ path, sha256: A }]), code("ledger_invalid"), path);
  }
  assert.throws(() => formatLedger([{ path: "a", sha256: A }, { path: "a", sha256: B }]), code("ledger_invalid"));
  assert.throws(() => formatLedger([{ path: "a", sha256: A.toUpperCase() }]), code("ledger_invalid"));
  const good = `${A}  a\n${B}  b\n`;
  assert.equal(parseLedger(good).length, 2);
  for (
    const bad of [
      good.slice(0, -1),
      good + "\n",
      good.replace("  ", " *"),
      good.replace(A, A.slice(1)),
      good.replace("  b", "  a"),
      `${B}  b\n${A}  a\n`,
      good.replaceAll("\n", "\r\n"),
      " ",
    ]
  ) assert.throws(() => parseLedger(bad), code("ledger_invalid"), JSON.stringify(bad));
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

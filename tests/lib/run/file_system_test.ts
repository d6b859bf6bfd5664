import assert from "node:assert/strict";
import { networkFileSystem } from "../../../lib/run/file_system.ts";
import { openDatabase } from "../../../lib/run/index/database.ts";

Deno.test("network file systems are told from local ones, by types with and without a sign", () => {
  const named = (type: number) => networkFileSystem("/state", () => type);
  assert.deepEqual([0x6969, 0x0bd00bd0, 0xff534d42, 0xff534d42 | 0].map(named), ["NFS", "Lustre", "CIFS", "CIFS"]);
  // ext4, XFS, tmpfs, overlay.
  assert.deepEqual([0xef53, 0x58465342, 0x01021994, 0x794c7630].map(named), [null, null, null, null]);
  assert.equal(networkFileSystem("/no/such/folder"), null);
});

Deno.test("the index has a write-ahead log on a local disk, and a rollback journal where hosts share a file system", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const [network, expected] of [[null, "wal"], ["NFS", "delete"]] as const) {
      const { database } = openDatabase(`${folder}/${expected}`, { network });
      assert.equal(database.prepare("PRAGMA journal_mode").get()!.journal_mode, expected);
      database.exec("INSERT INTO meta VALUES ('a', 'b')");
      database.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

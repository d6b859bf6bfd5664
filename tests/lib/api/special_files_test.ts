/** Files that the user names and that are pipes are refused before they are opened, which would wait for a writer. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../../mod.ts";

Deno.test("a pipe is no bit payload and no operation", { ignore: Deno.build.os === "windows" }, async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-pipes-" });
  try {
    await using svc = await open({ projectRoot: folder, stateDir: join(folder, "state") });
    for (const [name, bits] of [["a.bin", false], ["a.npy", false], ["a.dat", true]] as const) {
      const path = join(folder, name);
      assert.ok((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
      await assert.rejects(svc.data.makeManifest(path, { bits }), {
        code: "path_refused",
        message: /not a regular file/,
      });
    }
    const operation = join(folder, "operation.ts");
    assert.ok((await new Deno.Command("mkfifo", { args: [operation] }).output()).success);
    await assert.rejects(svc.system.checkOperation(operation), { code: /^(operation_file_invalid|path_refused)$/ });
    const other = open({ projectRoot: folder, stateDir: join(folder, "state"), operations: [operation] });
    await assert.rejects(other, { code: "operation_file_invalid", message: /no regular file/ });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Files that recipes name: each is a regular file of bounded size, whatever the system says of it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { readBounded } from "../../../lib/artifact/read_file.ts";
import { fileAccess } from "../../../lib/execute/files.ts";
import { confine } from "../../../lib/artifact/confine.ts";
import { needs } from "../../support/needs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const LINUX = Deno.build.os === "linux";

Deno.test("a file beyond a gibibyte, a pipe and a device are refused before memory is taken", async () => {
  const root = temporaryFolder("svc-files-");
  const files = fileAccess({ projectRoot: root, stateDir: join(root, ".svc") });
  await Deno.writeFile(join(root, "small"), new Uint8Array([1, 2, 3]));
  assert.deepEqual(await files.read("small"), new Uint8Array([1, 2, 3]));
  // Sparse: it takes no space.
  using big = await Deno.create(join(root, "big"));
  await big.truncate(2 ** 30 + 1);
  await assert.rejects(files.read("big"), { code: "artifact_limit_exceeded" });
  if (!LINUX) return;
  await new Deno.Command("mkfifo", { args: [join(root, "pipe")] }).output();
  for (const path of ["pipe", "/dev/zero", "/"]) {
    await assert.rejects(files.read(path), { code: "path_refused" }, path);
  }
  // Without the check, a request for it would wait for a writer.
  assert.throws(() => confine(root, "pipe", "not_found"), { code: "path_forbidden" });
});

Deno.test({
  name: "a file is read to the limit, also where its reported size is 0",
  ...needs("Linux", LINUX),
  async fn() {
    const status = new TextDecoder().decode(await readBounded("/proc/self/status", 2 ** 20));
    assert.match(status, /^VmRSS:/m);
    await assert.rejects(readBounded("/proc/self/smaps", 4096), { code: "artifact_limit_exceeded" });
    const path = await Deno.makeTempFile();
    for (const size of [0, 1, 65_536, 65_537]) {
      const bytes = Uint8Array.from({ length: size }, (_, at) => at);
      await Deno.writeFile(path, bytes);
      assert.deepEqual(await readBounded(path, size), bytes);
      if (size > 0) await assert.rejects(readBounded(path, size - 1), { code: "artifact_limit_exceeded" });
    }
    await Deno.remove(path);
  },
});

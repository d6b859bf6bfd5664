/** Files that the user names and that are pipes are refused before they are opened, which would wait for a writer. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("a pipe is no bit payload and no operation", { ignore: Deno.build.os === "windows" }, async () => {
  const folder = temporaryFolder("svc-pipes-");
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
});

Deno.test("data inspect follows the link that is named, and reads no pipe, folder, other link or giant", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-inspect-" }), at = (name: string) => join(folder, name);
  try {
    await using svc = await open({ projectRoot: folder, stateDir: at("state") });
    const inspect = (name: string) => svc.data.inspect(at(name));
    await Deno.writeFile(at("real.cu8"), new Uint8Array(8));
    await Deno.symlink(at("real.cu8"), at("link.cu8"));
    assert.equal((await inspect("link.cu8")).sample_count, 4);
    await Deno.writeTextFile(at("x.sigmf-meta"), `{"global": {"core:datatype": "cu8", "core:version": "1.2.0"}}`);
    await Deno.symlink(at("real.cu8"), at("x.sigmf-data"));
    await assert.rejects(inspect("x.sigmf-meta"), { code: "path_refused" });
    await Deno.mkdir(at("folder.npz"));
    await assert.rejects(inspect("folder.npz"), { code: "path_refused" });
    assert.ok((await new Deno.Command("mkfifo", { args: [at("pipe.npy")] }).output()).success);
    await assert.rejects(inspect("pipe.npy"), { code: "path_refused" });
    await assert.rejects(inspect("absent.npy"), { code: "file_not_found" });
    using giant = await Deno.create(at("giant.cf32"));
    await giant.truncate(2 ** 31);
    await assert.rejects(inspect("giant.cf32"), { code: "artifact_limit_exceeded" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

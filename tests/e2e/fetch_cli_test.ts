/** Models and data sets on the command line, without a network. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { inFolder, svc } from "../support/cli.ts";

Deno.test(
  "a model is fetched, listed, verified, and found altered",
  inFolder(async (cwd) => {
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response("net"));
    const commit = "a".repeat(40), from = `http://127.0.0.1:${server.addr.port}`;
    try {
      const fetching = [
        "models",
        "fetch",
        "org/net",
        "--revision",
        commit,
        "--from",
        from,
        "--file",
        "model.onnx",
        "--json",
      ];
      const fetched = await svc(fetching, { cwd });
      assert.equal(fetched.code, 0, fetched.stderr);
      assert.equal(fetched.json.status, "fetched");
      assert.equal((await svc(fetching, { cwd })).json.status, "present");
    } finally {
      await server.shutdown();
    }
    const { models } = (await svc(["models", "list", "--json"], { cwd })).json as {
      models: { id: string; status: string }[];
    };
    assert.equal(models.find(({ id }) => id === "org/net")?.status, "present");
    assert.equal(models.find(({ id }) => id === "segmind/tiny-sd")?.status, "bring_your_own");
    assert.equal((await svc(["models", "verify"], { cwd })).code, 0);
    await Deno.writeTextFile(join(cwd, ".svc/models/org__net", commit, "model.onnx"), "other");
    const verified = await svc(["models", "verify", "--json"], { cwd });
    assert.equal(verified.code, 6);
    assert.equal(verified.json.status, "invalid");
  }),
);

Deno.test(
  "offline, fetching says so and leaves nothing that looks whole",
  inFolder(async (cwd) => {
    // Nobody listens at port 1 of this machine.
    const address = "http://127.0.0.1:1/net.onnx";
    const refused = await svc(["models", "fetch", address, "--sha256", sha256Hex("net"), "--json"], { cwd });
    assert.equal(refused.code, 5);
    assert.match(refused.stdout, /model_unavailable/);
    assert.equal((await svc(["data", "fetch", "kodak", "--json"], { cwd })).code, 2);
    const { datasets } = (await svc(["data", "list", "--json"], { cwd })).json as {
      datasets: { id: string; status: string }[];
    };
    assert.equal(datasets.find(({ id }) => id === "kodak")?.status, "not_fetched");
    const { files, ...verdict } = (await svc(["data", "verify", "svc_sample_images", "--json"], { cwd })).json as {
      files: { status: string }[];
    };
    assert.deepEqual(verdict, { schema_version: 1, status: "valid" });
    assert.ok(files.length > 0 && files.every(({ status }) => status === "ok"));
  }),
);

import assert from "node:assert/strict";
import { join } from "node:path";
import { scaffoldFiles } from "../../../lib/adapter/scaffold.ts";
import { writeFolder } from "../adapter/support.ts";
import { packageFiles, zipOf } from "../training/_package.ts";
import { trustAdapter } from "../../../lib/adapter/write_trust.ts";
import { HOST, openTestServer } from "./support.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const OCTETS = { "content-type": "application/octet-stream" };

Deno.test("a package that is none is refused with what is wrong, and nothing is stored", async () => {
  await using server = await openTestServer();
  const refused = await server.post("/api/trained-artifacts/import?filename=x.zip", "no archive", OCTETS);
  assert.deepEqual([refused.status, refused.json.code], [422, "artifact_invalid"], refused.text);
  assert.ok(refused.json.diagnostics.length > 0);
  const typed = await server.post("/api/trained-artifacts/import", "{}");
  assert.equal(typed.status, 415);
  const unknown = await server.post("/api/trained-artifacts/import?operation=nothing", "x", OCTETS);
  assert.deepEqual([unknown.status, unknown.json.code], [404, "unknown_operation"]);
  const { artifacts } = (await server.get("/api/trained-artifacts")).json;
  assert.ok(artifacts.every(({ place }: { place: string }) => place !== "store"));
  for (const name of ["nothing", "..%2f..%2fetc", "%2fetc%2fpasswd"]) {
    assert.equal((await server.get(`/api/trained-artifacts/${name}`)).status, 404, name);
    assert.equal((await server.get(`/api/trained-artifacts/${name}/verify`)).status, 404, name);
  }
});

Deno.test("a package goes into the store once, is listed, and verifies", async () => {
  await using server = await openTestServer();
  const bytes = zipOf(packageFiles());
  const put = () =>
    server.request("/api/trained-artifacts/import?label=mine", {
      method: "POST",
      headers: { host: HOST, ...OCTETS },
      body: new Uint8Array(bytes),
    });
  const first = await put();
  assert.equal(first.status, 201, await first.clone().text());
  const { outcome, artifact } = await first.json();
  assert.equal(outcome, "imported");
  assert.ok(!("path" in artifact));
  assert.equal((await (await put()).json()).outcome, "present");
  const shown = (await server.get(`/api/trained-artifacts/${artifact.package_sha256}`)).json;
  assert.deepEqual([shown.id, shown.label], [artifact.id, "mine"]);
  const report = (await server.get(`/api/trained-artifacts/${artifact.package_sha256}/verify`)).json;
  assert.equal(report.status, "valid", JSON.stringify(report));
});

Deno.test("adapters are listed with what they ask for, and their operations can be used", async () => {
  const folder = temporaryFolder("svc-http-adapter-");
  const adapter = join(folder, "my-codec");
  writeFolder(adapter, (await scaffoldFiles("bits", "my-codec")).files);
  await using server = await openTestServer({ adapters: [{ folder: adapter }] });
  const { adapters } = (await server.get("/api/adapters")).json;
  assert.equal(adapters.length, 1);
  const [row] = adapters;
  assert.equal(row.status, "valid");
  assert.match(row.folder_sha256, /^[0-9a-f]{64}$/);
  assert.ok(row.permissions_requested && row.permissions_granted);
  assert.ok(!JSON.stringify(row).includes(folder), "the row names no folder of this machine");
  const ids = (await server.get("/api/ops")).json.operations.map(({ id }: { id: string }) => id);
  for (const { id } of row.operations) assert.ok(ids.includes(id), id);
  const recipe = await Deno.readTextFile(join(adapter, "recipe.yaml"));
  await Deno.writeTextFile(join(server.folder, "recipes/adapter.yaml"), recipe);
  const run = await server.post("/api/recipe/run", { path: "recipes/adapter.yaml" });
  assert.equal(run.status, 200, run.text);
});

Deno.test("an adapter has the grants of the user's trust file, and none of a file in the project", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "svc-http-trust-" }));
  const before = Deno.env.get("SVC_TRUST");
  try {
    const { files } = await scaffoldFiles("bits", "my-codec"), adapter = join(folder, "my-codec");
    const manifest = files["svc_adapter.yaml"].replace(
      /^# permissions: .*$/m,
      "permissions: {net: [], read: [], env: [MY_LEVEL]}",
    );
    writeFolder(adapter, { ...files, "svc_adapter.yaml": manifest });
    Deno.env.set("SVC_TRUST", join(folder, "trust.json"));
    const { path } = trustAdapter(adapter), granted = await Deno.readTextFile(path);
    const lookAt = async () => {
      await using server = await openTestServer({ adapters: [{ folder: adapter }] });
      await Deno.writeTextFile(join(server.folder, "svc_trust.json"), granted);
      const [row] = (await server.get("/api/adapters")).json.adapters;
      assert.ok(!JSON.stringify(row).includes(folder), JSON.stringify(row));
      return [row.grant_source, row.permissions_granted.env, row.diagnostics.map(({ code }: { code: string }) => code)];
    };
    assert.deepEqual(await lookAt(), ["trust_file", ["MY_LEVEL"], ["trust_file_ignored"]]);
    await Deno.remove(path);
    assert.deepEqual(await lookAt(), ["none", [], ["trust_file_ignored"]]);
  } finally {
    if (before === undefined) Deno.env.delete("SVC_TRUST");
    else Deno.env.set("SVC_TRUST", before);
    await Deno.remove(folder, { recursive: true });
  }
});

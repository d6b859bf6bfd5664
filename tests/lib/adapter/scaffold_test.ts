/** Every scaffold is a working adapter: it validates, its code passes its own tests, and nothing of its name is left. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inspectAdapter } from "../../../lib/adapter/inspect.ts";
import { SCAFFOLD_KINDS, scaffoldAdapter, scaffoldFiles, scaffoldKind } from "../../../lib/adapter/scaffold.ts";
import { withFolder } from "./support.ts";

/** What the operations of each kind wrap. */
const WRAPS: Record<string, string[]> = {
  bits: ["model.external_encode_bits", "model.external_decode_bits"],
  indices: ["model.external_encode_indices", "model.external_decode_indices"],
  latents: ["model.external_encode_latents", "model.external_decode_latents"],
  deepjscc_symbols: ["model.deepjscc_external_encode", "model.deepjscc_external_decode"],
  classification_dataset: ["source.external_classification_dataset"],
  classification_metric: ["metrics.external_classification", "source.external_classification_dataset"],
};

Deno.test("every kind validates, wraps what it is for, and asks for nothing", () =>
  withFolder(async (root) => {
    assert.deepEqual(Object.keys(WRAPS), [...SCAFFOLD_KINDS]);
    for (const kind of SCAFFOLD_KINDS) {
      const folder = join(root, `my-${kind}`);
      const written = await scaffoldAdapter(kind, folder);
      assert.equal(written.name, `my-${kind}`);
      const found = inspectAdapter({ folder }, { projectRoot: root });
      assert.deepEqual(found.diagnostics, [], kind);
      assert.equal(found.status, "valid");
      assert.deepEqual(found.files.map(({ path }) => path), written.files);
      assert.deepEqual(found.operations.map(({ wraps }) => wraps), WRAPS[kind]);
      for (const { id } of found.operations) assert.match(id, new RegExp(`^my_${kind}\\.`));
      assert.deepEqual(found.permissions_requested, { net: [], read: [], env: [] });
      assert.ok(found.files.some(({ path }) => path.endsWith("_test.ts")) && written.files.includes("recipe.yaml"));
    }
  }));

Deno.test("the name goes through every file", async () => {
  for (const kind of SCAFFOLD_KINDS) {
    const { files } = await scaffoldFiles(kind, "other");
    const example = `example[-_](${Object.keys(WRAPS).map((name) => name.split("_").at(-1)).join("|")})`;
    for (const [path, text] of Object.entries(files)) {
      assert.doesNotMatch(text, new RegExp(example), `${kind}/${path}`);
    }
    assert.match(files["svc_adapter.yaml"], /^name: other$/m);
    assert.match(files["recipe.yaml"], /op: other\./);
    assert.match(files["README.md"], /svc adapter validate other /);
  }
});

Deno.test("the tests of every scaffold pass, types included", () =>
  withFolder(async (root) => {
    for (const kind of SCAFFOLD_KINDS) await scaffoldAdapter(kind, join(root, kind));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-lock", "--no-remote", "--no-npm", "."],
      cwd: root,
      env: { NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.equal(code, 0, text + new TextDecoder().decode(stderr));
    assert.match(text, /\b12 passed/);
  }));

Deno.test("somebody's files are left alone, and impossible names and kinds are refused", () =>
  withFolder(async (root) => {
    await Deno.writeTextFile(join(root, "notes.txt"), "mine");
    await assert.rejects(scaffoldAdapter("bits", root, { name: "a" }), /the folder is not empty/);
    assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name), ["notes.txt"]);
    await assert.rejects(scaffoldAdapter("bits", join(root, "notes.txt"), { name: "a" }), { code: "usage_invalid" });
    await assert.rejects(scaffoldAdapter("bits", join(root, "9 lives")), { code: "usage_invalid" });
    assert.throws(() => scaffoldKind("indicse"), { hint: "Did you mean indices?" });
    // An empty folder, as a version control system makes it, is good enough.
    await Deno.mkdir(join(root, "empty"));
    assert.equal((await scaffoldAdapter("bits", join(root, "empty"))).name, "empty");
  }));

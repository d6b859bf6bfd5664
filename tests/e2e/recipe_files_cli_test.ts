import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT_PATH } from "../support/paths.ts";
import { inFolder, svc } from "../support/cli.ts";

const BITS = `# bits over a link
steps:
- {op: source.random_bits, id: data}   # as many as it likes
- op: modulation.digital_modulate
  id: modulator
  inputs: { bits: data.bits }
metadata: {seed: 23}
name: bits
`;
const LAID_OUT = `# bits over a link
name: bits
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits} # as many as it likes
  - id: modulator
    op: modulation.digital_modulate
    inputs: {bits: data.bits}
`;

const write = (folder: string, name: string, text: string) => Deno.writeTextFile(join(folder, name), text);

Deno.test(
  "recipe fmt: check, print, write in place; a broken file stays as it is",
  inFolder(async (cwd) => {
    await write(cwd, "bits.yaml", BITS);
    const check = await svc(["recipe", "fmt", "bits.yaml", "--check"], { cwd });
    assert.equal(check.code, 6);
    assert.match(check.stdout, /differs {2}bits\.yaml/);
    const printed = await svc(["recipe", "fmt", "bits.yaml", "--stdout"], { cwd });
    assert.equal(printed.stdout, LAID_OUT);
    assert.equal(await Deno.readTextFile(join(cwd, "bits.yaml")), BITS);
    const piped = await svc(["recipe", "fmt", "-"], { cwd, stdin: BITS });
    assert.equal(piped.stdout, LAID_OUT);
    const wrote = await svc(["recipe", "fmt", "bits.yaml", "--json"], { cwd });
    assert.deepEqual(wrote.json, { schema_version: 1, files: [{ file: "bits.yaml", changed: true }] });
    assert.equal(await Deno.readTextFile(join(cwd, "bits.yaml")), LAID_OUT);
    assert.equal((await svc(["recipe", "fmt", "bits.yaml", "--check"], { cwd })).code, 0);

    await write(cwd, "broken.yaml", "name: [\n");
    await write(cwd, "other.yaml", BITS);
    const broken = await svc(["recipe", "fmt", "other.yaml", "broken.yaml"], { cwd });
    assert.equal(broken.code, 3);
    assert.match(broken.stderr, /recipe_syntax_invalid[\s\S]*broken\.yaml:2:1/);
    assert.equal(await Deno.readTextFile(join(cwd, "other.yaml")), BITS);
    assert.equal((await svc(["recipe", "fmt", "nothing.yaml"], { cwd })).code, 4);
    assert.deepEqual([...Deno.readDirSync(cwd)].map(({ name }) => name).sort(), [
      "bits.yaml",
      "broken.yaml",
      "other.yaml",
    ]);
  }),
);

Deno.test(
  "recipe diff: typed, by step ids, coloured, and as JSON",
  inFolder(async (cwd) => {
    await write(cwd, "a.yaml", BITS);
    await write(cwd, "b.yaml", LAID_OUT);
    await write(
      cwd,
      "c.yaml",
      LAID_OUT.replace("seed: 23", "seed: 23.0").replace(
        "source.random_bits",
        "source.random_bits, params: {bit_count: 8}",
      ),
    );
    assert.equal((await svc(["recipe", "diff", "a.yaml", "b.yaml"], { cwd })).stdout, "equal\n");
    const diff = await svc(["recipe", "diff", "a.yaml", "c.yaml", "--color", "always"], { cwd });
    assert.equal(diff.code, 0, diff.stderr);
    assert.equal(
      diff.stdout,
      "~ metadata.seed: \x1b[31m23\x1b[0m -> \x1b[32m23.0\x1b[0m\n\x1b[32m+ data.params.bit_count: 8\x1b[0m\n",
    );
    const { json } = await svc(["recipe", "diff", "b.yaml", "-", "--json"], {
      cwd,
      stdin: await Deno.readTextFile(join(cwd, "c.yaml")),
    });
    assert.deepEqual([json.schema_version, json.equal], [1, false]);
    assert.deepEqual(json.changes.map(({ path }: { path: string }) => path), [
      "$.metadata.seed",
      "$.steps[0].params.bit_count",
    ]);
    const effective = await svc(["recipe", "diff", "a.yaml", "b.yaml", "--effective", "--json"], { cwd });
    assert.equal(effective.json.equal, true);
    assert.equal((await svc(["recipe", "diff", "-", "-"], { cwd, stdin: "" })).code, 2);
  }),
);

Deno.test("recipe explain: the step in words and as data", async () => {
  const text = await svc(["recipe", "explain", "recipes/quickstart.yaml", "wireless_channel"]);
  assert.equal(text.code, 0, text.stderr);
  assert.match(text.stdout, /symbols +<- tx_power\.symbols +channel\.symbol_power_normalize/);
  assert.match(text.stdout, /snr_db +9\.0 dB +authored \(default 12\.0\)/);
  assert.match(text.stdout, /seed +\d+ +derived seed/);
  assert.match(text.stdout, /rx_symbols +-> demodulator\.rx_symbols/);
  assert.match(text.stdout, /numpy\/\S+ under benchmark_run, by declared order/);
  const { json } = await svc(["recipe", "explain", "recipes/quickstart.yaml", "wireless_channel", "--json"]);
  assert.deepEqual([json.step_id, json.operation.id, json.execution.backend], [
    "wireless_channel",
    "wireless.channel",
    "numpy",
  ]);
  const unknown = await svc(["recipe", "explain", "recipes/quickstart.yaml", "wireles_channel"]);
  assert.equal(unknown.code, 4);
  assert.match(unknown.stderr, /Did you mean wireless_channel\?/);
});

Deno.test("recipe graph draws SVG", async () => {
  const { code, stdout } = await svc(["recipe", "graph", "recipes/quickstart.yaml", "--format", "svg"]);
  assert.equal(code, 0);
  assert.match(stdout, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*role="img"/);
  assert.match(stdout, /<title id="title">quickstart<\/title>/);
});

Deno.test("schema: of recipes, as published, and of manifests", async () => {
  const recipe = await svc(["schema", "recipe"]);
  assert.equal(recipe.json.title, "svc recipe");
  assert.ok(recipe.json.definitions.step.properties.op.enum.includes("wireless.channel"));
  const manifest = await svc(["schema", "manifest", "--json"]);
  assert.equal(manifest.json.properties.kind.const, "svc.image_dataset_manifest");
});

Deno.test(
  "data: list, fetch, verify, and manifests with every finding",
  inFolder(async (cwd) => {
    const listed = await svc(["data", "list", "--json"], { cwd });
    assert.deepEqual(
      listed.json.datasets.map((row: { id: string; status: string }) => [row.id, row.status]),
      [
        ["svc_sample_images", "present"],
        ["svc_test_photographs", "present"],
        ["svc_other_photographs", "present"],
        ["kodak", "not_fetched"],
        ["coco128_detection", "not_fetched"],
        ["coco8_segmentation", "not_fetched"],
        ["flickr8k", "not_fetched"],
        ["vqa_small", "bring_your_own"],
      ],
    );
    assert.equal((await svc(["data", "fetch", "svc_sample_images", "--json"], { cwd })).json.status, "present");
    const unknown = await svc(["data", "fetch", "svc_sample_image"], { cwd });
    assert.equal(unknown.code, 4);
    assert.match(unknown.stderr, /Did you mean svc_sample_images\?/);
    const verified = await svc(["data", "verify", "--json"], { cwd });
    assert.equal(verified.json.status, "valid");
    assert.ok(
      verified.json.files.length === 29 && verified.json.files.every((row: { status: string }) => row.status === "ok"),
    );

    await Deno.mkdir(join(cwd, "photos"));
    for (const name of ["camera.png", "rocket.jpg"]) {
      await Deno.copyFile(join(ROOT_PATH, "recipes/samples", name), join(cwd, "photos", name));
    }
    assert.equal((await svc(["data", "make-manifest", "photos"], { cwd })).code, 0);
    const file = "photos/manifest.json";
    const valid = await svc(["data", "validate-manifest", file, "--decode", "--json"], { cwd });
    assert.equal(valid.code, 0, valid.stdout);
    assert.deepEqual([valid.json.status, valid.json.sample_count, valid.json.splits], ["valid", 2, { test: 2 }]);

    const text = await Deno.readTextFile(join(cwd, file));
    await Deno.writeTextFile(join(cwd, "photos/rocket.jpg"), "no picture");
    await Deno.remove(join(cwd, "photos/camera.png"));
    const files = await svc(["data", "validate-manifest", file, "--json"], { cwd });
    assert.equal(files.code, 3);
    assert.deepEqual(files.json.diagnostics.map(({ code }: { code: string }) => code), [
      "manifest_file_missing",
      "manifest_hash_mismatch",
    ]);
    assert.equal((await svc(["data", "validate-manifest", file, "--no-files"], { cwd })).code, 0);

    await Deno.writeTextFile(join(cwd, file), text.replace('["camera", "rocket"]', '["camera", "rockt", "camera"]'));
    const schema = await svc(["data", "validate-manifest", file], { cwd });
    assert.equal(schema.code, 3);
    assert.match(schema.stderr, /manifest_schema_invalid.*twice[\s\S]*manifest\.json:\d+:\d+[\s\S]*\^/);
    await Deno.writeTextFile(
      join(cwd, file),
      text.replace('["camera", "rocket"]', '["camera", "rockt"]').replace(
        '"path": "rocket.jpg"',
        '"path": "../rocket.jpg"',
      ),
    );
    const rules = await svc(["data", "validate-manifest", file, "--json"], { cwd });
    assert.deepEqual(rules.json.diagnostics.map(({ code }: { code: string }) => code).sort(), [
      "manifest_path_unsafe",
      "manifest_split_sample_unknown",
    ]);
    assert.ok(rules.json.diagnostics.every(({ location }: { location: { line: number } }) => location.line > 1));
    assert.equal((await svc(["data", "validate-manifest", "nothing.json"], { cwd })).code, 4);
    await assert.rejects(Deno.stat(join(cwd, ".svc")), Deno.errors.NotFound);
  }),
);

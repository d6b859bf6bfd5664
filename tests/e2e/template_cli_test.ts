import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";

const CODEC = "semantic_comm.image_reconstruction.default", TEXTS = "semantic_comm.text_semantic_similarity.default";

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test(
  "from the list to a run: a template becomes a file, the file a verified bundle",
  inFolder(async (cwd) => {
    const listed = await svc(["template", "list", "--json"], { cwd });
    assert.equal(listed.code, 0, listed.stderr);
    assert.deepEqual(Object.keys(listed.json), ["schema_version", "status", "templates"]);
    const row = listed.json.templates.find(({ id }: { id: string }) => id === TEXTS);
    assert.deepEqual([row.available, row.default, row.run_readiness], [true, true, { ready: true, missing: [] }]);
    const table = await svc(["template", "list", "--task", "image_reconstruction"], { cwd });
    assert.match(
      table.stdout,
      /^semantic_comm\.image_reconstruction\.default +Image codec over an ideal link +default +ready +11$/m,
    );
    assert.doesNotMatch(table.stdout, /text_semantic/);

    const args = ["template", "instantiate", TEXTS, "--name", "my_texts", "--set", "wireless_channel.label=ideal"];
    const made = await svc([...args, "--out", "texts.yaml"], { cwd });
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(namesIn(cwd), ["texts.yaml"]);
    const text = await Deno.readTextFile(join(cwd, "texts.yaml"));
    assert.match(text, /^# Sentences as UTF-8[^]*\nname: my_texts\n[^]*\n {4}params: \{label: ideal\}\n/);
    assert.equal((await svc(args, { cwd })).stdout, text, "what is printed is what is written");

    const run = await svc(["recipe", "run", "texts.yaml", "--json"], { cwd });
    assert.equal(run.code, 0, run.stderr);
    assert.equal((await svc(["runs", "verify", run.json.run_id], { cwd })).code, 0);
  }),
);

Deno.test(
  "one JSON value: the reply of an instantiation, types kept, and the recipe alone in a .json file",
  inFolder(async (cwd) => {
    const args = ["template", "instantiate", "semantic_comm.image_reconstruction.protected_digital", "--json"];
    const { code, stdout, json } = await svc([...args, "--set", "tx_power.target_power=2.0"], { cwd });
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(json), [
      "schema_version",
      "status",
      "recipe",
      "provenance",
      "diagnostics",
      "warnings",
    ]);
    assert.equal(json.status, "instantiated");
    assert.deepEqual(json.recipe.metadata.template_provenance, json.provenance);
    assert.match(stdout, /"target_power": 2\.0,/);
    const filed = await svc([...args, "--out", "mine.json"], { cwd });
    assert.equal(filed.json.path, "mine.json");
    assert.deepEqual(JSON.parse(await Deno.readTextFile(join(cwd, "mine.json"))), filed.json.recipe);
    assert.equal((await svc(["recipe", "expand-matrix", "mine.json", "--json"], { cwd })).json.expanded_count, 11);
  }),
);

Deno.test(
  "show: a row, and why a template cannot be had",
  inFolder(async (cwd) => {
    const shown = await svc(["template", "show", CODEC], { cwd });
    assert.match(shown.stdout, /state +valid\n +recipe +image_codec_default, 11 steps\n/);
    assert.match(shown.stdout, /svc_pkg:recipe_starters\/image_codec_default\.yaml {2}sha256:[0-9a-f]{64}\n/);

    await Deno.mkdir(join(cwd, "recipes"));
    await Deno.writeTextFile(join(cwd, "recipes/image_codec_default.yaml"), "name: ours\nsteps: []\n");
    const broken = await svc(["template", "show", CODEC], { cwd });
    assert.match(broken.stdout, /state +invalid\n +source +recipes\/image_codec_default\.yaml/);
    assert.match(broken.stdout, /error\[recipe_validation_error\]/);
    const refused = await svc(["template", "instantiate", CODEC, "--json"], { cwd });
    assert.deepEqual([refused.code, refused.json.code], [3, "template_unavailable"]);
    assert.equal(refused.json.hint, "Correct or remove recipes/image_codec_default.yaml");
  }),
);

const REFUSED: [name: string, args: string[], code: number, error: string, said: RegExp][] = [
  ["an unknown template", ["show", "semantic_comm.image"], 4, "template_not_found", /image/],
  ["an unknown template to instantiate", ["instantiate", "x", "--out", "x.yaml"], 4, "template_not_found", /named x/],
  ["a task without templates", ["list", "--task", "image_reconstructon"], 4, "template_not_found", /Did you mean/],
  [
    "an unknown step",
    ["instantiate", CODEC, "--set", "sendr.quality=1", "--out", "x.yaml"],
    3,
    "template_override_invalid",
    /template_step_unknown[^]*Did you mean sender\?/,
  ],
  [
    "an unknown parameter",
    ["instantiate", CODEC, "--set", "sender.qualty=1", "--out", "x.yaml"],
    3,
    "template_override_invalid",
    /template_param_unknown[^]*Did you mean quality\?/,
  ],
  [
    "a value that the schema refuses",
    ["instantiate", CODEC, "--set", "sender.quality=75.0", "--out", "x.yaml"],
    3,
    "template_override_invalid",
    /operation_params_schema_invalid/,
  ],
  [
    "an assignment without a value",
    ["instantiate", CODEC, "--set", "sender.quality", "--out", "x.yaml"],
    3,
    "override_invalid",
    /step\.param=value/,
  ],
  [
    "a name with space around it",
    ["instantiate", CODEC, "--name", " a", "--out", "x.yaml"],
    3,
    "template_override_invalid",
    /Trim/,
  ],
  ["a file that exists", ["instantiate", CODEC, "--out", "there.yaml"], 3, "recipe_exists", /--force/],
  ["a folder that does not exist", ["instantiate", CODEC, "--out", "no/x.yaml"], 1, "file_write_failed", /no\/x\.yaml/],
  ["no id", ["instantiate"], 2, "usage_invalid", /missing/i],
];

Deno.test(
  "what is refused has its code and exit code, and leaves no file behind",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "there.yaml"), "mine\n");
    for (const [name, args, code, error, said] of REFUSED) {
      const { code: ended, stdout, json } = await svc(["template", ...args, "--json"], { cwd });
      assert.equal(ended, code, `${name}: ${stdout}`);
      assert.equal(json.code, error, name);
      assert.match(stdout, said, name);
      assert.deepEqual(namesIn(cwd), ["there.yaml"], name);
    }
    assert.equal(await Deno.readTextFile(join(cwd, "there.yaml")), "mine\n");
    const forced = await svc(["template", "instantiate", CODEC, "--out", "there.yaml", "--force"], { cwd });
    assert.equal(forced.code, 0);
    assert.match(await Deno.readTextFile(join(cwd, "there.yaml")), /^name: image_codec_default$/m);
  }),
);

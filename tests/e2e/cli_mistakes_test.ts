/** What the command line says to mistakes that are no mistakes in a recipe: of bytes, places, names and the system. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";

const BITS = `name: bits
metadata: { seed: 23 }
steps:
  - { id: data, op: source.random_bits, params: { bit_count: 1000 } }
  - { id: modulator, op: modulation.digital_modulate, inputs: { bits: data.bits } }
  - { id: wireless_channel, op: wireless.channel, params: { snr_db: 4.0 }, inputs: { symbols: modulator.symbols } }
`;

Deno.test(
  "a recipe in another encoding is refused, not read with replacement characters",
  inFolder(async (cwd) => {
    const bytes = new TextEncoder().encode(BITS.replace("bits", "caf#"));
    bytes[bytes.indexOf("#".charCodeAt(0))] = 0xe9;
    await Deno.writeFile(join(cwd, "latin.yaml"), bytes);
    const { code, stderr } = await svc(["recipe", "validate", "latin.yaml"], { cwd });
    assert.equal(code, 3);
    assert.match(stderr, /recipe_syntax_invalid[^]*latin\.yaml:1:10[^]*Save the file as UTF-8/);
  }),
);

Deno.test(
  "a damaged bundle is one row of the list, and the other runs are listed as before",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    assert.equal((await svc(["recipe", "run", "bits.yaml"], { cwd })).code, 0);
    const damaged = join(cwd, ".svc/runs/20260101T000000Z_damaged");
    await Deno.mkdir(damaged);
    await Deno.writeTextFile(join(damaged, "summary.json"), '{"status": "completed"}');
    const { code, stdout } = await svc(["runs", "list"], { cwd });
    assert.equal(code, 0);
    assert.match(stdout, /_bits +completed /);
    assert.match(stdout, /_damaged +unreadable /);
  }),
);

Deno.test(
  "what --set changed is not shown at the value it replaced",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    const wrong = await svc(["recipe", "validate", "bits.yaml", "--set", "wireless_channel.snr_db=0x10"], { cwd });
    assert.equal(wrong.code, 3);
    assert.match(wrong.stderr, /Cannot use the text "0x10" as a number\n {2}--> \$\.steps\[2\]\.params\.snr_db\n/);
    assert.doesNotMatch(wrong.stderr, /Write 0/);
    const large = await svc(["recipe", "validate", "bits.yaml", "--set", "wireless_channel.snr_db=1e400"], { cwd });
    assert.equal(large.code, 3);
    assert.match(large.stderr, /recipe_json_value_invalid[^]*binary64/);
    assert.doesNotMatch(large.stderr, /-->/);
  }),
);

Deno.test(
  "a finding about the manifest of an adapter shows no line of the recipe",
  inFolder(async (cwd) => {
    const manifest = ["schema_version: 1", "name: broken", 'version: "1.0.0"', "operations:"].concat(
      ["  - id: broken.score", "    name: Score", "    wraps: metrics.external_text"],
      ["    adapter: {path: nothing.ts, callable: score, call_style: dict}"],
    );
    await Deno.mkdir(join(cwd, "broken"));
    await Deno.writeTextFile(join(cwd, "broken/svc_adapter.yaml"), manifest.join("\n"));
    await Deno.writeTextFile(join(cwd, "bits.yaml"), `${BITS}\n# line of the recipe\n`);
    const { code, stderr } = await svc(["--adapter", "broken", "recipe", "run", "bits.yaml"], { cwd });
    assert.equal(code, 3, stderr);
    assert.match(stderr, /adapter_module_missing[^]*--> svc_adapter\.yaml:8:\d+ /);
    assert.doesNotMatch(stderr, /line of the recipe|\^/);
  }),
);

Deno.test(
  "what the system refuses has a code and a hint, and is no defect of the program",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    await Deno.writeTextFile(join(cwd, "file"), "");
    const run = await svc(["recipe", "run", "bits.yaml", "--workspace", "file"], { cwd });
    assert.equal(run.code, 5);
    assert.match(run.stderr, /error\[file_system_error\][^]*--workspace/);
    assert.doesNotMatch(run.stderr, /defect/);
    const list = await svc(["runs", "list", "--workspace", "file", "--json"], { cwd });
    assert.deepEqual([list.code, list.json.code], [5, "file_system_error"]);
    const out = await svc(
      ["template", "instantiate", "semantic_comm.image_reconstruction.default", "--out", "no/x.yaml"],
      { cwd },
    );
    assert.equal(out.code, 1);
    assert.match(
      out.stderr,
      /Cannot write no\/x\.yaml: ENOENT: no such file or directory\n.*Create the folder no first/,
    );
  }),
);

Deno.test(
  "a folder is no recipe and no manifest, and an empty name is no state directory",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    const recipe = await svc(["recipe", "run", cwd], { cwd });
    assert.equal(recipe.code, 4);
    assert.match(recipe.stderr, /it is a folder\n.*Name a file in it/);
    const manifest = await svc(["data", "validate-manifest", "."], { cwd });
    assert.equal(manifest.code, 4);
    assert.match(manifest.stderr, /it is a folder\n.*manifest\.json/);
    assert.equal((await svc(["data", "make-manifest", "nowhere"], { cwd })).code, 3);
    const empty = await svc(["recipe", "run", "bits.yaml", "--workspace", ""], { cwd });
    assert.equal(empty.code, 2);
    assert.deepEqual([...Deno.readDirSync(cwd)].map(({ name }) => name), ["bits.yaml"]);
  }),
);

Deno.test(
  "an operation of one's own is loaded from its file, and its digest is in the plan",
  inFolder(async (cwd) => {
    const file = join(ROOT_PATH, "tests/recipes/operations/indices.ts");
    const recipe = { name: "own", steps: [{ id: "indices", op: "test.indices", params: { codebook_size: 7 } }] };
    const stdin = JSON.stringify(recipe);
    const run = await svc(["--operation", file, "recipe", "run", "-", "--json"], { cwd, stdin });
    assert.equal(run.code, 0, run.stdout);
    const plan = JSON.parse(await Deno.readTextFile(join(run.json.directory, "execution-plan.json")));
    assert.match(plan.steps[0].implementation_metadata.source_sha256, /^[0-9a-f]{64}$/);
    assert.equal((await svc(["recipe", "run", "-"], { cwd, stdin })).code, 3);
    await Deno.writeTextFile(join(cwd, "no.ts"), "export default 1;");
    for (const wrong of ["missing.ts", "no.ts"]) {
      const refused = await svc(["--operation", wrong, "ops", "list", "--json"], { cwd });
      assert.deepEqual([refused.code, refused.json.code], [3, "operation_file_invalid"]);
    }
  }),
);

Deno.test(
  "sentences of one's own cross a link from an empty folder, and one lost packet costs one of them",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "own.txt"), "Der Zug fährt um 12 Uhr.\nGrüße aus Köln.\n");
    const made = await svc(["data", "make-manifest", "own.txt", "--lines", "--json"], { cwd });
    assert.deepEqual([made.json.text_count, made.json.path], [2, "own.manifest.json"]);
    assert.equal((await svc(["data", "validate-manifest", "own.manifest.json"], { cwd })).code, 0);
    const step = (id: string, op: string, params: object, from?: string) => ({
      id,
      op,
      params,
      inputs: from === undefined ? {} : { [from.split(".")[1]]: from },
    });
    const source = {
      dataset: "own",
      manifest_path: made.json.path,
      manifest_sha256: made.json.sha256,
      repeat_count: 20,
    };
    const steps = [
      step("data", "source.text_dataset", source),
      step("sender", "model.text_utf8_encode", { wire_format: "items" }, "data.texts"),
      step("packetizer", "channel.packetize_crc32", { packet_payload_bits: 256 }, "sender.bits"),
      step("modulator", "modulation.digital_modulate", { modulation: "qpsk" }, "packetizer.bits"),
      step("link", "wireless.channel", { snr_db: 9.5 }, "modulator.symbols"),
      step("demodulator", "demodulation.digital_demodulate", {}, "link.rx_symbols"),
      step("check", "channel.crc32_check", { on_decode_failure: "report_outage" }, "demodulator.bits"),
      step("receiver", "model.text_utf8_decode", {}, "check.bits"),
    ];
    const recipe = { name: "own", metadata: { seed: 5 }, steps };
    const run = await svc(["recipe", "run", "-", "--json"], { cwd, stdin: JSON.stringify(recipe) });
    assert.equal(run.code, 0, run.stdout);
    const read = async (id: string): Promise<string[]> =>
      JSON.parse(await Deno.readTextFile(join(run.json.directory, `artifacts/${id}/texts.json`)))
        .items.map(({ text }: { text: string }) => text);
    const sent = await read("data"), received = await read("receiver");
    const whole = received.filter((text, index) => text === sent[index]).length;
    assert.ok(whole > 0 && whole < 40, `${whole} of 40 texts arrived`);
    assert.ok(received.every((text, index) => text === "" || text === sent[index]));
  }),
);

Deno.test(
  "a manifest of one's own pictures and the parameters that the guide names are all that a recipe needs",
  inFolder(async (cwd) => {
    await Deno.mkdir(join(cwd, "my_photos"));
    for (const name of ["camera.png", "rocket.jpg"]) {
      await Deno.copyFile(join(ROOT_PATH, "recipes/samples", name), join(cwd, "my_photos", name));
    }
    const made = await svc(["data", "make-manifest", "my_photos", "--id", "my_photos", "--json"], { cwd });
    const params = {
      dataset: "my_photos",
      manifest_path: "my_photos/manifest.json",
      manifest_sha256: made.json.sha256,
      image_ids: "",
      split: "test",
      crop_size: 64,
    };
    const guide = await Deno.readTextFile(join(ROOT_PATH, "docs/guides/own_images_and_texts.md"));
    const section = /## Photographs([^]*?)\n##/.exec(guide)![1];
    for (const name of Object.keys(params)) assert.ok(section.includes(` ${name}:`), name);
    const recipe = { name: "own", steps: [{ id: "data", op: "source.image_dataset", params }] };
    const run = await svc(["recipe", "run", "-", "--json"], { cwd, stdin: JSON.stringify(recipe) });
    assert.equal(run.code, 0, run.stdout);
    assert.deepEqual(run.json.summary.steps[0].outputs.images.metadata.shape, [2, 64, 64, 3]);

    // The error has the hint of the operation.
    const other = {
      ...recipe,
      steps: [{ ...recipe.steps[0], params: { ...params, manifest_sha256: "0".repeat(64) } }],
    };
    const failed = await svc(["recipe", "run", "-"], { cwd, stdin: JSON.stringify(other) });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, new RegExp(`boundary_hash_mismatch[^]*help: Its SHA-256 is ${params.manifest_sha256}`));
  }),
);

Deno.test("help goes as deep as the commands, and a usage error names the command that it is about", async () => {
  const run = await svc(["help", "recipe", "run"]);
  assert.equal(run.code, 0);
  assert.match(run.stdout, /^Usage: svc recipe run/);
  const near = await svc(["help", "recipe", "rn"]);
  assert.equal(near.code, 2);
  assert.match(near.stderr, /unknown command 'rn'\n.*Did you mean run\?/);
  const missing = await svc(["ops", "show"]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /svc ops show --help/);
  const json = await svc(["schema", "nothing", "--json"]);
  assert.deepEqual([json.code, json.json.hint], [2, "svc schema --help lists the commands"]);
});

Deno.test(
  "runs: a filter takes only states that exist, a report has its schema version, a finding its file",
  inFolder(async (cwd) => {
    assert.equal((await svc(["runs", "list", "--status", "broken"], { cwd })).code, 2);
    assert.match((await svc(["runs", "list", "--status", "failed"], { cwd })).stderr, /No run matches/);
    assert.equal((await svc(["runs", "reproduce", "x", "--parallel-workers", "33"], { cwd })).code, 2);

    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    const { run_id: id, directory } = (await svc(["recipe", "run", "bits.yaml", "--json"], { cwd })).json;
    const valid = (await svc(["runs", "verify", id, "--json"], { cwd })).json;
    assert.deepEqual([valid.schema_version, valid.status], [1, "valid"]);
    await Deno.rename(directory, `${directory}_2`);
    const renamed = await svc(["runs", "verify", `${id}_2`], { cwd });
    assert.equal(renamed.code, 6);
    assert.match(renamed.stdout, /\(summary\.json \$\.run_id\)\n[^]*\(manifest\.json \$\.run_id\)\n/);
  }),
);

Deno.test(
  "a manifest outside the project is refused while planning, and leaves nothing",
  inFolder(async (cwd) => {
    const digest = JSON.stringify("0".repeat(64));
    const params = `{ dataset: mine, image_ids: a, manifest_path: ../../etc/passwd, manifest_sha256: ${digest} }`;
    const text = `name: escape\nsteps:\n  - { id: data, op: source.image_dataset, params: ${params} }\n`;
    await Deno.writeTextFile(`${cwd}/escape.yaml`, text);
    const { code, json } = await svc(["recipe", "run", "escape.yaml", "--json"], { cwd });
    assert.equal(code, 5);
    assert.ok(json.diagnostics.some((item: { message: string }) => /leaves the project/.test(item.message)));
    await assert.rejects(Deno.stat(`${cwd}/.svc`), Deno.errors.NotFound);
  }),
);

Deno.test("an unknown data set is not found", async () => {
  for (const command of ["fetch", "verify"]) assert.equal((await svc(["data", command, "nosuch"])).code, 4, command);
});

Deno.test(
  "storage that fails has the code of the file system, and a damaged index fails the doctor until it is made anew",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    await Deno.symlink(join(cwd, "missing"), join(cwd, "dangling"));
    const dangling = await svc(["recipe", "run", "bits.yaml", "--workspace", "dangling", "--json"], { cwd });
    assert.deepEqual([dangling.code, dangling.json.code, dangling.json.system_code], [
      5,
      "file_system_error",
      "EEXIST",
    ]);
    assert.match(dangling.json.hint, /dangling link/);

    for (let i = 0; i < 3; i++) assert.equal((await svc(["recipe", "run", "bits.yaml"], { cwd })).code, 0);
    assert.equal((await svc(["runs", "list"], { cwd })).code, 0);
    const path = join(cwd, ".svc/index.sqlite3");
    const damage = async () => {
      const bytes = (await Deno.readFile(path)).fill(0xa5, 4096);
      await Deno.writeFile(path, bytes);
      return bytes;
    };
    const bytes = await damage();
    const doctor = await svc(["doctor", "--json"], { cwd });
    const check = (name: string) => doctor.json.checks.find(({ id }: { id: string }) => id === name);
    assert.deepEqual([doctor.code, check("index").status], [5, "failed"]);
    assert.deepEqual(await Deno.readFile(path), bytes, "the doctor changes nothing");
    const list = await svc(["runs", "list", "--format", "csv"], { cwd });
    assert.deepEqual([list.code, list.stdout.trim().split("\n").length], [0, 4]);
    assert.match(list.stderr, /The index of runs was damaged and is made anew: it was moved to .*damaged-/);
    await damage();
    const rebuilt = await svc(["index", "rebuild", "--json"], { cwd });
    assert.deepEqual([rebuilt.code, rebuilt.json.runs], [0, 3]);
    const again = (await svc(["doctor", "--json"], { cwd })).json.checks;
    assert.equal(again.find(({ id }: { id: string }) => id === "index").status, "passed");
  }),
);

Deno.test(
  "a run that cannot fit ends in exit code 5, and begins with --ignore-estimate",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    const large = ["recipe", "run", "bits.yaml", "--set", "data.bit_count=1000000000000000"];
    const refused = await svc(large, { cwd });
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /resources_insufficient[^]*Cannot run modulator: the run needs [^]*--ignore-estimate/);
    const tried = await svc([...large, "--ignore-estimate"], { cwd });
    assert.equal(tried.code, 1);
    assert.match(tried.stderr, /operation_failed/);
  }),
);

import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";

Deno.test(
  "from nothing to a validated adapter: scaffold, inspect, validate, list",
  inFolder(async (cwd) => {
    const written = await svc(["adapter", "scaffold", "bits", "my-codec"], { cwd });
    assert.equal(written.code, 0, written.stderr);
    assert.match(written.stdout, /^written {2}my-codec in my-codec: README\.md, codec\.ts, /);
    assert.match(written.stdout, /svc --adapter my-codec recipe run my-codec\/recipe\.yaml/);

    const inspected = await svc(["adapter", "inspect", "my-codec", "--json"], { cwd });
    assert.deepEqual([inspected.code, inspected.json.status, inspected.json.grant_source], [0, "valid", "none"]);
    const people = await svc(["adapter", "inspect", "my-codec"], { cwd });
    assert.match(people.stdout, /^requests {2}nothing$/m);
    assert.match(people.stdout, /^my_codec\.encode +model\.external_encode_bits +codec\.ts#encode +[0-9a-f]{12}$/m);

    const valid = await svc(["adapter", "validate", "my-codec", "--json"], { cwd });
    assert.equal(valid.code, 0, valid.stdout);
    assert.deepEqual(valid.json.operations, ["my_codec.encode", "my_codec.decode"]);
    assert.equal(valid.json.folder_sha256, inspected.json.folder_sha256);

    assert.equal(valid.json.imported, true);

    const listed = await svc(["adapter", "list", "--json"], { cwd, env: { SVC_ADAPTER_PATHS: "my-codec" } });
    const flagged = await svc(["--adapter", "my-codec", "adapter", "list", "--json"], { cwd });
    assert.deepEqual(flagged.json, listed.json);
    assert.deepEqual(listed.json.adapters.map(({ name }: { name: string }) => name), ["my-codec"]);
    assert.match((await svc(["adapter", "list"], { cwd })).stdout, /svc adapter scaffold bits my-codec/);
  }),
);

Deno.test(
  "findings carry the manifest's line, all at once, and exit 3",
  inFolder(async (cwd) => {
    await svc(["adapter", "scaffold", "bits", "my-codec"], { cwd });
    const path = join(cwd, "my-codec", "svc_adapter.yaml");
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(
      path,
      text.replace("external_encode_bits", "external_encode_bit").replace("codec.ts", "x.ts"),
    );
    const people = await svc(["adapter", "validate", "my-codec"], { cwd });
    assert.equal(people.code, 3);
    assert.match(people.stderr, /error\[adapter_wraps_unsupported\]: Cannot wrap model\.external_encode_bit\n/);
    assert.match(people.stderr, /svc_adapter\.yaml:\d+:\d+ /);
    assert.match(people.stderr, /Did you mean model\.external_encode_bits\?/);
    const json = (await svc(["adapter", "validate", "my-codec", "--json"], { cwd })).json;
    assert.deepEqual([json.code, json.exit_code], ["adapter_manifest_invalid", 3]);
    assert.deepEqual(
      json.diagnostics.map(({ code }: { code: string }) => code).sort(),
      ["adapter_module_missing", "adapter_wraps_unsupported"],
    );
    // Inspecting shows what can be seen, and says that it cannot be used.
    const shown = await svc(["adapter", "inspect", "my-codec"], { cwd });
    assert.deepEqual([shown.code, /invalid$/m.test(shown.stdout)], [3, true]);
  }),
);

Deno.test(
  "code that cannot be loaded is found by loading it, and left alone with --no-import",
  inFolder(async (cwd) => {
    await svc(["adapter", "scaffold", "bits", "my-codec"], { cwd });
    const path = join(cwd, "my-codec", "codec.ts");
    await Deno.writeTextFile(
      path,
      (await Deno.readTextFile(path)).replace("export function encode", "function encode"),
    );
    const loaded = await svc(["adapter", "validate", "my-codec", "--json"], { cwd });
    assert.deepEqual([loaded.code, loaded.json.diagnostics[0].code], [3, "adapter_callable_missing"]);
    const alone = await svc(["adapter", "validate", "my-codec", "--no-import", "--json"], { cwd });
    assert.deepEqual([alone.code, alone.json.imported], [0, false]);
  }),
);

Deno.test(
  "from the command line alone: scaffold, run, verify, reproduce; without the adapter the recipe is refused",
  inFolder(async (cwd) => {
    await svc(["adapter", "scaffold", "latents", "my-latents"], { cwd });
    const listed = await svc(["--adapter", "my-latents", "ops", "list", "--filter", "my_latents.", "--json"], { cwd });
    assert.deepEqual((listed.json.operations ?? listed.json).map(({ id }: { id: string }) => id), [
      "my_latents.decode",
      "my_latents.encode",
    ]);
    const recipe = "my-latents/recipe.yaml";
    const run = await svc(["--adapter", "my-latents", "recipe", "run", recipe, "--json"], { cwd });
    assert.equal(run.code, 0, run.stdout);
    assert.equal((await svc(["runs", "verify", run.json.run_id], { cwd })).code, 0);
    const again = await svc(["runs", "reproduce", run.json.run_id, "--adapter", "my-latents"], { cwd });
    assert.equal(again.code, 0, again.stdout + again.stderr);
    const bare = await svc(["recipe", "plan", recipe], { cwd });
    assert.equal(bare.code, 3);
    assert.match(bare.stderr, /Cannot find an operation named my_latents\.encode\n[^]*operation with --adapter/);
  }),
);

Deno.test(
  "trust shows the requests, wants to be asked, pins the folder, and can be taken back",
  inFolder(async (cwd) => {
    await svc(["adapter", "scaffold", "bits", "my-codec"], { cwd });
    const path = join(cwd, "my-codec", "svc_adapter.yaml");
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replace(/^# (permissions: )/m, "$1"));

    const env = { SVC_TRUST: join(cwd, "home", "trust.json") };
    const unasked = await svc(["adapter", "trust", "my-codec"], { cwd, env });
    assert.equal(unasked.code, 2);
    assert.match(unasked.stdout, /requests net=models\.example\.org:443 read=\.\.\/weights env=MY_CODEC_LEVEL/);
    assert.match(unasked.stderr, /Cannot trust my-codec without being asked\n.*add --yes/);
    await assert.rejects(Deno.stat(env.SVC_TRUST), Deno.errors.NotFound);

    const trusted = await svc(["adapter", "trust", "my-codec", "--yes", "--note", "read it", "--json"], { cwd, env });
    assert.equal(trusted.code, 0, trusted.stdout);
    const file = JSON.parse(await Deno.readTextFile(env.SVC_TRUST));
    const { folder_sha256, ...entry } = trusted.json.entry;
    assert.deepEqual(file.adapters, { [folder_sha256]: entry });
    assert.deepEqual([entry.note, entry.permissions.env], ["read it", ["MY_CODEC_LEVEL"]]);
    const inspect = async () => (await svc(["adapter", "inspect", "my-codec", "--json"], { cwd, env })).json;
    assert.equal((await inspect()).grant_source, "trust_file");

    const run = ["--adapter", "my-codec", "recipe", "run", "my-codec/recipe.yaml"];
    const ran = await svc(run, { cwd, env });
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(
      ran.stderr,
      /info\[adapter_grants_active\]: my-codec may use net=models\.example\.org:443 read=\S+weights env=MY_CODEC_LEVEL, by svc adapter trust\n/,
    );
    const id = ran.stdout.match(/^completed {2}(\S+)/)![1];
    const plan = JSON.parse(await Deno.readTextFile(join(cwd, ".svc/runs", id, "execution-plan.json")));
    assert.match(JSON.stringify(plan), /"grant_source": ?"trust_file"/);

    // The file of the user in the project of another author.
    await Deno.copyFile(env.SVC_TRUST, join(cwd, "svc_trust.json"));
    const cloned = await svc(run, { cwd, env: { SVC_TRUST: join(cwd, "none.json") } });
    assert.match(
      cloned.stderr,
      /warning\[trust_file_ignored\][^]*help: Review the adapter, then run svc adapter trust /,
    );
    assert.doesNotMatch(cloned.stderr, /adapter_grants_active/);
    await Deno.remove(join(cwd, "svc_trust.json"));

    await Deno.writeTextFile(join(cwd, "my-codec", "README.md"), "changed\n");
    const changed = await inspect();
    assert.equal(changed.grant_source, "none");
    assert.deepEqual(changed.diagnostics.map(({ code }: { code: string }) => code), ["adapter_trust_mismatch"]);

    assert.equal((await svc(["adapter", "untrust", "my-codec"], { cwd, env })).code, 0);
    assert.equal((await svc(["adapter", "untrust", "my-codec"], { cwd, env })).code, 4);
  }),
);

Deno.test(
  "kinds are completed and corrected, and nothing is written over",
  inFolder(async (cwd) => {
    const completed = await svc(["__complete", "--", "adapter", "scaffold", "classification_"], { cwd });
    assert.deepEqual(completed.stdout.split("\n").map((line) => line.split("\t")[0]), [
      "classification_dataset",
      "classification_metric",
      "",
    ]);
    const wrong = await svc(["adapter", "scaffold", "latent", "x"], { cwd });
    assert.deepEqual([wrong.code, /Did you mean latents\?/.test(wrong.stderr)], [2, true]);
    await svc(["adapter", "scaffold", "latents", "x"], { cwd });
    const again = await svc(["adapter", "scaffold", "latents", "x"], { cwd });
    assert.deepEqual([again.code, /the folder is not empty/.test(again.stderr)], [2, true]);
    assert.match((await svc(["adapter", "scaffold", "--help"], { cwd })).stdout, /svc adapter scaffold bits my-codec/);
  }),
);

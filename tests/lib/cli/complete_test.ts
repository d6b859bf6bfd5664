import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT_PATH } from "../../support/paths.ts";
import { CLI_ARGS, inFolder, svc } from "../../support/cli.ts";

const QUICKSTART = join(ROOT_PATH, "recipes/quickstart.yaml");

/** The candidates for the last word, without their descriptions. */
async function complete(words: string[], cwd = ROOT_PATH): Promise<string[]> {
  const { code, stdout, stderr } = await svc(["__complete", "--", ...words], { cwd });
  assert.deepEqual([code, stderr], [0, ""]);
  return stdout.split("\n").slice(0, -1).map((line) => line.split("\t")[0]);
}

Deno.test("commands, options, choices, and ids of what the program knows", async () => {
  const expected: [string[], string[]][] = [
    [["rec"], ["recipe"]],
    [["recipe", "exp"], ["explain", "expand-matrix"]],
    [["recipe", "graph", QUICKSTART, "--format", "s"], ["svg"]],
    [["recipe", "graph", QUICKSTART, "--format=s"], ["--format=svg"]],
    [["recipe", "fmt", "--che"], ["--check"]],
    [["--json", "--work"], ["--workspace"]],
    [["ops", "show", "channel.crc"], ["channel.crc32_check"]],
    [["profiles", "show", "layered"], ["layered_digital"]],
    [["completion", "z"], ["zsh"]],
    [["template", "show", "semantic_comm.image_reconstruction.def"], ["semantic_comm.image_reconstruction.default"]],
    [["research", "show", "metric", "channel.ble"], ["channel.bler", "channel.bler_variance_reduction"]],
    [["data", "fetch", ""], ["svc_other_photographs", "svc_sample_images", "svc_test_photographs"]],
    [["help", "recipe", "sp"], ["specs"]],
    [["nothing", "here", ""], []],
    [["ops", "show", "channel.crc32_check", ""], []],
  ];
  const found = await Promise.all(expected.map(async ([words]) => (await complete(words)).sort()));
  for (const [index, [words, wanted]] of expected.entries()) {
    assert.deepEqual(found[index], wanted.sort(), words.join(" "));
  }
});

Deno.test("steps, parameters and their values come from the recipe that was named", async () => {
  const run = ["recipe", "run", QUICKSTART, "--set"];
  assert.deepEqual(await complete(["recipe", "explain", QUICKSTART, "tx_"]), ["tx_bit_boundary", "tx_power"]);
  assert.deepEqual(await complete([...run, "wire"]), ["wireless_channel."]);
  assert.deepEqual(await complete([...run, "wireless_channel.snr"]), ["wireless_channel.snr_db="]);
  assert.deepEqual(await complete([...run, "wireless_channel.noise_mode="]), [
    "wireless_channel.noise_mode=snr_at_unit_power",
    "wireless_channel.noise_mode=fixed_variance",
  ]);
  const instantiate = ["template", "instantiate", "semantic_comm.image_reconstruction.default", "--set"];
  assert.deepEqual(await complete([...instantiate, "sender.qual"]), ["sender.quality="]);
  // A recipe that is not there, or is none, is no reason for an error at the prompt.
  assert.deepEqual(await complete(["recipe", "explain", "nothing.yaml", ""]), []);
  assert.deepEqual(await complete(["recipe", "explain", join(ROOT_PATH, "deno.json"), ""]), []);
});

Deno.test(
  "recipe files and folders; run ids of the workspace",
  inFolder(async (cwd) => {
    await Deno.mkdir(join(cwd, "deeper/.hidden"), { recursive: true });
    for (const name of ["a.yaml", "b.json", "c.txt", "deeper/d.yml"]) await Deno.writeTextFile(join(cwd, name), "");
    assert.deepEqual(await complete(["recipe", "run", ""], cwd), ["a.yaml", "b.json", "deeper/"]);
    assert.deepEqual(await complete(["recipe", "diff", "a.yaml", "deeper/"], cwd), ["deeper/d.yml"]);
    assert.deepEqual(await complete(["recipe", "fmt", "a.yaml", "b"], cwd), ["b.json"]);
    assert.deepEqual(await complete(["runs", "show", ""], cwd), []);
    await Deno.mkdir(join(cwd, "state/runs/20260101T000000Z_bits"), { recursive: true });
    await Deno.mkdir(join(cwd, "state/runs/20260102T000000Z_bits"));
    await Deno.mkdir(join(cwd, "state/runs/.locks"));
    const ids = ["20260102T000000Z_bits", "20260101T000000Z_bits"];
    assert.deepEqual(await complete(["--workspace", "state", "runs", "show", ""], cwd), ids);
    assert.deepEqual(await complete(["runs", "diff", ids[0], "--workspace=state", "20260101"], cwd), [ids[1]]);
  }),
);

Deno.test(
  "bash completes with the script",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "svc"), `#!/bin/bash\nexec '${Deno.execPath()}' ${CLI_ARGS.join(" ")} "$@"\n`);
    await Deno.chmod(join(cwd, "svc"), 0o755);
    const { json } = await svc(["completion", "bash", "--json"]);
    assert.equal(json.shell, "bash");
    await Deno.writeTextFile(
      join(cwd, "test.bash"),
      `compopt() { :; }
${json.script}
try() {
  COMP_LINE=$1; COMP_POINT=\${#COMP_LINE}; shift
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
  _svc_complete
  printf '%s ' "\${COMPREPLY[@]}"; echo
}
try "svc recipe expl" svc recipe expl
try "svc completion " svc completion ""
try "svc recipe run ${QUICKSTART} --set wireless_channel.noise_mode=fi" svc recipe run f --set wireless_channel.noise_mode = fi
try "svc recipe run ${QUICKSTART} --set wireless_channel.noise_mode=" svc recipe run f --set wireless_channel.noise_mode =
complete -p svc
`,
    );
    const { stdout, stderr } = await new Deno.Command("bash", {
      args: ["test.bash"],
      cwd,
      env: { PATH: `${cwd}:${Deno.env.get("PATH")}` },
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    assert.deepEqual(new TextDecoder().decode(stdout).split("\n").map((line) => line.trim()), [
      "explain",
      "bash zsh fish",
      "fixed_variance",
      "snr_at_unit_power fixed_variance",
      "complete -F _svc_complete svc",
      "",
    ]);
  }),
);

Deno.test("each shell has a script; another is refused", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await svc(["completion", shell]);
    assert.equal(code, 0);
    assert.match(stdout, /__complete --/);
  }
  const { code, stderr } = await svc(["completion", "tcsh"]);
  assert.equal(code, 2);
  assert.match(stderr, /bash, zsh, fish/);
});

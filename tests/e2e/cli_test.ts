import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { LONG } from "../support/long_recipe.ts";
import { within } from "../support/until.ts";

const BITS = `# bits over an AWGN link
name: bits
metadata:
  seed: 23
steps:
  - id: data
    op: source.random_bits
    params: { bit_count: 20000 }
  - id: modulator
    op: modulation.digital_modulate
    inputs: { bits: data.bits }
  - id: wireless_channel
    op: wireless.channel
    inputs: { symbols: modulator.symbols }
    params: { snr_db: 4.0 }
  - id: demodulator
    op: demodulation.digital_demodulate
    inputs: { rx_symbols: wireless_channel.rx_symbols }
  - id: evaluation
    op: metrics.bit_error_rate
    inputs: { candidate: demodulator.bits, reference: data.bits }
`;

async function withRecipe(folder: string, text = BITS): Promise<string> {
  await Deno.writeTextFile(join(folder, "bits.yaml"), text);
  return "bits.yaml";
}

Deno.test(
  "run, list, show, verify, reproduce, diff and remove: the life of a bundle",
  inFolder(async (cwd) => {
    const file = await withRecipe(cwd);
    const run = await svc(["recipe", "run", file], { cwd });
    assert.equal(run.code, 0, run.stderr);
    // Without a terminal: one line per finished step on standard error, the outcome on standard output.
    assert.deepEqual(run.stderr.trim().split("\n").map((line) => line.split(" ")[0].trim()), [
      "1/5",
      "2/5",
      "3/5",
      "4/5",
      "5/5",
    ]);
    const id = /completed {2}(\S+)/.exec(run.stdout)![1];
    assert.match(run.stdout, /channel\.ber/);
    // Q(sqrt(10^0.4)) = 0.0565 per bit; 20000 bits give a standard error of 0.0016.
    const ber = Number(/channel\.ber\s+(\S+)/.exec(run.stdout)![1]);
    assert.ok(Math.abs(ber - 0.0565) < 0.007, String(ber));

    const listed = await svc(["runs", "list", "--json"], { cwd });
    assert.equal(listed.json.schema_version, 1);
    assert.deepEqual(listed.json.runs.map((row: { run_id: string }) => row.run_id), [id]);
    assert.ok(listed.json.runs[0].size_bytes > 20000);
    const shown = await svc(["runs", "show", id.slice(0, 16)], { cwd });
    assert.match(shown.stdout, /wireless\.channel\s+completed/);

    const verified = await svc(["runs", "verify", id], { cwd });
    assert.equal(verified.code, 0, verified.stdout);
    const repeated = await svc(["runs", "reproduce", id, "--parallel-workers", "3", "--json"], { cwd });
    assert.equal(repeated.code, 0, repeated.stdout);
    assert.equal(repeated.json.status, "identical");
    const compared = await svc(["runs", "diff", id, repeated.json.reproduced_run_id, "--json"], { cwd });
    assert.ok(compared.json.artifacts.every((row: { equal: boolean }) => row.equal));

    const path = join(cwd, ".svc/runs", id, "artifacts/wireless_channel/rx_symbols.npz");
    const before = await Deno.readFile(path);
    const planned = await svc(["runs", "prune", "--larger-than", "1kB", "--dry-run", "--json"], { cwd });
    assert.deepEqual([planned.json.runs.length, planned.json.dry_run], [2, true]);
    const pruned = await svc(["runs", "prune", id], { cwd });
    assert.match(pruned.stdout, /1 run pruned: \d+ files/);
    await assert.rejects(Deno.readFile(path), Deno.errors.NotFound);
    assert.equal((await svc(["runs", "verify", id, "--json"], { cwd })).json.artifacts, "pruned");
    assert.match((await svc(["runs", "verify", id], { cwd })).stdout, /^valid .* artifacts are pruned/);
    const restored = await svc(["runs", "restore", id], { cwd });
    assert.equal(restored.code, 0, restored.stderr);
    assert.deepEqual(await Deno.readFile(path), before);
    assert.match((await svc(["runs", "gc"], { cwd })).stdout, /found nothing to remove/);
    const bytes = await Deno.readFile(path);
    bytes[bytes.length >> 1] ^= 1;
    await Deno.chmod(path, 0o644);
    await Deno.writeFile(path, bytes);
    const tampered = await svc(["runs", "verify", id], { cwd });
    assert.equal(tampered.code, 6);
    assert.match(tampered.stdout, /bundle_hash_mismatch.*rx_symbols\.npz/);

    assert.equal((await svc(["runs", "remove", id], { cwd })).code, 2);
    const removed = await svc(["runs", "remove", id, "--yes", "--json"], { cwd });
    assert.deepEqual(removed.json.removed, [id]);
    assert.equal((await svc(["runs", "show", id], { cwd })).code, 4);
  }),
);

Deno.test(
  "overrides are typed, standard input is a recipe, and JSON mode prints one value",
  inFolder(async (cwd) => {
    const file = await withRecipe(cwd);
    const quiet = await svc(["recipe", "run", file, "--set", "wireless_channel.snr_db=30", "--json"], { cwd });
    assert.equal(quiet.code, 0, quiet.stdout);
    assert.equal(quiet.stderr, "");
    const steps = quiet.json.summary.steps as { id: string; metrics: Record<string, number> }[];
    assert.equal(steps.find(({ id }) => id === "evaluation")!.metrics["channel.ber"], 0);
    const authored = await Deno.readTextFile(join(quiet.json.directory, "recipe.authored.json"));
    assert.match(authored, /"snr_db": 30\b(?!\.)/);
    const piped = await svc(["recipe", "run", "-", "--json"], {
      cwd,
      stdin: BITS.replace("snr_db: 4.0", "snr_db: 30.0"),
    });
    assert.equal(piped.code, 0, piped.stdout);
    assert.match(await Deno.readTextFile(join(piped.json.directory, "recipe.authored.json")), /"snr_db": 30\.0/);
    assert.notEqual(piped.json.summary.recipe_sha256, quiet.json.summary.recipe_sha256);
  }),
);

Deno.test(
  "a bad recipe: every problem at once, with line, caret and help; exit 3; nothing is written",
  inFolder(async (cwd) => {
    const file = await withRecipe(
      cwd,
      BITS.replace("snr_db: 4.0", 'snr_db: "4 dB"').replace("wireless.channel", "wireless.chanel").replace(
        "bit_count: 20000",
        "bit_cont: 20000",
      ).replace("demodulator.bits", "demodulator.bit"),
    );
    const run = await svc(["recipe", "run", file], { cwd });
    assert.equal(run.code, 3);
    assert.match(run.stderr, /bits\.yaml:\d+:\d+/);
    assert.match(run.stderr, /Did you mean wireless\.channel\?/);
    assert.match(run.stderr, /Did you mean bit_count\?/);
    assert.match(run.stderr, /\^/);
    assert.doesNotMatch(run.stderr, /at file:|\.ts:\d+/);
    await assert.rejects(Deno.stat(join(cwd, ".svc")), Deno.errors.NotFound);
    const json = await svc(["recipe", "run", file, "--json"], { cwd });
    assert.equal(json.code, 3);
    assert.equal(json.stderr, "");
    assert.ok(json.json.diagnostics.length >= 2);
    assert.ok(
      json.json.diagnostics.every((item: { code: string; path: string }) => item.code && item.path.startsWith("$")),
    );
  }),
);

Deno.test(
  "an unresolved matrix is refused before any directory exists",
  inFolder(async (cwd) => {
    const matrix =
      "metadata:\n  matrix: { dimensions: { snr: [1.0, 2.0] }, step_params: { wireless_channel: { snr_db: { matrix: snr } } } }";
    const file = await withRecipe(cwd, BITS.replace("metadata:", matrix));
    const run = await svc(["recipe", "run", file, "--json"], { cwd });
    assert.equal(run.code, 3, run.stdout);
    assert.ok(run.json.diagnostics.some((item: { code: string }) => item.code === "matrix_unresolved"));
    await assert.rejects(Deno.stat(join(cwd, ".svc")), Deno.errors.NotFound);
  }),
);

Deno.test(
  "a failed step: exit 1, the step and the reason named, the bundle kept and verifiable",
  inFolder(async (cwd) => {
    const file = await withRecipe(
      cwd,
      BITS.replace("snr_db: 4.0", "snr_db: 4.0, channel: flat_rayleigh, fading_scope: source_item")
        .replace("bits: data.bits }\n  - id: wireless", "bits: cut.bits }\n  - id: wireless")
        .replace(
          "  - id: modulator",
          "  - id: cut\n    op: channel.bit_boundary\n    inputs: { bits: data.bits }\n    params: { expected_bit_count: 7 }\n  - id: modulator",
        ),
    );
    const run = await svc(["recipe", "run", file], { cwd });
    assert.equal(run.code, 1, run.stderr);
    assert.match(run.stderr, /boundary_count_mismatch.*cut/);
    const id = /failed {2}(\S+)/.exec(run.stdout)![1];
    assert.equal((await svc(["runs", "verify", id], { cwd })).code, 0);
  }),
);

Deno.test(
  "Ctrl+C cancels cooperatively: exit 130 and a canceled bundle",
  inFolder(async (cwd) => {
    const file = await withRecipe(cwd, JSON.stringify(LONG));
    const child = new Deno.Command(Deno.execPath(), {
      args: [...CLI_ARGS, "recipe", "run", file],
      cwd,
      env: { NO_COLOR: "1" },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    while (!seen.includes("1/405")) {
      const { value, done } = await within("the first step ends", reader.read());
      if (done) break;
      seen += value;
    }
    child.kill("SIGINT");
    await reader.cancel();
    const stdout = await new Response(child.stdout).text();
    const { code } = await child.status;
    assert.equal(code, 130);
    const id = /canceled {2}(\S+)/.exec(stdout)![1];
    assert.equal((await svc(["runs", "verify", id], { cwd })).code, 0);
  }),
);

Deno.test(
  "usage: exit 2 with a suggestion; not found: exit 4 with the nearest name",
  inFolder(async (cwd) => {
    const command = await svc(["recipe", "rnu", "x"], { cwd });
    assert.equal(command.code, 2);
    assert.match(command.stderr, /Did you mean run\?/);
    assert.equal((await svc(["recipe", "run", "x.yaml", "--parallel-workers", "0"], { cwd })).code, 2);
    assert.equal((await svc(["ops", "list", "--jsno"], { cwd })).code, 2);
    const operation = await svc(["ops", "show", "channel.crc_check"], { cwd });
    assert.equal(operation.code, 4);
    assert.match(operation.stderr, /channel\.crc32_check/);
    await withRecipe(cwd);
    const recipe = await svc(["recipe", "run", "bist.yaml", "--json"], { cwd });
    assert.equal(recipe.code, 4);
    assert.equal(recipe.json.code, "recipe_not_found");
    assert.match(recipe.json.hint, /bits\.yaml/);
    assert.equal((await svc(["runs", "show", "nothing"], { cwd })).code, 4);
    assert.equal((await svc([], { cwd })).code, 0);
    assert.match((await svc(["help", "exit-codes"], { cwd })).stdout, /130/);
  }),
);

Deno.test(
  "plan and graph show what would run without running it",
  inFolder(async (cwd) => {
    const file = await withRecipe(cwd);
    const plan = await svc(["recipe", "plan", file, "--json"], { cwd });
    assert.equal(plan.json.plan.kind, "svc.execution_plan");
    assert.equal(plan.json.plan.steps.length, 5);
    assert.match((await svc(["recipe", "plan", file], { cwd })).stdout, /wireless_channel.*wireless\.channel/);
    assert.match(
      (await svc(["recipe", "graph", file], { cwd })).stdout,
      /demodulator\s+demodulation\.digital_demodulate/,
    );
    assert.match((await svc(["recipe", "graph", file, "--format", "mermaid"], { cwd })).stdout, /^flowchart LR/);
    assert.match((await svc(["recipe", "graph", file, "--format", "dot"], { cwd })).stdout, /^digraph "bits"/);
    assert.equal((await svc(["recipe", "graph", file, "--json"], { cwd })).json.edges.length, 5);
    const specs = await svc(["recipe", "specs", file, "--json"], { cwd });
    assert.equal(specs.json.task.id, "bit_transport");
    const elsewhere = ["channel=urban_micro", "wireless_backend=phylib"]
      .flatMap((setting) => ["--set", `wireless_channel.${setting}`]);
    const other = await svc(["recipe", "plan", file, ...elsewhere, "--json"], { cwd });
    assert.equal(other.code, 5, other.stdout);
    assert.equal(other.json.diagnostics[0].code, "channel_backend_unsupported");
    const kernels = ["channel=flat_rayleigh", "data_plane_backend=cpp_native"]
      .flatMap((setting) => ["--set", `wireless_channel.${setting}`]);
    const native = await svc(["recipe", "plan", file, ...kernels, "--json"], { cwd });
    assert.equal(native.json.diagnostics[0].code, "materialization_unavailable");
    await assert.rejects(Deno.stat(join(cwd, ".svc/runs")), Deno.errors.NotFound);
  }),
);

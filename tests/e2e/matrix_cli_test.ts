/** The matrix commands, as a user meets them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { decoding, LONG } from "../support/long_recipe.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { until } from "../support/until.ts";

const STARTER = join(ROOT_PATH, "recipes/recipe_starters/image_protected_digital_awgn.yaml");

const BITS = `name: bits
metadata:
  seed: 23
  matrix:
    dimensions: {snr_db: [0.0, 4.0, 30.0]}
    step_params: {wireless_channel: {snr_db: {matrix: snr_db}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 20000}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: wireless_channel, op: wireless.channel, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: wireless_channel.rx_symbols}}
  - {id: evaluation, op: metrics.bit_error_rate, inputs: {candidate: demodulator.bits, reference: data.bits}}
`;

interface Row {
  index: number;
  status: string;
  reused: boolean;
  run_id: string;
  metrics: Record<string, Record<string, number>>;
}

/** Rows of cells: no cell of these tables holds two spaces or a comma. */
const cells = (text: string, separator: RegExp) =>
  text.trim().split("\n").map((line) => line.trim().split(separator).map((cell) => cell.trim()));

Deno.test(
  "the shipped image link: validate, expand, run two points, resume with a third",
  inFolder(async (cwd) => {
    const valid = await svc(["recipe", "validate", STARTER], { cwd });
    assert.match(valid.stdout, /20 steps, 11 matrix points/);
    assert.match(valid.stderr, /info\[variant_seed_namespace\]/);
    const expanded = await svc(["recipe", "expand-matrix", STARTER, "--json"], { cwd });
    assert.equal(expanded.code, 0, expanded.stdout);
    assert.deepEqual(Object.keys(expanded.json), [
      "schema_version",
      "recipe",
      "expanded_count",
      "canonical_matrix",
      "recipes",
      "warnings",
    ]);
    assert.equal(expanded.json.expanded_count, 11);
    assert.equal(
      expanded.json.recipes[5].metadata.matrix_variant_id,
      "mxv1-c2da3c6b211816d358be4a3af76c70f0cb4d33bca92f48bdbd81057746295345",
    );
    // Floats stay floats on the way out.
    assert.match(expanded.stdout, /"matrix_selection": \{\s*"snr_db": 6\.0\s*\}/);
    await assert.rejects(Deno.stat(join(cwd, ".svc")), Deno.errors.NotFound);

    const first = await svc(["recipe", "run-matrix", STARTER, "--points", "snr_db=-4.0,10", "--format", "csv"], {
      cwd,
    });
    assert.equal(first.code, 0, first.stderr);
    const [head, low, high] = cells(first.stdout, /,/);
    const column = (name: string) => head.indexOf(name);
    assert.deepEqual([low, high].map((line) => [line[0], line[column("snr_db")], line[column("status")]]), [
      ["0", "-4.0", "completed"],
      ["10", "16.0", "completed"],
    ]);
    // Below the cliff every picture is lost, above it none.
    assert.deepEqual([low, high].map((line) => line[column("channel.outage_rate")]), ["1", ""]);
    // No loss of 4 images.
    const bound = Number(high[column("channel.outage_rate.upper_bound")]);
    assert.ok(Math.abs(bound - (1 - 0.05 ** (1 / 4))) < 1e-12);
    const [rate, from, to] = ["", ".low", ".high"].map((end) => Number(low[column(`channel.coded.ber${end}`)]));
    assert.ok(from < rate && rate < to && to - from < 0.01);
    assert.deepEqual(cells(first.stderr, / +/).map((words) => words.slice(0, 2)), [
      ["2", "runs"],
      ["1/11", "completed"],
      ["11/11", "completed"],
      ["completed", "image_protected_digital_awgn:"],
    ]);

    const resumed = await svc(["recipe", "run-matrix", STARTER, "--points", "0,9,10", "--json"], { cwd });
    assert.equal(resumed.code, 0, resumed.stdout);
    assert.equal(resumed.stderr, "");
    const rows = resumed.json.rows as Row[];
    assert.deepEqual(rows.map(({ index, reused }) => [index, reused]), [[0, true], [9, false], [10, true]]);
    assert.equal(rows[0].run_id, low[column("run_id")]);
    const verified = await svc(["runs", "verify", rows[1].run_id], { cwd });
    assert.equal(verified.code, 0, verified.stdout);
  }),
);

Deno.test(
  "an SNR sweep reads like a table of error rates, in every format",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS);
    const run = (...more: string[]) => svc(["recipe", "run-matrix", "bits.yaml", ...more], { cwd });
    const table = await run("--set", "data.bit_count=30000", "--parallel-workers", "2");
    assert.equal(table.code, 0, table.stderr);
    const [head, ...lines] = cells(table.stdout.split("\n\n")[0], /\s{2,}/);
    assert.deepEqual(head, ["snr_db", "channel.ber"]);
    assert.deepEqual(lines.map(([snr]) => snr), ["0.0", "4.0", "30.0"]);
    // Q(1) and Q(sqrt(10^0.4)); the standard errors are 0.0021 and 0.0013.
    for (const [line, expected] of [[lines[0], 0.1587], [lines[1], 0.0565]] as const) {
      const [, value, low, high] = /^(0\.\d+) \[(0\.\d+), (0\.\d+)\]$/.exec(line[1])!.map(Number);
      assert.ok(low < value && value < high && Math.abs(value - expected) < 0.009, line[1]);
    }
    assert.match(lines[2][1], /^0 errors in 30.000 bits: BER at most 1×10⁻⁴; about 300.000 bits give 1e-5$/);
    assert.match(table.stdout, /completed {2}bits: 3 completed/);

    const markdown = await run("--set", "data.bit_count=30000", "--format", "md");
    assert.match(markdown.stdout, /^\| snr\\_db \| channel\.ber \| status \|\n\| ---: \| ---: \| --- \|\n\| 0\.0 \|/);
    assert.match(markdown.stdout, /\| completed before \|/);
    const json = JSON.parse((await run("--set", "data.bit_count=30000", "--format", "json")).stdout);
    assert.deepEqual([json.schema_version, json.status, json.rows.length], [1, "completed", 3]);
    assert.ok((json.rows as Row[]).every(({ reused }) => reused));
    assert.equal((json.rows as Row[])[2].metrics.evaluation["channel.ber"], 0);
  }),
);

Deno.test(
  "what is wrong with a matrix: exit 3 with places in the file, exit 2 for points it lacks; nothing is written",
  inFolder(async (cwd) => {
    const write = (text: string) => Deno.writeTextFile(join(cwd, "bits.yaml"), text);
    await write(BITS.replace("{matrix: snr_db}", "{matrix: snr}").replace("[0.0, 4.0, 30.0]", "[0.0, 0.0]"));
    for (const command of ["validate", "expand-matrix", "run-matrix"]) {
      const refused = await svc(["recipe", command, "bits.yaml"], { cwd });
      assert.equal(refused.code, 3, command);
      assert.match(refused.stderr, /error\[matrix_values_duplicate\][^]*bits\.yaml:5:\d+/);
      assert.match(refused.stderr, /error\[matrix_dimension_unknown\][^]*bits\.yaml:6:\d+[^]*Did you mean snr_db\?/);
      assert.match(refused.stderr, /error\[matrix_dimension_unused\]/);
    }
    await write(BITS.replace("4.0, 30.0", '"loud", 30.0'));
    const point = await svc(["recipe", "run-matrix", "bits.yaml", "--json"], { cwd });
    assert.equal(point.code, 3);
    const errors = point.json.diagnostics.filter(({ severity }: { severity: string }) => severity === "error");
    assert.equal(errors.length, 1);
    assert.match(errors[0].message, /\(at matrix point 1: snr_db=loud\)$/);
    assert.deepEqual(errors[0].location, { file: "bits.yaml", line: 5, column: 32 });
    await write(BITS);
    const lacking = await svc(["recipe", "run-matrix", "bits.yaml", "--points", "3"], { cwd });
    assert.equal(lacking.code, 2);
    assert.match(lacking.stderr, /indices are 0 to 2/);
    await write(BITS.replace(/ {2}matrix:\n.*\n.*\n/, "  ui_sweeps: {wireless_channel.snr_db: '0.0:2.0:4.0'}\n"));
    const legacy = await svc(["recipe", "expand-matrix", "bits.yaml"], { cwd });
    assert.equal(legacy.code, 0, legacy.stderr);
    assert.equal(legacy.stdout.trim().split("\n").length, 4);
    assert.match(legacy.stderr, /warning\[legacy_sweep_normalized\]/);
    const older = (await Deno.readTextFile(join(cwd, "bits.yaml"))).replace("name: bits", "name: bits\nauthor: me");
    await Deno.writeTextFile(join(cwd, "older.yaml"), older);
    const compat = await svc(["recipe", "expand-matrix", "older.yaml", "--compat"], { cwd });
    assert.deepEqual([compat.code, compat.stdout], [0, legacy.stdout], compat.stderr);
    assert.equal((await svc(["recipe", "expand-matrix", "older.yaml"], { cwd })).code, 3);
    const strict = await svc(["recipe", "run-matrix", "bits.yaml", "--strict-legacy"], { cwd });
    assert.equal(strict.code, 3);
    assert.match(strict.stderr, /error\[legacy_sweep_normalized\]/);
    await write(BITS.replace(/ {2}matrix:\n.*\n.*\n/, ""));
    assert.match((await svc(["recipe", "expand-matrix", "bits.yaml"], { cwd })).stdout, /bits has no matrix/);
    assert.equal((await svc(["recipe", "run-matrix", "bits.yaml"], { cwd })).code, 3);
    await assert.rejects(Deno.stat(join(cwd, ".svc")), Deno.errors.NotFound);
  }),
);

Deno.test(
  "a failing variant: exit 1, the rest not reached, or reached where that is asked for",
  inFolder(async (cwd) => {
    // The boundary expects one number of bits, and the sources differ in theirs.
    const text = BITS.replace("snr_db: [0.0, 4.0, 30.0]", "count: [7, 8]")
      .replace("wireless_channel: {snr_db: {matrix: snr_db}}", "data: {bit_count: {matrix: count}}")
      .replace("bits: data.bits}}", "bits: cut.bits}}")
      .replace(
        "  - {id: modulator",
        "  - {id: cut, op: channel.bit_boundary, params: {expected_bit_count: 8}, inputs: {bits: data.bits}}\n" +
          "  - {id: modulator",
      );
    await Deno.writeTextFile(join(cwd, "bits.yaml"), text);
    const stopped = await svc(["recipe", "run-matrix", "bits.yaml"], { cwd });
    assert.equal(stopped.code, 1, stopped.stderr);
    assert.match(stopped.stderr, /1\/2 failed.*\n {2}cut: /);
    assert.match(stopped.stdout, /failed {2}bits: 1 failed, 1 not reached/);
    const through = await svc(["recipe", "run-matrix", "bits.yaml", "--continue-on-error"], { cwd });
    assert.equal(through.code, 1);
    assert.match(through.stdout, /failed {2}bits: 1 completed, 1 failed/);
  }),
);

Deno.test(
  "an interrupt ends the running variant, and the next run resumes at it",
  inFolder(async (cwd) => {
    const matrix = {
      dimensions: { snr_db: [-20, -10, 0] },
      step_params: { channel: { snr_db: { matrix: "snr_db" } } },
    };
    await Deno.writeTextFile(join(cwd, "bits.yaml"), JSON.stringify({ ...LONG, metadata: { seed: 7, matrix } }));
    const child = new Deno.Command(Deno.execPath(), {
      args: [...CLI_ARGS, "recipe", "run-matrix", "bits.yaml", "--json"],
      cwd,
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const output = child.output();
    let ended = false;
    output.finally(() => ended = true);
    // As soon as the first variant has its bundle.
    const runs = join(cwd, ".svc/runs");
    const hasBundle = () => {
      try {
        return [...Deno.readDirSync(runs)].some(({ name }) => name.endsWith("snr_db_-20"));
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        return false;
      }
    };
    await until("the first variant has its bundle", () => ended || hasBundle());
    assert.ok(!ended, "it ended before it was interrupted");
    child.kill("SIGINT");
    const { code, stdout } = await output;
    assert.equal(code, 130);
    const { status, rows } = JSON.parse(new TextDecoder().decode(stdout)) as { status: string; rows: Row[] };
    assert.equal(status, "canceled");
    assert.deepEqual(rows.map((row) => row.status), ["canceled", "skipped", "skipped"]);
    const shown = await svc(["runs", "list", "--json"], { cwd });
    assert.deepEqual(shown.json.runs.map((row: { status: string }) => row.status), ["canceled"]);
  }),
);

Deno.test(
  "the runs of a killed sweep are replaced by those that finish it, and a damaged one is named",
  inFolder(async (cwd) => {
    // The first variant lasts, so that the kill hits it; the second is short.
    const matrix = {
      dimensions: { count: [322_720, 16_136] },
      step_params: { data: { bit_count: { matrix: "count" } } },
    };
    await Deno.writeTextFile(
      join(cwd, "bits.yaml"),
      JSON.stringify({ ...decoding("bits", 4), metadata: { seed: 7, matrix } }),
    );
    const child = new Deno.Command(Deno.execPath(), {
      args: [...CLI_ARGS, "recipe", "run-matrix", "bits.yaml", "--quiet"],
      cwd,
      stdout: "null",
      stderr: "null",
    }).spawn();
    let ended = false;
    child.status.then(() => ended = true);
    const runs = join(cwd, ".svc/runs");
    const begun = () => {
      try {
        return [...Deno.readDirSync(runs)].some(({ name }) => name.endsWith("count_322720"));
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        return false;
      }
    };
    await until("the first variant has its bundle", () => ended || begun());
    assert.ok(!ended, "it ended before it was killed");
    child.kill("SIGKILL");
    await child.status;
    const statuses = async () =>
      (await svc(["runs", "list", "--json"], { cwd })).json.runs.map(({ status }: { status: string }) => status);
    assert.deepEqual(await statuses(), ["incomplete"]);
    const resumed = await svc(["recipe", "run-matrix", "bits.yaml"], { cwd });
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.match(resumed.stdout, /bits: 2 completed; replaced 1 unfinished run$/m);
    assert.deepEqual(await statuses(), ["completed", "completed"]);

    const [{ name }] = [...Deno.readDirSync(runs)].filter(({ name }) => name.endsWith("count_16136"));
    const report = join(runs, name, "artifacts/data/bits.npz");
    const bytes = await Deno.readFile(report);
    bytes[bytes.length - 1] ^= 1;
    await Deno.chmod(report, 0o644);
    await Deno.writeFile(report, bytes);
    const damaged = await svc(["recipe", "run-matrix", "bits.yaml"], { cwd });
    assert.match(damaged.stderr, new RegExp(`warning\\[variant_run_damaged\\]: Cannot reuse ${name}, so variant 2`));
    assert.match(damaged.stdout, /bits: 1 completed, 1 completed before$/m);
  }),
);

Deno.test(
  "a search prints its points and the bracket; exit 6 without one, exit 2 for half a query",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "bits.yaml"), BITS.replace(/ {2}matrix:\n.*\n.*\n/, ""));
    const search = (...more: string[]) =>
      svc(["recipe", "run-matrix", "bits.yaml", "--over", "wireless_channel.snr_db", ...more], { cwd });
    const query = ["--until-bler", "1e-2", "--metric", "channel.ber", "--between", "0:16", "--resolution", "2"];
    const found = await search(...query);
    assert.equal(found.code, 0, found.stderr);
    const [table, outcome] = found.stdout.split("\n\n");
    assert.deepEqual(cells(table, /\s{2,}/).map((row) => [row[0], row.at(-1)]), [
      ["wireless_channel.snr_db", "side"],
      ["0", "above"],
      ["4", "above"],
      ["6", "above"],
      ["8", "below"],
      ["16", "below"],
    ]);
    assert.match(
      outcome,
      /^found {2}channel\.ber reaches 0\.01 at wireless_channel\.snr_db: between 6 and 8, interpolated 7\.\d+$/m,
    );
    assert.match(found.stderr, /^wireless_channel\.snr_db=0: 0\.15.*, above after 1 run$/m);
    const json = JSON.parse((await search(...query, "--json")).stdout);
    assert.deepEqual([json.schema_version, json.status, json.bracket, json.warnings], [1, "found", [6, 8], []]);
    assert.equal((await search(...query, "--format", "csv")).stdout.trim().split("\n").length, 6);
    const outside = await search(...query, "--between", "0:2");
    assert.equal(outside.code, 6);
    assert.match(outside.stdout, /not between .*: both ends lie on one side/);
    const half = await search("--until-bler", "1e-2");
    assert.deepEqual([half.code, /--between 0:12/.test(half.stderr)], [2, true]);
    const wrong = await search(...query, "--points", "0");
    assert.deepEqual([wrong.code, /Cannot use --points in a search/.test(wrong.stderr)], [2, true]);
    const text = await search("--until-bler", "low", "--between", "0:2");
    assert.deepEqual([text.code, /Give a number, such as 0\.1/.test(text.stderr)], [2, true]);
  }),
);

/** Findings of the lint of links as warnings of a plan, a run, a matrix and a benchmark. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";
import { openTestServer } from "../lib/http/support.ts";

/** 16QAM read as QPSK: the error rate covers half of the bits. AWGN has no delay spread. The second rate compares a stream with itself. */
const MISTAKES = `name: mistakes
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 256}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qam16}, inputs: {bits: data.bits}}
  - {id: link, op: wireless.channel, params: {delay_spread_ns: 30}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, params: {modulation: qpsk}, inputs: {rx_symbols: link.rx_symbols}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {candidate: demodulator.bits, reference: data.bits}}
  - {id: own, op: metrics.bit_error_rate, params: {label: own.ber}, inputs: {candidate: data.bits, reference: data.bits}}
`;
const FOUND = [
  ["metric_compares_itself", "$.steps[5].inputs.candidate"],
  ["modulation_mismatch", "$.steps[3].params.modulation"],
  ["channel_param_ignored", "$.steps[2].params.delay_spread_ns"],
];
const WHILE_RUNNING = ["length_mismatch", "$.steps[4]"];

type Found = { code: string; path: string; severity: string; hint: string | null };
const listed = (items: Found[]) => items.map(({ code, path }) => [code, path]);
const summaryOf = (result: { directory: string }) =>
  JSON.parse(Deno.readTextFileSync(join(result.directory, "summary.json")));

Deno.test(
  "a run warns of mistakes before its first step and in its summary; --no-lint leaves them out",
  inFolder(async (cwd) => {
    const text = await svc(["recipe", "run", "-"], { cwd, stdin: MISTAKES });
    assert.equal(text.code, 0, text.stderr);
    const at = (wanted: string) => text.stderr.indexOf(wanted);
    assert.ok(at("warning[modulation_mismatch]") >= 0 && at("warning[modulation_mismatch]") < at("1/6 data"));
    assert.ok(at("warning[length_mismatch]") > at("6/6 own"));
    assert.match(text.stderr, /--> <stdin>:7:\d+ {2}\$\.steps\[3\]\.params\.modulation/);

    const { json } = await svc(["recipe", "run", "-", "--json"], { cwd, stdin: MISTAKES });
    const { warnings } = summaryOf(json) as { warnings: Found[] };
    assert.deepEqual(listed(warnings), [...FOUND, WHILE_RUNNING]);
    assert.deepEqual(json.warnings, warnings);
    assert.ok(warnings.every(({ severity, hint }) => severity === "warning" && hint !== null));
    assert.equal((await svc(["runs", "verify", json.run_id], { cwd })).code, 0);

    const plain = await svc(["recipe", "run", "-", "--json", "--no-lint"], { cwd, stdin: MISTAKES });
    assert.deepEqual(listed(summaryOf(plain.json).warnings), [WHILE_RUNNING]);
    const plan = await svc(["recipe", "plan", "-", "--json"], { cwd, stdin: MISTAKES });
    assert.deepEqual(listed(plan.json.diagnostics), FOUND);
    assert.deepEqual(plan.json.warnings, plan.json.diagnostics);
    const without = await svc(["recipe", "plan", "-", "--json", "--no-lint"], { cwd, stdin: MISTAKES });
    assert.deepEqual(without.json.diagnostics, []);
    const { json: linted } = await svc(["recipe", "lint", "-", "--json"], { cwd, stdin: MISTAKES });
    assert.ok(linted.warnings.length > 0);
    assert.deepEqual(linted.warnings, linted.issues.filter(({ severity }: Found) => severity === "warning"));
    for (const words of ["validate -", "graph -", "explain - link", "specs -", "expand-matrix -"]) {
      const { json } = await svc(["recipe", ...words.split(" "), "--json"], { cwd, stdin: MISTAKES });
      assert.ok(Array.isArray(json.warnings), words);
    }
  }),
);

Deno.test(
  "captures and reproductions warn as runs do; --strict-lint refuses, --no-lint leaves the check out",
  inFolder(async (cwd) => {
    const capture = [
      "dataset-capture",
      "run",
      "-",
      "--samples",
      "1",
      "--tap",
      "rx=link.rx_symbols",
      "--force",
      "--json",
    ];
    const found = FOUND.slice(1);
    const wiring = MISTAKES.split("\n").filter((line) => !line.includes("id: own")).join("\n");
    const lax = await svc(capture, { cwd, stdin: wiring });
    assert.equal(lax.code, 0, lax.stderr);
    assert.deepEqual(
      listed(lax.json.diagnostics).filter(([code]) => code === "modulation_mismatch").length,
      0,
      "its tap needs no demapper",
    );
    const demapped = capture.map((part) => part === "rx=link.rx_symbols" ? "bits=demodulator.bits" : part);
    const warned = await svc(demapped, { cwd, stdin: wiring });
    assert.deepEqual(listed(warned.json.diagnostics), found);
    assert.deepEqual(warned.json.warnings, warned.json.diagnostics);
    assert.deepEqual((await svc([...demapped, "--no-lint"], { cwd, stdin: wiring })).json.diagnostics, []);
    const refused = await svc([...demapped, "--strict-lint"], { cwd, stdin: wiring });
    assert.notEqual(refused.code, 0);
    assert.match(JSON.stringify(refused.json), /modulation_mismatch/);

    const { json } = await svc(["recipe", "run", "-", "--json"], { cwd, stdin: MISTAKES });
    const again = await svc(["runs", "reproduce", json.run_id], { cwd });
    assert.equal(again.code, 0, again.stderr);
    // The effective recipe has every parameter; only those that the author chose are ignored by mistake.
    const warnings = [...again.stderr.matchAll(/^warning\[(\w+)\]/gm)].map(([, code]) => code).sort();
    assert.deepEqual(warnings, [...FOUND, WHILE_RUNNING].map(([code]) => code).sort());
    const silent = await svc(["runs", "reproduce", json.run_id, "--no-lint"], { cwd });
    assert.ok(!silent.stderr.includes("modulation_mismatch"));
    const strict = await svc(["runs", "reproduce", json.run_id, "--strict-lint"], { cwd });
    assert.notEqual(strict.code, 0);
    assert.match(strict.stderr, /modulation_mismatch/);
  }),
);

Deno.test(
  "a matrix and a benchmark warn once for all their rows; --strict-lint refuses",
  inFolder(async (cwd) => {
    const matrix = MISTAKES.replace(
      "metadata: {seed: 23}",
      "metadata: {seed: 23, matrix: {dimensions: {snr_db: [0.0, 9.0]}, step_params: {link: {snr_db: {matrix: snr_db}}}}}",
    );
    const swept = await svc(["recipe", "run-matrix", "-"], { cwd, stdin: matrix });
    assert.equal(swept.code, 0, swept.stderr);
    assert.equal(swept.stderr.match(/warning\[modulation_mismatch\]/g)!.length, 1);
    assert.match(swept.stderr, /2 runs need (about )?\d.* of memory and \d.* on the disk/);

    Deno.writeTextFileSync(join(cwd, "mistakes.yaml"), MISTAKES);
    Deno.writeTextFileSync(
      join(cwd, "pack.yaml"),
      "{schema_version: 1, id: mistakes, version: '1', dataset: {id: synthetic_random_bits}, task: {id: bit_transport}, metrics: [channel.ber], recipes: [{id: a, path: mistakes.yaml}]}",
    );
    const run = await svc(["benchmark", "run", "pack.yaml"], { cwd });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /warning\[modulation_mismatch\]/);
    assert.match(run.stderr, /1 run needs (about )?\d.* of memory and \d.* on the disk/);
    assert.doesNotMatch(
      (await svc(["benchmark", "run", "pack.yaml", "--no-lint"], { cwd })).stderr,
      /modulation_mismatch/,
    );
    const strict = await svc(["benchmark", "run", "pack.yaml", "--strict-lint", "--json"], { cwd });
    assert.equal(strict.code, 3);
    assert.ok(strict.json.diagnostics.some(({ code }: Found) => code === "modulation_mismatch"));
  }),
);

Deno.test("over HTTP the plan and the events warn, and strict_lint refuses", async () => {
  await using server = await openTestServer();
  const recipe = {
    name: "mistakes",
    steps: [
      { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
      {
        id: "own",
        op: "metrics.bit_error_rate",
        inputs: { candidate: "data.bits", reference: "data.bits" },
      },
    ],
  };
  const planned = await server.post("/api/recipe/plan", { recipe });
  assert.deepEqual(listed(planned.json.diagnostics), [["metric_compares_itself", "$.steps[1].inputs.candidate"]]);
  for (const path of ["/api/recipe/plan", "/api/run-jobs", "/api/recipe/run-payload"]) {
    const refused = await server.post(path, { recipe, strict_lint: true });
    assert.deepEqual([refused.status, refused.json.code], [400, "recipe_lint_failed"], path);
  }
  const { job_id } = (await server.post("/api/run-jobs", { recipe })).json;
  const ended = (await server.get(`/api/run-jobs/${job_id}/wait?timeout_seconds=60`)).json;
  const warning = ended.events.find(({ kind }: { kind: string }) => kind === "recipe_warning");
  assert.deepEqual([warning.level, warning.code], ["warning", "metric_compares_itself"]);
  const { summary } = (await server.get(`/api/runs/${ended.run_id}`)).json;
  assert.deepEqual(listed(summary.warnings), [["metric_compares_itself", "$.steps[1].inputs.candidate"]]);
});

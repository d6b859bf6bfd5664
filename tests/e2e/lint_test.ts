/** `svc recipe lint`, `svc recipe run --strict-lint` and `svc profiles` as a user calls them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";

const BIT_TRANSPORT = join(ROOT_PATH, "recipes/bit_transport_awgn.yaml");

/** Runs, though half of the bits it counts are wrong. */
const MISMATCH = `name: mismatch
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: link, op: wireless.channel, inputs: {symbols: modulator.symbols}}
  - id: demodulator
    op: demodulation.digital_demodulate
    params: {modulation: bpsk}
    inputs: {rx_symbols: link.rx_symbols}
`;

Deno.test("a clean recipe passes with 0, and --json prints the report", async () => {
  const { code, json } = await svc(["recipe", "lint", BIT_TRANSPORT, "--json"]);
  assert.equal(code, 0);
  assert.equal(json.schema_version, 1);
  assert.equal(json.status, "passed");
  assert.deepEqual(json.profiles, ["bit_transport", "symbol_transport"]);
  assert.equal(json.execution_profile.status, "conformant");
});

Deno.test("what fails exits with 3 and shows the line, the code and what to do", async () => {
  const { code, stdout, stderr } = await svc(["recipe", "lint", "-"], { stdin: MISMATCH });
  assert.equal(code, 3);
  assert.match(stdout, /error\[modulation_mismatch\]/);
  assert.match(stdout, /<stdin>:9:26/);
  assert.match(stdout, /help: Leave modulation at auto/);
  assert.match(stdout, /warning\[rate_count_fixed_point_missing\]/);
  assert.match(stdout, /failed {2}mismatch: 1 error, 1 warning\n$/);
  assert.equal(stderr, "");
  const report = await svc(["recipe", "lint", "-", "--json"], { stdin: MISMATCH });
  assert.equal(report.code, 3);
  assert.deepEqual(report.json.issues.map((issue: { code: string }) => issue.code), [
    "modulation_mismatch",
    "rate_count_fixed_point_missing",
  ]);
});

Deno.test("--relaxed warns of a data set that the catalogue does not know", async () => {
  const recipe = `name: own
metadata: {research: {dataset: {id: my_own_bits}}}
steps: [{id: data, op: source.random_bits}]
`;
  const strict = await svc(["recipe", "lint", "-", "--json"], { stdin: recipe });
  assert.deepEqual([strict.code, strict.json.strict, strict.json.error_count], [3, true, 1]);
  const relaxed = await svc(["recipe", "lint", "-", "--relaxed", "--json"], { stdin: recipe });
  assert.deepEqual([relaxed.code, relaxed.json.strict, relaxed.json.warning_count], [0, false, 1]);
});

Deno.test(
  "a run that demands strict lint is refused before anything is written, in any form",
  inFolder(async (cwd) => {
    for (const command of [["run"], ["run", "--dry-run"], ["run-matrix"]]) {
      const args = ["recipe", ...command, "-", "--strict-lint", "--json"];
      const { code, json } = await svc(args, { cwd, stdin: MISMATCH });
      assert.equal(code, 3);
      assert.equal(json.code, "recipe_lint_failed");
      assert.equal(json.diagnostics[0].code, "modulation_mismatch");
      assert.deepEqual([...Deno.readDirSync(cwd)], []);
    }
    const lenient = await svc(["recipe", "run", "-", "--json"], { cwd, stdin: MISMATCH });
    assert.equal(lenient.code, 0);
    const strict = await svc(["recipe", "run", BIT_TRANSPORT, "--strict-lint", "--json"], { cwd });
    assert.equal(strict.code, 0);
  }),
);

Deno.test("profiles are listed and shown", async () => {
  const listed = await svc(["profiles", "list"]);
  assert.equal(listed.code, 0);
  assert.equal(listed.stdout.trim().split("\n").length, 15);
  const catalogue = await svc(["profiles", "list", "--json"]);
  assert.equal(catalogue.json.profiles.length, 13);
  assert.equal(catalogue.json.custom.id, "custom");

  const shown = await svc(["profiles", "show", "pilot_channel_estimation"]);
  assert.match(
    shown.stdout,
    /channel_state +required; step data; source\.ai_phy_channel_realization; \{"scenario":"flat_siso"\}/,
  );
  const custom = await svc(["profiles", "show", "custom", "--json"]);
  assert.deepEqual([custom.json.schema_version, custom.json.id], [1, "custom"]);

  const unknown = await svc(["profiles", "show", "layered_digitl", "--json"]);
  assert.equal(unknown.code, 4);
  assert.equal(unknown.json.code, "execution_profile_unknown");
  assert.match(unknown.json.hint, /layered_digital/);
});

/** An operation of one's own, from an empty folder: scaffold, test, conformance, run, evidence. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc, svcProcess } from "../support/cli.ts";

Deno.test(
  "an operation of one's own is begun, conforms, runs in a recipe and is part of its evidence",
  inFolder(async (cwd) => {
    const written = await svc(["operation", "scaffold", "soft_limiter", "--json"], { cwd });
    assert.deepEqual(written.json.files, ["soft_limiter.ts", "soft_limiter_test.ts", "soft_limiter.yaml"]);
    const again = await svc(["operation", "scaffold", "soft_limiter", "--json"], { cwd });
    assert.deepEqual([again.code, again.json.code], [2, "usage_invalid"]);

    const checked = await svc(["operation", "check", "soft_limiter.ts", "--json"], { cwd });
    assert.deepEqual([checked.code, checked.json.status, checked.json.id], [0, "conforms", "own.soft_limiter"]);
    const tested = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-check", "soft_limiter_test.ts"],
      cwd,
    })
      .output();
    assert.ok(tested.success, new TextDecoder().decode(tested.stderr));

    const run = await svc(["--operation", "soft_limiter.ts", "recipe", "run", "soft_limiter.yaml", "--json"], { cwd });
    assert.equal(run.code, 0, run.stderr);
    const { run_id } = run.json;
    const proven = await svc(["--operation", "soft_limiter.ts", "runs", "reproduce", run_id, "--json"], { cwd });
    assert.equal(proven.json.status, "identical");

    // A sweep uses stored variants again, and none of another source.
    const path = join(cwd, "soft_limiter.ts");
    const text = await Deno.readTextFile(path);
    const recipe = await Deno.readTextFile(join(cwd, "soft_limiter.yaml"));
    const matrix = "{dimensions: {snr_db: [10.0, 15.0]}, step_params: {wireless_channel: {snr_db: {matrix: snr_db}}}}";
    await Deno.writeTextFile(join(cwd, "sweep.yaml"), recipe.replace("{seed: 23}", `{seed: 23, matrix: ${matrix}}`));
    const sweep = async () => {
      const { json } = await svc(["--operation", "soft_limiter.ts", "recipe", "run-matrix", "sweep.yaml", "--json"], {
        cwd,
      });
      return json.rows.map(({ reused }: { reused: boolean }) => reused);
    };
    assert.deepEqual([await sweep(), await sweep()], [[false, false], [true, true]]);
    await Deno.writeTextFile(path, `${text}// Another source.\n`);
    assert.deepEqual(await sweep(), [false, false]);

    // The suite finds a parameter without a unit, an altered input, and noise that no seed explains.
    const broken = text.replace(
      'largest_amplitude: z.number().positive().default(1).describe("largest output amplitude")',
      (one) => `${one},\n    gain_db: z.number().default(0).describe("gain")`,
    ).replace("let clipped = 0;", "let clipped = Math.random();\n    symbols[0] = 7;");
    assert.notEqual(broken, text);
    await Deno.writeTextFile(path, broken);
    const failed = await svcProcess(["operation", "check", "soft_limiter.ts", "--json"], { cwd });
    assert.deepEqual([failed.code, failed.json.status], [3, "fails"]);
    const messages = failed.json.checks.flatMap(({ message }: { message: string | null }) => message ?? []).join("\n");
    assert.match(messages, /does not state the unit of gain_db: gain/);
    assert.match(messages, /altered its input symbols|other metrics/);

    await Deno.writeTextFile(path, "export default 3;\n");
    const none = await svcProcess(["operation", "check", "soft_limiter.ts", "--json"], { cwd });
    assert.deepEqual([none.code, none.json.code], [3, "operation_file_invalid"]);
    const missing = await svc(["operation", "check", "nothing.ts", "--json"], { cwd });
    assert.deepEqual([missing.code, missing.json.code], [4, "file_not_found"]);
  }),
);

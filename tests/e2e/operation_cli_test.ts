/** An operation of one's own, from an empty folder: scaffold, test, conformance, run, evidence. */
import assert from "node:assert/strict";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { PROGRAM_NAME } from "../../lib/artifact/program.ts";
import { inFolder, svc, svcProcess } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";

Deno.test(
  "an operation of one's own is begun, conforms, runs in a recipe and is part of its evidence",
  inFolder(async (cwd) => {
    const written = await svc(["operation", "scaffold", "soft_limiter", "--json"], { cwd });
    assert.deepEqual(written.json.files, ["soft_limiter.ts", "soft_limiter_test.ts", "soft_limiter.yaml"]);
    // The import works wherever the program is installed: by its name, which every form of it resolves.
    assert.equal(PROGRAM_NAME, config.name);
    for (const file of written.json.files) {
      const text = await Deno.readTextFile(join(cwd, file));
      assert.ok(!text.includes("file:") && !text.includes(ROOT_PATH), text);
    }
    const again = await svc(["operation", "scaffold", "soft_limiter", "--json"], { cwd });
    assert.deepEqual([again.code, again.json.code], [2, "usage_invalid"]);

    const checked = await svc(["operation", "check", "soft_limiter.ts", "--json"], { cwd });
    assert.deepEqual([checked.code, checked.json.status, checked.json.id], [0, "conforms", "own.soft_limiter"]);
    const [, ...words] = written.json.test;
    const tested = await new Deno.Command(Deno.execPath(), { args: [words[0], "--no-check", ...words.slice(1)], cwd })
      .output();
    assert.ok(tested.success, new TextDecoder().decode(tested.stderr));

    const run = await svc(["--operation", "soft_limiter.ts", "recipe", "run", "soft_limiter.yaml", "--json"], { cwd });
    assert.equal(run.code, 0, run.stderr);
    const { run_id } = run.json;
    const proven = await svc(["--operation", "soft_limiter.ts", "runs", "reproduce", run_id, "--json"], { cwd });
    assert.equal(proven.json.status, "identical");

    // A sweep uses stored variants again, and none of another source. A process of its own looks at the source anew.
    const path = join(cwd, "soft_limiter.ts");
    const text = await Deno.readTextFile(path);
    const recipe = await Deno.readTextFile(join(cwd, "soft_limiter.yaml"));
    const matrix = "{dimensions: {snr_db: [10.0, 15.0]}, step_params: {wireless_channel: {snr_db: {matrix: snr_db}}}}";
    await Deno.writeTextFile(join(cwd, "sweep.yaml"), recipe.replace("{seed: 23}", `{seed: 23, matrix: ${matrix}}`));
    const sweep = async () => {
      const words = ["--operation", "soft_limiter.ts", "recipe", "run-matrix", "sweep.yaml", "--json"];
      const { json } = await svcProcess(words, { cwd });
      return json.rows.map(({ reused }: { reused: boolean }) => reused);
    };
    assert.deepEqual([await sweep(), await sweep()], [[false, false], [true, true]]);
    await Deno.writeTextFile(path, `${text}// Another source.\n`);
    assert.deepEqual(await sweep(), [false, false]);

    /** A folder with another source, whose module the process of the commands has not loaded. */
    const variant = async (name: string, source: string) => {
      const folder = join(cwd, name);
      await Deno.mkdir(folder);
      await Deno.writeTextFile(join(folder, "soft_limiter.ts"), source);
      await Deno.writeTextFile(join(folder, "soft_limiter.yaml"), recipe);
      return { cwd: folder };
    };

    // The suite finds a parameter without a unit, an altered input, and noise that no seed explains.
    const broken = text.replace(
      'largest_amplitude: z.number().positive().default(1).describe("largest output amplitude")',
      (one) => `${one},\n    gain_db: z.number().default(0).describe("gain")`,
    ).replace("let clipped = 0;", "let clipped = Math.random();\n    symbols[0] = 7;");
    assert.notEqual(broken, text);
    const failed = await svc(["operation", "check", "soft_limiter.ts", "--json"], await variant("broken", broken));
    assert.deepEqual([failed.code, failed.json.status], [3, "fails"]);
    const messages = failed.json.checks.flatMap(({ message }: { message: string | null }) => message ?? []).join("\n");
    assert.match(messages, /does not state the unit of gain_db: gain/);
    assert.match(messages, /altered its input symbols|other metrics/);

    // An exception names the place in the file, in the terminal, in summary.json and in the suite; a syntax error too.
    const thrown = text.replace("let clipped = 0;", "let clipped: number = (params as any).none.length;");
    const throwing = await variant("throwing", thrown);
    const line = thrown.split("\n").findIndex((row) => row.includes(".none.length")) + 1, column = 48;
    const ended = await svc(["--operation", "soft_limiter.ts", "recipe", "run", "soft_limiter.yaml"], throwing);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, new RegExp(`\\(soft_limiter\\.ts:${line}:${column}\\)$`, "m"));
    const [id] = (await svc(["runs", "list", "--json"], throwing)).json.runs.map((row: { run_id: string }) =>
      row.run_id
    );
    const summary = JSON.parse(await Deno.readTextFile(join(throwing.cwd, ".svc/runs", id, "summary.json")));
    const location = { file: "soft_limiter.ts", line, column };
    assert.deepEqual([summary.failure.location, summary.steps[2].error.location], [location, location]);
    const suite = await svc(["operation", "check", "soft_limiter.ts"], throwing);
    assert.match(suite.stdout, new RegExp(`\\(soft_limiter\\.ts:${line}:${column}\\)$`, "m"));
    const unreadable = text.replace("let clipped = 0;", "let clipped = = 0;");
    const unread = await svc(["operation", "check", "soft_limiter.ts"], await variant("unreadable", unreadable));
    assert.match(unread.stderr, new RegExp(`--> soft_limiter\\.ts:${line}:19`));

    const three = await variant("three", "export default 3;\n");
    const none = await svc(["operation", "check", "soft_limiter.ts", "--json"], three);
    assert.deepEqual([none.code, none.json.code], [3, "operation_file_invalid"]);
    const missing = await svc(["operation", "check", "nothing.ts", "--json"], { cwd });
    assert.deepEqual([missing.code, missing.json.code], [4, "file_not_found"]);
  }),
);

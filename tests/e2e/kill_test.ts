import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../support/cli.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { open } from "../../mod.ts";
import { sizeOf } from "../support/sample.ts";
import { until } from "../support/until.ts";

const RECIPE = `name: chain
metadata: { seed: 1 }
steps:
  - { id: data, op: source.random_bits, params: { bit_count: 200000 } }
${
  Array.from({ length: 12 }, (_, i) =>
    `  - { id: b${i}, op: channel.bit_boundary, inputs: { bits: ${i === 0 ? "data" : `b${i - 1}`}.bits } }`).join("\n")
}
`;

/** Kills a process unless it is over already, which is known here a little later than it is true. */
function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

Deno.test(
  "a killed process never leaves a bundle that claims to be complete and is not",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "chain.yaml"), RECIPE);
    const random = Generator.seeded(7);
    let killed = 0;
    for (let round = 0; round < sizeOf(3, 8); round++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [...CLI_ARGS, "recipe", "run", "chain.yaml", "--quiet"],
        cwd,
        stdout: "null",
        stderr: "null",
      }).spawn();
      // Between the start of the program and a little after its usual end.
      let ended = false;
      const timer = setTimeout(() => ended || kill(child), 150 + 500 * random.random());
      const { signal } = await child.status;
      ended = true;
      clearTimeout(timer);
      if (signal === "SIGKILL") killed++;
    }
    assert.ok(killed > 0, "at least one process was killed");
    const listed = await svc(["runs", "list", "--json"], { cwd });
    for (const { run_id, status } of listed.json.runs as { run_id: string; status: string }[]) {
      assert.ok(["completed", "incomplete"].includes(status), `${run_id}: ${status}`);
      const verified = await svc(["runs", "verify", run_id], { cwd });
      assert.equal(verified.code, 0, `${run_id} (${status})\n${verified.stdout}`);
    }
    // The folder stays usable: the next run is complete.
    assert.equal((await svc(["recipe", "run", "chain.yaml", "--quiet"], { cwd })).code, 0);
  }),
);

/** Points of the sweep, and the numbers of stored bundles at which it is killed. */
const POINTS = sizeOf(60, 120), KILLED_AT = [1, 20, 60, 100].filter((count) => count < POINTS);

const SWEEP = `name: sweep
metadata:
  seed: 1
  matrix:
    dimensions: {snr_db: [${Array.from({ length: POINTS }, (_, i) => `${i / 10}`).join(", ")}]}
    step_params: {link: {snr_db: {matrix: snr_db}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: symbols, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: link, op: wireless.channel, inputs: {symbols: symbols.symbols}}
`;

Deno.test(
  "a killed sweep of short points keeps every stored run, and a second call computes the others",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "sweep.yaml"), SWEEP);
    const runs = join(cwd, ".svc/runs");
    const stored = () => {
      try {
        return [...Deno.readDirSync(runs)].length;
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return 0;
        throw error;
      }
    };
    // At the first bundles and while many are written; bundles are seen by polling, so that the moment varies.
    let killed = 0;
    for (const count of KILLED_AT) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [...CLI_ARGS, "recipe", "run-matrix", "sweep.yaml", "--quiet", "--parallel-points", "3"],
        cwd,
        stdout: "null",
        stderr: "null",
      }).spawn();
      let ended = false;
      const status = child.status.finally(() => ended = true);
      await until(`${count} bundles`, () => ended || stored() >= count);
      kill(child);
      if ((await status).signal === "SIGKILL") killed++;
    }
    assert.ok(killed > 0, "at least one process was killed");
    await using cleanup = new AsyncDisposableStack();
    const session = cleanup.adopt(await open({ projectRoot: cwd }), (one) => one.close());
    const states = async () => {
      const rows = await session.runs.list({ limit: 200 });
      for (const { run_id, status } of rows) {
        // A point that takes longer has a bundle while it runs, which is incomplete after a kill.
        const expected = status === "incomplete" ? "warning" : "valid";
        assert.equal((await session.runs.verify(run_id)).status, expected, run_id);
      }
      return rows.map(({ status }) => status);
    };
    const kept = await states(), before = kept.filter((status) => status === "completed").length;
    assert.ok(kept.every((status) => status === "completed" || status === "incomplete"));
    const { json } = await svc(["recipe", "run-matrix", "sweep.yaml", "--json"], { cwd });
    const reused = json.rows.filter((row: { reused: boolean }) => row.reused);
    assert.deepEqual([json.status, json.rows.length, reused.length], ["completed", POINTS, before]);
    // Interrupted runs are replaced.
    assert.deepEqual(await states(), Array(POINTS).fill("completed"));
  }),
);

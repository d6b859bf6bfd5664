/** A benchmark that is killed again and again, at any moment, ends with the numbers of one that was left alone. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { listBenchmarkResults, showBenchmarkResult } from "../../lib/study/rows/store.ts";
import { exists } from "../../lib/artifact/path_kind.ts";
import { listRuns } from "../../lib/run/store.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { verifyBenchmark } from "../support/session.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { prettyJson } from "../../lib/contract/json.ts";
import { CLI_ARGS, inFolder } from "../support/cli.ts";
import { LEDGER_FILE } from "../../lib/study/pack/types.ts";
import { lasting } from "../support/benchmark.ts";
import { LINK, twoLinks } from "../lib/study/packs.ts";
import { sizeOf } from "../support/sample.ts";
import { until } from "../support/until.ts";

/** Kills within a benchmark; each is one start of the program. */
const KILLS = sizeOf(2, 9);

/** Size of the only ledger in a state directory, or 0. */
function ledgerSize(stateDir: string): number {
  const folder = join(stateDir, "benchmarks");
  const results = exists(folder) ? [...Deno.readDirSync(folder)].filter(({ name }) => !name.startsWith(".")) : [];
  return results.length === 0 ? 0 : Deno.statSync(join(folder, results[0].name, LEDGER_FILE)).size;
}

Deno.test(
  "killed at many moments, a benchmark loses no finished row and ends with the same numbers",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "link.yaml"), LINK);
    await Deno.writeTextFile(join(cwd, "pack.json"), prettyJson(twoLinks({ replication: { replicates: 12 } })));
    const random = Generator.seeded(11);
    const start = (workspace: string, ...more: string[]) =>
      new Deno.Command(Deno.execPath(), {
        args: [...CLI_ARGS, "--workspace", workspace, "--quiet", "benchmark", "run", "pack.json", ...more],
        cwd,
        stdout: "null",
        stderr: "piped",
      });
    /** Resolves when the program has written an event, or has ended. */
    const begins = async (stateDir: string, child: Deno.ChildProcess) => {
      const before = ledgerSize(stateDir);
      let ended = false;
      child.status.then(() => ended = true);
      await until("the program writes an event", () => ended || ledgerSize(stateDir) !== before);
    };
    const stateDir = join(cwd, "whole"), child = start(stateDir).spawn();
    const errors = new Response(child.stderr).text();
    await begins(stateDir, child);
    const startedAt = performance.now();
    assert.equal((await child.status).code, 0, await errors);
    const usual = performance.now() - startedAt;
    const whole = openWorkspace({ projectRoot: cwd, stateDir });
    const expected = lasting(showBenchmarkResult(whole, listBenchmarkResults(whole)[0].result_id).result);

    let killed = 0, begun = 0, completed = 0;
    for (let round = 0; killed < KILLS; round++) {
      const stateDir = join(cwd, `killed${round}`), workspace = openWorkspace({ projectRoot: cwd, stateDir });
      // Every other round has rows side by side.
      const points = ["--parallel-points", String(1 + 2 * (round % 2))];
      let finished = 0;
      for (let attempt = 0;; attempt++) {
        const [earlier] = listBenchmarkResults(workspace);
        const resume = earlier === undefined ? [] : ["--resume", earlier.result_id];
        const child = start(stateDir, ...points, ...resume).spawn();
        const errors = new Response(child.stderr).text();
        await begins(stateDir, child);
        // Sooner and sooner the round is left alone, so that it ends.
        const kill = () => {
          try {
            child.kill("SIGKILL");
          } catch (error) {
            // It ended at this very moment.
            if (!(error instanceof TypeError)) throw error;
          }
        };
        const timer = setTimeout(kill, usual * random.random() * (0.6 + 0.4 * attempt));
        const { signal, code } = await child.status;
        clearTimeout(timer);
        if (signal !== "SIGKILL") {
          assert.equal(code, 0, await errors);
          break;
        }
        await errors;
        killed++;
        const [row, ...others] = listBenchmarkResults(workspace);
        if (row === undefined) continue;
        begun++;
        assert.deepEqual(others, []);
        assert.equal(row.problem, undefined);
        if (row.status === "completed") break;
        assert.ok(row.completed_rows >= finished, "a finished row was lost");
        finished = row.completed_rows;
        const { result } = showBenchmarkResult(workspace, row.result_id);
        assert.deepEqual([result.status, result.incomplete_reason], ["incomplete", "interrupted"]);
        const report = await verifyBenchmark(workspace, row.result_id);
        assert.equal(report.status, "valid", JSON.stringify(report.errors));
      }
      const [{ result_id }] = listBenchmarkResults(workspace);
      const { result } = showBenchmarkResult(workspace, result_id);
      assert.deepEqual(lasting(result), expected);
      const report = await verifyBenchmark(workspace, result_id);
      assert.equal(report.status, "valid", JSON.stringify(report.errors));
      if (result.resume !== undefined) assert.deepEqual(listRuns(workspace), [], "interrupted runs are swept");
      completed++;
    }
    assert.ok(begun >= KILLS / 2 && completed >= 1, `${begun} of ${killed} kills hit a benchmark`);
  }),
);

Deno.test(
  "the command that an interrupted benchmark prints continues it as printed",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "link.yaml"), LINK);
    await Deno.writeTextFile(join(cwd, "my pack.json"), prettyJson(twoLinks()));
    const stateDir = join(cwd, "own state");
    const words = ["--workspace", "own state", "benchmark", "run", "my pack.json", "--replicates", "60"];
    const more = ["--parallel-workers", "2", "--parallel-points=2", "--continue-on-error", "--no-lint"];
    const child = new Deno.Command(Deno.execPath(), {
      args: [...CLI_ARGS, ...words, ...more],
      cwd,
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const errors = new Response(child.stderr).text();
    let ended = false;
    child.status.then(() => ended = true);
    await until("the benchmark has written rows", () => ended || ledgerSize(stateDir) > 8000);
    child.kill("SIGINT");
    assert.equal((await child.status).code, 130, await errors);
    const [, printed] = /^Continue with: (.*)$/m.exec(await errors)!;
    assert.match(printed, /^svc --workspace 'own state' benchmark run 'my pack.json' --replicates 60 .* --resume \S+$/);
    const svc = `svc() { "${Deno.execPath()}" ${CLI_ARGS.join(" ")} "$@"; }`;
    const { code, stderr } = await new Deno.Command("sh", { args: ["-c", `${svc}; ${printed}`], cwd }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const [row, ...others] = listBenchmarkResults(openWorkspace({ projectRoot: cwd, stateDir }));
    assert.deepEqual([row.status, row.completed_rows, others], ["completed", 120, []]);
  }),
);

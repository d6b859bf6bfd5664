/** A benchmark that is killed again and again, at any moment, ends with the numbers of one that was left alone. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { listBenchmarkResults, showBenchmarkResult } from "../../lib/benchmark/store.ts";
import { listRuns } from "../../lib/run/store.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { verifyBenchmark } from "../../lib/benchmark/verify.ts";
import { Generator } from "../../lib/numeric/random.ts";
import { prettyJson } from "../../lib/contract/json.ts";
import { CLI_ARGS, inFolder } from "../support/cli.ts";
import { lasting } from "../support/benchmark.ts";
import { LINK, twoLinks } from "../lib/benchmark/packs.ts";

const KILLS = 24;

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
    const startedAt = performance.now();
    assert.equal((await start("whole").output()).code, 0);
    const usual = performance.now() - startedAt;
    const whole = openWorkspace({ projectRoot: cwd, stateDir: join(cwd, "whole") });
    const expected = lasting(showBenchmarkResult(whole, listBenchmarkResults(whole)[0].result_id).result);

    let killed = 0, begun = 0, completed = 0;
    for (let round = 0; killed < KILLS; round++) {
      const stateDir = join(cwd, `killed${round}`), workspace = openWorkspace({ projectRoot: cwd, stateDir });
      let finished = 0;
      for (let attempt = 0;; attempt++) {
        const [earlier] = listBenchmarkResults(workspace);
        const child = start(stateDir, ...(earlier === undefined ? [] : ["--resume", earlier.result_id])).spawn();
        const errors = new Response(child.stderr).text();
        // Sooner and sooner the round is left alone, so that it ends.
        const kill = () => {
          try {
            child.kill("SIGKILL");
          } catch (error) {
            // It ended at this very moment.
            if (!(error instanceof TypeError)) throw error;
          }
        };
        const timer = setTimeout(kill, usual * (0.2 + random.random() * (0.6 + 0.2 * attempt)));
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
    assert.ok(begun >= KILLS / 4 && completed >= 1, `${begun} of ${killed} kills hit a benchmark`);
  }),
);

/** The client for Python: against the program itself, without NumPy and pandas, and its errors. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, inFolder, svc } from "../../support/cli.ts";
import { needs } from "../../support/needs.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { withModules } from "../../support/python.ts";

const PYTHON = "/usr/bin/python3";

async function python(args: string[], options: Deno.CommandOptions = {}): Promise<{ success: boolean; text: string }> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(PYTHON, { args, ...options }).output();
    return { success, text: new TextDecoder().decode(success ? stdout : stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { success: false, text: `no ${PYTHON}` };
    throw error;
  }
}

const found = (await python(["-c", "import sys; assert sys.version_info >= (3, 9)"])).success;
const numpy = found && await withModules(PYTHON, "numpy", "pandas");

/** A project with the client, and `svc` on a PATH. */
async function prepare(cwd: string): Promise<Record<string, string>> {
  await svc(["init", "."], { cwd });
  await Deno.writeTextFile(join(cwd, "svc.py"), (await svc(["client", "python"], { cwd })).stdout);
  await Deno.mkdir(join(cwd, "bin"));
  const program = [Deno.execPath(), ...CLI_ARGS].map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(join(cwd, "bin/svc"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  return { PATH: `${join(cwd, "bin")}:${Deno.env.get("PATH")}` };
}

Deno.test({
  name: "the client is one file of Python 3.9, as printed",
  ...needs(`${PYTHON}, 3.9 or later`, found),
  async fn() {
    const file = join(ROOT_PATH, "lib/api/client/svc.py");
    const printed = await svc(["client", "python"]);
    assert.equal(printed.stdout, await Deno.readTextFile(file));
    const parsed = await python([
      "-c",
      `import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))`,
      file,
    ]);
    assert.ok(parsed.success, parsed.text);
  },
});

Deno.test({
  name: "the client runs, lists and refuses without NumPy and pandas",
  ...needs(`${PYTHON}, 3.9 or later`, found),
  fn: inFolder(async (cwd) => {
    const env = await prepare(cwd);
    await svc(["operation", "scaffold", "soft_limiter"], { cwd });
    const own = join(cwd, "soft_limiter.ts"), text = await Deno.readTextFile(own);
    await Deno.writeTextFile(own, text.replace("let clipped = 0;", "let clipped = (params as any).none.length;"));
    const line = text.split("\n").findIndex((row) => row.includes("let clipped")) + 1;
    await Deno.writeTextFile(
      join(cwd, "case.py"),
      `
import json, os, signal, threading, time
import svc

def refused(code, call):
    try:
        call()
    except svc.SvcError as error:
        assert error.code == code, error
        return error
    raise AssertionError(code)

run = svc.run("recipes/first_link.yaml", set={"snr_db": 6.0, "repetition": 1})
assert run.status == "completed" and 0.01 < run.metrics["channel.ber"] < 0.03
assert run.metrics["evaluation/channel.ber"] == run.metrics["channel.ber"]
assert os.path.exists(run.path("modulator", "symbols"))
assert run.document("evaluation", "report")["metrics"]["channel.ber"] == run.metrics["channel.ber"]
assert "channel.ber" in run._repr_html_() and run.id in repr(run)
try:
    run.metrics["timing.step.wall_time_s"]
    raise AssertionError
except KeyError as error:
    assert "several steps have it" in str(error)
listed = svc.runs(recipe="first_link")
assert [one.id for one in listed] == [run.id] and listed[0].metrics == run.metrics
assert svc.runs(where={"channel_encoder.factor": 3}).rows == []
written = dict(json.load(open(os.path.join(run.directory, "recipe.json"))))
assert svc.run(written).recipe == run.recipe

assert "numpy" in refused("numpy_missing", lambda: run.array("modulator", "symbols")).hint
refused("pandas_missing", listed.frame)
assert "modulator" in refused("step_not_found", lambda: run.path("modulatr", "symbols")).hint
assert "symbols" in refused("output_not_found", lambda: run.path("modulator", "symbol")).hint
assert refused("recipe_not_found", lambda: svc.run("nothing.yaml")).hint
error = refused("plan_invalid", lambda: svc.run("recipes/first_link.yaml"))
assert error.path.startswith("$.metadata.matrix") and "run-matrix" in error.hint and error.diagnostics[0]["code"] == "matrix_unresolved"
refused("svc_not_found", lambda: svc.Client(program="no-such-svc").runs())
refused("svc_failed", lambda: svc.Client(program=["echo", "text"]).runs())

own = svc.Client(operations=["soft_limiter.ts"])
error = refused("operation_failed", lambda: own.run("soft_limiter.yaml"))
assert error.path.startswith("soft_limiter.ts:${line}:"), error.path
assert error.run.status == "failed"
over = {"limiter.largest_amplitude": [1.0, 2.0]}
error = refused("operation_failed", lambda: own.sweep("soft_limiter.yaml", over=over))
assert error.result.status == "failed" and [row["largest_amplitude"] for row in error.result.rows] == [1.0, 2.0]
kept = own.sweep("soft_limiter.yaml", over=over, continue_on_error=True)
assert [row["status"] for row in kept.rows] == ["failed", "failed"] and len(kept.runs) == 2

# An interrupted call gives the program one signal, and waits for its end.
script = "trap 'echo interrupted > signalled; exit 130' INT; echo > started; while :; do sleep 0.02; done"
def interrupt():
    while not os.path.exists("started"):
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    svc.Client(program=["sh", "-c", script]).runs()
    raise AssertionError
except KeyboardInterrupt:
    assert open("signalled").read() == "interrupted\\n"
`,
    );
    // -S: no packages of the system.
    const { success, text: said } = await python(["-S", "case.py"], { cwd, env });
    assert.ok(success, said);
  }),
});

Deno.test({
  name: "the client gives arrays and frames of runs, sweeps and benchmarks",
  ...needs(`numpy and pandas for ${PYTHON}`, numpy),
  fn: inFolder(async (cwd) => {
    const env = await prepare(cwd);
    await Deno.writeTextFile(
      join(cwd, "case.py"),
      `
import numpy as np
import svc

sweep = svc.sweep("recipes/first_link.yaml", over={"snr_db": np.array([2.0, 6.0]), "repetition": [1]}, parallel_points=2)
frame = sweep.frame()
assert list(frame.snr_db) == [2.0, 6.0] and frame["channel.ber"].is_monotonic_decreasing, frame
assert not [name for name in frame.columns if "timing." in name]
for run, row in zip(sweep, sweep.rows):
    assert run.id == row["run_id"] and run.metrics["channel.ber"] == row["channel.ber"]
symbols = sweep[0].array("modulator", "symbols")
assert symbols.dtype == np.complex64 and abs(np.mean(np.abs(symbols) ** 2) - 1) < 1e-6
bits = sweep[0].array("data", "bits")
assert bits.dtype == np.uint8 and set(np.unique(bits)) == {0, 1}
again = svc.sweep("recipes/first_link.yaml", over={"snr_db": [2.0, 6.0], "repetition": [1]})
assert [run.id for run in again] == [run.id for run in sweep]

result = svc.benchmark("first_comparison", replicates=2, parallel_points=2)
frame = result.frame()
assert result.status == "completed" and {"uncoded"} < set(frame.method) and len(result) == len(frame)
ber = frame[frame.metric == "channel.ber"]
assert (ber.ci_low <= ber["mean"]).all() and (ber["mean"] <= ber.ci_high).all() and "snr_db" in frame.columns
assert "channel.ber" in result._repr_html_()
`,
    );
    const { success, text } = await python(["case.py"], { cwd, env });
    assert.ok(success, text);
  }),
});

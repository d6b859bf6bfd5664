import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson, type JsonObject } from "../../../lib/contract/json.ts";
import { captureEnvironment } from "../../../lib/run/environment.ts";
import { sampleMemory } from "../../../lib/run/memory.ts";
import { until } from "../../support/until.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("memory of a run is measured from start to peak to end", () => {
  const readings = [100, 300, 200];
  const sampler = sampleMemory({ read: () => readings.shift() ?? 150 });
  assert.deepEqual(sampler.pending().metrics, {});
  assert.equal(sampler.pending().evidence.status, "pending");
  const { metrics, evidence } = sampler.stop();
  assert.equal(metrics["memory.run.start_rss_bytes"], 100);
  assert.equal(metrics["memory.run.peak_rss_bytes"], 300);
  assert.equal(metrics["memory.run.end_rss_bytes"], 300);
  assert.equal(metrics["memory.run.peak_rss_delta_bytes"], 200);
  assert.equal(canonicalJson(evidence.sampler_interval_s), "0.05");
  assert.equal(evidence.status, "measured");
  assert.equal(evidence.successful_samples, 2);
  assert.equal("shared_process" in evidence, false);
  assert.deepEqual(sampler.stop(), { metrics, evidence });
});

Deno.test("memory is sampled during a run", async () => {
  let count = 0;
  const sampler = sampleMemory({ read: () => ++count });
  await until("four samples are taken", () => count >= 4);
  assert.equal(sampler.stop().metrics["memory.run.end_rss_bytes"], count);
});

Deno.test("memory that can be read sometimes, or never, says so", () => {
  let fail = false;
  const sometimes = sampleMemory({
    read: () => {
      if (fail) throw new Error("refused");
      return 5;
    },
    sharedProcess: () => true,
  });
  fail = true;
  const { metrics, evidence } = sometimes.stop();
  assert.equal(evidence.status, "partially_measured");
  assert.equal(evidence.failed_samples, 1);
  assert.equal(evidence.error, "refused");
  assert.equal(evidence.shared_process, true);
  assert.equal(metrics["memory.run.peak_rss_bytes"], 5);
  const never = sampleMemory({
    read: () => {
      throw new Error("refused");
    },
  }).stop();
  assert.deepEqual(never.metrics, {});
  assert.equal(never.evidence.status, "unavailable");
  assert.equal(never.evidence.available, false);
});

Deno.test("the environment names runtime, machine, program, dependencies and project files", async () => {
  const project = temporaryFolder();
  Deno.writeTextFileSync(join(project, "deno.json"), "{}\n");
  const environment = await captureEnvironment(project);
  assert.deepEqual(Object.keys(environment), [
    "captured_at_utc",
    "runtime",
    "python",
    "platform",
    "hardware",
    "process",
    "svc",
    "dependencies",
    "native",
    "project_files",
    "git",
  ]);
  assert.equal((environment.runtime as JsonObject).version, Deno.version.deno);
  assert.equal(environment.python, null);
  assert.match(String((environment.svc as JsonObject).build_sha256), /^[0-9a-f]{64}$/);
  assert.match(String((environment.dependencies as JsonObject).zod), /^\d+\.\d+\.\d+$/);
  assert.deepEqual(environment.project_files, { "deno.json": { sha256: sha256Hex("{}\n"), size_bytes: 3 } });
  assert.equal((environment.git as JsonObject).available, false);
  assert.ok(((environment.hardware as JsonObject).memory_bytes as number) > 0);
  canonicalJson(environment);
});

Deno.test("what a permission refuses is null with the reason, without a prompt", () => {
  const script = `import { captureEnvironment } from ${
    JSON.stringify(new URL("../../../lib/run/environment.ts", import.meta.url).href)
  };
    const { hardware, git } = await captureEnvironment(Deno.args[0]);
    console.log(JSON.stringify({ hardware, git }));`;
  const folder = Deno.makeTempDirSync();
  const inner = join(folder, "inner");
  Deno.mkdirSync(inner);
  try {
    Deno.writeTextFileSync(join(inner, "script.ts"), script);
    const root = new URL("../../../", import.meta.url).pathname;
    const { stdout, stderr } = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-check",
        "--quiet",
        "--no-prompt",
        `--allow-read=${root},${inner}`,
        join(inner, "script.ts"),
        inner,
      ],
    }).outputSync();
    const text = new TextDecoder().decode(stdout);
    assert.notEqual(text, "", new TextDecoder().decode(stderr));
    const { hardware, git } = JSON.parse(text);
    assert.equal(hardware.cpu, null);
    assert.equal(hardware.memory_bytes, null);
    assert.match(hardware.reason, /sys=cpus/);
    assert.match(git.reason, /not permitted/);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

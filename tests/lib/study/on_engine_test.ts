/** Records of submitted benchmarks; the engines themselves are in tests/e2e/engines_test.ts. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../../mod.ts";

Deno.test("a damaged record of a submitted benchmark is named, and never followed", async () => {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-engine-" });
  try {
    const id = "20260101T120000Z_pack", folder = join(stateDir, "engine", id), path = join(folder, "job.json");
    await Deno.mkdir(folder, { recursive: true });
    await using svc = await open({ stateDir });
    const foreign = {
      schema_version: 1,
      kind: "svc.engine_job",
      result_id: id,
      engine: "slurm",
      created_at_utc: "2026-01-01T12:00:00.000Z",
      job: { name: "svc", directory: join(stateDir, "victim"), cwd: stateDir, retries: 2 },
      plan: { program: ["svc"], pack: "p.yaml", shards: 1, folder: join(stateDir, "victim/shards"), options: [] },
      replication: {},
      submissions: [],
    };
    for (
      const text of [
        JSON.stringify(foreign),
        '{"kind": "svc.engine_job"',
        "[]",
        '{"kind": "svc.engine_job", "job": {}, "plan": {}}',
      ]
    ) {
      await Deno.writeTextFile(path, text);
      await assert.rejects(
        svc.benchmarks.status(id),
        { code: "bundle_schema_invalid", message: new RegExp(path) },
        text,
      );
    }
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
});

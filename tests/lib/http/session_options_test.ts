/** The options of a server's session apply in its library threads and in its jobs. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { holds, OPTIONS, PERMISSIONS, RECIPE } from "../api/fixture.ts";
import { openTestServer } from "./support.ts";

Deno.test({
  name: "adapters, own operations and the accelerator apply in threads and in jobs",
  permissions: PERMISSIONS,
  async fn() {
    await using server = await openTestServer({ ...OPTIONS, threads: 1 });
    const { operations } = (await server.get("/api/ops")).json;
    const ids = operations.map(({ id }: { id: string }) => id);
    for (const id of ["dct_slices.encode", "test.indices"]) assert.ok(ids.includes(id), id);
    const { value: recipe } = readRecipeText(RECIPE, { file: "own.yaml" });
    const planned = await server.post("/api/recipe/plan", canonicalJson({ recipe }));
    assert.equal(planned.status, 200, planned.text);
    holds(planned.json.plan);
    const { job_id } = (await server.post("/api/run-jobs", canonicalJson({ recipe }))).json;
    const { run_id, error } = (await server.get(`/api/run-jobs/${job_id}/wait?timeout_seconds=60`)).json;
    assert.match(error.detail, /onnxruntime-node: native libraries may not be loaded/);
    const { summary } = (await server.get(`/api/runs/${run_id}`)).json;
    const steps: JsonObject[] = summary.steps;
    for (const id of ["slices", "indices"]) assert.equal(steps.find((step) => step.id === id)?.status, "completed", id);
    holds(JSON.parse(await Deno.readTextFile(`${server.folder}/.svc/runs/${run_id}/execution-plan.json`)));
  },
});

/** Metrics in the list of runs: read once, and again where a summary changed. */
import assert from "node:assert/strict";
import { openTestServer } from "./support.ts";

Deno.test("a list shows the metrics of a run, and those of its summary once that has changed", async () => {
  await using server = await openTestServer();
  const { json: { job_id } } = await server.post("/api/run-jobs", {
    recipe: {
      name: "counted",
      steps: [
        { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
        { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "data.bits" } },
      ],
    },
  });
  await server.get(`/api/run-jobs/${job_id}/wait?timeout_seconds=60`);
  // A reply is kept for a moment, until another page is asked for.
  const listed = async (limit: number) => (await server.get(`/api/runs?fields=metrics&limit=${limit}`)).json.runs[0];
  const first = await listed(1);
  assert.equal(first.metrics["channel.compare_bit_count"], 64);
  assert.ok(first.intervals["channel.ber"].bound > 0);
  assert.deepEqual(await listed(2), first);
  const file = `${server.folder}/.svc/runs/${first.run_id}/summary.json`, text = await Deno.readTextFile(file);
  assert.match(text, /"channel\.compare_bit_count": ?64/);
  await Deno.writeTextFile(file, text.replaceAll(/("channel\.compare_bit_count": ?)64/g, "$1640"));
  assert.equal((await listed(3)).metrics["channel.compare_bit_count"], 640);
});

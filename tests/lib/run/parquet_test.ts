import assert from "node:assert/strict";
import { join } from "node:path";
import { parquetReadObjects } from "npm:hyparquet@^1.31.5";
import { run } from "../../../mod.ts";
import { parseJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { exportParquet } from "../../../lib/run/parquet.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";

/** JPEG images over a noiseless link and their scores, by image. */
const RECIPE = {
  name: "scores",
  metadata: { seed: 3 },
  steps: [
    {
      id: "images",
      op: "source.image_dataset",
      params: { dataset: "svc_sample_images", image_ids: "camera,coffee", resize_shorter_side: 32 },
    },
    { id: "encode", op: "model.jpeg_encode", inputs: { images: "images.images" } },
    { id: "decode", op: "model.jpeg_decode", inputs: { bits: "encode.bits" } },
    {
      id: "scores",
      op: "metrics.image_reconstruction",
      inputs: { reconstruction: "decode.images", reference: "images.images" },
    },
  ],
};

Deno.test("the metrics of a run are a Parquet table that another reader opens", async () => {
  const projectRoot = Deno.makeTempDirSync();
  try {
    const { run_id, summary, directory } = await run(RECIPE, { projectRoot });
    const workspace = openWorkspace({ projectRoot }), out = join(projectRoot, "out", "metrics.parquet");
    const written = await exportParquet(workspace, run_id, { out });
    assert.deepEqual([written.directory, written.files], [join(projectRoot, "out"), ["metrics.parquet"]]);
    const bytes = Deno.readFileSync(out);
    const rows = await parquetReadObjects({ file: bytes.buffer }) as Record<string, unknown>[];
    assert.deepEqual(Object.keys(rows[0]), ["run_id", "recipe", "step", "op", "item", "metric", "value", "count"]);
    const bits = summary.steps[1].metrics["codec.bit_count"];
    const [row] = rows.filter(({ step, metric }) => step === "encode" && metric === "codec.bit_count");
    assert.deepEqual(row, {
      run_id,
      recipe: "scores",
      step: "encode",
      op: "model.jpeg_encode",
      item: null,
      metric: "codec.bit_count",
      value: Number(bits),
      count: BigInt(bits as number),
    });
    // By image, equal to the report.
    const report = parseJson(
      Deno.readTextFileSync(join(directory, summary.steps[3].outputs.report.path)),
    ) as JsonObject;
    const wanted = (report.items as { id: string; metrics: JsonObject }[])
      .map(({ id, metrics }) => [id, Number(metrics["quality.psnr_db"])]);
    const found = rows.filter(({ item, metric }) => item !== null && metric === "quality.psnr_db")
      .map(({ item, value }) => [item, value]);
    assert.deepEqual(found, wanted);
    assert.equal(found.length, 2);
    // The same rows are the same bytes, and an existing file is kept.
    await exportParquet(workspace, run_id, { out: join(projectRoot, "again.parquet") });
    assert.deepEqual(Deno.readFileSync(join(projectRoot, "again.parquet")), bytes);
    await assert.rejects(exportParquet(workspace, run_id, { out }), { code: "usage_invalid" });
    // A changed report is no result.
    const damaged = join(directory, summary.steps[3].outputs.report.path);
    Deno.chmodSync(damaged, 0o644);
    Deno.writeTextFileSync(damaged, "{}\n");
    await assert.rejects(exportParquet(workspace, run_id, { out: join(projectRoot, "third.parquet") }), {
      code: "artifact_hash_mismatch",
    });
  } finally {
    Deno.removeSync(projectRoot, { recursive: true });
  }
});

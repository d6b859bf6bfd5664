import assert from "node:assert/strict";
import { join } from "node:path";
import { parquetReadObjects } from "npm:hyparquet@^1.31.5";
import { tableFromIPC } from "npm:@uwdata/flechette@~2.6.0";
import { readParquet } from "npm:parquet-wasm@^0.8.0/node";
import { run } from "../../../mod.ts";
import { csvRecords } from "../../../lib/artifact/csv.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson, parseJson } from "../../../lib/contract/json.ts";
import { float, integer, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { exportParquet } from "../../../lib/run/parquet.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { svc } from "../../support/cli.ts";
import { fakeExecutor, runSmall, testRecipe, withWorkspace } from "./fixture.ts";
import { step } from "../../support/step.ts";
import { temporaryFolder } from "../../support/temporary.ts";

/** JPEG images over a noiseless link and their scores, by image. */
const RECIPE = {
  name: "scores",
  metadata: { seed: 3 },
  steps: [
    step("images", "source.image_dataset", {}, {
      dataset: "svc_sample_images",
      image_ids: "camera,coffee",
      resize_shorter_side: 32,
    }),
    { id: "encode", op: "model.jpeg_encode", inputs: { images: "images.images" } },
    { id: "decode", op: "model.jpeg_decode", inputs: { bits: "encode.bits" } },
    step("scores", "metrics.image_reconstruction", { reconstruction: "decode.images", reference: "images.images" }),
  ],
};

/** Reads a file with arrow-rs, which has no code in common with the writer. */
function readByArrow(path: string): { fields: [string, string, boolean][]; rows: Record<string, unknown>[] } {
  const stream = readParquet(Deno.readFileSync(path)).intoIPCStream();
  if (stream === undefined) throw new Error("arrow-rs gave no table");
  const table = tableFromIPC(stream, { useBigInt: true });
  const types: Record<number, string> = { 2: "int", 3: "float", 5: "utf8" };
  return {
    fields: table.schema.fields.map(({ name, type, nullable }) => {
      const bits = "bitWidth" in type ? type.bitWidth : "precision" in type ? 16 << Number(type.precision) : "";
      return [name, `${types[type.typeId]}${bits}`, nullable];
    }),
    rows: table.toArray() as Record<string, unknown>[],
  };
}

Deno.test("arrow-rs reads the table: types, nulls, and the values of the CSV and JSON tables of the same run", async () => {
  const projectRoot = temporaryFolder();
  const { run_id, summary, directory } = await run(RECIPE, { projectRoot });
  const workspace = openWorkspace({ projectRoot }), out = join(projectRoot, "metrics.parquet");
  await exportParquet(workspace, run_id, { out });
  const { fields, rows } = readByArrow(out);
  assert.deepEqual(fields, [
    ["run_id", "utf8", false],
    ["recipe", "utf8", false],
    ["step", "utf8", false],
    ["op", "utf8", false],
    ["item", "utf8", true],
    ["metric", "utf8", false],
    ["value", "float64", false],
    ["count", "int64", true],
  ]);
  const metrics = ["quality.psnr_db", "codec.bit_count", "rate.payload_bpp"];
  const table = async (format: string) => {
    const args = ["runs", "table", run_id, "--metrics", metrics.join(","), "--format", format];
    const { stdout, stderr, code } = await svc(args, { cwd: projectRoot });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const [titles, cells] = csvRecords(await table("csv"), 3);
  const [shown] = JSON.parse(await table("json")).rows;
  for (const metric of metrics) {
    const found = rows.filter((row) => row.item === null && row.metric === metric);
    assert.equal(found.length, 1, metric);
    assert.equal(found[0].value, Number(cells[titles.indexOf(metric)]), metric);
    assert.equal(found[0].value, shown.metrics[metric].mean, metric);
    assert.equal(found[0].recipe, shown.recipe_name);
  }
  // All metrics of the steps, in their order, and a count only for whole numbers.
  const whole = summary.steps.flatMap(({ id, op, metrics }) =>
    Object.entries(metrics as JsonObject).map(([metric, value]) => {
      const count = typeof value === "bigint" || Number.isInteger(value) ? BigInt(value as number) : null;
      return { run_id, recipe: "scores", step: id, op, item: null, metric, value: toNumber(value as number), count };
    })
  );
  assert.deepEqual(rows.filter(({ item }) => item === null), whole);
  const report = parseJson(
    Deno.readTextFileSync(join(directory, summary.steps[3].outputs.report.path)),
  ) as JsonObject;
  const items = (report.items as { id: string; metrics: JsonObject }[]).flatMap(({ id, metrics }) =>
    Object.entries(metrics).map(([metric, value]) => [id, metric, toNumber(value as number)])
  );
  const read = rows.filter(({ item }) => item !== null).map(({ item, metric, value }) => [item, metric, value]);
  assert.deepEqual(read, items);
  assert.ok(items.length > 4);
});

/** A run whose recipe and items have these texts, and a value for each item. */
async function runOf(workspace: Workspace, name: string, items: readonly [string, JsonObject][]): Promise<string> {
  const report = { kind: "metrics.report", items: items.map(([id, metrics]) => ({ id, metrics })) };
  const { run_id } = await runSmall(workspace, {
    raw: { ...testRecipe(1), name },
    execute: (options) =>
      fakeExecutor()({
        ...options,
        onStep(row) {
          const { report: output } = row.outputs;
          if (output !== undefined) {
            const bytes = new TextEncoder().encode(`${canonicalJson(report)}\n`);
            Deno.writeFileSync(join(options.bundle, output.path), bytes);
            output.sha256 = sha256Hex(bytes);
          }
          options.onStep(row);
        },
      }),
  });
  return run_id;
}

Deno.test("arrow-rs reads texts with commas, quotes and line breaks, an empty text, and the edges of numbers", () =>
  withWorkspace(async (workspace) => {
    const items: [string, JsonObject][] = [
      ['a, "b"; c', { "test.rate": float(0.1) }],
      ["first\nsecond\r\nthird\ttab", { "test.rate": float(-0) }],
      ["", { "test.rate": float(1e-320) }],
      ["null", { "test.rate": float(1.7976931348623157e308) }],
      ["Größe \u{1f4e1} שלום", { "test.count": integer(2n ** 62n + 1n), "test.rate": float(2 ** -1074) }],
      ["x".repeat(70_000), { "test.count": integer(-(2n ** 63n)) }],
      ["beyond int64", { "test.count": integer(2n ** 63n) }],
    ];
    const name = 'QPSK, "coded", 12 dB';
    const run_id = await runOf(workspace, name, items), out = join(workspace.projectRoot, "metrics.parquet");
    await exportParquet(workspace, run_id, { out });
    const { rows } = readByArrow(out);
    assert.ok(rows.length > items.length && rows.every(({ recipe }) => recipe === name));
    const values = (row: Record<string, unknown>) => [row.item, row.metric, row.value, row.count];
    assert.deepEqual(
      rows.filter(({ item }) => item !== null).map(values),
      items.flatMap(([id, metrics]) =>
        Object.entries(metrics).map(([metric, value]) => {
          const count = metric === "test.count" && id !== "beyond int64" ? BigInt(value as bigint) : null;
          return [id, metric, toNumber(value as number), count];
        })
      ),
    );
  }));

Deno.test("the metrics of a run are a Parquet table that another reader opens", async () => {
  const projectRoot = temporaryFolder();
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
});

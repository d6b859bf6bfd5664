/**
 * The metrics of a run as a table in one Parquet file: a row for each metric of a step, and for each metric of an item of a
 * report, such as an image.
 *
 *     run_id, recipe, step, op   text
 *     item                       text, null for the metric of a whole step
 *     metric                     id in the catalogue of metrics
 *     value                      float64
 *     count                      int64, null for a metric that is not a count or beyond int64; exact beyond 2^53
 *
 * The bytes depend on the rows alone. Format: Apache Parquet 2.11 (parquet.apache.org), version 1 pages, Snappy.
 */
import { basename, dirname, resolve } from "node:path";
import { decodeArtifact } from "../artifact/codec.ts";
import { inside, makeUserFolder, readFile } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { REPORT } from "../contract/kinds.ts";
import { isInteger, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import type { WrittenCrate } from "./ro_crate.ts";
import type { ShownRun } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** Of a report that is read whole. */
const MAX_REPORT_BYTES = 2 ** 28;

interface MetricRow {
  run_id: string;
  recipe: string;
  step: string;
  op: string;
  item: string | null;
  metric: string;
  value: number;
  count: bigint | null;
}

/**
 * Writes the table of a finished run.
 * @param out a new file
 * @throws SvcError `run_not_found`, `run_still_executing`, `usage_invalid` where the file exists, `artifact_hash_mismatch`
 */
export async function exportParquet(
  workspace: Workspace,
  wanted: string,
  { out, paths }: ByPath & { out: string },
): Promise<WrittenCrate> {
  const run = openRun(workspace, wanted, { paths }), { run_id } = run, target = resolve(out);
  if (run.summary.status === "running") {
    throw new SvcError("run_still_executing", `Cannot export ${run_id}: it has not ended`, {
      hint: "Wait for its end",
    });
  }
  if (exists(target)) {
    throw new SvcError("usage_invalid", `Cannot write ${target}: it exists`, { hint: "Name a new file with --out" });
  }
  const bytes = await tableOf(metricRows(run));
  makeUserFolder(dirname(target));
  writeFileAtomic(target, bytes);
  return { run_id, directory: dirname(target), files: [basename(target)] };
}

function metricRows({ run_id, directory, summary }: ShownRun): MetricRow[] {
  return summary.steps.flatMap(({ id: step, op, metrics, outputs }) => {
    const head = { run_id, recipe: summary.recipe_name, step, op };
    const rows = (values: JsonObject, item: string | null) =>
      Object.entries(values).flatMap(([metric, value]): MetricRow[] =>
        isNumber(value) ? [{ ...head, item, metric, ...cellOf(value) }] : []
      );
    const items = Object.values(outputs).flatMap(({ kind, path, sha256 }) => {
      const file = inside(directory, path);
      // The reports of a pruned run may be gone; its metrics are not.
      if (kind !== REPORT || !exists(file)) return [];
      const bytes = readFile(file, MAX_REPORT_BYTES);
      if (sha256Hex(bytes) !== sha256) {
        throw new SvcError("artifact_hash_mismatch", `Cannot export ${path}: it differs from the recorded file`, {
          hint: "svc runs verify names every file that changed",
        });
      }
      return itemsOf(decodeArtifact(kind, bytes).json().items);
    });
    return [...rows(metrics, null), ...items.flatMap(({ id, metrics }) => rows(metrics, id))];
  });
}

function itemsOf(items: Value | undefined): { id: string; metrics: JsonObject }[] {
  return (Array.isArray(items) ? items : []).flatMap((item) =>
    isObject(item) && typeof item.id === "string" && isObject(item.metrics)
      ? [{ id: item.id, metrics: item.metrics }]
      : []
  );
}

function cellOf(value: Parameters<typeof toNumber>[0]): Pick<MetricRow, "value" | "count"> {
  const count = isInteger(value) ? BigInt(value) : null;
  return { value: toNumber(value), count: count === null || BigInt.asIntN(64, count) !== count ? null : count };
}

async function tableOf(rows: readonly MetricRow[]): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import("npm:hyparquet-writer@^0.17.0");
  const column = (name: keyof MetricRow, type: "STRING" | "DOUBLE" | "INT64", nullable = false) => ({
    name,
    type,
    nullable,
    data: rows.map((row) => row[name]),
  });
  const columnData = [
    column("run_id", "STRING"),
    column("recipe", "STRING"),
    column("step", "STRING"),
    column("op", "STRING"),
    column("item", "STRING", true),
    column("metric", "STRING"),
    column("value", "DOUBLE"),
    column("count", "INT64", true),
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, createdBy: "svc" }));
}

/** Tables and figures of finished runs, such as the variants of a sweep. */
import { resolve } from "node:path";
import type { JsonObject } from "../../contract/value.ts";
import type { PlacedRun } from "../../run/bundle_place.ts";
import type { PlotRequest } from "./figure/types.ts";
import { type PlotFiles, plotFiles, type PlotOptions } from "./plot_files.ts";
import { writeFiles, type WrittenFiles } from "./reports.ts";
import { resultOfRuns } from "./runs_result.ts";
import { type RunsTable, runsTable } from "./runs_table.ts";

/** A figure of runs. */
export interface RunsPlotRequest extends PlotRequest {
  /** Name of the recipe; the variants of its matrix count. */
  recipe?: string;
}

export interface RunsTableRequest {
  recipe?: string;
  where?: Readonly<Record<string, string>>;
  metrics?: readonly string[];
}

/** The table of runs, newest first. @throws SvcError `run_not_found`, `usage_invalid` */
export function tableOfRuns(rows: readonly PlacedRun[], request: RunsTableRequest): RunsTable {
  const { recipe, where = {}, metrics } = request;
  const result = resultOfRuns(rows, { recipe, parameters: Object.keys(where), by: "run" });
  return runsTable(result, rows.map(({ row }) => row), { metrics, where });
}

/** A plot of runs, and what it was drawn from. */
export type DrawnRuns = PlotFiles & { result_id: string; sha256: string; runs: string[] };
/** A plot of runs in a folder. */
export type PlottedRuns = WrittenFiles & { plot: PlotFiles; runs: string[] };

/** The files of a plot of finished runs. @throws SvcError `run_not_found`, `usage_invalid` */
export async function drawRuns(
  rows: readonly PlacedRun[],
  { recipe, ...request }: RunsPlotRequest,
  { name, ...options }: PlotOptions = {},
): Promise<DrawnRuns> {
  const finished = rows.filter(({ row: { status } }) => status === "completed");
  const parameters = [
    request.x,
    ...(request.plot === "heat-map" ? [request.y] : []),
    ...Object.keys(request.where ?? {}),
  ].filter((id) => id !== undefined);
  const { result, evidence, sha256 } = resultOfRuns(finished, { recipe, parameters, by: "point" });
  const runs = result.recipes.map(({ run_id }) => run_id!);
  const record = (binding: JsonObject): JsonObject => ({ ...binding, kind: "svc.runs_plot", benchmark: null, runs });
  const named = name ??
    (recipe === undefined ? undefined : `${recipe}_${request.y ?? "plot"}`.replace(/[^\w.-]/g, "-"));
  const plot = await plotFiles(result, sha256, request, { ...options, evidence, name: named, record });
  return { ...plot, result_id: result.result_id, sha256, runs };
}

/** Draws finished runs into a folder. @throws SvcError `run_not_found`, `usage_invalid` */
export async function plotRuns(
  rows: readonly PlacedRun[],
  request: RunsPlotRequest,
  { out, ...options }: PlotOptions & { out: string },
): Promise<PlottedRuns> {
  const { result_id, sha256, runs, ...plot } = await drawRuns(rows, request, options);
  const directory = resolve(out);
  writeFiles(directory, plot.files);
  return { result_id, result_sha256: sha256, directory, files: Object.keys(plot.files), plot, runs };
}

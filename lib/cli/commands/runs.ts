/** `svc runs`: list, show, verify, reproduce, compare, prune, restore and remove run bundles. */
import { join } from "node:path";
import { SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import { isNumber, type JsonObject, toNumber } from "../../contract/value.ts";
import {
  ALL_METRICS,
  choice,
  command,
  type CommandSpec,
  flag,
  FORMAT,
  IGNORE_ESTIMATE,
  LINT,
  names,
  parsed,
  text,
  whole,
  WORKERS,
} from "../command.ts";
import { FIGURE_TYPES, type FigureType } from "../../figure/types.ts";
import { headlineView } from "../headline_view.ts";
import { exchangeCommands } from "../exchange.ts";
import { countProgress } from "../fetch_progress.ts";
import { EXIT, reportText } from "../problem.ts";
import type { RetentionReport } from "../../run/retention.ts";
import { type Column, formatBytes, formatTable, right } from "../table.ts";
import { place, readStyle, showFiles } from "./benchmark_report.ts";
import { counted } from "./recipe.ts";

const SELECTION = {
  recipe: text("--recipe <name>", "runs of this recipe and of the variants of its matrix"),
  olderThan: text("--older-than <age>", "runs that finished more than AGE ago (30d, 12h)"),
  largerThan: text("--larger-than <size>", "runs larger than SIZE (100MB, 1GiB)"),
};
const DRY_RUN = flag("--dry-run", "print what would be removed, and change nothing");

const STATES = ["running", "completed", "failed", "canceled", "incomplete"];

export const runsCommands: CommandSpec[] = [
  command({
    usage: "runs list",
    summary: "list runs, newest first",
    options: {
      status: choice("--status <status>", "only runs in this state", STATES),
      recipe: SELECTION.recipe,
      where: parsed("--where <id=value>", "only runs with this value of a parameter or metric; repeat", place, {}),
      limit: parsed("--limit <n>", "maximum number of rows", whole(1), 100),
      format: FORMAT,
    },
    examples: ["svc runs list --status failed", "svc runs list --where modulator.modulation=qpsk --format csv"],
    call: ({ svc, options: { format: _, ...filter }, context }) =>
      svc.runs.list(filter, {
        onProgress: countProgress(context, "runs into the index"),
        onDamage: (reason) => context.note(`The index of runs was damaged and is made anew: ${reason}`),
      }),
    json: (runs) => ({ schema_version: 1, runs }),
    show(runs, { context, options: { status, recipe, where, format } }) {
      if (format === "json") return prettyJson({ schema_version: 1, runs });
      if (runs.length === 0 && format === "table") {
        return context.note(
          status === undefined && recipe === undefined && Object.keys(where).length === 0
            ? "No runs yet. Start with: svc recipe run recipes/quickstart.yaml"
            : "No run matches. All of them: svc runs list",
        );
      }
      const rows = runs.map((row) => ({
        run: row.run_id,
        status: row.problem === undefined ? row.status : "unreadable",
        recipe: row.recipe_name,
        size: format === "table" ? formatBytes(Number(row.size_bytes)) : Number(row.size_bytes),
        artifacts: row.artifacts,
        created: row.created_at_utc,
      }));
      const columns: Column[] = ["run", "status", "recipe"];
      columns.push(right("size"));
      // The column is shown only where it has a value.
      if (format === "csv" || runs.some(({ artifacts }) => artifacts === "pruned")) columns.push("artifacts");
      return formatTable(rows, [...columns, "created"], format);
    },
  }),
  command({
    usage: "runs table",
    summary: "print a table of finished runs: differing parameters, and metrics with intervals",
    options: {
      recipe: SELECTION.recipe,
      where: parsed("--where <id=value>", "only runs with this value of a parameter or metric; repeat", place, {}),
      metrics: parsed("--metrics <ids>", "comma-separated metrics (default: those of the task)", names),
      format: choice("--format <format>", "output format", ["table", "csv", "json", "md", "tex"], "table"),
    },
    examples: [
      "svc runs table --recipe sweep --format csv > sweep.csv",
      "svc runs table --where modulator.modulation=qpsk --metrics channel.ber,channel.bler",
    ],
    call: ({ svc, options: { format: _, ...request } }) => svc.runs.table(request),
    json: (table) => table,
    async show(table, { context, options: { format } }) {
      if (format === "json") return prettyJson(table);
      const { runsReport, runsTableCsv, runsTableText } = await import("../../study/report/runs_table.ts");
      if (format === "csv") return runsTableCsv(table);
      if (format !== "table") return runsTableText(table, format as "md" | "tex");
      const { columns, rows } = runsReport(table, context.unicode ? "unicode" : "plain");
      const lines = rows.map((row) =>
        Object.fromEntries(row.map((cell, at) => [`${at}`, typeof cell === "string" ? cell : cell.written]))
      );
      return formatTable(lines, columns.map(({ title, align }, at) => ({ key: `${at}`, title, align })));
    },
  }),
  command({
    usage: "runs plot [type]",
    summary: "plot finished runs of a recipe, such as the variants of its matrix",
    choices: { type: FIGURE_TYPES },
    options: {
      recipe: SELECTION.recipe,
      x: text("--x <id>", "dimension, step.parameter or metric along x (default: an Es/N0, else the first dimension)"),
      y: text("--y <id>", "metric along y"),
      group: text("--group <by>", "group curves by method, recipe or metric:<id> (default: method)"),
      where: parsed("--where <id=value>", "only runs with this value of a parameter or metric; repeat", place, {}),
      bound: text("--bound <id>", "metric drawn as a dashed line, a bound of the metric along y"),
      style: text("--style <style>", "svc, paper, compact or a JSON or YAML file (default: svc)"),
      out: parsed("--out <folder>", "output folder", (folder: string) => folder, "figures"),
      name: text("--name <name>", "name of the files, without extension"),
    },
    examples: ["svc runs plot --recipe sweep --x snr_db --y channel.ber"],
    async call({ svc, args: [type], options: { style, out, name, ...request } }) {
      const wanted = { ...request, plot: type as FigureType | undefined };
      return await svc.runs.plot(wanted, { style: await readStyle(style), out, name });
    },
    json: ({ directory, files, runs, plot: { plot, x, y, group } }) => ({
      schema_version: 1,
      directory,
      files,
      runs,
      plot,
      x: x || null,
      y: y || null,
      group,
    }),
    show: (written, call) => showFiles(written, call),
  }),
  command({
    usage: "runs show <run>",
    summary: "show the outcome of a run (a unique prefix of its id is enough)",
    options: { allMetrics: ALL_METRICS },
    async call({ svc, args: [id], options: { allMetrics } }) {
      const shown = await svc.runs.show(id);
      return { ...shown, view: await headlineView(svc, shown.run_id, allMetrics) };
    },
    json: ({ directory, summary, manifest }) => ({ schema_version: 1, directory, summary, manifest }),
    async show({ summary, directory, view }, { context }) {
      const { headlineTable } = await import("../headline.ts");
      const steps = summary.steps as JsonObject[];
      context.print(`${context.paint("bold", String(summary.run_id))}  ${summary.status}`);
      context.print(`  recipe ${summary.recipe_name}, hash ${summary.recipe_sha256}`);
      context.print(`  created ${summary.created_at_utc}, completed ${summary.completed_at_utc ?? "-"}`);
      if (summary.error) context.print(`  ${context.paint("red", "error")} ${summary.error}`);
      const rows = steps.map((step) => {
        const seconds = (step.metrics as JsonObject)["timing.step.wall_time_s"];
        const ms = isNumber(seconds) ? (toNumber(seconds) * 1000).toFixed(1) : "";
        return { step: String(step.id), operation: String(step.op), status: String(step.status), ms };
      });
      const columns = ["step", "operation", "status"];
      context.print(formatTable(rows, [...columns, right("ms")]));
      const metrics = headlineTable(steps, view);
      if (metrics !== "") context.print(metrics);
      return `bundle ${directory}`;
    },
  }),
  command({
    usage: "runs manifest <run>",
    summary: "print the manifest of a run",
    call: async ({ svc, args: [id] }) => (await svc.runs.show(id)).manifest,
    json: (manifest) => manifest,
    show: (document) => prettyJson(document),
  }),
  command({
    usage: "runs pictures <run>",
    summary: "write the images of a run as PNG files, with a strip of sent beside received images",
    options: { out: parsed("--out <folder>", "output folder", (folder: string) => folder, "pictures") },
    examples: ["svc runs pictures 20260101T120000Z_quickstart --out pictures"],
    call: ({ svc, args: [id], options: { out } }) => svc.runs.pictures(id, { out }),
    json: (written) => ({ schema_version: 1, ...written }),
    show: ({ directory, files, strip }, { context }) => {
      for (const file of files) context.print(`  ${file}`);
      return `strip ${join(directory, strip)}`;
    },
  }),
  command({
    usage: "runs export <run>",
    summary: "export a finished run as an archive format",
    options: {
      format: choice("--format <format>", "Workflow Run RO-Crate 1.1", ["ro-crate"], "ro-crate"),
      out: text("--out <folder>", "a new folder (default: <run>.crate)"),
      licence: text("--licence <licence>", "URL or name of the licence of the data"),
    },
    examples: ["svc runs export 20260101T120000Z_quickstart --format ro-crate --out crate"],
    call: async ({ svc, args: [id], options: { out, licence } }) => {
      const { run_id } = await svc.runs.show(id);
      return await svc.runs.export(run_id, { out: out ?? `${run_id}.crate`, licence });
    },
    json: (written) => ({ schema_version: 1, ...written }),
    show: ({ directory, files }) => `crate ${directory}, ${counted(files.length, "file")}`,
  }),
  command({
    usage: "runs verify <run>",
    summary: "verify the hashes and the links between the documents of a bundle; exit 6 on a difference",
    options: {
      signedBy: text("--signed-by <file>", "file of allowed signers; the run must have the signature of one of them"),
    },
    examples: [
      "svc runs verify 20260101T120000Z_quickstart",
      "svc runs verify 20260101T120000Z_quickstart --signed-by allowed_signers",
    ],
    call: ({ svc, args: [id], options: { signedBy } }) => svc.runs.verify(id, { signedBy }),
    show: (report, { context }) => reportText(report, context.paint),
    exit: ({ status }) => status === "invalid" ? EXIT.differs : EXIT.ok,
  }),
  command({
    usage: "runs sign <run>",
    summary: "sign a finished run with a key of OpenSSH: writes SHA256SUMS.sig, which runs verify --signed-by checks",
    options: {
      key: text("--key <file>", "private key, or public key whose private key ssh-agent holds (required)"),
    },
    examples: ["svc runs sign 20260101T120000Z_quickstart --key ~/.ssh/id_ed25519"],
    call: ({ svc, args: [id], options: { key } }) => {
      if (key === undefined) {
        throw new SvcError("usage_invalid", "Cannot sign without a key", { hint: "Add --key ~/.ssh/id_ed25519" });
      }
      return svc.runs.sign(id, key);
    },
    json: (signed) => ({ schema_version: 1, ...signed }),
    show: ({ path, sha256sums }) => `signed SHA256SUMS ${sha256sums}\n${path}`,
  }),
  command({
    usage: "runs reproduce <run>",
    summary: "run the recipe of a bundle again and compare all artifacts; exit 6 on a difference",
    options: { parallelWorkers: WORKERS, ignoreEstimate: IGNORE_ESTIMATE, ...LINT },
    cancellable: true,
    call: ({ svc, args: [id], options, cancellation, onEvent }) =>
      svc.runs.reproduce(id, { ...options, cancellation, onEvent }),
    json: (report) => report,
    show({ status, run_id, reproduced_run_id, artifacts, first_difference, warnings }, { context, cancellation }) {
      context.findings(warnings);
      const runs = `${run_id} -> ${reproduced_run_id}`;
      // The missing artifacts of a canceled run say nothing about the original.
      if (cancellation.isCancelled) return `${context.paint("yellow", "canceled")}  ${runs}`;
      const rows = artifacts as JsonObject[];
      context.print(
        `${context.paint(status === "identical" ? "green" : "red", String(status))}  ${runs}: ` +
          `${rows.filter(({ match }) => match).length} of ${rows.length} artifacts identical`,
      );
      if (first_difference) context.print(`  first difference: step ${first_difference}`);
    },
    exit: ({ status }) => status === "identical" ? EXIT.ok : EXIT.differs,
  }),
  command({
    usage: "runs diff <a> <b>",
    summary: "compare two runs: recipe, plan, environment, metrics, artifacts",
    call: ({ svc, args: [a, b] }) => svc.runs.diff(a, b),
    json: (report) => report,
    show(report, { context: { paint } }) {
      const value = (item: unknown) =>
        item === undefined || item === null ? "-" : prettyJson(item as JsonObject).trim();
      const lines = [paint(report.equal ? "green" : "yellow", report.equal ? "equal" : "different")];
      for (const section of ["recipe", "plan", "environment"] as const) {
        for (const row of report[section] as JsonObject[]) {
          const change = `${paint("red", value(row.a))} -> ${paint("green", value(row.b))}`;
          lines.push(`  ${section} ${row.path}: ${change}`);
        }
      }
      for (const row of report.metrics as JsonObject[]) {
        lines.push(`  metric ${row.step_id} ${row.metric}: ${value(row.a)} -> ${value(row.b)}`);
      }
      for (const row of (report.artifacts as JsonObject[]).filter(({ equal }) => !equal)) {
        lines.push(`  artifact ${row.step_id}.${row.output_name} differs`);
      }
      return lines.join("\n");
    },
  }),
  command({
    usage: "runs prune [runs...]",
    summary:
      "delete the artifacts of finished runs; documents and digests are kept, and runs restore makes the files again",
    options: { ...SELECTION, dryRun: DRY_RUN },
    examples: ["svc runs prune --larger-than 100MB --dry-run", "svc runs prune --recipe sweep --older-than 30d"],
    call: ({ svc, args: [ids], options: { dryRun, ...selection } }) =>
      svc.runs.prune({ ids, ...selection }, { dryRun }),
    show: (report) => retentionText(report, "pruned"),
  }),
  command({
    usage: "runs restore <run>",
    summary: "run a pruned run again and restore its artifacts; exit 6 without a change when a digest differs",
    options: { parallelWorkers: WORKERS, ignoreEstimate: IGNORE_ESTIMATE },
    cancellable: true,
    call: ({ svc, args: [id], options, cancellation, onEvent }) =>
      svc.runs.restore(id, { ...options, cancellation, onEvent }),
    show: ({ status, run_id, files, size_bytes }, { context: { paint } }) =>
      status === "complete"
        ? `${paint("green", "complete")}  ${run_id}: no artifact is missing`
        : `${paint("green", "restored")}  ${run_id}: ${counted(files, "artifact")}, ${formatBytes(size_bytes)}`,
  }),
  command({
    usage: "runs remove [runs...]",
    summary: "delete finished runs; their ids stay reserved",
    options: { ...SELECTION, dryRun: DRY_RUN, yes: flag("--yes", "do not ask for confirmation") },
    examples: ["svc runs remove 20260101T120000Z_quickstart", "svc runs remove --older-than 30d --dry-run"],
    async call({ svc, args: [ids], options: { yes, dryRun, ...selection }, context }) {
      const found = await svc.runs.remove({ ids, ...selection }, { dryRun: true });
      if (dryRun || found.runs.length === 0) return found;
      const exact = found.runs.map(({ run_id }) => run_id);
      const shown = exact.length > 5 ? `${exact.slice(0, 5).join(", ")}, …` : exact.join(", ");
      const question = `Remove ${counted(exact.length, "run")} (${formatBytes(found.size_bytes)}): ${shown}?`;
      const refusal = `Cannot remove ${exact.length} runs without being asked`;
      return context.confirmed(yes, question, refusal)
        ? await svc.runs.remove({ ids: exact })
        : { ...found, runs: [], files: 0, size_bytes: 0, freed_bytes: 0 };
    },
    json: (report) => ({
      schema_version: 1,
      removed: report.dry_run ? [] : report.runs.map(({ run_id }) => run_id),
      ...report,
    }),
    show: (report) => retentionText(report, "removed"),
  }),
  command({
    usage: "runs gc",
    summary:
      "remove what killed processes left: staging, unused reservations, stored artifacts and evidence without owner",
    options: {
      incomplete: text(
        "--incomplete <age>",
        "also remove incomplete runs that began at least this long ago, such as 7d",
      ),
      dryRun: DRY_RUN,
    },
    call: ({ svc, options }) => svc.runs.gc(options),
    show({ dry_run, items, size_bytes }, { context }) {
      for (const { what, path, size_bytes: bytes } of items) context.print(`  ${what}  ${path}  ${formatBytes(bytes)}`);
      return items.length === 0
        ? "found nothing to remove"
        : `${dry_run ? "would remove" : "removed"} ${counted(items.length, "item")}, ${formatBytes(size_bytes)}`;
    },
  }),
  ...exchangeCommands(
    "runs",
    "finished runs",
    "20260101T120000Z_quickstart",
    {
      push: (svc, store, selection, options) => svc.runs.push(store, selection, options),
      pull: (svc, store, ids, options) => svc.runs.pull(store, ids, options),
    },
    SELECTION,
  ),
];

/** A line for each run, and the sum. */
function retentionText({ dry_run, runs, files, size_bytes, freed_bytes }: RetentionReport, verb: string): string {
  const done = dry_run ? `would be ${verb}` : verb;
  if (runs.length === 0) return `no run ${dry_run ? "would be" : "was"} ${verb}`;
  const rows = runs.map(({ run_id, files, size_bytes }) => ({ run: run_id, files, size: formatBytes(size_bytes) }));
  const columns = ["run", right("files"), right("size")];
  const shared = freed_bytes < size_bytes ? `, ${formatBytes(freed_bytes)} of them not shared with other runs` : "";
  return `${formatTable(rows, columns)}${counted(runs.length, "run")} ${done}: ${counted(files, "file")}, ` +
    `${formatBytes(size_bytes)}${shared}`;
}

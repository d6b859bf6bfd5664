/** `svc runs`: list, show, verify, reproduce, compare, prune, restore and remove run bundles. */
import { join } from "../../contract/paths.ts";
import { runs } from "../../api/calls/runs.ts";
import { diagnostic } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import { isNumber, type JsonObject, toNumber } from "../../contract/value.ts";
import { STYLE_NAMES } from "../../figure/style.ts";
import { FIGURE_TYPES } from "../../figure/types.ts";
import type { RetentionReport } from "../../run/retention.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { ALL_METRICS, choice, type CommandSpec, flag, FORMAT, text } from "../command.ts";
import { exchangeFaces } from "../exchange.ts";
import { countProgress } from "../fetch_progress.ts";
import { headlineView } from "../headline_view.ts";
import { EXIT, reportText } from "../problem.ts";
import { type Column, formatBytes, formatTable, right } from "../table.ts";
import { readStyle, showFiles } from "./benchmark_report.ts";
import { counted } from "./recipe.ts";

const callCommands = commandsOf("runs", runs, {
  list: {
    options: { format: FORMAT },
    examples: ["svc runs list --status failed", "svc runs list --where modulator.modulation=qpsk --format csv"],
    means: ({ context }) => ({
      onProgress: countProgress(context, "runs into the index"),
      onDamage: (reason) =>
        context.warn(
          diagnostic("index_damaged", [], `The index of runs was damaged and is made anew: ${reason}`, {
            severity: "warning",
          }),
        ),
    }),
    json: (runs) => ({ schema_version: 1, runs }),
    remarks: {
      runs(runs, { options: { status, recipe, where, format } }) {
        if (runs.length > 0 || format !== "table") return null;
        return status === undefined && recipe === undefined && Object.keys(where ?? {}).length === 0
          ? "No runs yet. Start with: svc recipe run recipes/quickstart.yaml"
          : "No run matches. All of them: svc runs list";
      },
    },
    show(runs, { options: { format } }) {
      if (format === "json") return prettyJson({ schema_version: 1, runs });
      if (runs.length === 0 && format === "table") return;
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
  },
  table: {
    options: { format: choice("--format <format>", "output format", ["table", "csv", "json", "md", "tex"], "table") },
    examples: [
      "svc runs table --recipe sweep --format csv > sweep.csv",
      "svc runs table ../colleague/20260101T120000Z_a ../colleague/20260101T120500Z_b",
      "svc runs table --where modulator.modulation=qpsk --metrics channel.ber,channel.bler",
    ],
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
  },
  plot: {
    choices: { type: FIGURE_TYPES },
    options: { style: text("--style <style>", `${STYLE_NAMES.join(", ")}, or a JSON or YAML file (default: svc)`) },
    examples: [
      "svc runs plot --recipe sweep --x snr_db --y channel.ber",
      "svc runs plot error-rate ../colleague/20260101T120000Z_a ../colleague/20260101T120500Z_b",
    ],
    means: async ({ options }) => ({ style: await readStyle(options.style) }),
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
    ...showFiles,
  },
  show: {
    options: { allMetrics: ALL_METRICS },
    // They stand beside the metrics.
    printed: () => [],
    json: ({ directory, summary, manifest }) => ({ schema_version: 1, directory, summary, manifest }),
    async show({ summary, directory }, { svc, context, args: [id], options: { allMetrics } }) {
      const { headlineTable } = await import("../headline.ts");
      const view = await headlineView(svc, id, allMetrics);
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
      context.print(formatTable(rows, ["step", "operation", "status", right("ms")]));
      const metrics = headlineTable(steps, view);
      if (metrics !== "") context.print(metrics);
      return `bundle ${directory}`;
    },
  },
  pictures: {
    examples: ["svc runs pictures 20260101T120000Z_quickstart --out pictures"],
    show: ({ directory, files, strip }, { context }) => {
      for (const file of files) context.print(`  ${file}`);
      return `strip ${join(directory, strip)}`;
    },
  },
  export: {
    examples: [
      "svc runs export 20260101T120000Z_quickstart --out crate",
      "svc runs export 20260101T120000Z_quickstart --format zip",
      "svc runs export 20260101T120000Z_quickstart --format parquet --out metrics.parquet",
    ],
    show: ({ directory, files }, { options: { format } }) =>
      format === "parquet"
        ? join(directory, files[0])
        : `${format === "sigmf" ? "recordings" : "crate"} ${directory}, ${counted(files.length, "file")}`,
  },
  verify: {
    examples: [
      "svc runs verify 20260101T120000Z_quickstart",
      "svc runs verify 20260101T120000Z_quickstart --signed-by allowed_signers",
    ],
    show: (report, { context }) => reportText(report, context.paint),
    exit: ({ status }) => status === "invalid" ? EXIT.differs : EXIT.ok,
  },
  sign: {
    examples: ["svc runs sign 20260101T120000Z_quickstart --key ~/.ssh/id_ed25519"],
    show: ({ path, sha256sums }) => `signed SHA256SUMS ${sha256sums}\n${path}`,
  },
  reproduce: {
    cancellable: true,
    show({ status, run_id, reproduced_run_id, artifacts, first_difference }, { context, cancellation }) {
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
  },
  diff: {
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
  },
  import: {
    examples: [
      "svc runs import 20260101T120000Z_quickstart.zip",
      "svc runs import ../colleague/20260101T120000Z_quickstart.crate",
    ],
    show: ({ outcome, run_id, original_id, sha256sums }, { context: { paint } }) =>
      `${paint("green", outcome)}  ${run_id}${
        run_id === original_id ? "" : `: another run has the id ${original_id}`
      }\n` +
      `  sha256sums ${sha256sums}`,
  },
  prune: {
    examples: ["svc runs prune --larger-than 100MB --dry-run", "svc runs prune --recipe sweep --older-than 30d"],
    show: (report) => retentionText(report, "pruned"),
  },
  restore: {
    cancellable: true,
    show: ({ status, run_id, files, size_bytes }, { context: { paint } }) =>
      status === "complete"
        ? `${paint("green", "complete")}  ${run_id}: no artifact is missing`
        : `${paint("green", "restored")}  ${run_id}: ${counted(files, "artifact")}, ${formatBytes(size_bytes)}`,
  },
  remove: {
    options: { yes: flag("--yes", "do not ask for confirmation") },
    examples: ["svc runs remove 20260101T120000Z_quickstart", "svc runs remove --older-than 30d --dry-run"],
    async call({ options: { yes, dryRun, undoable }, context, svc }, perform) {
      const found = await perform({ dry_run: true });
      if (dryRun || found.runs.length === 0) return found;
      const ids = found.runs.map(({ run_id }) => run_id);
      const shown = ids.length > 5 ? `${ids.slice(0, 5).join(", ")}, …` : ids.join(", ");
      const question = `Remove ${counted(ids.length, "run")} (${formatBytes(found.size_bytes)}): ${shown}?`;
      const refusal = `Cannot remove ${ids.length} runs without being asked`;
      return context.confirmed(yes, question, refusal)
        ? await svc.runs.remove({ ids, undoable })
        : { ...found, runs: [], files: 0, size_bytes: 0, freed_bytes: 0 };
    },
    json: (report) => ({
      schema_version: 1,
      removed: report.dry_run ? [] : report.runs.map(({ run_id }) => run_id),
      ...report,
    }),
    show: (report) => retentionText(report, "removed"),
  },
  undo: {
    examples: ["svc runs remove --recipe sweep --undoable --yes", "svc runs undo"],
    show: ({ runs, artifacts_of }) =>
      [...runs.map((id) => `  ${id}`), ...artifacts_of.map((id) => `  ${id}: its artifacts`), ""].join("\n") +
      `put back ${counted(runs.length + artifacts_of.length, "run")}`,
  },
  gc: {
    show({ dry_run, items, size_bytes }, { context }) {
      for (const { what, path, size_bytes: bytes } of items) context.print(`  ${what}  ${path}  ${formatBytes(bytes)}`);
      return items.length === 0
        ? "found nothing to remove"
        : `${dry_run ? "would remove" : "removed"} ${counted(items.length, "item")}, ${formatBytes(size_bytes)}`;
    },
  },
  ...exchangeFaces("runs", "20260101T120000Z_quickstart"),
});

export const runsCommands: CommandSpec[] = [
  ...callCommands,
  commandOf(runs.show, { name: "runs manifest", usage: "<run>", summary: "print the manifest of a run" }, {
    json: ({ manifest }) => manifest,
    // The manifest alone, as in its file.
    findings: undefined,
    show: ({ manifest }) => prettyJson(manifest),
  }),
];

/** A line for each run, and the sum. */
function retentionText(
  { dry_run, runs, files, size_bytes, freed_bytes, removal }: RetentionReport,
  verb: string,
): string {
  const done = dry_run ? `would be ${verb}` : verb;
  if (runs.length === 0) return `no run ${dry_run ? "would be" : "was"} ${verb}`;
  const rows = runs.map(({ run_id, files, size_bytes }) => ({ run: run_id, files, size: formatBytes(size_bytes) }));
  const columns = ["run", right("files"), right("size")];
  const shared = freed_bytes < size_bytes ? `, ${formatBytes(freed_bytes)} of them not shared with other runs` : "";
  return `${formatTable(rows, columns)}${counted(runs.length, "run")} ${done}: ${counted(files, "file")}, ` +
    `${formatBytes(size_bytes)}${shared}` +
    (typeof removal !== "string" ? "" : `\nput back within 10 minutes: svc runs undo ${removal}`);
}

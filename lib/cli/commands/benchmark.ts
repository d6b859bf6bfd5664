/** `svc benchmark`: packs of recipes compared under one protocol, and their results. */
import type { BenchmarkResult } from "../../benchmark/types.ts";
import { refusal } from "../../contract/error.ts";
import { InvalidArgumentError } from "../commander.ts";
import { choice, command, type CommandSpec, flag, IGNORE_ESTIMATE, KEEP, parsed, text, whole } from "../command.ts";
import type { CliContext } from "../context.ts";
import type { Session } from "../../session/session.ts";
import { EXIT, reportText } from "../problem.ts";
import { formatTable } from "../table.ts";
import { PLANNING } from "./recipe.ts";

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value < Infinity)) {
    throw new InvalidArgumentError("Give a number above zero.");
  }
  return value;
}

/** Loads a pack; places of its file are shown with a caret. */
async function load(svc: Session, context: CliContext, wanted: readonly string[]) {
  const { excerpt } = await import("../../recipe/positions.ts");
  const loaded = await svc.benchmarks.load(wanted);
  const text = await Deno.readTextFile(loaded.file);
  context.excerpt = (location) => location.file === loaded.file ? excerpt(text, location) : "";
  return loaded;
}

const count = ({ diagnostics }: { diagnostics: readonly { severity: string }[] }, severity: string) =>
  diagnostics.filter((item) => item.severity === severity).length;

async function showResult(result: BenchmarkResult, directory: string, context: CliContext): Promise<string> {
  const { aggregateTable, comparisonTable, powerRemark, problemLines } = await import("../benchmark_table.ts");
  if (result.aggregates.length > 0) context.print(aggregateTable(result));
  const comparisons = comparisonTable(result);
  if (comparisons !== "") context.print(`\n${comparisons}`);
  const remark = powerRemark(result);
  if (remark !== null) context.note(remark);
  for (const line of problemLines(result.recipes)) context.print(context.paint("yellow", line));
  const color = result.status === "completed" ? "green" : result.status === "failed" ? "red" : "yellow";
  const rows = result.recipes.filter(({ status }) => status === "completed").length;
  const reason = result.incomplete_reason === undefined ? "" : `, ${result.incomplete_reason}`;
  return `\n${context.paint(color, result.status)}  ${result.result_id}: ` +
    `${rows} of ${result.recipes.length} rows completed${reason}\nresult ${directory}`;
}

export const benchmarkCommands: CommandSpec[] = [
  command({
    usage: "benchmark list",
    summary: "list the benchmark packs",
    call: ({ svc }) => svc.benchmarks.packs(),
    json: (packs) => ({ schema_version: 1, packs }),
    show(packs, { context }) {
      if (packs.length === 0) return context.note("No packs. Put one into benchmarks/");
      return formatTable(
        packs.map(({ name, tier, task, recipes, title, problem }) => ({
          pack: name,
          tier: tier ?? "",
          task: task ?? "",
          recipes,
          title: problem === undefined ? title ?? "" : `cannot be read: ${problem}`,
        })),
        [{ key: "pack" }, { key: "tier" }, { key: "task" }, { key: "recipes", align: "right" }, { key: "title" }],
      );
    },
  }),
  command({
    usage: "benchmark show <pack...>",
    summary: "show a pack, or the one that recipes make: its dataset, task, metrics and recipes",
    examples: ["svc benchmark show bit_transport/ber_theory_v1"],
    async call({ svc, args: [wanted], context }) {
      const loaded = await load(svc, context, wanted);
      if (loaded.pack !== null) return loaded;
      throw refusal("pack_invalid", `Cannot use the pack ${wanted.join(", ")}`, loaded.diagnostics);
    },
    json: ({ pack, file, replication, valid, diagnostics }) => ({
      schema_version: 1,
      file,
      sha256: pack.sha256,
      pack: pack.document,
      replication,
      status: valid ? "valid" : "invalid",
      diagnostics,
    }),
    show({ pack, recipes, replication, diagnostics }, { context }) {
      const lines = [
        `${context.paint("bold", pack.name)}  ${pack.id}, version ${pack.version}, ${pack.tier}`,
        `  dataset ${pack.dataset.id}, task ${pack.task.id}`,
        `  metrics ${pack.metrics.map(({ id }) => id).join(", ")}`,
      ];
      if (pack.baselines.length > 0) lines.push(`  baselines ${pack.baselines.join(", ")}`);
      if (replication !== null) {
        const { replicates, until_errors, until_halfwidth, max_bits } = replication;
        const until = [
          ...(until_errors === null ? [] : [`${until_errors} errors`]),
          ...(until_halfwidth === null ? [] : [`a half-width of ${until_halfwidth}`]),
          ...(max_bits === null ? [] : [`${max_bits} bits`]),
        ];
        const limit = until.length === 0 ? "" : `, until ${until.join(" or ")}`;
        lines.push(`  replicates ${until.length === 0 ? "" : "up to "}${replicates}${limit}`);
      }
      lines.push(`  hash ${pack.sha256}\n`);
      context.print(lines.join("\n"));
      context.print(formatTable(
        recipes.map(({ entry }) => ({
          recipe: entry.id,
          role: entry.skip_reason === null ? entry.role : `skipped: ${entry.skip_reason}`,
          path: entry.path,
          label: entry.label,
        })),
        ["recipe", "role", "path", "label"].map((key) => ({ key })),
      ));
      context.findings(diagnostics);
    },
  }),
  command({
    usage: "benchmark validate <pack...>",
    summary:
      "check a pack, or the one that recipes make, and every recipe in it, and run nothing; exit 3 when it is refused",
    options: { summary: flag("--summary", "print only the outcome and the number of findings") },
    examples: ["svc benchmark validate benchmarks/my_pack.yaml"],
    async call({ svc, args: [wanted], options: { summary }, context }) {
      const loaded = await load(svc, context, wanted);
      if (loaded.valid || summary) return loaded;
      throw refusal("pack_invalid", `Cannot use the pack ${wanted.join(", ")}`, loaded.diagnostics);
    },
    json: (loaded, { options: { summary } }) => ({
      schema_version: 1,
      status: loaded.valid ? "valid" : "invalid",
      file: loaded.file,
      pack_id: loaded.pack?.id ?? null,
      pack_sha256: loaded.pack?.sha256 ?? null,
      recipes: loaded.pack?.recipes.length ?? 0,
      error_count: count(loaded, "error"),
      warning_count: count(loaded, "warning"),
      ...(summary ? {} : { diagnostics: loaded.diagnostics }),
    }),
    show(loaded, { args: [wanted], options: { summary }, context }) {
      if (!summary) context.findings(loaded.diagnostics);
      const outcome = loaded.valid ? context.paint("green", "valid") : context.paint("red", "invalid");
      return `${outcome}  ${loaded.pack?.id ?? wanted.join(", ")}: ${loaded.pack?.recipes.length ?? 0} recipes, ` +
        `${count(loaded, "error")} errors, ${count(loaded, "warning")} warnings`;
    },
    exit: ({ valid }) => valid ? EXIT.ok : EXIT.refused,
  }),
  command({
    usage: "benchmark run <pack...>",
    summary: "run every recipe of a pack in every replicate, and leave a result with its evidence",
    notes: "Recipe files in place of a pack are its methods, each with a row for every point of its matrix.",
    options: {
      replicates: parsed("--replicates <n>", "replicates of every recipe, or the most of them", whole(1)),
      untilErrors: parsed(
        "--until-errors <n>",
        "stop a recipe at this many failed packets, blocks or items (bits where errors are independent)",
        whole(1),
      ),
      untilHalfwidth: parsed("--until-halfwidth <x>", "stop a recipe when its interval is within ± this", positive),
      maxBits: parsed("--max-bits <n>", "stop a recipe when it has compared this many bits", whole(1)),
      parallelWorkers: parsed(
        "--parallel-workers <n>",
        "steps of a run that may overlap, 1 to 32 (default: 1)",
        whole(1, 32),
      ),
      ignoreEstimate: IGNORE_ESTIMATE,
      lint: PLANNING.lint,
      strictLint: flag("--strict-lint", "refuse a pack with a recipe whose links do not pass the check"),
      continueOnError: flag("--continue-on-error", "continue with the next row after a failure"),
      resume: text("--resume <result>", "continue an unfinished result"),
      retainBackingRuns: flag("--retain-backing-runs", "keep the runs beside their snapshots"),
      keep: choice("--keep <what>", "artifacts of the kept runs that stay (default: all)", ["all", "metrics"]),
      drop: KEEP.drop,
    },
    examples: [
      "svc benchmark run bit_transport/ber_theory_v1",
      "svc benchmark run link.yaml --until-errors 100",
      "svc benchmark run my_pack.yaml --replicates 10 --continue-on-error",
      "svc benchmark run my_pack.yaml --until-errors 100 --max-bits 1000000000",
      "svc benchmark run my_pack.yaml --resume 20260101T120000Z_my_pack",
    ],
    cancellable: true,
    call: ({ svc, args: [pack], options, cancellation, onEvent }) =>
      svc.benchmarks.run(pack, { ...options, cancellation, onEvent }),
    json: ({ result }) => result,
    async show({ result, directory }, { args: [pack], context }) {
      context.print(await showResult(result, directory, context));
      if (result.status === "completed") return;
      context.note(`Continue with: svc benchmark run ${pack.join(" ")} --resume ${result.result_id}`);
    },
    exit: ({ result }) => result.status === "completed" ? EXIT.ok : EXIT.runFailed,
  }),
  command({
    usage: "benchmark results",
    summary: "list the stored results, newest first",
    call: ({ svc }) => svc.benchmarks.results(),
    json: (results) => ({ schema_version: 1, results }),
    show(results, { context }) {
      if (results.length === 0) {
        return context.note("No results yet. Start with: svc benchmark run bit_transport/ber_theory_v1");
      }
      return formatTable(
        results.map((row) => ({
          result: row.result_id,
          status: row.problem === undefined ? row.status : `cannot be read: ${row.problem}`,
          rows: `${row.completed_rows}/${row.rows}`,
          version: row.benchmark_version,
          created: row.created_at_utc,
        })),
        [{ key: "result" }, { key: "status" }, { key: "rows", align: "right" }, { key: "version" }, { key: "created" }],
      );
    },
  }),
  command({
    usage: "benchmark result <result>",
    summary: "show a stored result; a unique beginning of its id is enough",
    call: ({ svc, args: [id] }) => svc.benchmarks.result(id),
    json: ({ result }) => result,
    show: ({ result, directory }, { context }) => showResult(result, directory, context),
  }),
  command({
    usage: "benchmark verify <result>",
    summary: "re-check hashes, ledger, evidence, provenance and statistics of a result; exit 6 when something differs",
    examples: ["svc benchmark verify 20260101T120000Z_ber_theory_v1"],
    call: ({ svc, args: [id] }) => svc.benchmarks.verify(id),
    show: (report, { context }) => reportText(report, context.paint),
    exit: ({ status }) => status === "invalid" ? EXIT.differs : EXIT.ok,
  }),
  command({
    usage: "benchmark compare <a> <b>",
    summary: "compare two results recipe by recipe: metrics, intervals, and whether they agree",
    call: ({ svc, args: [a, b] }) => svc.benchmarks.compare(a, b),
    json: (report) => report,
    async show(report, { context }) {
      const { resultDiffTable } = await import("../benchmark_table.ts");
      context.print(resultDiffTable(report));
      if (!report.same_pack) context.note("The two are of different packs, or of different versions of one");
    },
  }),
];

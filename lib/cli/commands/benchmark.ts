/** `svc benchmark`: packs of recipes compared under one protocol, and their results. */
import type { BenchmarkResult } from "../../study/pack/types.ts";
import { type Diagnostic, refusal, SvcError } from "../../contract/error.ts";
import { visibleLine } from "../../contract/escape.ts";
import { isNumber, toNumber } from "../../contract/value.ts";
import { estimateText } from "../../figure/number_text.ts";
import { benchmarks, ENGINE, REPLICATION } from "../../api/calls/benchmarks.ts";
import { commandOf, commandsOf, optionsFrom } from "../call_commands.ts";
import { choice, command, type CommandSpec, flag, list, parsed, refuseOptions, text, whole } from "../command.ts";
import type { CliContext } from "../context.ts";
import { exchangeFaces } from "../exchange.ts";
import type { Session } from "../../api/session.ts";
import type { BenchmarkRunResult } from "../../study/run_benchmark.ts";
import type { BenchmarkStatus } from "../../study/engine/on_engine.ts";
import { quoted } from "../../study/engine/command.ts";
import { WRITTEN_ENGINES } from "../../study/engine/types.ts";
import { EXIT, reportText } from "../problem.ts";
import { formatTable, right } from "../table.ts";
import { streams } from "../terminal.ts";
import { reportFaces } from "./benchmark_report.ts";

/** Loads a pack; places of its file are shown with a caret. */
async function load(svc: Session, context: CliContext, wanted: readonly string[]) {
  const { excerpt } = await import("../../recipe/positions.ts");
  const loaded = await svc.benchmarks.load(wanted);
  const text = await Deno.readTextFile(loaded.file);
  context.excerpt = (location) => location.file === loaded.file ? excerpt(text, location) : "";
  // The recipes of a study are made when they are read, and no command shows them.
  return loaded.pack === null ? loaded : { ...loaded, recipes: loaded.recipes.map(({ entry }) => ({ entry })) };
}

const count = ({ diagnostics }: { diagnostics: readonly { severity: string }[] }, severity: string) =>
  diagnostics.filter((item) => item.severity === severity).length;

/** So many rows that did not complete are listed. */
const MOST_PROBLEMS = 100;

async function showResult(result: BenchmarkResult, directory: string, context: CliContext): Promise<string> {
  const [
    { aggregateTable, comparisonTable, problemLines },
    { countsOf, firstOf },
    { problemsOf },
    { packRateDifferences },
  ] = await Promise.all([
    import("../benchmark_table.ts"),
    import("../../study/rows/stored_rows.ts"),
    import("../../study/report/report_tables.ts"),
    import("../../study/report/rate_differences.ts"),
  ]);
  if (result.aggregates.length > 0) context.print(aggregateTable(result));
  const comparisons = comparisonTable(result);
  if (comparisons !== "") context.print(`\n${comparisons}`);
  const differences = packRateDifferences(result);
  for (const { method, rate: { difference, single } } of differences?.methods ?? []) {
    const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
    const text = difference === null ? "no common range of quality" : percent(difference);
    const interval = single === null
      ? ""
      : `, mean of ${single.n} ${single.over} ${percent(single.mean)} (${percent(single.low)} to ${
        percent(single.high)
      })`;
    context.print(`BD-rate  ${method} against ${differences!.baseline}: ${text}${interval}`);
  }
  const { count: all, completed } = countsOf(result);
  const problems = completed === all ? [] : problemLines([...firstOf(problemsOf(result), MOST_PROBLEMS)]);
  for (const line of problems) context.print(context.paint("yellow", line));
  if (all - completed > problems.length) context.print(`${all - completed - problems.length} more did not complete`);
  const color = result.status === "completed" ? "green" : result.status === "failed" ? "red" : "yellow";
  const reason = result.incomplete_reason === undefined ? "" : `, ${result.incomplete_reason}`;
  return `\n${context.paint(color, result.status)}  ${result.result_id}: ` +
    `${completed} of ${all} rows completed${reason}\nresult ${directory}`;
}

const ONE_PACK = "A pack lists recipes as its methods";

/** The tasks of a benchmark on an engine. */
function statusText({ result_id, engine, status, rows, shards, merge }: BenchmarkStatus, context: CliContext): string {
  const color = status === "completed" ? "green" : status === "running" ? "cyan" : "yellow";
  const head = `${context.paint(color, status)}  ${result_id}: ${rows} rows${engine === null ? "" : ` on ${engine}`}`;
  if (merge === null) return head;
  const table = [
    ...shards.map(({ index, log, ...shard }) => ({ ...shard, task: `shard ${index}`, log: context.shownPath(log) })),
    { ...merge, task: "merge", node: null, rows: "", log: context.shownPath(merge.log) },
  ].map(({ node, ...row }) => ({ ...row, node: node ?? "" }));
  return `${formatTable(table, ["task", "state", right("rows"), "detail", "node", "log"])}\n${head}`;
}

/** The command line as it was typed, global options included, that continues a result. */
function resumeCommand(words: readonly string[], resultId: string): string {
  const kept = words.filter((word, at) => !/^--resume(=|$)/.test(word) && words[at - 1] !== "--resume");
  return ["svc", ...kept, "--resume", resultId].map(quoted).join(" ");
}

const { suites: _suites, suite: _suite, validateSubmission: _submission, ...calls } = benchmarks;

const [LIST, ...STORED] = commandsOf("benchmark", calls, {
  ...reportFaces,
  packs: {
    json: (packs) => ({ schema_version: 1, packs }),
    remarks: { packs: (packs) => packs.length > 0 ? null : "No packs. Put one into benchmarks/" },
    show(packs) {
      if (packs.length === 0) return;
      return formatTable(
        packs.map(({ name, tier, task, recipes, title, problem }) => ({
          pack: name,
          tier: tier ?? "",
          task: task ?? "",
          recipes,
          title: problem === undefined ? title ?? "" : `cannot be read: ${problem}`,
        })),
        ["pack", "tier", "task", right("recipes"), "title"],
      );
    },
  },
  status: { show: (status, { context }) => statusText(status, context) },
  submitted: {
    json: (submitted) => ({ schema_version: 1, submitted }),
    remarks: { submitted: ({ length }) => length > 0 ? null : "No engine makes a result now" },
    show(submitted) {
      if (submitted.length === 0) return;
      return formatTable(
        submitted.flatMap((one): Record<string, string | number | null>[] => {
          const { result_id: result } = one;
          if ("problem" in one) return [{ result, value: `cannot be read: ${one.problem}` }];
          return one.recipes.map(({ id: recipe, progress }) => {
            const of = (name: string) => isNumber(progress[name]) ? toNumber(progress[name]) : null;
            const [errors, bound] = [of("errors"), of("upper_bound")];
            const value = {
              mean: of("mean"),
              low: of("ci_low"),
              high: of("ci_high"),
              ...(bound === null ? {} : { bound }),
            };
            return {
              result,
              engine: one.engine,
              recipe,
              replicates: of("replicates"),
              errors: errors === null ? "" : `${errors}/${of("trials")}`,
              value: estimateText(value, "unicode"),
            };
          });
        }),
        ["result", "engine", "recipe", right("replicates"), right("errors"), right("value")],
      );
    },
  },
  cancel: {
    json: (result_id) => ({ schema_version: 1, result_id, status: "canceled" }),
    show: (result_id) => `canceled  ${result_id}`,
  },
  results: {
    json: (results) => ({ schema_version: 1, results }),
    remarks: {
      results: ({ length }) =>
        length > 0 ? null : "No results yet. Start with: svc benchmark run bit_transport/ber_theory_v1",
    },
    show(results) {
      if (results.length === 0) return;
      return formatTable(
        results.map((row) => ({
          result: row.result_id,
          status: row.problem === undefined ? row.status : `cannot be read: ${row.problem}`,
          rows: `${row.completed_rows}/${row.rows}`,
          version: row.benchmark_version,
          created: row.created_at_utc,
        })),
        ["result", "status", right("rows"), "version", "created"],
      );
    },
  },
  result: {
    json: ({ result }) => result,
    show: ({ result, directory }, { context }) => showResult(result, directory, context),
  },
  verify: {
    examples: ["svc benchmark verify 20260101T120000Z_ber_theory_v1"],
    show: (report, { context }) => reportText(report, context.paint),
    exit: ({ status }) => status === "invalid" ? EXIT.differs : EXIT.ok,
  },
  rateDifferences: {
    examples: ["svc benchmark rate-differences 20260101T120000Z_kodak --x rate.coded_bpp --baseline jpeg"],
    async show(found) {
      const [{ rateDifferenceTable }, { cellTexts }] = await Promise.all([
        import("../../study/report/report_tables.ts"),
        import("../../study/report/table.ts"),
      ]);
      const table = rateDifferenceTable(found, "unicode"), [titles, texts] = cellTexts(table);
      const columns = titles.map((title, i) => ({ key: String(i), title, align: table.columns[i].align }));
      return [formatTable(texts.map((row) => Object.fromEntries(row.entries())), columns), ...table.notes].join("\n");
    },
  },
  compare: {
    async show(report, { context }) {
      const { resultDiffTable } = await import("../benchmark_table.ts");
      context.print(resultDiffTable(report));
      const { a_view_sha256: a, b_view_sha256: b } = report;
      if (a !== null && b !== null) context.print(a === b ? `\nview ${a} of both` : `\nview ${a}\nview ${b}`);
    },
    remarks: {
      same_pack: ({ same_pack }) =>
        same_pack ? null : "The two are of different packs, or of different versions of one",
    },
  },
  ...exchangeFaces("benchmark", "20260101T120000Z_ber_theory_v1"),
});

export const benchmarkCommands: CommandSpec[] = [
  LIST,
  commandOf(benchmarks.load, {
    name: "benchmark show",
    usage: "<pack...>",
    summary: "show the dataset, task, metrics and recipes of a pack, or of the pack that recipes form",
  }, {
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
    show({ pack, recipes, replication }, { context }) {
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
        ["recipe", "role", "path", "label"],
      ));
    },
  }),
  commandOf(benchmarks.load, { name: "benchmark validate", usage: "<pack...>", exits: "exit 3 with findings" }, {
    options: { summary: flag("--summary", "print the status and the number of findings only") },
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
    printed: ({ diagnostics }, { options: { summary } }) => summary ? [] : diagnostics,
    show(loaded, { args: [wanted], context }) {
      const outcome = loaded.valid ? context.paint("green", "valid") : context.paint("red", "invalid");
      return `${outcome}  ${loaded.pack?.id ?? wanted.join(", ")}: ${loaded.pack?.recipes.length ?? 0} recipes, ` +
        `${count(loaded, "error")} errors, ${count(loaded, "warning")} warnings`;
    },
    exit: ({ valid }) => valid ? EXIT.ok : EXIT.refused,
  }),
  commandOf(benchmarks.run, { name: "benchmark run", usage: "<pack...>" }, {
    notes: "Recipe files in place of a pack are its methods, each with a row for every point of its matrix.",
    options: {
      ...optionsFrom(ENGINE),
      program: text("--program <command>", "command of svc on the nodes of the engine (default: this program)"),
    },
    examples: [
      "svc benchmark run bit_transport/ber_theory_v1",
      "svc benchmark run link.yaml --until-errors 100",
      "svc benchmark run my_pack.yaml --replicates 10 --continue-on-error",
      "svc benchmark run my_pack.yaml --until-errors 100 --max-bits 1000000000",
      "svc benchmark run my_pack.yaml --resume 20260101T120000Z_my_pack",
      'svc benchmark run my_pack.yaml --on slurm --shards 16 --sbatch "--time=02:00:00 --mem=4G"',
      "svc benchmark run my_pack.yaml --on parallel --hosts hosts.txt",
    ],
    cancellable: true,
    interruptNote: ({ on }) => on === undefined ? undefined : "The tasks continue (Ctrl+C again exits at once)",
    async call(
      { svc, args: [packs], options, context },
      perform,
    ): Promise<(BenchmarkRunResult | BenchmarkStatus) & { diagnostics?: Diagnostic[]; found?: Diagnostic[] }> {
      const { on, shards, retries, sbatch, hosts, program, detach, retainBackingRuns, keep, drop } = options;
      if (on === undefined) {
        refuseOptions({ shards, retries, sbatch, hosts, program, detach }, "without --on", "svc benchmark run --help");
        return await perform();
      }
      refuseOptions({ retainBackingRuns, keep, drop }, "with --on", "svc benchmark run --help");
      if (packs.length !== 1) throw new SvcError("usage_invalid", "Cannot submit several recipes", { hint: ONE_PACK });
      const made = await perform({ pack: packs[0] }, benchmarks.runOn, {
        program: program?.split(/\s+/).filter(Boolean),
      });
      if ("result" in made || detach || made.status !== "running") return made;
      if (
        !context.json && streams().stdin.isTerminal() && confirm(visibleLine(`Cancel the tasks of ${made.result_id}?`))
      ) {
        return await svc.benchmarks.status(await svc.benchmarks.cancel(made.result_id));
      }
      return made;
    },
    json: ({ diagnostics: _, found: _found, ...made }) =>
      "result" in made ? made.result : { schema_version: 1, ...made },
    findings: ({ diagnostics = [], found = [] }) => [...diagnostics, ...found],
    // Without an engine those on the pack came before the first row.
    printed: ({ diagnostics = [], found = [] }, { options: { on } }) =>
      on === undefined ? found : [...diagnostics, ...found],
    async show(made, { context }) {
      if ("result" in made) context.print(await showResult(made.result, made.directory, context));
      else context.print(statusText(made, context));
    },
    remarks: {
      status(made, { context }) {
        const { result_id, status } = "result" in made ? made.result : made;
        return status === "completed" ? null : `Continue with: ${resumeCommand(context.words, result_id)}`;
      },
    },
    exit: (made, { options: { detach } }) =>
      detach || "result" in made && made.result.status === "completed" ? EXIT.ok : EXIT.runFailed,
  }),
  commandOf(benchmarks.shard, {
    name: "benchmark shard",
    usage: "<pack...>",
    summary: "run every n-th row of a pack into a folder that benchmark merge reads; run it again to resume",
  }, {
    notes:
      "Row r belongs to the shard r mod n. With a stopping rule a shard looks after each wave whether the replicates of " +
      "all shards that it can read (--peers), or its own, are enough.",
    options: {
      index: parsed("--index <k>", "number of the shard, from 0", whole(0), 0),
      count: parsed("--count <n>", "number of shards", whole(1), 1),
      out: text("--out <folder>", "folder of the shard: its runs, its rows and their evidence"),
      wave: parsed("--wave <n>", "check the stopping rule every N replicates (default: 10)", whole(1)),
      peers: list("--peers <folder>", "folder of another shard; repeat for more"),
      least: parsed(
        "--least <n>",
        "replicates before a stopping rule ends a recipe, after a merge that asks for more",
        whole(1),
      ),
    },
    examples: ["svc benchmark shard my_pack.yaml --index 0 --count 4 --out shards/0"],
    cancellable: true,
    means({ options: { index, count, wave, peers, least, out } }) {
      if (out === undefined) {
        throw new SvcError("usage_invalid", "Cannot run a shard without a folder", { hint: "Add --out <folder>" });
      }
      return { out, shard: { index, count, wave, peers, least } };
    },
    json: ({ result }) => result,
    printed: () => [],
    show({ result: { status, ...result }, directory }, { context, options: { index, count } }) {
      const rows = result.rows?.count ?? result.recipes.length;
      const color = status === "completed" ? "green" : status === "failed" ? "red" : "yellow";
      return `${context.paint(color, status)}  shard ${index} of ${count}: ${rows} rows in ${directory}`;
    },
    exit: ({ result }) => result.status === "completed" ? EXIT.ok : EXIT.runFailed,
  }),
  commandOf(benchmarks.merge, { name: "benchmark merge", usage: "<pack> <folder...>" }, {
    examples: ["svc benchmark merge my_pack.yaml shards/0 shards/1 shards/2 shards/3"],
    cancellable: true,
    json: ({ result }) => result,
    printed: ({ found }) => found,
    show: ({ result, directory }, { context }) => showResult(result, directory, context),
    exit: ({ result }) => result.status === "completed" ? EXIT.ok : EXIT.runFailed,
  }),
  // Writes job files of other schedulers: the files are the result, and no document describes them.
  command({
    usage: "benchmark submit <pack...>",
    summary: "write job files that run a pack in shards and merge them, without submitting them",
    notes: "The files run where svc is on the path, in the folder of the project, on a disk that all tasks see.",
    options: {
      on: choice("--on <engine>", "engine of the job files", WRITTEN_ENGINES),
      write: text("--write <folder>", "folder of the files"),
      shards: parsed("--shards <n>", "number of tasks", whole(1), 4),
      image: text("--image <image>", "container image with svc, for Kubernetes (default: svc)"),
      claim: text("--claim <name>", "volume claim with the project, for Kubernetes (default: svc)"),
      ...optionsFrom(REPLICATION),
    },
    examples: ["svc benchmark submit my_pack.yaml --on snakemake --shards 16 --write jobs"],
    async call({ svc, args: [packs], options, context }) {
      const { on, write, shards, image = "svc", claim = "svc", ...replication } = options;
      if (on === undefined || write === undefined || packs.length !== 1) {
        const message = packs.length === 1
          ? "Cannot write job files without --on and --write"
          : "Cannot submit several recipes";
        const hint = packs.length === 1 ? "svc benchmark submit <pack> --on snakemake --write <folder>" : ONE_PACK;
        throw new SvcError("usage_invalid", message, { hint });
      }
      const loaded = await load(svc, context, packs);
      if (!loaded.valid) throw refusal("pack_invalid", `Cannot use the pack ${packs[0]}`, loaded.diagnostics);
      const [{ jobFiles, optionWords }, { writeFiles }] = await Promise.all([
        import("../../study/engine/written.ts"),
        import("../../study/report/reports.ts"),
      ]);
      const plan = { program: ["svc"], pack: packs[0], shards, folder: "shards", options: optionWords(replication) };
      const files = jobFiles(on, { ...plan, image, claim });
      writeFiles(write, files);
      return { engine: on, directory: write, files: Object.keys(files), diagnostics: loaded.diagnostics };
    },
    json: ({ diagnostics: _, ...written }) => ({ schema_version: 1, ...written }),
    findings: ({ diagnostics }) => diagnostics,
    show: ({ directory, files }) => files.map((name) => `${directory}/${name}`).join("\n"),
  }),
  ...STORED,
];

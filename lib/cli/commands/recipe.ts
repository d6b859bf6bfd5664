/** `svc recipe`: check, plan and run recipes, and keep their files in order. */
import { recipes } from "../../api/calls/recipes.ts";
import type { Session } from "../../api/session.ts";
import { IMAGES } from "../../contract/kinds.ts";
import type { JsonObject } from "../../contract/value.ts";
import { isWarning, refusal, SvcError } from "../../contract/error.ts";
import type { PreparedRun } from "../../run/run.ts";
import { exists } from "../../artifact/path_kind.ts";
import { prettyJson } from "../../contract/json.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { ALL_METRICS, choice, command, type CommandSpec, flag, SET, TABLE_FORMAT, text } from "../command.ts";
import { readStandardInput } from "../context.ts";
import { headlineView } from "../headline_view.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

async function showPlan({ planned }: PreparedRun, { svc }: { svc: Session }): Promise<string> {
  const { explainPlan, planText } = await import("../../plan/explain.ts");
  return planText(explainPlan(planned, await svc.registry()));
}

const planDocument = ({ planned: { plan, cache, diagnostics } }: PreparedRun) => ({
  schema_version: 1,
  plan,
  cache,
  diagnostics,
});

const { checkResearch: _research, ...calls } = recipes;

const callCommands = commandsOf("recipe", calls, {
  list: {
    options: { task: text("--task <id>", "only recipes of this task"), format: TABLE_FORMAT },
    examples: ["svc recipe list", "svc recipe list --task bit_transport", "svc recipe run quickstart"],
    call: async ({ options: { task } }, perform) =>
      (await perform()).filter(({ purpose }) => task === undefined || purpose === task),
    // `recipe validate` prints those of one.
    printed: () => [],
    json: (rows) => ({
      schema_version: 1,
      recipes: rows.map(({ id: recipe, path, place, status, purpose: task, step_count: steps, description }) => (
        { recipe, path, place, status, task, steps, description }
      )),
    }),
    show: (rows, { options: { format } }) =>
      formatTable(
        rows.map(({ id: recipe, place, purpose: task, status, step_count: steps }) => (
          { recipe, place, task, status, steps }
        )),
        ["recipe", "place", "task", "status", right("steps")],
        format,
      ),
  },
  validate: {
    options: { set: SET },
    examples: ["svc recipe validate recipes/quickstart.yaml", "svc recipe validate - < recipe.json"],
    json: ({ compilation, expansion, diagnostics }) => ({
      schema_version: 1,
      status: "valid",
      mode: compilation.mode,
      recipe: compilation.normalized,
      authored_sha256: compilation.authored_sha256,
      effective_sha256: compilation.effective_sha256,
      seed_policy: compilation.seed_policy,
      matrix_points: expansion.points.length,
      diagnostics,
    }),
    show({ compilation: { normalized, effective_sha256 }, expansion: { points } }, { context }) {
      const { name, steps } = normalized!;
      const matrix = points.length > 0 ? `, ${points.length} matrix points` : "";
      return `${
        context.paint("green", "valid")
      }  ${name}: ${steps.length} steps${matrix}, recipe hash ${effective_sha256}`;
    },
  },
  lint: {
    options: {
      relaxed: flag("--relaxed", "warn about entries that the research catalogue does not know or only plans"),
    },
    notes: "Exits with 3 when an error was found; warnings do not fail.",
    examples: [
      "svc recipe lint recipes/quickstart.yaml",
      "svc recipe lint - --relaxed --json < recipe.yaml",
    ],
    call: ({ options: { relaxed } }, perform) => perform({ strict: !relaxed }),
    printed: () => [],
    show({ status, issues, recipe, error_count, warning_count }, { args: [file], context }) {
      for (const item of issues) context.print(formatDiagnostic(item, context.paint, context.excerpt));
      return `${context.paint(status === "passed" ? "green" : "red", status)}  ${recipe ?? file}: ` +
        `${counted(error_count, "error")}, ${counted(warning_count, "warning")}`;
    },
    exit: ({ status }) => status === "passed" ? EXIT.ok : EXIT.refused,
  },
  specs: { json: (document) => document },
  prepare: {
    options: { set: SET },
    json: planDocument,
    show: showPlan,
  },
  graph: {
    options: {
      format: choice("--format <format>", "output format", ["text", "json", "mermaid", "dot", "svg"], "text"),
    },
    examples: [
      "svc recipe graph recipes/quickstart.yaml --format mermaid",
      "svc recipe graph recipes/quickstart.yaml --format svg > quickstart.svg",
    ],
    async show(graph, { options: { format } }) {
      if (format === "svg") return (await import("../../figure/graph/svg.ts")).graphSvg(graph);
      const { graphDot, graphMermaid, graphText } = await import("../../figure/graph/graph.ts");
      const texts = { json: prettyJson, mermaid: graphMermaid, dot: graphDot, text: graphText };
      return texts[format](graph);
    },
  },
  explain: {
    examples: ["svc recipe explain recipes/quickstart.yaml wireless_channel"],
    printed: () => [],
    async show(explained, { context }) {
      const { stepText } = await import("../../plan/explain_step.ts");
      return stepText(explained, {
        title: (title) => context.paint("bold", title),
        dim: (dimmed) => dimmed === "" ? "" : context.paint("dim", dimmed),
      });
    },
  },
  diff: {
    options: { effective: flag("--effective", "compare effective recipes: all defaults and seeds filled in") },
    examples: ["svc recipe diff recipes/quickstart.yaml mine.yaml"],
    call({ args: [a, b], options }, perform) {
      if (a === "-" && b === "-") {
        throw new SvcError("usage_invalid", "Cannot read both recipes from standard input", { hint: "Name one file" });
      }
      return perform({ form: options.effective ? "effective" : "normalized" });
    },
    async show({ equal, changes }, { context }) {
      if (equal) return context.paint("green", "equal");
      const { changeText } = await import("../change_text.ts");
      for (const change of changes) context.print(changeText(context.paint, change));
    },
  },
  expand: {
    options: { set: SET },
    examples: ["svc recipe expand-matrix recipes/recipe_starters/image_protected_digital_awgn.yaml"],
    async call({ args: [file] }, perform) {
      const expansion = await perform();
      if (expansion.status !== "invalid") return expansion;
      const name = file === "-" ? "<stdin>" : file;
      throw refusal("recipe_invalid", `Cannot expand ${name}`, expansion.diagnostics);
    },
    async json(expansion) {
      const { expansionDocument } = await import("../../recipe/expand_matrix.ts");
      return { schema_version: 1, ...expansionDocument(expansion) };
    },
    async show({ points, recipe }) {
      if (points.length === 0) return `${recipe!.name} has no matrix to expand`;
      const { valueText } = await import("../../recipe/variant_name.ts");
      const dimensions = Object.keys(points[0].selection);
      return formatTable(
        points.map(({ index, selection, variant_id, recipe }) => ({
          index,
          ...Object.fromEntries(dimensions.map((name) => [`at ${name}`, valueText(selection[name])])),
          name: recipe.name,
          id: `${variant_id.slice(0, 17)}…`,
        })),
        [
          right("index"),
          ...dimensions.map((title) => right(`at ${title}`, title)),
          { key: "id", title: "variant" },
          "name",
        ],
      );
    },
  },
});

export const recipeCommands: CommandSpec[] = [
  ...callCommands,
  commandOf(recipes.run, { name: "recipe run", usage: "<file>" }, {
    cancellable: true,
    options: { set: SET, dryRun: flag("--dry-run", "plan only, as recipe plan"), allMetrics: ALL_METRICS },
    examples: [
      "svc recipe run recipes/quickstart.yaml",
      "svc recipe run recipes/quickstart.yaml --set wireless_channel.snr_db=2.0 --parallel-workers 4",
      "cat recipe.yaml | svc recipe run - --json",
    ],
    async call({ svc, context, options: { dryRun, allMetrics } }, perform) {
      if (dryRun) return { planned: await perform({}, recipes.prepare), run: null, strip: null, view: null };
      const [run] = await Promise.all([perform(), svc.warmUp()]);
      if (context.json) return { planned: null, run, strip: null, view: null };
      const { run_id, status, pruned, summary: { steps } } = run;
      const images = steps.flatMap(({ outputs }) => Object.values(outputs)).filter(({ kind }) => kind === IMAGES);
      const visible = status === "completed" && pruned.length === 0 && images.length > 1;
      const strip = visible ? await svc.runs.strip(run_id) : null;
      return { planned: null, run, strip, view: await headlineView(svc, run_id, allMetrics) };
    },
    json({ planned, run }) {
      if (run === null) return planDocument(planned!);
      const { diagnostics: _, found: _found, ...document } = run;
      return { schema_version: 1, ...document };
    },
    findings: ({ planned, run }) => run === null ? recipes.prepare.findings!(planned!) : recipes.run.findings!(run),
    // Warnings of the plan came before the run, and remarks on metrics stand beside them.
    printed: ({ planned, run }) =>
      run === null
        ? recipes.prepare.findings!(planned!)
        : recipes.run.findings!({ ...run, found: [] }).slice(run.diagnostics.filter(isWarning).length),
    async show({ planned, run, strip, view }, call) {
      const { context } = call;
      if (run === null) return await showPlan(planned!, call);
      const { status, run_id, directory, summary, pruned } = run;
      const steps = summary.steps as JsonObject[];
      context.print(
        `${
          context.paint(status === "completed" ? "green" : status === "canceled" ? "yellow" : "red", status)
        }  ${run_id}`,
      );
      const { headlineTable } = await import("../headline.ts");
      const [, ...metrics] = headlineTable(steps, view!).trimEnd().split("\n");
      for (const line of metrics) context.print(`  ${line}`);
      context.print(`  bundle  ${directory}`);
      if (pruned.length > 0) {
        const bytes = formatBytes(pruned.reduce((total, { size_bytes }) => total + size_bytes, 0));
        context.print(`  pruned  ${counted(pruned.length, "artifact")}, ${bytes}: svc runs restore ${run_id}`);
      }
      if (strip !== null) context.print(`  images  ${strip}: source above received`);
      if (status === "completed") context.print(`  next    svc runs verify ${run_id}`);
    },
    remarks: {
      summary({ run }, { context: { paintError } }) {
        if (run?.status !== "failed") return null;
        const { failure, error, steps } = run.summary;
        const { code = "run_failed", step_id = "run" } = (failure ?? {}) as JsonObject;
        const failed = (steps as JsonObject[]).find(({ id }) => id === step_id)?.error as JsonObject | undefined;
        const help = typeof failed?.hint === "string" ? `\n  ${paintError("green", "help")}: ${failed.hint}` : "";
        return `${paintError("red", `error[${code}]`)}: ${step_id}: ${error}${help}`;
      },
    },
    exit: ({ run }) => run === null || run.status === "completed" ? EXIT.ok : EXIT.runFailed,
  }),
  // Reads standard input and several files, and rewrites them: there is no document to declare.
  command({
    usage: "recipe fmt <files...>",
    multiline: true,
    summary: "format recipe files: order of keys and indentation; comments and values are kept",
    options: {
      check: flag("--check", "write nothing; exit 6 when a file is not formatted"),
      stdout: flag("--stdout", "print the result and do not change the file"),
    },
    examples: ["svc recipe fmt mine.yaml", "svc recipe fmt --check recipes/*.yaml"],
    async call({ svc, args: [files], options, context }) {
      const { formatRecipeText } = await import("../../recipe/format.ts");
      const { excerpt } = await import("../../recipe/positions.ts");
      const { writeFileAtomic } = await import("../../artifact/write_file.ts");
      const rows: { file: string; changed: boolean; text?: string }[] = [];
      const writes: (() => void)[] = [];
      for (const file of files) {
        const before = file === "-" ? await readStandardInput() : await svc.recipes.text(file);
        context.excerpt = (location) => excerpt(before, location);
        const after = formatRecipeText(before, { file: file === "-" ? "<stdin>" : file });
        const changed = after !== before;
        const print = options.stdout || (file === "-" && !options.check);
        rows.push({ file, changed, ...(print ? { text: after } : {}) });
        if (changed && !print && !options.check && !exists(file)) {
          throw new SvcError("recipe_not_found", `Cannot write ${file}: there is no such file in this folder`, {
            hint: "Name the path of the file, or print the result with --stdout",
          });
        }
        if (changed && !print && !options.check) writes.push(() => writeFileAtomic(file, after));
      }
      // Every file is formatted before the first one is written.
      for (const write of writes) write();
      return rows;
    },
    json: (files) => ({ schema_version: 1, files }),
    show(rows, { options: { check }, context }) {
      for (const { file, changed, text } of rows) {
        if (text !== undefined) context.print(text);
        else if (changed) context.print(check ? `${context.paint("yellow", "differs")}  ${file}` : `formatted ${file}`);
      }
    },
    remarks: {
      files(rows, { options: { check } }) {
        const different = rows.filter(({ changed }) => changed).length;
        if (!check || different === 0) return null;
        return `${different} of ${rows.length} files are formatted differently; run svc recipe fmt`;
      },
    },
    exit: (rows, { options: { check } }) => check && rows.some(({ changed }) => changed) ? EXIT.differs : EXIT.ok,
  }),
];

/** `svc recipe graph|explain|diff|fmt`: reading recipes, comparing them, and keeping their files in order. */
import { SvcError } from "../../contract/error.ts";
import { canonicalJson, prettyJson } from "../../contract/json.ts";
import type { Value } from "../../contract/value.ts";
import type { RecipeChange } from "../../recipe/diff.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT } from "../problem.ts";

const recipes = () => import("../load_recipe.ts");

/** Adds the commands to `svc recipe`. */
export function recipeFileCommands(recipe: Command): void {
  recipe.command("graph <file>")
    .description("draw the graph of a recipe")
    .addOption(
      new Option("--format <format>", "output form").choices(["text", "json", "mermaid", "dot", "svg"]).default("text"),
    )
    .addHelpText(
      "after",
      "\nExamples\n  svc recipe graph recipes/quickstart.yaml --format mermaid\n" +
        "  svc recipe graph recipes/quickstart.yaml --format svg > quickstart.svg\n",
    )
    .action(graph);

  recipe.command("explain <file> <step>")
    .description("explain a step: what it does, its inputs, every parameter and where it comes from, how it runs")
    .addHelpText("after", "\nExamples\n  svc recipe explain recipes/quickstart.yaml wireless_channel\n")
    .action(explain);

  recipe.command("diff <a> <b>")
    .description("compare two recipes: only changes, 6 and 6.0 differ, steps are known by their ids")
    .option("--effective", "compare with all defaults and seeds made concrete")
    .addHelpText("after", "\nExamples\n  svc recipe diff recipes/quickstart.yaml mine.yaml\n")
    .action(diff);

  recipe.command("fmt <files...>")
    .description("lay recipe files out: members in their order, two spaces a level; comments and values stay")
    .option("--check", "write nothing; exit 6 when a file is laid out differently")
    .option("--stdout", "print the result and leave the file alone")
    .addHelpText("after", "\nExamples\n  svc recipe fmt mine.yaml\n  svc recipe fmt --check recipes/*.yaml\n")
    .action(fmt);
}

async function graph(file: string, options: { format: string }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { compileLoaded, loadRecipe } = await recipes();
  const registry = await context.registry();
  const compilation = compileLoaded(await loadRecipe(context, file), registry);
  if (compilation.normalized === null) {
    throw new SvcError("recipe_invalid", `Cannot draw ${file}`, { diagnostics: compilation.diagnostics });
  }
  const { graphDot, graphMermaid, graphText, recipeGraph } = await import("../../plan/graph.ts");
  const drawn = recipeGraph(compilation.effective ?? compilation.normalized, registry);
  if (context.json) return context.emit(drawn);
  if (options.format === "svg") return context.print((await import("../../plan/graph_svg.ts")).graphSvg(drawn));
  const write = { json: prettyJson, mermaid: graphMermaid, dot: graphDot, text: graphText }[options.format]!;
  context.print(write(drawn));
}

async function explain(file: string, step: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { compileOrRefuse, loadRecipe } = await recipes();
  const registry = await context.registry();
  const loaded = await loadRecipe(context, file);
  const compilation = compileOrRefuse(loaded, registry);
  const { planRecipe } = await import("../../plan/planner.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const readiness = readinessOf(await context.workspace());
  const planned = await planRecipe(compilation, { registry, locate: loaded.locate, readiness });
  const { explainStep, stepText } = await import("../../plan/explain_step.ts");
  const explained = explainStep(compilation, planned, registry, step);
  context.emit(explained);
  context.print(stepText(explained, {
    title: (text) => context.paint("bold", text),
    dim: (text) => text === "" ? "" : context.paint("dim", text),
  }));
}

async function diff(a: string, b: string, options: { effective?: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  if (a === "-" && b === "-") {
    throw new SvcError("usage_invalid", "Cannot read both recipes from standard input", { hint: "Name one file" });
  }
  const forms = [await comparable(context, a, options.effective), await comparable(context, b, options.effective)];
  const { diffRecipes } = await import("../../recipe/diff.ts");
  const report = diffRecipes(forms[0], forms[1]);
  context.emit(report);
  if (report.equal) return context.print(context.paint("green", "equal"));
  for (const change of report.changes) context.print(changeText(context, change));
}

/** What is compared: the effective form, the normalised one, or what was read where it cannot be normalised. */
async function comparable(context: CliContext, file: string, effective?: boolean): Promise<Value> {
  const { compileLoaded, compileOrRefuse, loadRecipe } = await recipes();
  const [registry, loaded] = [await context.registry(), await loadRecipe(context, file)];
  if (effective) return compileOrRefuse(loaded, registry).effective!;
  return compileLoaded(loaded, registry, "compat").normalized ?? loaded.raw;
}

function changeText({ paint }: CliContext, change: RecipeChange): string {
  const { kind, path, step_id: step, a, b } = change;
  const place = typeof step === "string" ? path.replace(/^\$\.steps\[\d+\]/, step) : path.replace(/^\$\.?/, "");
  switch (kind) {
    case "added":
      return paint("green", `+ ${place}: ${shown(b)}`);
    case "removed":
      return paint("red", `- ${place}: ${shown(a)}`);
    case "moved":
      return paint("yellow", `> ${place}: from position ${Number(a) + 1} to ${Number(b) + 1}`);
  }
  return `~ ${place || "recipe"}: ${paint("red", shown(a))} -> ${paint("green", shown(b))}`;
}

function shown(value: Value): string {
  const text = canonicalJson(value);
  return text.length > 160 ? text.slice(0, 157) + "..." : text;
}

interface FormatOptions {
  check?: boolean;
  stdout?: boolean;
}

async function fmt(files: string[], options: FormatOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { formatRecipeText } = await import("../../recipe/format.ts");
  const { readTextFile } = await import("../../recipe/read.ts");
  const { readStandardInput } = await recipes();
  const { excerpt } = await import("../../recipe/positions.ts");
  const { writeFileAtomic } = await import("../../artifact/write_file.ts");
  const rows: { file: string; changed: boolean; text?: string }[] = [];
  // All files are laid out before the first one is written.
  const written: (() => void)[] = [];
  for (const file of files) {
    const before = file === "-" ? await readStandardInput() : await readTextFile(file);
    context.excerpt = (location) => excerpt(before, location);
    const after = formatRecipeText(before, { file: file === "-" ? "<stdin>" : file });
    const changed = after !== before;
    const print = options.stdout || (file === "-" && !options.check);
    rows.push({ file, changed, ...(print ? { text: after } : {}) });
    if (print) written.push(() => context.print(after));
    else if (changed && !options.check) {
      written.push(() => {
        writeFileAtomic(file, after);
        context.print(`laid out ${file}`);
      });
    } else if (changed) written.push(() => context.print(`${context.paint("yellow", "differs")}  ${file}`));
  }
  for (const write of written) write();
  context.emit({ schema_version: 1, files: rows });
  const different = rows.filter(({ changed }) => changed).length;
  if (options.check && different > 0) {
    context.note(`${different} of ${rows.length} files are laid out differently; run svc recipe fmt`);
    context.exitCode = EXIT.differs;
  }
}

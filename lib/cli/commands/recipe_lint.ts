/** `svc recipe lint`, and the strict lint that `recipe run` can demand. */
import { SvcError } from "../../contract/error.ts";
import type { Registry } from "../../contract/registry.ts";
import type { Value } from "../../contract/value.ts";
import type { LintReport } from "../../plan/lint.ts";
import type { Command } from "../commander.ts";
import { contextOf } from "../context.ts";
import type { LoadedRecipe } from "../load_recipe.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";

export function lintCommand(recipe: Command): void {
  recipe.command("lint <file>")
    .description("say all that can be said against a recipe without running it")
    .option("--relaxed", "warn about what the research catalogue does not know or only plans, instead of failing")
    .addHelpText(
      "after",
      "\nExits with 3 when an error was found; warnings do not fail.\n" +
        "\nExamples\n  svc recipe lint recipes/quickstart.yaml\n  svc recipe lint - --relaxed --json < recipe.yaml\n",
    )
    .action(async (file: string, options: { relaxed?: boolean }, command: Command) => {
      const context = contextOf(command);
      const { loadRecipe } = await import("../load_recipe.ts");
      const loaded = await loadRecipe(context, file);
      const report = await lintLoaded(loaded, await context.registry(), !options.relaxed);
      context.emit(report as unknown as Value);
      for (const item of report.issues) context.print(formatDiagnostic(item, context.paint, context.excerpt));
      const passed = report.status === "passed";
      const { error_count: errors, warning_count: warnings } = report;
      context.print(
        `${context.paint(passed ? "green" : "red", report.status)}  ${report.recipe ?? loaded.file}: ${
          counted(errors, "error")
        }, ${counted(warnings, "warning")}`,
      );
      if (!passed) context.exitCode = EXIT.refused;
    });
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

async function lintLoaded(loaded: LoadedRecipe, registry: Registry, strict: boolean): Promise<LintReport> {
  const { compileLoaded } = await import("../load_recipe.ts");
  const { lintRecipe } = await import("../../plan/lint.ts");
  return lintRecipe(compileLoaded(loaded, registry), { registry, strict, locate: loaded.locate });
}

/** Refuses a recipe that does not lint. @throws SvcError `recipe_lint_failed` with every issue */
export async function lintOrRefuse(loaded: LoadedRecipe, registry: Registry): Promise<void> {
  const { status, issues } = await lintLoaded(loaded, registry, true);
  if (status === "passed") return;
  throw new SvcError("recipe_lint_failed", `Cannot run ${loaded.file}: it does not pass strict lint`, {
    diagnostics: issues,
  });
}

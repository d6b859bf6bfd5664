/** `svc doctor` and `svc index`: the state of the machine and of the state directory. */
import type { Command } from "../commander.ts";
import { contextOf } from "../context.ts";
import { EXIT } from "../problem.ts";
import type { Style } from "../terminal.ts";

const PAINT: Record<string, Style> = { passed: "green", warning: "yellow", failed: "red" };

export function maintenanceCommands(program: Command): void {
  program.command("doctor")
    .description("check runtime, permissions, folders and the parts that can be missing; exit 5 when one fails")
    .addHelpText("after", "\nExamples\n  svc doctor\n  svc doctor --json\n")
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const { diagnose } = await import("../../run/doctor.ts");
      const report = await diagnose(await context.workspace());
      context.emit(report as unknown as Parameters<typeof context.emit>[0]);
      const width = Math.max(...report.checks.map(({ id }) => id.length));
      for (const { id, status, detail, hint } of report.checks) {
        context.print(`${context.paint(PAINT[status], status.padEnd(7))}  ${id.padEnd(width)}  ${detail}`);
        if (hint !== null && status !== "passed") context.print(`${"".padEnd(11 + width)}${hint}`);
      }
      if (report.status === "failed") context.exitCode = EXIT.missing;
    });

  const index = program.command("index").description("the index that makes lists of runs and results fast");
  index.command("rebuild")
    .description("forget the index of runs and results and read each again; jobs and their events stay")
    .addHelpText("after", "\nExamples\n  svc index rebuild\n")
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const { openRunIndex } = await import("../../run/index/open.ts");
      const { rebuildResultIndex } = await import("../../benchmark/result_index.ts");
      const workspace = await context.workspace();
      const { index, database, damaged, close } = openRunIndex(workspace, { check: true });
      try {
        const runs = await index.rebuild();
        const results = rebuildResultIndex(workspace, database);
        context.emit({ schema_version: 1, runs, benchmark_results: results, damaged });
        const many = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
        context.print(
          `${context.paint("green", "rebuilt")}  ${many(runs, "run")}, ${many(results, "benchmark result")}`,
        );
        if (damaged !== null) context.note(`The damaged index was put aside as ${damaged}`);
      } finally {
        close();
      }
    });
}

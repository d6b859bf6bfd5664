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

  const index = program.command("index").description("the index that makes lists of runs fast");
  index.command("rebuild")
    .description("forget the index of runs and read every bundle again; jobs and their events stay")
    .addHelpText("after", "\nExamples\n  svc index rebuild\n")
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const { openRunIndex } = await import("../../run/index/open.ts");
      const { index, damaged, close } = openRunIndex(await context.workspace(), { check: true });
      try {
        const runs = await index.rebuild();
        context.emit({ schema_version: 1, runs, damaged });
        context.print(`${context.paint("green", "rebuilt")}  ${runs} run${runs === 1 ? "" : "s"}`);
        if (damaged !== null) context.note(`The damaged index was put aside as ${damaged}`);
      } finally {
        close();
      }
    });
}

/** `svc suite`: families of benchmark protocols. */
import type { Command } from "../commander.ts";
import { Option } from "../commander.ts";
import { contextOf } from "../context.ts";
import { formatTable, type TableFormat } from "../table.ts";

export function suiteCommands(program: Command): void {
  const suite = program.command("suite").description("families of benchmark protocols, their tasks and packs");

  suite.command("list")
    .description("list the suites")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc suite list\n  svc suite list --json\n")
    .action(async (options: { format: TableFormat }, command: Command) => {
      const context = contextOf(command);
      const { listSuites } = await import("../../benchmark/suites.ts");
      const suites = listSuites((await context.workspace()).projectRoot);
      context.emit({ schema_version: 1, suites });
      const rows = suites.map(({ id, name, status, supported_tasks, benchmark_packs }) => ({
        suite: id,
        name,
        status,
        tasks: supported_tasks.length,
        packs: benchmark_packs.length,
      }));
      const columns = [{ key: "suite" }, { key: "name" }, { key: "status" }];
      const numbers = ["tasks", "packs"].map((key) => ({ key, align: "right" as const }));
      context.print(formatTable(rows, [...columns, ...numbers], options.format));
    });

  suite.command("show <suite>")
    .description("show the tasks and packs of a suite")
    .addHelpText("after", "\nExamples\n  svc suite show semantic_comm\n")
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const { findSuite } = await import("../../benchmark/suites.ts");
      const found = findSuite(id, (await context.workspace()).projectRoot);
      context.emit({ schema_version: 1, ...found });
      const lines = [`${context.paint("bold", found.id)}  ${found.name} (${found.status})`, `  ${found.summary}`];
      const list = (name: string, values: string[]) => {
        if (values.length > 0) lines.push(`  ${name.padEnd(10)}${values.join(", ")}`);
      };
      list("tasks", found.supported_tasks);
      list("planned", found.planned_tasks);
      list("packs", found.benchmark_packs.map(({ path }) => String(path)));
      context.print(lines.join("\n"));
    });

  suite.command("benchmarks <suite>")
    .description("list the benchmark packs of a suite")
    .addHelpText("after", "\nExamples\n  svc suite benchmarks neural_receiver\n")
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const { findSuite } = await import("../../benchmark/suites.ts");
      const { benchmark_packs } = findSuite(id, (await context.workspace()).projectRoot);
      context.emit({ schema_version: 1, suite: id, benchmark_packs });
      const rows = benchmark_packs.map(({ id, path, status, task }) => ({
        pack: String(path),
        id: String(id),
        status: String(status),
        task: String(task ?? ""),
      }));
      if (rows.length === 0) return context.note("No pack names this suite yet");
      context.print(formatTable(rows, [{ key: "pack" }, { key: "id" }, { key: "status" }, { key: "task" }], "table"));
    });
}

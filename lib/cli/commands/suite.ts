/** `svc suite` and `svc submission`: families of benchmark protocols, and submitted benchmarks. */
import { benchmarks } from "../../api/calls/benchmarks.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { type CommandSpec, TABLE_FORMAT } from "../command.ts";
import { EXIT, findingLines, verdict } from "../problem.ts";
import { formatTable, right } from "../table.ts";

const { suites, suite, validateSubmission } = benchmarks;

const callCommands = commandsOf("suite", { suites, suite, validateSubmission }, {
  suites: {
    options: { format: TABLE_FORMAT },
    examples: ["svc suite list", "svc suite list --json"],
    json: (suites) => ({ schema_version: 1, suites }),
    show(suites, { options: { format } }) {
      const rows = suites.map(({ id, name, status, supported_tasks, benchmark_packs }) => ({
        suite: id,
        name,
        status,
        tasks: supported_tasks.length,
        packs: benchmark_packs.length,
      }));
      return formatTable(rows, ["suite", "name", "status", right("tasks"), right("packs")], format);
    },
  },
  suite: {
    examples: ["svc suite show semantic_comm"],
    show(suite, { context }) {
      const lines = [`${context.paint("bold", suite.id)}  ${suite.name} (${suite.status})`, `  ${suite.summary}`];
      const facts: [string, readonly string[]][] = [
        ["tasks", suite.supported_tasks],
        ["planned", suite.planned_tasks],
        ["packs", suite.benchmark_packs.map(({ path }) => String(path))],
      ];
      for (const [name, values] of facts) {
        if (values.length > 0) lines.push(`  ${name.padEnd(10)}${values.join(", ")}`);
      }
      return lines.join("\n");
    },
  },
  validateSubmission: {
    notes: "The folder holds pack.yaml (or the benchmark.json of the result), result.json and verification.json.",
    examples: [
      "cp -r .svc/benchmarks/<result> submission",
      "svc benchmark verify <result> --json > submission/verification.json",
      "svc submission validate submission",
    ],
    show(report, { args: [folder], context }) {
      const of = report.pack === null ? "" : `  ${report.pack.id} ${report.pack.version}`;
      const head = `${verdict(report.status, context.paint)}${of}  ${report.result_id ?? folder}`;
      return [head, ...findingLines(report, context.paint)].join("\n");
    },
    exit: ({ status }) => status === "invalid" ? EXIT.differs : EXIT.ok,
  },
});

export const suiteCommands: CommandSpec[] = [
  ...callCommands,
  commandOf(suite, { name: "suite benchmarks", usage: "<suite>", summary: "list the benchmark packs of a suite" }, {
    examples: ["svc suite benchmarks neural_receiver"],
    json: ({ benchmark_packs }, { args: [id] }) => ({ schema_version: 1, suite: id, benchmark_packs }),
    remarks: {
      benchmark_packs: ({ benchmark_packs }) => benchmark_packs.length > 0 ? null : "No pack names this suite yet",
    },
    show({ benchmark_packs }) {
      if (benchmark_packs.length === 0) return;
      const rows = benchmark_packs.map(({ id, path, status, task }) => ({
        pack: String(path),
        id: String(id),
        status: String(status),
        task: String(task ?? ""),
      }));
      return formatTable(rows, ["pack", "id", "status", "task"]);
    },
  }),
];

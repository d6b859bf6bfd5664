/** `svc submission`: a benchmark as it is handed in. */
import type { JsonObject } from "../../contract/value.ts";
import type { Command } from "../commander.ts";
import { contextOf } from "../context.ts";
import { EXIT } from "../problem.ts";

export function submissionCommands(program: Command): void {
  const submission = program.command("submission").description("check a benchmark that is handed in");

  submission.command("validate <folder>")
    .description("check pack, result and verification report together; exit 6 when something is wrong")
    .addHelpText(
      "after",
      "\nThe folder holds pack.yaml (or the benchmark.json of the result), result.json and verification.json." +
        "\n\nExamples" +
        "\n  cp -r .svc/benchmarks/<result> submission" +
        "\n  svc benchmark verify <result> --json > submission/verification.json" +
        "\n  svc submission validate submission\n",
    )
    .action(validate);
}

async function validate(folder: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { validateSubmission } = await import("../../benchmark/submission.ts");
  const report = validateSubmission(folder);
  context.emit({ schema_version: 1, ...report } as unknown as JsonObject);
  const color = report.status === "valid" ? "green" : report.status === "warning" ? "yellow" : "red";
  const of = report.pack === null ? "" : `  ${report.pack.id} ${report.pack.version}`;
  context.print(`${context.paint(color, report.status)}${of}  ${report.result_id ?? folder}`);
  for (const item of [...report.errors, ...report.warnings]) {
    const style = item.severity === "error" ? "red" : "yellow";
    context.print(`  ${context.paint(style, `${item.severity}[${item.code}]`)} ${item.message} (${item.file})`);
  }
  if (report.status === "invalid") context.exitCode = EXIT.differs;
}

/** `svc operation`: operations of one's own, from a scaffold to the conformance suite. */
import { join } from "node:path";
import { command, type CommandSpec, parsed } from "../command.ts";
import { EXIT } from "../problem.ts";

export const operationCommands: CommandSpec[] = [
  command({
    usage: "operation scaffold <name>",
    summary: "create an operation of your own with a test and a recipe",
    options: { out: parsed("--out <folder>", "output folder", (folder: string) => folder, ".") },
    examples: ["svc operation scaffold soft_limiter", "svc --operation soft_limiter.ts recipe run soft_limiter.yaml"],
    call: ({ svc, args: [name], options }) => svc.system.scaffoldOperation(name, options),
    json: (written) => ({ schema_version: 1, status: "written", ...written }),
    show({ id, folder, files, test }, { context }) {
      const [operation, , recipe] = files.map((file) => join(folder, file));
      return `${context.paint("green", "written")}  ${id}: ${files.join(", ")}\n` +
        (test === null ? "" : `  test   ${test.join(" ")}\n`) +
        `  check  svc operation check ${operation}\n  run    svc --operation ${operation} recipe run ${recipe}`;
    },
  }),
  command({
    usage: "operation check <path>",
    multiline: true,
    summary: "run the conformance suite on an operation of your own; exit 3 when it fails",
    notes:
      "A file is your own code: it runs with the rights of this program. It exports the operation as its default\n" +
      "and, as `cases`, the inputs and parameters to run it with. The folder of an adapter runs in its sandbox: its\n" +
      "operations with ports of their own get inputs that are made from their kinds.",
    examples: ["svc operation check soft_limiter.ts", "svc operation check my-amplifier"],
    call: ({ svc, args: [file] }) => svc.system.checkOperation(file),
    json: (report) => report,
    show({ id, status, checks }, { context: { paint } }) {
      const lines = checks.map(({ name, status, message }) => {
        const mark = status === "ok" ? paint("green", "ok    ") : paint("red", "failed");
        return `  ${mark}  ${name}${message === null ? "" : `\n          ${message.replaceAll("\n", "\n          ")}`}`;
      });
      return [`${paint(status === "conforms" ? "green" : "red", status)}  ${id}`, ...lines].join("\n");
    },
    exit: ({ status }) => status === "conforms" ? EXIT.ok : EXIT.refused,
  }),
];

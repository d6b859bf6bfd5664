/** `svc operation`: operations of one's own, from a scaffold to the conformance suite. */
import { join } from "../../contract/paths.ts";
import { system } from "../../api/calls/system.ts";
import { commandsOf } from "../call_commands.ts";
import type { CommandSpec } from "../command.ts";
import { EXIT } from "../problem.ts";

const { scaffoldOperation, checkOperation } = system, calls = { scaffoldOperation, checkOperation };

export const operationCommands: CommandSpec[] = commandsOf("operation", calls, {
  scaffoldOperation: {
    examples: ["svc operation scaffold soft_limiter", "svc --operation soft_limiter.ts recipe run soft_limiter.yaml"],
    json: (written) => ({ schema_version: 1, status: "written", ...written }),
    show({ id, folder, files, test }, { context }) {
      const [operation, , recipe] = files.map((file) => join(folder, file));
      return `${context.paint("green", "written")}  ${id}: ${files.join(", ")}\n` +
        (test === null ? "" : `  test   ${test.join(" ")}\n`) +
        `  check  svc operation check ${operation}\n  run    svc --operation ${operation} recipe run ${recipe}`;
    },
  },
  checkOperation: {
    multiline: true,
    notes:
      "A file is your own code: it runs with the rights of this program. It exports the operation as its default\n" +
      "and, as `cases`, the inputs and parameters to run it with. The folder of an adapter runs in its sandbox: its\n" +
      "operations with ports of their own get inputs that are made from their kinds.",
    examples: ["svc operation check soft_limiter.ts", "svc operation check my-amplifier"],
    show({ id, status, checks }, { context: { paint } }) {
      const lines = checks.map(({ name, status, message }) => {
        const mark = status === "ok" ? paint("green", "ok    ") : paint("red", "failed");
        return `  ${mark}  ${name}${message === null ? "" : `\n          ${message.replaceAll("\n", "\n          ")}`}`;
      });
      return [`${paint(status === "conforms" ? "green" : "red", status)}  ${id}`, ...lines].join("\n");
    },
    exit: ({ status }) => status === "conforms" ? EXIT.ok : EXIT.refused,
  },
});

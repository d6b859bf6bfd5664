/**
 * `svc ops list`. The other commands of operations are made from their calls, whose schemas take a quarter of the start of
 * this one; a test compares it with its call.
 */
import type { OperationContract } from "../../contract/operation.ts";
import { prettyJson } from "../../contract/json.ts";
import { command, type CommandSpec, FORMAT, text } from "../command.ts";
import { formatTable } from "../table.ts";

const documentOf = (operations: object[]) => ({ schema_version: 1, operations: operations as OperationContract[] });

export const opsList: CommandSpec = command({
  usage: "ops list",
  summary: "List operations",
  options: { filter: text("--filter <text>", "only ids or names that contain the text"), format: FORMAT },
  // The table and its formats escape the shown texts; contracts hold a hundred times as many.
  multiline: true,
  examples: ["svc ops list --filter channel.", "svc --adapter my-codec ops list --json"],
  call: ({ svc, context, options: { filter, format } }) =>
    context.json || format === "json" ? svc.system.operations({ filter }) : svc.summaries(filter),
  json: documentOf,
  show(operations, { options: { format } }) {
    if (format === "json") return prettyJson(documentOf(operations));
    const rows = operations.map(({ id, name, input_kinds, output_kinds }) => ({
      operation: id,
      name,
      in: Object.keys(input_kinds).join(", "),
      out: Object.keys(output_kinds).join(", "),
    }));
    // A terminal has no room for the ports, which ops show prints.
    const ports = format === "table" ? [] : ["in", "out"];
    return formatTable(rows, ["operation", "name", ...ports], format);
  },
});

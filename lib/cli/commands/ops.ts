/** `svc ops`: the operations a recipe can use. */
import { SvcError } from "../../contract/error.ts";
import { parseJson, prettyJson } from "../../contract/json.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import type { OperationContract } from "../../contract/operation.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { formatTable, type TableFormat } from "../table.ts";
import type { Paint } from "../terminal.ts";

/** The generated contracts: reading them takes a fraction of the time that loading every operation would. */
async function builtinContracts(): Promise<OperationContract[]> {
  const { default: text } = await import("../../../ops/contracts.json", { with: { type: "text" } });
  return (parseJson(text) as { operations: OperationContract[] }).operations;
}

/** The built-in contracts, and those of the adapters that were named, none of whose code is loaded for it. */
async function knownContracts(context: CliContext): Promise<OperationContract[]> {
  const { folders, grants } = await context.adapters();
  if (folders.length === 0) return await builtinContracts();
  const { createRegistry } = await import("../../../ops/registry.ts");
  const { loadAdapters } = await import("../../adapter/load.ts");
  const registry = await createRegistry();
  const { projectRoot } = await context.workspace();
  await loadAdapters(registry, folders.map((folder) => ({ folder })), { projectRoot, grants, loadModules: false });
  return registry.contracts();
}

export function opsCommands(program: Command): void {
  const ops = program.command("ops").description("list and show the operations a recipe can use");

  ops.command("list")
    .description("list operations")
    .option("--filter <text>", "only ids or names that contain the text")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md", "json"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc ops list --filter channel.\n  svc --adapter my-codec ops list --json\n")
    .action(async (options: { filter?: string; format: TableFormat | "json" }, command: Command) => {
      const context = contextOf(command);
      const wanted = options.filter?.toLowerCase() ?? "";
      const contracts = (await knownContracts(context))
        .filter(({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted));
      if (options.format === "json" || context.json) {
        const document = { schema_version: 1, operations: contracts };
        return context.json ? context.emit(document) : context.print(prettyJson(document));
      }
      const rows = contracts.map((contract) => ({
        operation: contract.id,
        name: contract.name,
        in: Object.keys(contract.input_kinds).join(", "),
        out: Object.keys(contract.output_kinds).join(", "),
      }));
      context.print(
        formatTable(rows, [{ key: "operation" }, { key: "name" }, { key: "in" }, { key: "out" }], options.format),
      );
    });

  ops.command("show <operation>")
    .description("show the contract of an operation")
    .addHelpText("after", "\nExamples\n  svc ops show wireless.channel\n  svc ops show channel.crc32_check --json\n")
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const contracts = await knownContracts(context);
      const contract = contracts.find((candidate) => candidate.id === id);
      if (contract === undefined) {
        throw new SvcError("unknown_operation", `Cannot find an operation named ${id}`, {
          hint: didYouMean(id, contracts.map((candidate) => candidate.id)),
        });
      }
      context.emit(contract);
      context.print(describe(contract, context.paint));
    });
}

function describe(contract: OperationContract, paint: Paint): string {
  const lines = [`${paint("bold", contract.id)}  ${contract.name}`];
  if (contract.status !== "implemented") lines.push(`  status: ${contract.status}`);
  if (typeof contract.description === "string") lines.push(`  ${contract.description}`);
  if (isObject(contract.external_adapter)) {
    const { name, version, wraps } = contract.external_adapter;
    lines.push(`  adapter: ${name} ${version}, wraps ${wraps}; always runs alone`);
  }
  const ports = (title: string, kinds: JsonObject) => {
    const entries = Object.entries(kinds);
    if (entries.length === 0) return;
    lines.push("", paint("bold", title));
    for (const [port, kind] of entries) lines.push(`  ${port}: ${Array.isArray(kind) ? kind.join(", ") : kind}`);
  };
  ports("Inputs", contract.input_kinds);
  ports("Optional inputs", contract.optional_input_kinds);
  ports("Outputs", contract.output_kinds);
  const properties = Object.entries((contract.params_schema.properties ?? {}) as JsonObject);
  const required = (contract.params_schema.required ?? []) as string[];
  if (properties.length > 0) {
    lines.push("", paint("bold", "Parameters"));
    for (const [name, node] of properties) {
      if (isObject(node)) lines.push(`  ${describeParameter(name, node, required.includes(name))}`);
    }
  }
  lines.push("", paint("bold", "Runs on"));
  for (const entry of contract.materializations) {
    const notes = typeof entry.notes === "string" ? `: ${entry.notes}` : "";
    const status = entry.status === "implemented" ? "" : ` (${entry.status}${notes})`;
    lines.push(`  ${entry.runner}  ${entry.backend}/${entry.implementation}${status}`);
  }
  return lines.join("\n");
}

function describeParameter(name: string, node: JsonObject, required: boolean): string {
  const text = (value: Value) => (typeof value === "string" ? JSON.stringify(value) : prettyJson(value).trim());
  const type = Array.isArray(node.type) ? node.type.join("|") : String(node.type ?? "any");
  const fallback = node.default === undefined ? (required ? " (required)" : "") : ` = ${text(node.default)}`;
  const choices = Array.isArray(node.enum) ? `  {${node.enum.join(", ")}}` : "";
  const description = typeof node.description === "string" ? `  ${node.description}` : "";
  return `${name}: ${type}${fallback}${choices}${description}`;
}

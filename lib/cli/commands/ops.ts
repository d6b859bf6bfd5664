/** `svc ops` and `svc profiles`: the operations that a recipe can use, and the topologies that it can claim. */
import { system } from "../../api/calls/system.ts";
import { canonicalJson, prettyJson } from "../../contract/json.ts";
import type { OperationContract } from "../../contract/operation.ts";
import { unavailableRows } from "../../contract/unavailable_values.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import { proofText } from "../../study/validation/standing.ts";
import { CUSTOM_PROFILE, type Profile, PROFILES } from "../../plan/profiles.ts";
import { commandsOf } from "../call_commands.ts";
import { type CommandSpec, TABLE_FORMAT } from "../command.ts";
import { formatTable } from "../table.ts";
import type { Paint } from "../terminal.ts";
import { opsList } from "./ops_list.ts";

const { operation, profiles, profile } = system, calls = { operation, profiles, profile };

const callCommands: CommandSpec[] = commandsOf("ops", calls, {
  operation: {
    examples: ["svc ops show wireless.channel", "svc ops show channel.crc32_check --json"],
    json: (contract) => contract,
    async show(contract, { context, svc }) {
      const cards = await svc.validation.list({ operation: contract.id });
      const lines = [
        "",
        context.paint("bold", "Validation"),
        `  ${proofText(cards)}`,
      ];
      if (cards.length > 0) lines.push(`  ${cards.map(({ id }) => id).join(", ")}`);
      return [describeOperation(contract, context.paint), ...lines].join("\n");
    },
  },
  profiles: {
    options: { format: TABLE_FORMAT },
    examples: ["svc profiles list", "svc profiles list --json"],
    show(_catalogue, { options: { format } }) {
      const rows = [...PROFILES, CUSTOM_PROFILE].map((profile) => ({
        profile: String(profile.id),
        label: String(profile.label),
        spine: ((profile.required_ordered_spine ?? []) as string[]).join(", "),
      }));
      const columns = ["profile", "label", { key: "spine", title: "required steps, in order" }];
      return formatTable(rows, columns, format);
    },
  },
  profile: {
    examples: ["svc profiles show layered_digital"],
    show: (profile, { context }) => describeProfile(profile, context.paint),
  },
});

export const opsCommands: CommandSpec[] = [opsList, ...callCommands];

function describeOperation(contract: OperationContract, paint: Paint): string {
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
  const same = contract.output_same_kind_as ?? {};
  const outputs = Object.entries(contract.output_kinds).map(([port, kind]) => [
    port,
    port in same ? `the kind of ${same[port]}` : kind,
  ]);
  ports("Outputs", Object.fromEntries(outputs));
  const properties = Object.entries((contract.params_schema.properties ?? {}) as JsonObject);
  const required = (contract.params_schema.required ?? []) as string[];
  if (properties.length > 0) {
    lines.push("", paint("bold", "Parameters"));
    for (const [name, node] of properties) {
      if (isObject(node)) lines.push(`  ${describeParameter(name, node, required.includes(name))}`);
    }
  }
  const unavailable = unavailableRows(contract);
  if (unavailable.length > 0) lines.push("", paint("bold", "Values that cannot be chosen"));
  for (const { parameter, values, reason } of unavailable) {
    lines.push(`  ${parameter}: ${values.join(", ")}  ${reason}`);
  }
  const abi = contract.trained_artifact_abi;
  if (abi !== undefined) {
    lines.push("", paint("bold", `Trained artifact (${abi.component_id}.onnx, entry point ${abi.entrypoint_id})`));
    for (const [side, tensors] of [["takes", abi.inputs], ["gives", abi.outputs]] as const) {
      for (const [name, { dtype, shape, meaning = "" }] of Object.entries(tensors)) {
        lines.push(`  ${side}  ${name}: ${dtype} [${shape.join(", ")}]  ${meaning}`.trimEnd());
      }
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

function describeProfile(profile: JsonObject, paint: Paint): string {
  const lines = [`${paint("bold", String(profile.id))}  ${profile.label}`, `  ${profile.summary}`];
  const stages = (profile as Partial<Profile>).stages ?? [];
  if (stages.length > 0) lines.push("", paint("bold", "Stages, in order"));
  const width = Math.max(0, ...stages.map(({ role }) => role.length));
  for (const stage of stages) {
    const ids = (stage.step_ids ?? [stage.role]) as string[];
    const details = [
      stage.presence === "fused" ? `done by ${stage.fused_into}: no step may have this id` : stage.presence,
      ...(ids.join() === stage.role ? [] : [`step ${ids.join(" or ")}`]),
      ...(stage.allowed_ops ? [(stage.allowed_ops as string[]).join(", ")] : []),
      ...(stage.required_params ? [canonicalJson(stage.required_params)] : []),
    ];
    lines.push(`  ${stage.role.padEnd(width)}  ${details.join("; ")}`);
    if (stage.summary) lines.push(`  ${"".padEnd(width)}  ${stage.summary}`);
  }
  return lines.join("\n");
}

/** `svc profiles`: the topologies that a recipe can claim. */
import { SvcError } from "../../contract/error.ts";
import { canonicalJson } from "../../contract/json.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { JsonObject } from "../../contract/value.ts";
import { CUSTOM_PROFILE, type Profile, profileCatalogue, profileIds, PROFILES } from "../../plan/profiles.ts";
import { type Command, Option } from "../commander.ts";
import { contextOf } from "../context.ts";
import { formatTable, type TableFormat } from "../table.ts";
import type { Paint } from "../terminal.ts";

export function profilesCommands(program: Command): void {
  const profiles = program.command("profiles").description("list and show the execution profiles a recipe can claim");

  profiles.command("list")
    .description("list the execution profiles")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc profiles list\n  svc profiles list --json\n")
    .action((options: { format: TableFormat }, command: Command) => {
      const context = contextOf(command);
      context.emit(profileCatalogue());
      const rows = [...PROFILES, CUSTOM_PROFILE].map((profile) => ({
        profile: String(profile.id),
        label: String(profile.label),
        spine: ((profile.required_ordered_spine ?? []) as string[]).join(", "),
      }));
      const columns = [{ key: "profile" }, { key: "label" }, { key: "spine", title: "required steps, in order" }];
      context.print(formatTable(rows, columns, options.format));
    });

  profiles.command("show <profile>")
    .description("show the stages of an execution profile")
    .addHelpText("after", "\nExamples\n  svc profiles show layered_digital\n")
    .action((id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const found = id === CUSTOM_PROFILE.id ? CUSTOM_PROFILE : PROFILES.find((profile) => profile.id === id);
      if (found === undefined) {
        throw new SvcError("execution_profile_unknown", `Cannot find an execution profile named ${id}`, {
          hint: didYouMean(id, profileIds()) ?? "svc profiles list shows them",
        });
      }
      context.emit({ schema_version: 1, ...found });
      context.print(describe(found, context.paint));
    });
}

function describe(profile: JsonObject, paint: Paint): string {
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

/** `svc template`: recipes to start from. */
import { templates } from "../../api/calls/templates.ts";
import { SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { Value } from "../../contract/value.ts";
import type { TemplateRow } from "../../template/inspect.ts";
import { commandsOf } from "../call_commands.ts";
import { type CommandSpec, flag, list, TABLE_FORMAT, text } from "../command.ts";
import { formatDiagnostic } from "../problem.ts";
import { formatBytes, formatTable, right } from "../table.ts";
import type { Style } from "../terminal.ts";

const PAINT: Record<string, Style> = { valid: "green", unavailable: "yellow", invalid: "red" };

function stateOf({ validation, run_readiness, source }: TemplateRow): string {
  if (validation.status !== "valid") return validation.status;
  const own = source?.kind === "project_override" ? ", the project's own" : "";
  return (run_readiness?.ready ? "ready" : "to be fetched") + own;
}

/** The assignments of `--set` as step id to parameter to typed value; later ones win. */
async function stepParams(assignments: readonly string[]): Promise<Record<string, Record<string, Value>>> {
  const { parseOverrideValue } = await import("../../recipe/overrides.ts");
  const steps = new Map<string, Map<string, Value>>();
  for (const assignment of assignments) {
    const [, step, param, value] = /^([^.=]+)\.([^=]+)=([\s\S]*)$/.exec(assignment) ?? [];
    if (step === undefined) {
      throw new SvcError("override_invalid", `Cannot read the override ${JSON.stringify(assignment)}`, {
        hint: "Write step.param=value",
      });
    }
    steps.set(step, (steps.get(step) ?? new Map()).set(param, parseOverrideValue(value)));
  }
  return Object.fromEntries([...steps].map(([step, params]) => [step, Object.fromEntries(params)]));
}

export const templateCommands: CommandSpec[] = commandsOf("template", templates, {
  list: {
    options: { task: text("--task <id>", "only templates of this task"), format: TABLE_FORMAT },
    examples: ["svc template list", "svc template list --task image_reconstruction"],
    async call({ options: { task } }, perform) {
      const inspected = await perform();
      const templates = inspected.templates.filter(({ task_id }) => task_id === (task ?? task_id));
      if (templates.length > 0) return { ...inspected, templates };
      const tasks = new Set(inspected.templates.map(({ task_id }) => task_id));
      throw new SvcError("template_not_found", `Cannot find a template for ${task}`, {
        hint: didYouMean(task!, tasks) ?? `Tasks: ${[...tasks].join(", ")}`,
      });
    },
    remarks: {
      status({ status, templates }) {
        const usable = templates.filter(({ available }) => available).length;
        return `${usable} of ${templates.length} can be used (${status}); svc template show <id> says why not`;
      },
    },
    show({ templates }, { options: { format } }) {
      const rows = templates.map((row) => ({
        template: row.id,
        label: row.label,
        kind: row.default ? "default" : row.status,
        state: stateOf(row),
        steps: row.recipe?.step_count ?? null,
      }));
      return formatTable(rows, ["template", "label", "kind", "state", right("steps")], format);
    },
  },
  show: {
    examples: ["svc template show semantic_comm.image_reconstruction.default"],
    show(row, { context }) {
      const { validation, recipe, source, run_readiness: readiness } = row;
      const facts: [string, string | null | undefined][] = [
        ["task", row.task_id],
        ["profile", String(row.execution_profile.id)],
        ["status", row.default ? "supported, the default of its task" : row.status],
        ["state", context.paint(PAINT[validation.status], validation.status)],
        ["recipe", recipe && `${recipe.name}, ${recipe.step_count} steps`],
        ["", recipe?.description],
        ["source", source && `${source.reference}  ${source.digest}`],
        ["override", source?.kind === "project_override" ? null : `a recipe at ${row.recipe_path} replaces it`],
      ];
      const lines = [`${context.paint("bold", row.id)}  ${row.label}`];
      for (const [name, fact] of facts) if (fact) lines.push(`  ${name.padEnd(10)}${fact}`);
      for (const item of readiness?.missing ?? []) {
        const size = typeof item.size_bytes === "number" ? ` (${formatBytes(item.size_bytes)})` : "";
        lines.push(`  ${"needs".padEnd(10)}${item.kind} ${item.id}: ${item.reason}`);
        if (item.fetch !== null) lines.push(`  ${"".padEnd(10)}${item.fetch}${size}`);
      }
      for (const item of validation.errors) lines.push("", formatDiagnostic(item, context.paint));
      return lines.join("\n");
    },
  },
  instantiate: {
    multiline: true,
    options: {
      set: list("--set <step.param=value>", "set a parameter; the value is read as JSON, else as text"),
      out: text("--out <file>", "write to a file; one that ends in .json holds JSON"),
      force: flag("--force", "replace an existing file"),
    },
    examples: [
      "svc template instantiate semantic_comm.image_reconstruction.default --out recipes/mine.yaml",
      "svc template instantiate semantic_comm.text_semantic_similarity.default --name mine | svc recipe run -",
      "svc template instantiate semantic_comm.image_reconstruction.default --set sender.quality=50",
    ],
    async call({ options: { set, out, force } }, perform) {
      const instance = await perform({ step_params: await stepParams(set) });
      if (out === undefined) return instance;
      if (!force && await Deno.lstat(out).then(() => true, () => false)) {
        throw new SvcError("recipe_exists", `Cannot write ${out}: it exists`, { hint: "Add --force to replace it" });
      }
      const { writeFileAtomic } = await import("../../artifact/write_file.ts");
      writeFileAtomic(out, out.toLowerCase().endsWith(".json") ? prettyJson(instance.recipe) : instance.text);
      return instance;
    },
    json: ({ status, recipe, provenance, diagnostics }, { options: { out } }) => ({
      schema_version: 1,
      status,
      recipe,
      provenance,
      diagnostics,
      ...(out === undefined ? {} : { path: out }),
    }),
    show: ({ recipe, text }, { args: [id], options: { out } }) =>
      out === undefined ? text : `${out}\n  ${recipe.name}: ${recipe.steps.length} steps from ${id}`,
  },
});

/**
 * Writes `docs/reference/`: operations, metrics and tasks, error codes, commands and routes, each from the declarations that
 * the program itself uses.
 */
import { join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { codeRow, CODES } from "../contract/codes.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { canonicalJson, compareCodePoints, parseJson } from "../contract/json.ts";
import { buildProgram } from "../cli/main.ts";
import { EXIT_CODE_HELP } from "../cli/problem.ts";
import type { Command } from "../cli/commander.ts";
import type { OperationContract } from "../contract/operation.ts";
import { unavailableRows } from "../contract/unavailable_values.ts";
import { ROUTES } from "../http/routes/index.ts";
import { listCards } from "../study/validation/cards.ts";
import { type JudgedCard, judgedCards } from "../study/validation/run.ts";
import { proofText, standingOf } from "../study/validation/standing.ts";
import { researchCatalog } from "../research/catalog.ts";
import { PROGRAM_ROOT } from "../artifact/program.ts";
import contracts from "../../ops/contracts.json" with { type: "text" };

const FOLDER = new URL("docs/reference/", PROGRAM_ROOT);
const NOTE = "<!-- Written by lib/release/generate_reference.ts; change its sources instead. -->\n";

/** A cell of a table: one line, no bars, no markup. */
const cell = (value: unknown) =>
  String(value ?? "").replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|").replaceAll("<", "&lt;");
const code = (value: unknown) =>
  value === undefined || value === null || value === "" ? "" : `\`${String(value).replaceAll("|", "\\|")}\``;
const table = (head: string[], rows: string[][]) =>
  rows.length === 0 ? "" : [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---").join("|")}|`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ]
    .join("\n") + "\n";

function page(title: string, intro: string, body: string): string {
  return `# ${title}\n\n${NOTE}\n${intro}\n\n${body.trim()}\n`;
}

// Operations

function limits(schema: JsonObject): string {
  const parts: string[] = [];
  if (Array.isArray(schema.enum)) parts.push(schema.enum.map((value) => code(canonicalJson(value))).join(", "));
  const bound = (key: string, sign: string) =>
    schema[key] === undefined ? [] : [`${sign} ${canonicalJson(schema[key]!)}`];
  parts.push(...bound("minimum", "≥"), ...bound("exclusiveMinimum", ">"), ...bound("maximum", "≤"));
  parts.push(...bound("exclusiveMaximum", "<").map((text) => text.replace("<", "&lt;")));
  return parts.join(", ");
}

function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one) => typeOf(one as JsonObject)).join(" or ");
  if (schema.type === "array" && isObject(schema.items)) return `list of ${typeOf(schema.items)}`;
  return String(schema.type ?? (schema.enum ? "text" : "any")).replace("string", "text");
}

function operationText(contract: OperationContract, cards: readonly JudgedCard[]): string {
  const { id, name, description, input_kinds, optional_input_kinds, output_kinds, params_schema } = contract;
  const same = contract.output_same_kind_as ?? {};
  const required = new Set((params_schema.required ?? []) as string[]);
  const parameters = Object.entries((params_schema.properties ?? {}) as Record<string, JsonObject>);
  const kinds = (value: unknown) => [value].flat().map(code).join(", ");
  const ports = [
    ...Object.entries(input_kinds).map(([port, kind]) => [code(port), "input", kinds(kind)]),
    ...Object.entries(optional_input_kinds ?? {}).map(([port, kind]) => [code(port), "optional input", kinds(kind)]),
    ...Object.entries(output_kinds).map((
      [port, kind],
    ) => [code(port), "output", port in same ? `the kind of ${code(same[port])}` : kinds(kind)]),
  ];
  const rows = parameters.map(([param, schema]) => [
    code(param),
    cell(typeOf(schema)),
    required.has(param) ? "required" : schema.default === undefined ? "" : code(canonicalJson(schema.default)),
    limits(schema),
    cell(schema.description),
  ]);
  const unavailable = unavailableRows(contract)
    .map(({ parameter, values, reason }) => [code(parameter), values.map(code).join(", "), cell(reason)]);
  return [
    `## ${id}\n\n**${name}.** ${cell(description)}.\n`,
    table(["Port", "", "Kinds"], ports),
    table(["Parameter", "Type", "Default", "Limits", ""], rows),
    table(["Cannot be chosen", "Values", "Reason"], unavailable),
    cardsText(cards),
  ].filter((part) => part !== "").join("\n");
}

/** What the cards prove, with a link to each. */
function cardsText(cards: readonly JudgedCard[]): string {
  const proof = proofText(cards.map(({ latest }) => ({ latest: latest && standingOf(latest) })));
  // The page has a section for each card with a result.
  const names = cards.map(({ card: { id }, latest }) => latest === null ? id : `[${id}](../validation.md#${id})`);
  return `${[proof, ...cards.length === 0 ? [] : [names.join(", ")]].join(": ")}.\n`;
}

async function operationPages(): Promise<Map<string, string>> {
  const root = fileURLToPath(PROGRAM_ROOT), cards = await judgedCards(root, listCards(root), {});
  const proving = (id: string) => cards.filter(({ card }) => card.operations.includes(id));
  const { operations } = parseJson(contracts) as { operations: OperationContract[] };
  const groups = Map.groupBy(operations, ({ id }) => id.split(".")[0]);
  const pages = new Map<string, string>();
  for (const [group, members] of [...groups].sort(([a], [b]) => compareCodePoints(a, b))) {
    const body = members.sort((a, b) => compareCodePoints(a.id, b.id)).map((one) => operationText(one, proving(one.id)))
      .join("\n");
    pages.set(
      `operations/${group}.md`,
      page(
        `Operations: ${group}`,
        `${members.length} operations. \`svc ops show <id>\` prints one with its backends and guarantees.`,
        body,
      ),
    );
  }
  const list = operations.map(({ id, name }) => [
    `[${code(id)}](${id.split(".")[0]}.md#${anchor(id)})`,
    cell(name),
    String(proving(id).length || "none"),
  ]);
  pages.set(
    "operations/README.md",
    page("Operations", "All operations that a recipe can name.", table(["Id", "Name", "Validation cards"], list)),
  );
  return pages;
}

/** The anchor of a heading, as in GitHub and most generators. */
const anchor = (heading: string) => heading.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-");

// Metrics and tasks

const POOLED =
  "A metric that is a `root mean square` stands beside `<metric>.squared_sum` and `<metric>.count`; a `ratio of sums` " +
  "has an error energy over a reference energy. Rows and replicates add the sums, and the root or the logarithm is taken last.";

function metricsPage(): string {
  const { tasks, metrics } = researchCatalog();
  const rows = metrics.map((
    { id, name, unit, direction, reduction, description },
  ) => [
    code(id),
    cell(name),
    cell(unit),
    cell(String(direction ?? "").replaceAll("_", " ")),
    cell(reduction.replaceAll("_", " ")),
    cell(description),
  ]);
  const taskRows = tasks.map((
    { id, name, modality, metrics, description },
  ) => [code(id), cell(name), cell(modality), metrics.map(code).join(", "), cell(description)]);
  const body =
    `## Tasks\n\n${table(["Id", "Name", "Modality", "Metrics", ""], taskRows)}\n## Metrics\n\n${POOLED}\n\n` +
    table(["Id", "Name", "Unit", "Better", "Over the items of a run", ""], rows);
  return page(
    "Tasks and metrics",
    "The research catalogue: what recipes may declare and benchmarks may promote.",
    body,
  );
}

// Error codes

function codesPage(): string {
  const body = Object.keys(CODES).map((name) => {
    const [exit, status, meaning, action] = codeRow(name);
    const own = (status !== null || exit !== 1) && !/\((?:warning|information)\)\.$/.test(meaning);
    const numbers = own ? ` Exit code ${exit}${status === null ? "" : `, HTTP status ${status}`}.` : "";
    return `## ${name}\n\n${cell(`${meaning} ${action}`)}${numbers}\n`;
  });
  const intro =
    "The codes of errors and findings: what is wrong, and what to do. The message of an error names the place " +
    "and the values, its hint the next action.\nCodes without numbers are findings, which take the exit code of their " +
    "list, and failures of a step, after which a run ends with 1. Warnings change no exit code.\n\n" +
    `\`\`\`text\n${EXIT_CODE_HELP}\`\`\``;
  return page("Error codes", intro, body.join("\n"));
}

// Commands and routes

async function commandsPage(): Promise<string> {
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leaves(child as Command));
  const program = await buildProgram();
  const help = (command: Command): string => {
    let text = "";
    command.configureOutput({ writeOut: (part) => text += part, getOutHelpWidth: () => 100 });
    command.outputHelp();
    return `\`\`\`text\n${text.trim()}\n\`\`\`\n`;
  };
  const title = (command: Command): string => {
    const names: string[] = [];
    for (let at: Command | null = command; at !== null; at = at.parent as Command | null) names.unshift(at.name());
    return names.join(" ");
  };
  const commands = leaves(program).filter((command) => command.name() !== "help");
  const body = [`## svc\n\n${help(program)}`, ...commands.map((command) => `## ${title(command)}\n\n${help(command)}`)];
  return page(
    "Commands",
    "The help of every command. Options of `svc` itself stand before or behind the command.",
    body.join("\n"),
  );
}

function routesPage(): string {
  const groups = Map.groupBy(ROUTES, ({ path }) => path.split("/")[2] ?? "server");
  const body = [...groups].sort(([a], [b]) => compareCodePoints(a, b)).map(([group, routes]) => {
    const rows = routes.map(({ method, path, summary, replies, access }) => [
      code(`${method.toUpperCase()} ${path}`),
      cell(summary),
      Object.keys(replies).join(", "),
      access === "public" ? "public" : "",
    ]);
    return `## ${group}\n\n${table(["Route", "", "Statuses", "Access"], rows)}`;
  });
  const intro =
    "The HTTP interface of `svc ui serve`. `/api/openapi.json` of a server has the schemas of requests and replies.";
  return page("HTTP routes", intro, body.join("\n"));
}

/** The generated files, by path from the root; null for a page that is no more. */
export async function generated(): Promise<Record<string, string | null>> {
  const pages: Record<string, string | null> = {
    ...Object.fromEntries(await operationPages()),
    "metrics.md": metricsPage(),
    "codes.md": codesPage(),
    "commands.md": await commandsPage(),
    "routes.md": routesPage(),
  };
  for (const folder of ["", "operations/"]) {
    for (const { name, isFile } of Deno.readDirSync(new URL(folder, FOLDER))) {
      const path = join(folder, name);
      if (!isFile || Object.hasOwn(pages, path)) continue;
      if ((await Deno.readTextFile(new URL(path, FOLDER))).includes(NOTE)) pages[path] = null;
    }
  }
  return Object.fromEntries(Object.entries(pages).map(([path, text]) => [`docs/reference/${path}`, text]));
}

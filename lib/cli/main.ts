/** The command line: parses, calls the library, prints. */
import { canonicalJson } from "../contract/json.ts";
import { SvcError } from "../contract/error.ts";
import { withSystemCode } from "../contract/system_error.ts";
import { upperFirst } from "../contract/sentence.ts";
import { didYouMean } from "../contract/nearest.ts";
import { version } from "../run/version.ts";
import { Command, CommanderError, InvalidArgumentError, Option } from "./commander.ts";
import { addCommands, type CommandSpec } from "./command.ts";
import { contextOf } from "./context.ts";
import { EXIT_CODE_HELP, exitCodeOf, formatError, problemDocument, usageMessage } from "./problem.ts";
import { colorWanted, environment, painter, stderr, stdout, type Streams, streams, useStreams } from "./terminal.ts";
import { prettyJson } from "../contract/json.ts";

const OVERVIEW = `
The five commands to start with
  svc recipe run recipes/quickstart.yaml   run an experiment, leave a verifiable bundle
  svc recipe plan <file>                   see what would run, without running it
  svc ops list                             the operations a recipe can use
  svc runs list                            what has been run
  svc runs verify <run>                    re-hash a bundle and prove it

svc help <command> shows a command; svc help exit-codes lists the exit codes.
Environment: SVC_WORKSPACE (state directory), SVC_TRUST (trust file), SVC_TOKEN (of ui serve), NO_COLOR, CLICOLOR, CLICOLOR_FORCE
`;

type Load = (words: readonly string[]) => Promise<readonly CommandSpec[]>;

/** The list of operations loads no other command. */
const ops: Load = async (words) =>
  words.some((word, at) => word === "list" && words[at - 1] === "ops")
    ? [(await import("./commands/ops_list.ts")).opsList]
    : (await import("./commands/ops.ts")).opsCommands;
const suites: Load = async () => (await import("./commands/suite.ts")).suiteCommands;
const training: Load = async () => (await import("./commands/capture.ts")).captureCommands;
const system: Load = async () => (await import("./commands/system.ts")).systemCommands;

/** The first words of the commands: the description of one that holds others, and the module of its commands. */
const COMMANDS: Readonly<Record<string, [description: string, load: Load]>> = {
  ops: ["list and show the operations a recipe can use", ops],
  profiles: ["list and show the execution profiles a recipe can claim", ops],
  operation: [
    "operations of your own: scaffold and conformance suite",
    async () => (await import("./commands/operation.ts")).operationCommands,
  ],
  recipe: ["validate, plan and run recipes", async () => [
    ...(await import("./commands/recipe.ts")).recipeCommands,
    ...(await import("./commands/matrix.ts")).matrixCommands,
  ]],
  runs: [
    "list, show, verify, reproduce and compare run bundles",
    async () => (await import("./commands/runs.ts")).runsCommands,
  ],
  benchmark: [
    "run packs of recipes under one protocol, and read their results",
    async () => (await import("./commands/benchmark.ts")).benchmarkCommands,
  ],
  validation: [
    "published numbers beside measured ones",
    async () => (await import("./commands/validation.ts")).validationCommands,
  ],
  research: [
    "datasets, tasks and metrics, and recipes that name them",
    async () => (await import("./commands/research.ts")).researchCommands,
  ],
  template: [
    "start a recipe from a scenario",
    async () => (await import("./commands/template.ts")).templateCommands,
  ],
  suite: ["families of benchmark protocols, their tasks and packs", suites],
  submission: ["check a submitted benchmark", suites],
  data: [
    "datasets, and manifests of image folders",
    async () => (await import("./commands/data.ts")).dataCommands,
  ],
  models: [
    "list, fetch and verify the models that operations name",
    async () => (await import("./commands/models.ts")).modelsCommands,
  ],
  adapter: [
    "external models and codecs in folders",
    async () => (await import("./commands/adapter.ts")).adapterCommands,
  ],
  artifact: [
    "package, import, list, show, verify and remove trained networks",
    async () => (await import("./commands/artifact.ts")).artifactCommands,
  ],
  differentiable: ["trainable components of a recipe, and projects to train them", training],
  "dataset-capture": ["datasets for training, captured from the edges of a recipe", training],
  init: ["", system],
  doctor: ["", system],
  schema: ["print the JSON Schema of a kind of file", system],
  index: ["the index of runs and results", system],
  store: ["artifacts, models and datasets stored by digest", system],
  client: ["", system],
  completion: ["", system],
  docs: ["", async () => (await import("./commands/docs.ts")).docsCommands],
  ui: ["serve the HTTP interface", async () => (await import("./commands/ui.ts")).uiCommands],
  mcp: [
    "serve tools to assistants (Model Context Protocol)",
    async () => (await import("./commands/mcp.ts")).mcpCommands,
  ],
};

/**
 * The program.
 * @param words of a command line: only the commands that they name are loaded, of the others the first word is known; all
 *   commands when left out, or when the words name none
 */
export async function buildProgram(words: readonly string[] = []): Promise<Command> {
  const program = new Command("svc")
    .description("Reproducible experiments for communication and semantic-communication research.")
    .version(version, "--version", "Print the version")
    .helpOption("-h, --help", "Show this help")
    .option(
      "--workspace <dir>",
      "State directory (default: .svc under the project root, or $SVC_WORKSPACE)",
      folderName,
    )
    .option("--project-root <dir>", "Project root (default: the current directory)", folderName)
    .option(
      "--adapter <folder>",
      "Load the operations of an adapter; repeat for several (also $SVC_ADAPTER_PATHS)",
      gather,
    )
    .option(
      "--grant <grant>",
      "Grant an adapter <name>:net=<host[:port]>, :read=<path>, :env=<NAME> or :unsandboxed; repeat",
      gather,
    )
    .option(
      "--python <path>",
      "Interpreter of Python adapters, a path or a name (default: python3 on PATH, or $SVC_PYTHON)",
    )
    .option(
      "--operation <file>",
      "Load an operation of your own; its code runs with the rights of this program; repeat for several",
      gather,
    )
    .option("--json", "Print one JSON value on standard output, errors included")
    .option("-q, --quiet", "Print results and errors only")
    .option("-v, --verbose", "Print more; repeat for a trace", (_: string, count: number) => count + 1, 0)
    .addOption(
      new Option("--onnx-accelerator <runtime>", "Run trained artifacts natively instead of in the sandbox")
        .choices(["onnxruntime-node"]),
    )
    .addOption(
      new Option("--color <when>", "Use colours in the output").choices(["auto", "always", "never"]).default("auto"),
    )
    .addHelpText("after", OVERVIEW)
    .helpCommand("help [command]", "Show the help of a command, or exit-codes")
    .showSuggestionAfterError()
    .configureOutput({ writeOut: stdout, writeErr: () => {} })
    .exitOverride();
  const named = Object.keys(COMMANDS).filter((name) => words.includes(name));
  const loads = new Set((named.length > 0 ? named : Object.keys(COMMANDS)).map((name) => COMMANDS[name][1]));
  const specs = (await Promise.all([...loads].map((load) => load(words)))).flat();
  const known = new Set(specs.map(({ usage }) => usage.split(" ")[0]));
  for (const [name, [description]] of Object.entries(COMMANDS)) {
    const own = specs.filter(({ usage }) => usage.split(" ")[0] === name);
    if (known.has(name)) addCommands(program, description, own);
    else program.command(name).description(upperFirst(description));
  }
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({ writeOut: stdout, writeErr: () => {} }).showSuggestionAfterError();
  }
  return program;
}

/** The values of an option that may be repeated. */
function gather(text: string, before: string[] = []): string[] {
  if (text.trim() === "") throw new InvalidArgumentError("Give a value.");
  return [...before, text];
}

/** An empty name, as of an unset shell variable, would mean the current folder. */
function folderName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("Give a folder.");
  return text;
}

function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...everyCommand(child)]);
}

/**
 * Runs the command line.
 * @param args arguments after the program name
 * @param io streams in place of those of the process
 * @returns the exit code
 */
export async function main(args: readonly string[], io: Streams = Deno): Promise<number> {
  useStreams(io);
  if (args[0] === "help" && args[1] === "exit-codes") {
    stdout(EXIT_CODE_HELP);
    return 0;
  }
  const program = await buildProgram(args);
  // Asked by the completion scripts; its words are not to be parsed as a command.
  if (args[0] === "__complete") {
    await (await import("./complete.ts")).printCompletions(program, args.slice(args[1] === "--" ? 2 : 1));
    return 0;
  }
  if (args.length === 0) {
    stdout(`svc ${version}\n${OVERVIEW}`);
    return 0;
  }
  try {
    if (args[0] === "help" && args.length > 1 && !args[1].startsWith("-")) {
      commandNamed(program, args.slice(1)).outputHelp();
      return 0;
    }
    await program.parseAsync([...args], { from: "user" });
    return contextOf(program).exitCode;
  } catch (error) {
    return report(program, args, error);
  }
}

/** The command that `svc help recipe run` asks about. @throws SvcError `usage_invalid` */
function commandNamed(program: Command, names: readonly string[]): Command {
  return names.filter((name) => !name.startsWith("-")).reduce((command, name) => {
    const found = command.commands.find((child) => child.name() === name);
    if (found !== undefined) return found;
    const hint = didYouMean(name, command.commands.map((child) => child.name()));
    throw new SvcError("usage_invalid", `unknown command '${name}'`, { hint: hint ?? helpHint(command) });
  }, program);
}

/** Where the options and commands of the command stand that the arguments name. */
function helpHint(command: Command): string {
  const path: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) path.unshift(at.name());
  const what = command.commands.length > 0 ? "lists the commands" : "shows how to use it";
  return `${path.join(" ")} --help ${what}`;
}

function report(program: Command, args: readonly string[], thrown: unknown): number {
  const error = withSystemCode(thrown);
  const exitCode = exitCodeOf(error);
  // Help and version are "errors" of the library that end well.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (args.includes("--json")) {
    stdout(
      prettyJson(problemDocument(error, error instanceof CommanderError ? usageHint(program, args, error) : null)),
    );
    return exitCode;
  }
  const paint = painter(colorWanted("auto", streams().stderr.isTerminal()));
  if (error instanceof CommanderError) {
    stderr(`${paint("red", "error[usage_invalid]")}: ${usageMessage(error)}\n`);
    stderr(`  ${paint("green", "help")}: ${usageHint(program, args, error)}\n`);
    return exitCode;
  }
  stderr(formatError(error, paint, contextOf(program).excerpt));
  if (!(error instanceof SvcError)) writeTrace(error, args);
  return exitCode;
}

/** The library's "Did you mean" where it has one, else where to read on. */
function usageHint(program: Command, args: readonly string[], error: CommanderError): string {
  const suggestion = error.message.split("\n").slice(1).join(" ").replace(/^\((.*)\)$/, "$1");
  if (suggestion !== "") return suggestion;
  const command = args.reduce((at, word) => at.commands.find((child) => child.name() === word) ?? at, program);
  return helpHint(command);
}

/** An internal error is a defect of this program: the trace goes to a file, its place to the reader. */
function writeTrace(error: unknown, args: readonly string[]): void {
  if (environment("SVC_TRACE") === "1") stderr(`${error instanceof Error ? error.stack : String(error)}\n`);
  try {
    const path = Deno.makeTempFileSync({ prefix: "svc-trace-", suffix: ".txt" });
    const stack = error instanceof Error ? error.stack : String(error);
    Deno.writeTextFileSync(path, `svc ${version} ${canonicalJson([...args])}\n${stack}\n`);
    stderr(`  This is a defect of svc. The trace is in ${path}\n`);
  } catch {
    stderr("  This is a defect of svc. Run again with SVC_TRACE=1 to see the trace\n");
  }
}

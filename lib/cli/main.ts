/** The command line: parses, calls the library, prints. */
import { canonicalJson } from "../contract/json.ts";
import { SvcError } from "../contract/error.ts";
import { version } from "../run/version.ts";
import { Command, CommanderError, Option } from "./commander.ts";
import { completionCommand } from "./commands/completion.ts";
import { dataCommands } from "./commands/data.ts";
import { opsCommands } from "./commands/ops.ts";
import { profilesCommands } from "./commands/profiles.ts";
import { recipeCommands } from "./commands/recipe.ts";
import { researchCommands } from "./commands/research.ts";
import { runsCommands } from "./commands/runs.ts";
import { schemaCommands } from "./commands/schema.ts";
import { templateCommands } from "./commands/template.ts";
import { contextOf } from "./context.ts";
import { EXIT_CODE_HELP, exitCodeOf, formatError, problemDocument } from "./problem.ts";
import { colorWanted, environment, painter, stderr, stdout } from "./terminal.ts";
import { prettyJson } from "../contract/json.ts";

const OVERVIEW = `
The five commands to start with
  svc recipe run recipes/quickstart.yaml   run an experiment, leave a verifiable bundle
  svc recipe plan <file>                   see what would run, without running it
  svc ops list                             the operations a recipe can use
  svc runs list                            what has been run
  svc runs verify <run>                    re-hash a bundle and prove it

svc help <command> shows a command; svc help exit-codes lists the exit codes.
Environment: SVC_WORKSPACE (state directory), NO_COLOR, CLICOLOR, CLICOLOR_FORCE
`;

function buildProgram(): Command {
  const program = new Command("svc")
    .description("Experiments for communication and semantic-communication research that one can trust.")
    .version(version, "--version", "print the version")
    .option("--workspace <dir>", "state directory (default: .svc under the project root, or $SVC_WORKSPACE)")
    .option("--project-root <dir>", "project root (default: the current directory)")
    .option("--json", "print one JSON value on standard output, errors included")
    .option("-q, --quiet", "print errors only")
    .option("-v, --verbose", "print more; repeat for a trace", (_: string, count: number) => count + 1, 0)
    .addOption(new Option("--color <when>", "colour").choices(["auto", "always", "never"]).default("auto"))
    .addHelpText("after", OVERVIEW)
    .helpCommand("help [command]", "show the help of a command, or exit-codes")
    .showSuggestionAfterError()
    .configureOutput({ writeOut: stdout, writeErr: () => {} })
    .exitOverride();
  opsCommands(program);
  profilesCommands(program);
  recipeCommands(program);
  runsCommands(program);
  researchCommands(program);
  templateCommands(program);
  dataCommands(program);
  schemaCommands(program);
  completionCommand(program);
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({ writeOut: stdout, writeErr: () => {} }).showSuggestionAfterError();
  }
  return program;
}

function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...everyCommand(child)]);
}

/**
 * Runs the command line.
 *
 * @param args arguments after the program name
 * @returns the exit code
 */
export async function main(args: readonly string[]): Promise<number> {
  if (args[0] === "help" && args[1] === "exit-codes") {
    stdout(EXIT_CODE_HELP);
    return 0;
  }
  const program = buildProgram();
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
    await program.parseAsync([...args], { from: "user" });
    return contextOf(program).exitCode;
  } catch (error) {
    return report(program, args, error);
  }
}

function report(program: Command, args: readonly string[], error: unknown): number {
  const exitCode = exitCodeOf(error);
  // Help and version are "errors" of the library that end well.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (args.includes("--json")) {
    stdout(prettyJson(problemDocument(error)));
    return exitCode;
  }
  const paint = painter(colorWanted("auto", Deno.stderr.isTerminal()));
  if (error instanceof CommanderError) {
    const [message, ...rest] = error.message.replace(/^error: /, "").split("\n");
    const hint = rest.join(" ").replace(/^\((.*)\)$/, "$1");
    stderr(
      `${paint("red", "error[usage_invalid]")}: ${message === "(outputHelp)" ? "A command is missing" : message}\n`,
    );
    stderr(`  ${paint("green", "help")}: ${hint || "svc --help lists the commands"}\n`);
    return exitCode;
  }
  stderr(formatError(error, paint, contextOf(program).excerpt));
  if (!(error instanceof SvcError)) writeTrace(error, args);
  return exitCode;
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

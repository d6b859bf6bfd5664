/** The means of every command: the global options, the session and the two streams. */
import { relative, resolve } from "../contract/paths.ts";
import { adapterPaths } from "../adapter/paths.ts";
import { type Diagnostic, isWarning, SvcError } from "../contract/error.ts";
import { visibleLine } from "../contract/escape.ts";
import { prettyJson } from "../contract/json.ts";
import { fileUrl } from "../contract/node_builtins.ts";
import type { Value } from "../contract/value.ts";
import type { OnnxAccelerator } from "../onnx/session.ts";
import type { AuthoredRecipe } from "../api/authored_recipe.ts";
import { Session } from "../api/session.ts";
import type { Command } from "./commander.ts";
import { type Excerpt, formatDiagnostic } from "./problem.ts";
import {
  type ColorChoice,
  colorWanted,
  environment,
  type Paint,
  painter,
  stderr,
  stdout,
  streams,
  unicodeWanted,
} from "./terminal.ts";

export interface GlobalOptions {
  workspace?: string;
  projectRoot?: string;
  onnxAccelerator?: OnnxAccelerator;
  python?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: number;
  color?: ColorChoice;
  adapter?: string[];
  grant?: string[];
  operation?: string[];
}

export class CliContext {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: number;
  readonly unicode = unicodeWanted();
  /** Colours of standard output and of standard error. */
  readonly paint: Paint;
  readonly paintError: Paint;
  /** Set by a command whose outcome is not an error but not success either. */
  exitCode = 0;
  /** Those of {@link warn}, such as an adapter that changed. */
  readonly warnings: Diagnostic[] = [];
  /** Shows a place of the recipe at hand with a caret under it. */
  excerpt: Excerpt | undefined;

  /** @param words of the command line, as they were typed */
  constructor(readonly options: GlobalOptions, readonly words: readonly string[] = []) {
    this.json = options.json ?? false;
    this.quiet = options.quiet ?? false;
    this.verbose = options.verbose ?? 0;
    const choice = options.color ?? "auto";
    this.paint = painter(!this.json && colorWanted(choice, streams().stdout.isTerminal()));
    this.paintError = painter(colorWanted(choice, streams().stderr.isTerminal()));
  }

  /** Data for people; nothing when JSON was asked for. */
  print(text: string): void {
    if (!this.json) stdout(text.endsWith("\n") ? text : text + "\n");
  }

  /** The one JSON value of a command; nothing when text was asked for. */
  emit(value: Value): void {
    if (this.json) stdout(prettyJson(value));
  }

  /** Progress and remarks, on standard error. */
  note(text: string): void {
    if (!this.json && !this.quiet) stderr(text.endsWith("\n") ? text : text + "\n");
  }

  /** A finding beside the result, on standard error; the JSON of the command carries it where it warns. */
  warn(finding: Diagnostic): void {
    if (isWarning(finding)) this.warnings.push(finding);
    this.note(formatDiagnostic(finding, this.paintError));
  }

  /** The session of this command: adapters by flag and by SVC_ADAPTER_PATHS, with what the flags grant. */
  session(): Session {
    const { projectRoot, workspace: stateDir, onnxAccelerator, python, operation = [] } = this.options;
    const { folders, grants } = this.adapters();
    return new Session({
      projectRoot,
      stateDir,
      adapters: folders.map((folder) => ({ folder })),
      grants,
      python,
      operations: operation.map((file) => fileUrl(resolve(file))),
      accelerator: onnxAccelerator,
      logger: (finding) => this.warn(finding),
    });
  }

  /** The adapters of this command, by flag and by SVC_ADAPTER_PATHS, and what the flags grant. */
  adapters(): { folders: string[]; grants: readonly string[] } {
    const { adapter = [], grant = [] } = this.options;
    return { folders: [...adapter, ...adapterPaths(environment("SVC_ADAPTER_PATHS"))], grants: grant };
  }

  /** Reads the recipe that an argument names: a file, or `-` for standard input. */
  async recipe({ recipes }: Session, file: string, set: readonly string[] = []): Promise<AuthoredRecipe> {
    const text = file === "-" ? await readStandardInput() : await recipes.text(file);
    const { excerpt } = await import("../recipe/positions.ts"), name = file === "-" ? "<stdin>" : file;
    // A finding may be about another file, such as the manifest of an adapter.
    this.excerpt = (location) => location.file === name ? excerpt(text, location) : "";
    return await recipes.parse(text, { file: name, set });
  }

  /** Findings on standard error. */
  findings(diagnostics: readonly Diagnostic[]): void {
    for (const item of diagnostics) this.note(formatDiagnostic(item, this.paintError, this.excerpt));
  }

  /** A path as it is typed here. */
  shownPath(path: string): string {
    const near = relative(Deno.cwd(), path);
    return near === "" ? "." : near.startsWith("..") ? path : near;
  }

  /** Asks before something is removed or granted. @throws SvcError `usage_invalid` where no question can be asked */
  confirmed(yes: boolean | undefined, question: string, refusal: string, hint = "Add --yes"): boolean {
    if (yes) return true;
    if (streams().stdin.isTerminal() && !this.json) return confirm(visibleLine(question));
    throw new SvcError("usage_invalid", refusal, { hint });
  }
}

/** All of standard input. @throws SvcError as a recipe file of these bytes */
export async function readStandardInput(): Promise<string> {
  const { decodeRecipeText } = await import("../recipe/read.ts");
  return decodeRecipeText(new Uint8Array(await new Response(streams().stdin.readable).arrayBuffer()), "<stdin>");
}

/** The context of a command's action, from the options given before and after the command. */
export function contextOf(command: Command): CliContext {
  return contexts.get(rootOf(command)) ?? remember(rootOf(command), command);
}

const contexts = new WeakMap<Command, CliContext>();

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command;
}

function remember(root: Command, command: Command): CliContext {
  // The library keeps the words that it parses.
  const { rawArgs } = root as Command & { rawArgs?: readonly string[] };
  const context = new CliContext(command.optsWithGlobals<GlobalOptions>(), rawArgs);
  contexts.set(root, context);
  return context;
}

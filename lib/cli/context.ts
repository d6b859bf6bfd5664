/** What every command works with: the global options, the two streams and the lazily built registry. */
import type { Registry } from "../contract/registry.ts";
import { prettyJson } from "../contract/json.ts";
import type { Value } from "../contract/value.ts";
import type { OnnxAccelerator } from "../onnx/session.ts";
import type { Workspace } from "../run/workspace.ts";
import type { Command } from "./commander.ts";
import type { Excerpt } from "./problem.ts";
import {
  type ColorChoice,
  colorWanted,
  environment,
  type Paint,
  painter,
  stderr,
  stdout,
  unicodeWanted,
} from "./terminal.ts";

export interface GlobalOptions {
  workspace?: string;
  projectRoot?: string;
  onnxAccelerator?: OnnxAccelerator;
  json?: boolean;
  quiet?: boolean;
  verbose?: number;
  color?: ColorChoice;
  adapter?: string[];
  grant?: string[];
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
  /** Shows a place of the recipe at hand with a caret under it. */
  excerpt: Excerpt | undefined;

  constructor(readonly options: GlobalOptions) {
    this.json = options.json ?? false;
    this.quiet = options.quiet ?? false;
    this.verbose = options.verbose ?? 0;
    const choice = options.color ?? "auto";
    this.paint = painter(!this.json && colorWanted(choice, Deno.stdout.isTerminal()));
    this.paintError = painter(colorWanted(choice, Deno.stderr.isTerminal()));
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

  /** The operations of this command: the built-in ones and those of the adapters that were named. */
  async registry(): Promise<Registry> {
    const { createRegistry } = await import("../../ops/registry.ts");
    const registry = await createRegistry();
    const { folders, grants } = await this.adapters();
    if (folders.length + grants.length > 0) {
      const { loadAdapters } = await import("../adapter/load.ts");
      const { projectRoot } = await this.workspace();
      const loaded = await loadAdapters(registry, folders.map((folder) => ({ folder })), { projectRoot, grants });
      for (const { message, hint } of loaded.flatMap(({ warnings }) => warnings)) {
        this.note(`${this.paintError("yellow", "warning")}: ${message}${hint === null ? "" : `\n  ${hint}`}`);
      }
    }
    return registry;
  }

  /** The adapters of this command, by flag and by SVC_ADAPTER_PATHS, and what the flags grant. */
  async adapters(): Promise<{ folders: string[]; grants: string[] }> {
    const list = environment("SVC_ADAPTER_PATHS");
    const { adapter = [], grant = [] } = this.options;
    if (!list) return { folders: adapter, grants: grant };
    const { adapterPaths } = await import("../adapter/paths.ts");
    return { folders: [...adapter, ...adapterPaths(list)], grants: grant };
  }

  async workspace(): Promise<Workspace> {
    const { openWorkspace } = await import("../run/workspace.ts");
    const { projectRoot, workspace: stateDir, onnxAccelerator } = this.options;
    return openWorkspace({ projectRoot, stateDir, onnxAccelerator });
  }
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
  const context = new CliContext(command.optsWithGlobals<GlobalOptions>());
  contexts.set(root, context);
  return context;
}

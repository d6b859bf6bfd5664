/**
 * Commands as declarations: words and arguments, options, the session call, and how its result is shown. Parsing, help,
 * JSON output, Ctrl+C, progress and exit codes are the same for all and stand here.
 */
import { type Diagnostic, isWarning, SvcError } from "../contract/error.ts";
import { visibleLines } from "../contract/escape.ts";
import { upperFirst } from "../contract/sentence.ts";
import type { Value } from "../contract/value.ts";
import { createCancellation } from "../execute/cancellation.ts";
import type { CancellationToken } from "../execute/types.ts";
import type { Session } from "../api/session.ts";
import { Argument, type Command, InvalidArgumentError, Option } from "./commander.ts";
import { type CliContext, contextOf } from "./context.ts";
import { EXIT } from "./problem.ts";
import { type ProgressEvent, progressReporter } from "./progress.ts";

/** An option with the type of its value. */
export interface OptionSpec<T> {
  readonly option: Option;
  /** Carries the type only. */
  readonly type?: T;
}

/** A switch; `--no-…` is true unless it is given. */
export const flag = (flags: string, description: string): OptionSpec<boolean> => ({
  option: new Option(flags, description),
});

export const text = (flags: string, description: string): OptionSpec<string | undefined> => ({
  option: new Option(flags, description),
});

/** Whether a table of a run shows every metric. */
export const ALL_METRICS = flag("--all-metrics", "show all metrics, not only those of the task");

/** An option that may be repeated. */
export const list = (flags: string, description: string): OptionSpec<string[]> => ({
  option: new Option(flags, description).argParser((one: string, before: string[]) => [...before, one])
    .default([], "none"),
});

export function choice<const C extends string>(
  flags: string,
  description: string,
  choices: readonly C[],
): OptionSpec<C | undefined>;
export function choice<const C extends string>(
  flags: string,
  description: string,
  choices: readonly C[],
  fallback: NoInfer<C>,
): OptionSpec<C>;
export function choice(
  flags: string,
  description: string,
  choices: readonly string[],
  fallback?: string,
): OptionSpec<string | undefined> {
  const option = new Option(flags, description).choices(choices);
  return { option: fallback === undefined ? option : option.default(fallback) };
}

/** An option whose text a function reads; it gets the value before it, for options that may be repeated. */
export function parsed<T>(
  flags: string,
  description: string,
  parse: (text: string, before: T) => T,
): OptionSpec<T | undefined>;
export function parsed<T>(
  flags: string,
  description: string,
  parse: (text: string, before: T) => T,
  fallback: T,
): OptionSpec<T>;
export function parsed<T>(
  flags: string,
  description: string,
  parse: (text: string, before: T) => T,
  fallback?: T,
): OptionSpec<T | undefined> {
  const option = new Option(flags, description).argParser(parse);
  return { option: fallback === undefined ? option : option.default(fallback) };
}

/** Reads a whole number within bounds. */
export const whole = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) => (text: string): number => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw new InvalidArgumentError(`Give a whole number ${range}.`);
};

/** Reads a list with commas. */
export const names = (text: string, before: string[] = []): string[] => [...before, ...text.split(",")];

export const SET = list(
  "--set <step.param=value>",
  "override a parameter, or choose a matrix value by dimension=value; read as JSON, else as text",
);
export const TABLE_FORMAT = choice("--format <format>", "output format", ["table", "csv", "md"], "table");
export const FORMAT = choice("--format <format>", "output format", ["table", "csv", "md", "json"], "table");

/** @throws SvcError `usage_invalid` for an option that has no effect here */
export function refuseOptions(given: Readonly<Record<string, unknown>>, where: string, hint: string): void {
  const set = Object.entries(given).filter(([, value]) => value !== undefined && value !== false).map(([name]) => name);
  if (set.length === 0) return;
  const flags = set.map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  throw new SvcError("usage_invalid", `Cannot use ${flags.join(", ")} ${where}`, { hint });
}

export type Options = Readonly<Record<string, OptionSpec<unknown>>>;
export type ValuesOf<O> = {
  readonly [Name in keyof O]: O[Name] extends OptionSpec<infer T> ? T : never;
};

type ArgOf<Word extends string> = Word extends `<${string}...>` | `[${string}...]` ? [string[]]
  : Word extends `<${string}>` ? [string]
  : Word extends `[${string}]` ? [string | undefined]
  : [];
/** The arguments in the usage of a command: `<a>`, `[a]`, `<a...>` or `[a...]`. */
export type ArgsOf<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? [...ArgOf<Word>, ...ArgsOf<Rest>]
  : ArgOf<Usage>;

/** What a command is called with. */
export interface Call<Args, Values> {
  svc: Session;
  args: Args;
  options: Values;
  context: CliContext;
  /** Set by the first Ctrl+C; the second one ends the process. */
  cancellation: CancellationToken;
  /** Shows progress on standard error. */
  onEvent(event: ProgressEvent): void;
}

export interface CommandDefinition<Usage extends string, O extends Options, Result> {
  /** Words and arguments: `runs verify <run>`. */
  usage: Usage;
  summary: string;
  options?: O;
  /** Choices of arguments, by name. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** Help after the options. */
  notes?: string;
  examples?: readonly string[];
  /** Whether Ctrl+C sets `cancellation` instead of ending the process. */
  cancellable?: boolean;
  /** The message after the first Ctrl+C, where it cancels no running steps. */
  interruptNote?(options: ValuesOf<O>): string | undefined;
  call(call: Call<ArgsOf<Usage>, ValuesOf<O>>): Result | Promise<Result>;
  /** The JSON value; `{schema_version: 1, ...result}` when left out; null where the call writes its own. */
  json?: ((result: Result, call: Call<ArgsOf<Usage>, ValuesOf<O>>) => object | Promise<object>) | null;
  /** Findings on the result: the JSON carries those that warn as `warnings`, and people get all on standard error. */
  findings?(result: Result): readonly Diagnostic[];
  /** The findings that people get, where others were printed before or are part of what is shown. */
  printed?(result: Result, call: Call<ArgsOf<Usage>, ValuesOf<O>>): readonly Diagnostic[];
  /** Remarks for people on standard error after `show`, each under the field of the JSON that says the same. */
  remarks?: Remarks<Result, Call<ArgsOf<Usage>, ValuesOf<O>>>;
  /** Whether texts of the result have several lines; those of all other results are put on one line each before `show`. */
  multiline?: boolean;
  /** Prints the result for people; a returned text is printed. */
  show(
    result: Result,
    call: Call<ArgsOf<Usage>, ValuesOf<O>>,
  ): string | void | Promise<string | void>;
  /** The exit code of a result that is not a success. */
  exit?(result: Result, call: Call<ArgsOf<Usage>, ValuesOf<O>>): number;
}

/** Texts of remarks by fields of the JSON; null where there is nothing to remark. */
export type Remarks<Result, Given> = Readonly<
  Record<string, (result: Result, given: Given) => string | null | Promise<string | null>>
>;

/** A command that can be added to the program. */
export type CommandSpec = CommandDefinition<string, Options, unknown>;

export function command<const Usage extends string, Result, O extends Options = Record<never, never>>(
  definition: CommandDefinition<Usage, O, Result>,
): CommandSpec {
  return definition as CommandSpec;
}

/**
 * Adds commands to the program.
 * @param description of the command that only holds them
 */
export function addCommands(
  program: Command,
  description: string,
  specs: readonly CommandSpec[],
): void {
  for (const spec of specs) {
    const words = spec.usage.split(" ");
    const names = words.filter((word) => /^[a-z]/.test(word));
    let parent = program;
    for (const name of names.slice(0, -1)) {
      parent = parent.commands.find((child) => child.name() === name) ??
        parent.command(name).description(upperFirst(description));
    }
    const added = parent.command(names.at(-1)!).description(upperFirst(spec.summary));
    for (const word of words.slice(names.length)) {
      const argument = new Argument(word);
      const choices = spec.choices?.[argument.name()];
      added.addArgument(choices === undefined ? argument : argument.choices(choices));
    }
    for (const [name, { option }] of Object.entries(spec.options ?? {})) {
      if (option.attributeName() !== name) throw new Error(`The option ${option.flags} is not named ${name}`);
      option.description = upperFirst(option.description);
      added.addOption(option);
    }
    const { notes, examples = [] } = spec;
    const help = [
      ...(notes === undefined ? [] : [`\n${notes}\n`]),
      ...(examples.length === 0 ? [] : [`\nExamples\n${examples.map((line) => `  ${line}\n`).join("")}`]),
    ];
    if (help.length > 0) added.addHelpText("after", help.join(""));
    added.action((...given: unknown[]) => perform(spec, added, given.slice(0, -2)));
  }
}

async function perform(spec: CommandSpec, command: Command, args: unknown[]): Promise<void> {
  const context = contextOf(command);
  const options = command.opts();
  if (spec.options?.operation !== undefined) Object.assign(options, operationIds(spec.options.operation, context));
  const svc = context.session();
  await svc.openProgram();
  const cancellation = createCancellation();
  const progress = progressReporter(context);
  const onInterrupt = () => {
    if (cancellation.isCancelled) Deno.exit(EXIT.canceled);
    cancellation.cancel();
    context.note(
      spec.interruptNote?.(options as never) ??
        "Canceling the running steps (Ctrl+C again exits at once)",
    );
  };
  const means = { svc, context, cancellation, onEvent: (event: ProgressEvent) => progress.event(event) };
  const call = { ...means, args, options } as Call<never, never>;
  if (spec.cancellable) Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    const result = await spec.call(call);
    progress.done();
    context.exitCode = cancellation.isCancelled ? EXIT.canceled : spec.exit?.(result, call) ?? EXIT.ok;
    if (context.json) {
      if (spec.json === null) return;
      const document = await spec.json?.(result, call) ?? { schema_version: 1, ...result as object };
      const warnings = [...context.warnings, ...spec.findings?.(result) ?? []].filter(isWarning);
      const carries = spec.findings !== undefined || warnings.length > 0;
      context.emit((carries ? { ...document, warnings } : document) as Value);
    } else {
      const shown = spec.multiline ? result : visibleLines(result);
      context.findings(spec.printed?.(shown, call) ?? spec.findings?.(shown) ?? []);
      const text = await spec.show(shown, call);
      if (typeof text === "string") context.print(text);
      for (const remark of Object.values(spec.remarks ?? {})) {
        const text = await remark(shown, call);
        if (text !== null) context.note(text);
      }
    }
  } finally {
    progress.done();
    if (spec.cancellable) Deno.removeSignalListener("SIGINT", onInterrupt);
    svc.close();
  }
}

/**
 * The ids among the values of `--operation`: the program reads this option wherever it stands, and only the files are
 * operations to load.
 */
function operationIds({ option }: OptionSpec<unknown>, { options }: CliContext): { operation?: unknown } {
  const values = options.operation ?? [];
  const ids = values.filter((value) => !/[/\\]|\.m?[jt]s$/.test(value));
  options.operation = values.filter((value) => !ids.includes(value));
  if (ids.length === 0) return {};
  return { operation: option.parseArg === undefined ? ids.at(-1) : ids };
}

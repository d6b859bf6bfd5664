/**
 * Candidates at the cursor: the shells' completion scripts call `svc __complete -- <words>` and get a line for each
 * candidate, its description behind a tab. A candidate that ends in `/`, `=` or `.` is not the end of a word.
 */
import type { Command, Option } from "./commander.ts";
import { type Candidate, type Typed, valuesFor } from "./completion_values.ts";
import { visibleLine } from "../contract/escape.ts";
import { stdout } from "./terminal.ts";

/** A shell takes a candidate as it is, so a name that it would expand or run is left out. */
const PLAIN_WORD = /^[\p{L}\p{M}\p{N}_.,:@%+=\/-]+$/u;

/**
 * Prints the candidates for the last word.
 * @param program the whole command line
 * @param words the words after the program's name; the last one, maybe empty, is at the cursor
 */
export async function printCompletions(program: Command, words: readonly string[]): Promise<void> {
  const candidates = await completions(program, words);
  const line = ({ value, description }: Candidate) => description ? `${value}\t${visibleLine(description)}` : value;
  stdout(candidates.filter(({ value }) => PLAIN_WORD.test(value)).map((candidate) => line(candidate) + "\n").join(""));
}

/** The candidates for the last word, those that do not begin with it left out. */
async function completions(program: Command, words: readonly string[]): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  try {
    const found = await candidates(program, words.slice(0, -1), current);
    return found.filter(({ value }) => value.startsWith(current));
  } catch {
    // A shell at its prompt is no place for an error.
    return [];
  }
}

async function candidates(program: Command, before: readonly string[], current: string): Promise<Candidate[]> {
  const typed = readWords(program, before);
  const { command, waiting } = typed;
  if (waiting !== undefined) return await optionValues(typed, waiting, current);
  const long = typed.literal ? null : /^(--[^=]+)=([\s\S]*)$/.exec(current);
  if (long !== null) {
    const option = findOption(command, long[1]);
    if (option === undefined) return [];
    const values = await optionValues(typed, option, long[2]);
    return values.map(({ value, description }) => ({ value: `${long[1]}=${value}`, description }));
  }
  if (current.startsWith("-") && !typed.literal) return options(command);
  if (command.commands.length > 0) return typed.positionals.length > 0 ? [] : subcommands(command);
  const arguments_ = command.registeredArguments;
  const argument = arguments_[typed.positionals.length] ??
    (arguments_.at(-1)?.variadic ? arguments_.at(-1) : undefined);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return argument.argChoices.map((value) => ({ value }));
  return await valuesFor(argument.name(), typed, current);
}

function optionValues(typed: Typed, option: Option, current: string): Promise<Candidate[]> | Candidate[] {
  if (option.argChoices !== undefined) return option.argChoices.map((value) => ({ value }));
  return valuesFor(option.long ?? "", typed, current);
}

interface Read extends Typed {
  command: Command;
  /** Option that waits for its value. */
  waiting: Option | undefined;
  /** Whether `--` was typed: arguments follow. */
  literal: boolean;
}

/** Follows the words before the cursor through the commands. */
function readWords(program: Command, words: readonly string[]): Read {
  const read: Read = {
    command: program,
    path: [],
    positionals: [],
    options: new Map(),
    waiting: undefined,
    literal: false,
  };
  for (const word of words) {
    if (read.waiting !== undefined) {
      read.options.set(read.waiting.long ?? "", word);
      read.waiting = undefined;
    } else if (word === "--" && !read.literal) read.literal = true;
    else if (word.startsWith("-") && word !== "-" && !read.literal) {
      const [name, value] = word.split(/=([\s\S]*)/);
      const option = findOption(read.command, name);
      if (option?.required || option?.optional) {
        if (value === undefined) read.waiting = option;
        else read.options.set(name, value);
      }
    } else {
      // Behind help, commands are named as they are called.
      if (word === "help" && read.command === program && read.positionals.length === 0) continue;
      const next = read.command.commands.find((command) => command.name() === word);
      if (next === undefined) read.positionals.push(word);
      else {
        read.command = next;
        read.path.push(word);
      }
    }
  }
  return read;
}

/** Commands from one up to the program. */
function lineage(command: Command): Command[] {
  return command.parent === null ? [command] : [command, ...lineage(command.parent)];
}

function findOption(command: Command, name: string): Option | undefined {
  return lineage(command).flatMap(({ options }) => options).find(({ long, short }) => name === long || name === short);
}

function options(command: Command): Candidate[] {
  const own = lineage(command).flatMap((above) => above.options).filter(({ hidden, long }) => !hidden && long);
  const help = { value: "--help", description: "Show this help" };
  return [...own.map(({ long, description }) => ({ value: long!, description })), help];
}

function subcommands(command: Command): Candidate[] {
  const children = command.commands.map((child) => ({ value: child.name(), description: child.description() }));
  return command.parent === null
    ? [...children, { value: "help", description: "Show the help of a command" }]
    : children;
}

/** The commands of calls: words, arguments, options and help follow from the call; a face adds how its result is shown. */
import { type AnyCall, type Call as ApiCall, type Camel, camel, type CliFace, type Shape } from "../api/call.ts";
import { isRecipe, wordOf, writtenAs, type WrittenField } from "../api/fields.ts";
import type { Diagnostic } from "../contract/error.ts";
import { prettyJson } from "../contract/json.ts";
import { jsonSchemaOf } from "../contract/publish_schema.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { InvalidArgumentError } from "./commander.ts";
import {
  type ArgsOf,
  type Call,
  choice,
  command,
  type CommandSpec,
  flag,
  names,
  type Options,
  type OptionSpec,
  parsed,
  type Remarks,
  text,
  type ValuesOf,
  whole,
} from "./command.ts";

type CamelFlag<Flag extends string> = Flag extends `${infer Head}-${infer Rest}`
  ? `${Head}${Capitalize<CamelFlag<Rest>>}`
  : Flag;
type OptionName<Name extends string, Field> = Field extends WrittenField<`--${infer Flag}`>
  ? CamelFlag<Flag extends `no-${infer Negated}` ? Negated : Flag>
  : Camel<Name>;
type OptionValue<Field extends z.ZodType> = Field extends WrittenField ? boolean : z.output<Field>;

/** Fields that are no options: arguments, and those that a command leaves out or always gives. */
type NoOption<Args extends readonly string[], Cli> =
  | (Cli extends { fields: readonly (infer Name)[] } ? Name : Args[number])
  | (Cli extends { without: readonly (infer Name)[] } ? Name : never)
  | (Cli extends { fixed: infer Fixed } ? keyof Fixed : never);

/** What the command of a call is called with; `O` are options that are no fields, and those in place of fields. */
type GivenOf<F extends Shape, Args extends readonly string[], Cli, O> = Call<
  Cli extends { usage: infer Usage extends string } ? ArgsOf<Usage> : [],
  & {
    readonly [
      Name in Exclude<keyof F & string, NoOption<Args, Cli>> as Exclude<OptionName<Name, F[Name]>, keyof O>
    ]: OptionValue<F[Name]>;
  }
  & ValuesOf<O>
>;
type AnyGiven = Call<readonly unknown[], Readonly<Record<string, unknown>>>;

/**
 * Performs the call of a command, or another one with those of its fields that it has; `changes` take their place, and `more`
 * are further means.
 */
interface Perform<F extends Shape, Out> {
  (changes?: Changes<F>): Promise<Out>;
  <Others extends Shape, Other, More>(
    changes: Changes<Others>,
    other: ApiCall<Others, readonly string[], Other, More>,
    more?: Partial<More>,
  ): Promise<Other>;
}
type Changes<F extends Shape> = { readonly [Name in keyof F]?: z.input<F[Name]> };

/** What the command line adds to a call; `Shown` is what it prints where that is not the result of the call. */
export interface Face<F extends Shape, Out, Means, Given, O, Shown = Out> {
  /** Options that are no fields, and those of fields that are written in another way. */
  options?: O;
  /** Choices of arguments, by name. */
  choices?: Readonly<Record<string, readonly string[]>>;
  notes?: string;
  examples?: readonly string[];
  cancellable?: boolean;
  /** Whether texts of the result have several lines. */
  multiline?: boolean;
  /** Means of the call, besides cancellation and events of a call that is cancellable. */
  means?(given: Given): Partial<Means> | Promise<Partial<Means>>;
  /** Performs the call in another way, such as after a question. */
  call?(given: Given, perform: Perform<F, Out>): Shown | Promise<Shown>;
  /** The message after the first Ctrl+C, where it cancels no running steps. */
  interruptNote?(options: Given extends { options: infer Values } ? Values : never): string | undefined;
  json?(result: Shown, given: Given): object | Promise<object>;
  /** Findings on what is shown, where that is not the result of the call. */
  findings?(result: Shown): readonly Diagnostic[];
  /** The findings that are printed, where others were printed before or are part of what is shown. */
  printed?(result: Shown, given: Given): readonly Diagnostic[];
  /** Remarks for people, each under the field of the JSON that says the same. */
  remarks?: Remarks<Shown, Given>;
  /** Prints the result for people; its JSON when left out. */
  show?(result: Shown, given: Given): string | void | Promise<string | void>;
  exit?(result: Shown, given: Given): number;
}

/** The face of a call. */
export type FaceOf<C, O = Record<never, never>> = C extends
  ApiCall<infer F, infer Args, infer Out, infer Means, infer _H, infer _S, infer _D, infer Cli>
  ? Face<F, Out, Means, GivenOf<F, Args, Cli, O>, O>
  : never;

type Calls = Readonly<Record<string, AnyCall>>;
/** Faces of calls by their verbs, each with the options that it adds. */
type Faces<C extends Calls, O> = { [Verb in keyof O]: FaceOf<C[Verb & keyof C], O[Verb]> };

/** Faces that another table takes up. */
export const facesOf = <C extends Calls, O>(_calls: C, faces: Faces<C, O>): Faces<C, O> => faces;

/** The commands of a noun, in the order of its calls. */
export function commandsOf<C extends Calls, O>(noun: string, calls: C, faces: Faces<C, O>): CommandSpec[] {
  const table = faces as Readonly<Record<string, Face<Shape, unknown, object, AnyGiven, Options>>>;
  return Object.entries(calls).flatMap(([verb, call]) =>
    call.cli === undefined ? [] : [commandOf(call, { name: `${noun} ${kebab(verb)}`, ...call.cli }, table[verb])]
  );
}

/** A command of a call, by what the call says of it or, for a further command, by `cli`. */
export function commandOf<
  F extends Shape,
  Args extends readonly string[],
  Out,
  Means,
  const Cli extends CliFace<F> & { name: string },
  O = Record<never, never>,
  Shown = Out,
>(
  call: ApiCall<F, Args, Out, Means>,
  cli: Cli,
  face: Face<F, Out, Means, GivenOf<F, Args, Cli, O>, O, Shown> = {},
): CommandSpec {
  const { name, usage = "", fields = call.args, without = [], fixed = {}, exits }: CliFace<F> & { name: string } = cli;
  const { means, call: own, options, show, ...shown } = face as Face<F, Out, Means, AnyGiven, Options, Shown>;
  const summary = cli.summary ?? call.summary;
  const perform = (given: AnyGiven) => async (changes: object = {}, other: AnyCall = call, more: object = {}) => {
    const input = { ...await inputOf(other, fields, given), ...fixed, ...changes };
    const running = face.cancellable ? { cancellation: given.cancellation, onEvent: given.onEvent } : {};
    // A user may name runs by their folders; a client of the network may not.
    return await given.svc.perform(other, input, {
      paths: true,
      ...running,
      ...await means?.(given),
      ...more,
    }) as never;
  };
  return command(
    {
      ...shown,
      usage: usage === "" ? name : `${name} ${usage}`,
      summary: exits === undefined ? summary : `${summary}; ${exits}`,
      options: optionsOf(call, [...fields, ...without, ...Object.keys(fixed)], options),
      call: (given: AnyGiven) => own === undefined ? perform(given)() : own(given, perform(given) as Perform<F, Out>),
      findings: Object.hasOwn(face, "findings") ? face.findings : call.findings,
      show: show ?? ((result) => prettyJson(result as Value)),
    } as Parameters<typeof command>[0],
  );
}

/** Option names are those of the fields, in kebab case. */
function optionsOf(
  call: AnyCall,
  positional: readonly string[],
  own: Options = {},
): Options {
  const left = Object.entries(call.fields as Shape)
    .filter(([name, type]) => !positional.includes(name) && !Object.hasOwn(own, optionName(name, type)));
  return { ...optionsFrom(Object.fromEntries(left)), ...own };
}

/** The options of fields. */
export function optionsFrom<F extends Shape>(
  fields: F,
): { [Name in keyof F as OptionName<Name & string, F[Name]>]: OptionSpec<OptionValue<F[Name]>> } {
  const { properties } = jsonSchemaOf(z.strictObject(fields)) as { properties: Record<string, JsonObject> };
  const made = Object.entries(fields).map(([name, type]) => {
    const how = writtenAs(type);
    const option = how === undefined
      ? optionOf(name, properties[name], wordOf(type))
      : flag(how.flags, how.description);
    return [optionName(name, type), option];
  });
  return Object.fromEntries(made);
}

/** The name of the option of a field among the values of a command. */
const optionName = (name: string, type: z.ZodType): string =>
  camel(writtenAs(type)?.flags.replace(/^--(no-)?/, "").replaceAll("-", "_") ?? name);

function optionOf(name: string, schema: JsonObject, word: string | null): OptionSpec<unknown> {
  const { type, minimum, maximum, default: fallback, description = "" } = schema as Record<string, never>;
  const long = `--${name.replaceAll("_", "-")}`;
  const flags = (value: string) => `${long} <${word ?? value}>`;
  if (schema.enum !== undefined) {
    return choice(flags(name.replaceAll("_", "-")), description, schema.enum as string[], fallback);
  }
  switch (type) {
    case "boolean":
      return flag(fallback === true ? `--no-${long.slice(2)}` : long, description);
    case "integer":
      return parsed(flags("n"), description, whole(minimum, maximum), fallback);
    case "number":
      return parsed(flags("x"), description, positive, fallback);
    case "array":
      return parsed(
        flags("ids"),
        /\bcommas\b/.test(description) ? description : `${description}; with commas`,
        names,
        fallback,
      );
    case "object":
      return parsed(flags("id=value"), `${description}; repeat`, place, {});
    default:
      return fallback === undefined
        ? text(flags(name), description)
        : parsed(flags(name), description, (given: string) => given, fallback);
  }
}

/** The fields of a call from arguments and options. @throws SvcError `usage_invalid` */
async function inputOf(
  call: AnyCall,
  positional: readonly string[],
  { svc, context, args, options }: AnyGiven,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(call.fields as Shape)) {
    const at = positional.indexOf(name);
    const value = at < 0 ? options[optionName(name, type)] : args[at];
    if (value === undefined) continue;
    input[name] = isRecipe(type)
      ? await context.recipe(svc, value as string, options.set as string[])
      : at < 0
      ? writtenAs(type)?.read?.(value) ?? value
      : value;
  }
  return input;
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value < Infinity) return value;
  throw new InvalidArgumentError("Give a number above zero.");
}

/** Reads a repeatable `id=value`. */
function place(text: string, before: Record<string, string>): Record<string, string> {
  // A name of a series may have " = " in it.
  const found = /^(.*?[^ ])=([^ ].*)$/.exec(text);
  if (found === null) throw new InvalidArgumentError("Write it as snr_db=10.");
  const [, id, value] = found;
  return { ...before, [id]: value };
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

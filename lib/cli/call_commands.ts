/** The commands of calls: words, arguments, options and help follow from the call; a face adds how its result is shown. */
import { type AnyCall, type Call as ApiCall, type Camel, camel, type CliFace, type Shape } from "../api/call.ts";
import { isRecipe, wordOf, writtenAs } from "../api/fields.ts";
import { prettyJson } from "../contract/json.ts";
import { jsonSchemaOf } from "../contract/publish_schema.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { InvalidArgumentError } from "./commander.ts";
import {
  type Call,
  choice,
  command,
  type CommandSpec,
  flag,
  names,
  type OptionSpec,
  parsed,
  text,
  whole,
} from "./command.ts";

// deno-lint-ignore no-explicit-any -- options are named by the fields of the call
type Given = Call<any[], any>;

/**
 * Performs the call of a command, or another one with those of its fields that it has; `changes` take their place, and `more`
 * are further means.
 */
type Perform<Out> = <Other = Out, More = object>(
  changes?: Readonly<Record<string, unknown>>,
  // deno-lint-ignore no-explicit-any -- only result and means matter
  other?: ApiCall<any, any, Other, More, any, any, any>,
  more?: Partial<More>,
) => Promise<Other>;

/** What the command line adds to a call; `Shown` is what it prints where that is not the result of the call. */
export interface Face<Out, Means, Shown = Out> {
  /** Options that are no fields, and those of fields that are written in another way. */
  options?: Readonly<Record<string, OptionSpec<unknown>>>;
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
  call?(given: Given, perform: Perform<Out>): Shown | Promise<Shown>;
  /** The message after the first Ctrl+C, where it cancels no running steps. */
  interruptNote?(options: Given["options"]): string | undefined;
  json?(result: Shown, given: Given): object | Promise<object>;
  /** Prints the result for people; its JSON when left out. */
  show?(result: Shown, given: Given): string | void | Promise<string | void>;
  exit?(result: Shown, given: Given): number;
}

/** The faces of the calls that have a command. */
export type Faces<Calls> = {
  [Verb in keyof Calls]?: Calls[Verb] extends
    ApiCall<infer _F, infer _Args, infer Out, infer Means, infer _H, infer _S, infer _D> ? Face<Out, Means>
    : never;
};

/** The commands of a noun, in the order of its calls. */
export function commandsOf<Calls extends Readonly<Record<string, AnyCall>>>(
  noun: string,
  calls: Calls,
  faces: Faces<Calls>,
): CommandSpec[] {
  return Object.entries(calls).flatMap(([verb, call]) =>
    call.cli === undefined
      ? []
      : [commandOf(call, { name: `${noun} ${kebab(verb)}`, ...call.cli }, faces[verb] as Face<unknown, object>)]
  );
}

/** A command of a call, by what the call says of it or, for a further command, by `cli`. */
export function commandOf<F extends Shape, Out, Means, Shown = Out>(
  // deno-lint-ignore no-explicit-any -- the other types do not matter here
  call: ApiCall<F, any, Out, Means, any, any, any>,
  cli: CliFace<F> & { name: string },
  face: Face<Out, Means, Shown> = {},
): CommandSpec {
  const { name, usage = "", fields = call.args as string[], without = [], fixed = {}, exits } = cli;
  const { means, call: own, options, show, ...shown } = face, summary = cli.summary ?? call.summary;
  const perform = (given: Given): Perform<Out> => async (changes = {}, other = call as never, more = {}) => {
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
      call: (given: Given) => own === undefined ? perform(given)() : own(given, perform(given)),
      show: show ?? ((result) => prettyJson(result as Value)),
    } as Parameters<typeof command>[0],
  );
}

/** Option names are those of the fields, in kebab case. */
function optionsOf(
  call: AnyCall,
  positional: readonly string[],
  own: Face<unknown, object>["options"] = {},
): Record<string, OptionSpec<unknown>> {
  const left = Object.entries(call.fields as Shape)
    .filter(([name, type]) => !positional.includes(name) && !Object.hasOwn(own, optionName(name, type)));
  return { ...optionsFrom(Object.fromEntries(left)), ...own };
}

/** The options of fields. */
export function optionsFrom<F extends Shape>(
  fields: F,
): { [Name in keyof F as Camel<Name & string>]: OptionSpec<z.output<F[Name]>> } {
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
  { svc, context, args, options }: Given,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(call.fields as Shape)) {
    const at = positional.indexOf(name);
    const value = at < 0 ? options[optionName(name, type)] : args[at];
    if (value === undefined) continue;
    input[name] = isRecipe(type)
      ? await context.recipe(svc, value, options.set)
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

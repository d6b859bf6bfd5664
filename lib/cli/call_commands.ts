/** The commands of calls: words, arguments, options and help follow from the call; a face adds how its result is shown. */
import { type AnyCall, type Call as ApiCall, type Camel, camel, type Shape } from "../api/call.ts";
import { isRecipe, wordOf } from "../api/fields.ts";
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

/** What the command line adds to a call. */
interface Face<Out, Means> {
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
  call?(given: Given, perform: (changes?: Readonly<Record<string, unknown>>) => Promise<Out>): Promise<Out>;
  json?(result: Out, given: Given): object | Promise<object>;
  /** Prints the result for people; its JSON when left out. */
  show?(result: Out, given: Given): string | void | Promise<string | void>;
  exit?(result: Out, given: Given): number;
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
      : [commandOf(call.cli.name ?? `${noun} ${kebab(verb)}`, call, faces[verb] as Face<unknown, object>)]
  );
}

function commandOf(name: string, call: AnyCall, face: Face<unknown, object> = {}): CommandSpec {
  const { usage = "", fields = call.args, without = [], exits } = call.cli!;
  const options = optionsOf(call, [...fields, ...without], face.options);
  const perform = async (given: Given, changes: Readonly<Record<string, unknown>> = {}) => {
    const input = { ...await inputOf(call, fields, given), ...changes };
    const running = face.cancellable ? { cancellation: given.cancellation, onEvent: given.onEvent } : {};
    // A user may name runs by their folders; a client of the network may not.
    return await given.svc.perform(call, input, { paths: true, ...running, ...await face.means?.(given) });
  };
  return command(
    {
      usage: usage === "" ? name : `${name} ${usage}`,
      summary: exits === undefined ? call.summary : `${call.summary}; ${exits}`,
      options,
      choices: face.choices,
      notes: face.notes,
      examples: face.examples,
      cancellable: face.cancellable,
      multiline: face.multiline,
      call: (given: Given) =>
        face.call === undefined ? perform(given) : face.call(given, (changes) => perform(given, changes)),
      json: face.json,
      show: face.show ?? ((result) => prettyJson(result as Value)),
      exit: face.exit,
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
    .filter(([name]) => !positional.includes(name) && !Object.hasOwn(own, camel(name)));
  return { ...optionsFrom(Object.fromEntries(left)), ...own };
}

/** The options of fields. */
export function optionsFrom<F extends Shape>(
  fields: F,
): { [Name in keyof F as Camel<Name & string>]: OptionSpec<z.output<F[Name]>> } {
  const { properties } = jsonSchemaOf(z.strictObject(fields)) as { properties: Record<string, JsonObject> };
  const made = Object.entries(fields).map(([name, type]) => [
    camel(name),
    optionOf(name, properties[name], wordOf(type)),
  ]);
  return Object.fromEntries(made);
}

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
      return parsed(flags("ids"), description, names, fallback);
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
  for (const name of Object.keys(call.fields)) {
    const at = positional.indexOf(name);
    const value = at < 0 ? options[camel(name)] : args[at];
    if (value === undefined) continue;
    input[name] = isRecipe(call.fields[name]) ? await context.recipe(svc, value, options.set) : value;
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

/**
 * A call is one capability, declared once: a summary, fields, the result, refusals, and which faces offer it. From it follow
 * the method of the session, the command with its help and completion, the route with its description and client, and the tool
 * for assistants.
 *
 * A field has one name and one description. Over HTTP and in tools it is `older_than`, in TypeScript `olderThan`, on the
 * command line `--older-than`.
 */
import { type Diagnostic, isWarning, SvcError } from "../contract/error.ts";
import { jsonSchemaOf } from "../contract/publish_schema.ts";
import { checkValue } from "../contract/schema.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import type { CancellationToken } from "../execute/types.ts";
import type { SessionCore } from "./core.ts";

export type Shape = Readonly<Record<string, z.ZodType>>;

/** Means of a call that runs steps; they are no data and have no name on the wire. */
export interface Cancellable {
  /** Stops the steps cooperatively; see {@link createCancellation}. */
  cancellation?: CancellationToken;
}

/** The origin of the fields of a call. */
export interface Origin {
  /** Whether they come from the network, whose paths are names below the folder of their kind. */
  confined?: boolean;
}

/** Status codes of HTTP with which a call refuses. */
export type RefusalStatus = 400 | 403 | 404 | 409 | 412 | 416 | 422 | 429;

/** How a call is offered over HTTP. The path takes fields by name; GET takes the others as a query, POST as a body. */
export interface HttpFace<F extends Shape> {
  route: `${"get" | "post"} /api/${string}`;
  /** What the reply holds. */
  returns: string;
  /** Fields that name files of the user; the network has none. */
  without?: readonly (keyof F & string)[];
  /** The fields that it offers; all when left out. */
  only?: readonly (keyof F & string)[];
  /** Fields with another name on the wire. In a GET the recipe has the name `path`: it is a file in recipes/. */
  names?: { readonly [Name in keyof F]?: string };
  /** Values of fields that are always the same over HTTP. */
  fixed?: { readonly [Name in keyof F]?: z.input<F[Name]> };
  /** Status of the reply; 200 when left out. */
  status?: 200 | 201;
  /** Media type of a result of bytes, which is the reply. */
  media?: string;
  /** Whether the reply carries an ETag. */
  stable?: boolean;
  /** Whether the reply is the same as long as the server lives. */
  constant?: boolean;
  /** Whether `--read-only` refuses it; every POST when left out. */
  writes?: boolean;
}

/** How a call is offered on the command line. */
export interface CliFace<F extends Shape> {
  /** Words of the command; those of the noun and the verb when left out. */
  name?: string;
  /** In place of that of the call. */
  summary?: string;
  /** Arguments in the order of `fields`, `<run>` or `[runs...]`; the other fields are options. */
  usage?: string;
  fields?: readonly (keyof F & string)[];
  /** Fields that a command does not offer. */
  without?: readonly (keyof F & string)[];
  /** Values of fields that the command always gives. */
  fixed?: { readonly [Name in keyof F]?: z.input<F[Name]> };
  /** What follows the summary in the help: `exit 6 on a difference`. */
  exits?: string;
}

/** Whether assistants have a call as a tool: by noun and verb, or by a name of its own; and whether it removes or overwrites. */
export type ToolFace = true | "destructive" | `${string}_${string}`;

export interface Call<
  F extends Shape = Shape,
  Args extends readonly string[] = readonly string[],
  Out = unknown,
  Means = unknown,
  Http = unknown,
  Status extends RefusalStatus = RefusalStatus,
  Doc = unknown,
  Cli = CliFace<F>,
> {
  /** One sentence in the imperative without a full stop. */
  readonly summary: string;
  /** Each field with its description, by its name on the wire. */
  readonly fields: F;
  /** Fields that the method of the session takes by position, before its options. */
  readonly args: Args;
  /** What the description publishes of the document. */
  readonly output: z.ZodType<Doc>;
  readonly refuses: readonly Status[];
  readonly http?: Http;
  readonly cli?: Cli;
  readonly tool?: ToolFace;
  /** The document of the result for others: a JSON object without paths of this machine. */
  publish?(result: Out): Doc | Promise<Doc>;
  /** Findings on a result: every document of it carries those that warn as `warnings`, and its command prints them. */
  findings?(result: Out): readonly Diagnostic[];
  run(core: SessionCore, input: z.output<z.ZodObject<F>>, means: Means): Out | Promise<Out>;
}

/** Any call, for what is derived from all of them. */
// deno-lint-ignore no-explicit-any -- a call is used at its own types; this is only the bound
export type AnyCall = Call<any, any, any, any, any, any, any>;

interface Definition<
  F extends Shape,
  Args extends readonly (keyof F & string)[],
  Out,
  Means,
  Http extends HttpFace<F>,
  Status extends RefusalStatus,
  Doc,
  Cli extends CliFace<F>,
> {
  fields?: F;
  args?: Args;
  /** What the description publishes of the result; any object when left out. */
  output?: z.ZodType<Doc>;
  refuses?: readonly Status[];
  http?: Http;
  cli?: Cli;
  tool?: ToolFace;
  publish?(result: Out): Doc | Promise<Doc>;
  findings?(result: NoInfer<Out>): readonly Diagnostic[];
  run(core: SessionCore, input: z.output<z.ZodObject<F>>, means: Means): Out | Promise<Out>;
}

type Findings = readonly Diagnostic[];
/** The rows of a list, and of the lists in an object. */
type RowsOf<Out> = Out extends readonly (infer Row)[] ? Row
  : Out extends object ? { [Name in keyof Out]: Out[Name] extends readonly (infer Row)[] ? Row : never }[keyof Out]
  : never;
/** A result with findings, or with rows that have them, needs a declaration of them. */
type Declared<Out> = [Extract<Out | RowsOf<Out>, { diagnostics: Findings } | { warnings: Findings }>] extends [never]
  ? unknown
  : { findings(result: NoInfer<Out>): Findings };

/** Declares a call; its name is its place in the table, `runs.prune`. */
export function call<
  Out,
  const F extends Shape = Record<never, never>,
  const Args extends readonly (keyof F & string)[] = [],
  Means = unknown,
  const Http extends HttpFace<F> = never,
  const Status extends RefusalStatus = never,
  Doc = Out,
  const Cli extends CliFace<F> = never,
>(
  summary: string,
  definition: Definition<F, Args, Out, Means, Http, Status, Doc, Cli> & Declared<Out>,
): Call<F, Args, Out, Means, Http, Status, Doc, Cli> {
  return {
    args: [] as unknown as Args,
    fields: {} as F,
    output: z.record(z.string(), z.unknown()) as unknown as z.ZodType<Doc>,
    refuses: [],
    ...definition,
    summary,
  };
}

/** A document with the warnings among the findings on its result; a call without findings has none. */
export const warned = <D extends object>(call: AnyCall, result: unknown, document: D): D =>
  call.findings === undefined ? document : { warnings: call.findings(result).filter(isWarning), ...document };

/** `older_than` as `olderThan`. */
export type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;
export const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Fields as options of the library. */
export const camelKeys = <T extends object>(fields: T): { [Name in keyof T as Camel<Name & string>]: T[Name] } =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [camel(name), value])) as never;

/** Callers may keep the lists that they give. */
type Kept<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;
type In<F extends Shape> = z.input<z.ZodObject<F>>;
type Positions<F extends Shape, Args extends readonly string[]> = {
  -readonly [At in keyof Args]: Args[At] extends keyof In<F> ? Kept<In<F>[Args[At]]> : never;
};
/** Positions that may be left out are optional. */
type Optional<T extends readonly unknown[]> = T extends readonly [infer First, ...infer Rest]
  ? undefined extends First ? [First?, ...Optional<Rest>] : [First, ...Optional<Rest>]
  : [];
type OptionsOf<F extends Shape, Args extends readonly string[], Means> =
  & { [Name in keyof In<F> as Name extends Args[number] ? never : Camel<Name & string>]: Kept<In<F>[Name]> }
  & (unknown extends Means ? Record<never, never> : Means);

/** The method of the session: positional fields, then an object of the others in camelCase with the means of the call. */
export type MethodOf<C> = C extends
  Call<infer F, infer Args, infer Out, infer Means, infer _Http, infer _Status, infer _Doc>
  ? Record<never, never> extends OptionsOf<F, Args, Means>
    ? (...args: [...Optional<Positions<F, Args>>, options?: OptionsOf<F, Args, Means>]) => Promise<Out>
  : (...args: [...Optional<Positions<F, Args>>, options: OptionsOf<F, Args, Means>]) => Promise<Out>
  : never;

/** The options of the method of a call. */
export type CallOptions<C> = C extends
  Call<infer F, infer Args, infer _Out, infer Means, infer _Http, infer _Status, infer _Doc> ? OptionsOf<F, Args, Means>
  : never;

/** The methods of a noun. */
export type GroupOf<Calls> = { readonly [Verb in keyof Calls]: MethodOf<Calls[Verb]> };

const schemas = new WeakMap<AnyCall, JsonObject>();

/** JSON Schema of the fields of a call, made once. */
function fieldsSchema(call: AnyCall): JsonObject {
  let schema = schemas.get(call);
  if (schema === undefined) schemas.set(call, schema = jsonSchemaOf(z.strictObject(call.fields)));
  return schema;
}

/** Splits arguments of a method into fields, which are checked, and means. @throws SvcError `usage_invalid` */
export function readArguments(
  name: string,
  call: AnyCall,
  given: readonly unknown[],
): { input: JsonObject; means: JsonObject } {
  const { args, fields } = call;
  if (given.length > args.length + 1) {
    throw new SvcError("usage_invalid", `Cannot call ${name} with ${given.length} arguments`, {
      hint: `It takes ${[...args.map(camel), "options"].join(", ")}`,
    });
  }
  const names = new Map(Object.keys(fields).map((field) => [camel(field), field]));
  const input: JsonObject = {}, means: JsonObject = {};
  for (const [at, field] of args.entries()) if (given[at] !== undefined) input[field] = given[at] as Value;
  for (const [key, value] of Object.entries(given[args.length] ?? {})) {
    if (value === undefined) continue;
    const field = names.get(key);
    if (field === undefined) means[key] = value;
    else input[field] = value;
  }
  return { input: checkedFields(call, input, `Cannot call ${name}`), means };
}

/** Checks fields and fills defaults in. @throws SvcError `usage_invalid` with every problem */
function checkedFields(call: AnyCall, input: JsonObject, message: string): JsonObject {
  const diagnostics = checkValue(fieldsSchema(call), input, [], { code: "usage_invalid" });
  if (diagnostics.length > 0) throw new SvcError("usage_invalid", message, { diagnostics });
  return withDefaults(call, input);
}

/** The fields with the defaults of those that are left out. */
export function withDefaults<Input extends object>(call: AnyCall, input: Input): Input {
  const filled = { ...input } as Record<string, unknown>;
  for (
    const [name, { default: value }] of Object.entries(fieldsSchema(call).properties as Record<string, JsonObject>)
  ) {
    if (value !== undefined && filled[name] === undefined) filled[name] = value;
  }
  return filled as Input;
}

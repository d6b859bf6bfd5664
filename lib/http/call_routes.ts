/** The routes of calls: the path takes fields by name, GET takes the others as a query and POST as a body. */
import { AuthoredRecipe } from "../api/authored_recipe.ts";
import { type AnyCall, type Call, type HttpFace, type RefusalStatus, type Shape, warned } from "../api/call.ts";
import { withWarnings } from "../api/documents.ts";
import { isRecipe, type RecipeField } from "../api/fields.ts";
import { SvcError } from "../contract/error.ts";
import type { Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { readRecipeAt } from "./recipe_file.ts";
import type { Session } from "../api/session.ts";
import { Answer, get, type PathParams, post, type Replies, type TypedRoute } from "./route.ts";
import { refusals, reply } from "./schemas.ts";

type TextField = z.ZodOptional<z.ZodString>;
/** In a query, lists and values by id are texts with commas, and a recipe is the path of its file. */
type QueryShape<F extends Shape> = {
  [Name in keyof F]: F[Name] extends RecipeField ? z.ZodString
    : F[Name] extends z.ZodOptional<z.ZodArray> | z.ZodOptional<z.ZodRecord> ? TextField
    : F[Name] extends z.ZodArray | z.ZodRecord ? z.ZodString
    : F[Name];
};
type Without<H> =
  | (H extends { without: readonly (infer Name extends string)[] } ? Name : never)
  | (H extends { fixed: infer Fixed } ? keyof Fixed : never);
type Offered<F, H> = H extends { only: readonly (infer Name extends keyof F)[] } ? Name : keyof F;
type WireName<Name, H> = H extends { names: infer Names } ? Name extends keyof Names ? Names[Name] & string : Name
  : Name;
type Left<F extends Shape, Path extends string, H> = {
  [Name in Exclude<Offered<F, H>, PathParams<Path> | Without<H>> as WireName<Name, H> & string]: F[Name];
};
type RepliesOf<Doc, Status extends RefusalStatus, H> =
  & {
    readonly [Code in H extends { status: infer Code extends number } ? Code : 200]: H extends { media: string }
      ? { description: string; media: string }
      : { description: string; schema: z.ZodType<Doc> };
  }
  & ReturnType<typeof refusals<Status>>;

/** The route of a call, with its types for the client. */
type RouteOf<C> = C extends Call<infer F, infer _Args, infer _Out, infer _Means, infer H, infer Status, infer Doc>
  ? H extends { route: `${infer M extends "get" | "post"} ${infer Path}` } ? TypedRoute<
      M,
      Path,
      M extends "get" ? z.ZodObject<QueryShape<Left<F, Path, H>>> : z.ZodObject<Record<never, never>>,
      M extends "post" ? z.ZodObject<Left<F, Path, H>> : z.ZodObject<Record<never, never>>,
      RepliesOf<Doc, Status, H>
    >
  : never
  : never;

/** The routes of the calls of a noun that HTTP offers, in the order of the calls. */
export function routesOf<Calls extends Readonly<Record<string, AnyCall>>>(
  noun: string,
  calls: Calls,
): RouteOf<Calls[keyof Calls]>[] {
  return Object.entries(calls).filter(([, { http }]) => http !== undefined)
    .map(([verb, call]) => routeOf(call, `${noun}_${verb}`)) as RouteOf<Calls[keyof Calls]>[];
}

function routeOf(call: AnyCall, name: string) {
  const { route, returns, without = [], names = {}, fixed = {}, status = 200, only, media, ...how } = call
    .http as HttpFace<Shape>;
  const [method, path] = route.split(" ");
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const left = Object.entries(call.fields as Shape)
    .filter(([name]) =>
      ![...inPath, ...without, ...Object.keys(fixed)].includes(name) && (only?.includes(name) ?? true)
    );
  const wire = left.map(([name, type]) => [names[name] ?? name, type] as const);
  const perform = async (session: Session, params: object, given: Readonly<Record<string, unknown>>) => {
    const input: Record<string, unknown> = { ...fixed, ...params };
    for (const [at, [name, type]] of left.entries()) {
      const value = given[wire[at][0]];
      if (value === undefined) continue;
      input[name] = !isRecipe(type)
        ? value
        : method === "get"
        ? await readRecipeAt(session, value as string)
        : new AuthoredRecipe(value as Value);
    }
    const result = await session.perform(call, input, { confined: true });
    if (media !== undefined) {
      return new Answer(new Uint8Array(result as Uint8Array), { headers: { "content-type": media } });
    }
    const document = warned(call, result, await call.publish?.(result) ?? result as object);
    return status === 200 ? document : new Answer(document, { status });
  };
  const replies: Replies = {
    [status]: media !== undefined
      ? { description: returns, media }
      : reply(returns, call.findings === undefined ? call.output : withWarnings(call.output)),
    ...refusals(...call.refuses),
  };
  const tool = typeof call.tool === "string" && call.tool !== "destructive"
    ? { name: call.tool }
    : call.tool && { name, destructive: call.tool === "destructive" };
  if (method === "post") {
    return post(path, call.summary, {
      ...left.length === 0 ? {} : { body: z.strictObject(Object.fromEntries(wire)) },
      replies,
      tool,
      ...how,
      thread: ({ params, body, session }) => perform(session, params, body),
    });
  }
  const readers = wire.map(([name, type]) => [name, ...queryField(type)] as const);
  return get(path, call.summary, {
    ...left.length === 0
      ? {}
      : { query: z.strictObject(Object.fromEntries(readers.map(([name, type]) => [name, type]))) },
    replies,
    tool,
    ...how,
    async thread({ params, query, session }) {
      const given: Record<string, unknown> = { ...query };
      for (const [name, , read] of readers) if (typeof given[name] === "string") given[name] = read(given[name]);
      return await perform(session, params, given);
    },
  });
}

/** A recipe in a query. */
export const RECIPE_FILE = z.string().describe(
  "in recipes/ of the project, or of the program where the project has no such file",
);

/** The type of a field in a query, and how its text is read. */
function queryField(type: z.ZodType): [z.ZodType, (text: string) => unknown] {
  const inner = type instanceof z.ZodOptional ? type.unwrap() as z.ZodType : type;
  if (isRecipe(type)) return [RECIPE_FILE, (given) => given];
  const text = (how: string) =>
    (inner === type ? z.string() : z.string().optional()).describe(`${type.description ?? ""}${how}`);
  if (inner instanceof z.ZodArray) return [text("; with commas"), (given) => given.split(",")];
  if (inner instanceof z.ZodRecord) return [text(": a=1,b=2"), placesOf];
  return [type, (given) => given];
}

/** Values by id from `a=1,b=2`. @throws SvcError `query_invalid` */
export function placesOf(where: string | undefined): Record<string, string> | undefined {
  if (!where) return undefined;
  return Object.fromEntries(
    where.split(",").map((part) => {
      const at = part.indexOf("=");
      if (at > 0) return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
      throw new SvcError("query_invalid", `Cannot read ${JSON.stringify(part)} as a place`, { hint: "Write snr_db=6" });
    }),
  );
}

/**
 * The tools of `svc mcp serve`. Most are routes that name one, with their schemas, checks and confinement of paths; the kinds of
 * jobs run recipes and packs and wait for their end. Four are written here: three lists are shorter than those of their calls,
 * for readers with little room, and validation cards have no job.
 */
import type { CancellationToken } from "../execute/types.ts";
import { jobOf } from "../http/jobs/kinds.ts";
import { performRequest } from "../http/jobs/perform.ts";
import { JOB_KINDS, type JobKind, type Report } from "../http/jobs/types.ts";
import type { Route, RouteTool } from "../http/route.ts";
import type { PlainReply } from "../http/threads/protocol.ts";
import type { Session } from "../api/session.ts";
import { type Shape, warned } from "../api/call.ts";
import { runs as runCalls } from "../api/calls/runs.ts";
import { canonicalJson } from "../contract/json.ts";
import { SvcError } from "../contract/error.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { exists } from "../artifact/path_kind.ts";
import { answer, schemaOf } from "../http/answer.ts";
import { checkBody } from "../http/body.ts";
import { savedPath } from "../http/recipe_save.ts";
import { ROUTES } from "../http/routes/index.ts";
import { parseRecipe } from "../api/authored_recipe.ts";
import { join } from "node:path";

/** What a tool is called with. */
export interface ToolCall {
  session: Session;
  cancellation: CancellationToken;
  onReport(report: Report): void;
}

/** The canonical JSON of a document, or an image as PNG. */
export type ToolResult = { json: string } | { png: Uint8Array };

export interface Tool {
  /** Noun and verb: `runs_verify`. */
  name: string;
  summary: string;
  /** JSON Schema of the arguments. */
  input: JsonObject;
  /** Whether it writes or runs; refused with `--read-only`. */
  writes: boolean;
  /** Whether it may remove or overwrite; it then takes `confirm`. */
  destructive: boolean;
  call(input: JsonObject, given: ToolCall): Promise<ToolResult>;
}

const CONFIRM = { type: "boolean", description: "true to remove or overwrite; ask the person first" };
/** Members of a body that are recipes. */
const RECIPES = ["recipe", "a", "b"];
const RECIPE: JsonObject = {
  type: ["object", "string"],
  description: "a recipe as an object, or its text in YAML or JSON, where 6 and 6.0 stay apart",
};

/** A route of the HTTP interface as a tool. */
function routeTool(route: Route & { tool: RouteTool }): Tool {
  const { name, destructive = false } = route.tool;
  const params = [...route.path.matchAll(/:(\w+)/g)].map(([, param]) => param);
  const query = schemaPart(route.query), body = schemaPart(route.body);
  const recipes = route.body === undefined ? [] : RECIPES.filter((member) => Object.hasOwn(body.properties, member));
  const input: JsonObject = {
    type: "object",
    properties: {
      ...Object.fromEntries(params.map((param) => [param, { type: "string" }])),
      ...query.properties,
      ...body.properties,
      ...Object.fromEntries(recipes.map((member) => [member, RECIPE])),
      ...destructive ? { confirm: CONFIRM } : {},
    },
    required: [...params, ...query.required, ...body.required],
    additionalProperties: false,
  };
  return {
    name,
    summary: route.summary,
    input,
    writes: route.writes,
    destructive,
    async call({ confirm, ...given }, { session }) {
      const part = (names: Iterable<string>) =>
        Object.fromEntries([...names].filter((one) => Object.hasOwn(given, one)).map((one) => [one, given[one]]));
      const sent = part(Object.keys(body.properties));
      for (const member of recipes) {
        if (typeof sent[member] === "string") sent[member] = parseRecipe(sent[member]).value;
      }
      if (destructive && confirm !== true && removes(session, sent)) {
        const look = Object.hasOwn(body.properties, "dry_run") ? '; "dry_run": true shows what would go' : "";
        throw new SvcError(
          "confirmation_required",
          `Cannot call ${name} without confirmation: it removes or overwrites`,
          { hint: `Ask the person, then send "confirm": true${look}` },
        );
      }
      return resultOf(await answerRoute(route, part(params), part(Object.keys(query.properties)), sent, session));
    },
  };
}

const schemaPart = (type: Route["query"]): { properties: Record<string, JsonObject>; required: string[] } => {
  const { properties = {}, required = [] } = type === undefined ? {} : schemaOf(type);
  return { properties: properties as Record<string, JsonObject>, required: required as string[] };
};

/** Whether a call of a tool that may remove or overwrite would do so. */
function removes({ workspace }: Session, { dry_run, recipe, filename }: JsonObject): boolean {
  if (recipe === undefined) return dry_run !== true;
  const name = isObject(recipe) ? String(recipe.name) : "";
  return exists(join(workspace.projectRoot, savedPath(filename as string | undefined, name)));
}

async function answerRoute(
  route: Route,
  params: JsonObject,
  query: JsonObject,
  body: JsonObject,
  session: Session,
): Promise<PlainReply> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, typeof value === "string" ? value : canonicalJson(value)]),
  );
  return await answer(route, {
    params: params as Record<string, string>,
    search: search.size === 0 ? "" : `?${search}`,
    headers: {},
    body: route.method === "post" ? new TextEncoder().encode(canonicalJson(body)) : null,
  }, { session });
}

function resultOf({ body }: PlainReply): ToolResult {
  if (body instanceof Uint8Array) return { png: body };
  return { json: String(body) };
}

/** A tool of its own. */
function tool<Input extends z.ZodObject>(
  name: string,
  summary: string,
  { input, writes = false, perform }: {
    input: Input;
    writes?: boolean;
    /** @returns a document */
    perform(input: z.output<Input>, given: ToolCall): Promise<object>;
  },
): Tool {
  const schema = schemaOf(input);
  return {
    name,
    summary,
    input: schema,
    writes,
    destructive: false,
    async call(given, call) {
      const document = await perform(checkBody(schema, given) as z.output<Input>, call);
      return { json: canonicalJson(document as Value) };
    },
  };
}

/** A kind of job as a tool that waits for its end. */
function jobTool(kind: JobKind): Tool {
  const { call, path, body, admit, tool: face } = jobOf(kind), { run_id } = runCalls.reproduce.fields;
  const { parallel_workers, parallel_points } = call.fields as Shape;
  const made = tool(face!.name, face!.summary, {
    input: z.strictObject({
      ...path.includes(":run_id") ? { run_id } : {},
      ...body as Shape,
      parallel_workers,
      ...parallel_points === undefined ? {} : { parallel_points },
    }),
    writes: true,
    async perform(input, { session, cancellation, onReport }) {
      const { parallel_workers, parallel_points, recipe, ...given } = input as JsonObject;
      const sent = typeof recipe === "string" ? parseRecipe(recipe).value : recipe;
      const { request, prepared } = await admit(session, sent === undefined ? given : { ...given, recipe: sent }, true);
      const execution = { parallel_workers, parallel_points } as JsonObject;
      const means = { execution, cancellation, onEvent: onReport };
      const result = await performRequest(session, kind, { request: request as JsonObject, prepared }, means);
      return warned(call, result, face!.reply(result));
    },
  });
  const { recipe: sent, ...others } = made.input.properties as Record<string, JsonObject>;
  const properties = sent === undefined ? others : { recipe: RECIPE, ...others };
  return { ...made, input: { ...made.input, properties } };
}

const OWN: readonly Tool[] = [
  tool("operations_list", "The operations that recipes may use: id, name, and kinds of inputs and outputs", {
    input: z.strictObject({ filter: z.string().default("").describe("part of an id or a name") }),
    async perform({ filter }, { session }) {
      const contracts = await session.system.operations();
      const wanted = filter.toLowerCase();
      return {
        operations: contracts.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted))
          .map(({ id, name, status, input_kinds, output_kinds }) => ({ id, name, status, input_kinds, output_kinds })),
      };
    },
  }),
  tool("templates_list", "The templates: recipes to start from, and whether each can be used here", {
    input: z.strictObject({ task: z.string().optional().describe("only templates of this task") }),
    async perform({ task }, { session }) {
      const { templates } = await session.templates.list();
      return {
        templates: templates.filter((one) => task === undefined || one.task === task)
          .map(({ id, title, task, status, validation }) => ({
            id,
            title,
            task,
            status,
            validation: validation.status,
          })),
      };
    },
  }),
  tool("runs_list", "The runs, newest first", {
    input: z.strictObject({
      status: z.enum(["running", "completed", "failed", "canceled", "incomplete"]).optional(),
      recipe: z.string().optional().describe("name of the recipe"),
      limit: z.int().min(1).max(1000).default(50),
    }),
    perform: async (filter, { session }) => ({ runs: await session.runs.list(filter) }),
  }),
  tool("validation_run", "Run validation cards, wait for their end, and compare each point with its published number", {
    input: z.strictObject({
      ids: z.array(z.string()).min(1).max(100).describe("ids of cards, as validation_list gives them"),
      quick: z.boolean().default(true).describe("false for all points, which may take hours"),
      parallel_points: z.int().min(1).max(32).default(1).describe("points at once"),
    }),
    writes: true,
    async perform({ ids, quick, parallel_points }, { session, cancellation, onReport }) {
      const means = { quick, parallelPoints: parallel_points, cancellation, onEvent: onReport };
      return { verdicts: await session.validation.run(ids, means) };
    },
  }),
];

/** Kinds of jobs that assistants may run. */
const TOOL_JOBS = JOB_KINDS.filter((kind) => jobOf(kind).tool !== undefined);

const isTool = (route: Route): route is Route & { tool: RouteTool } => route.tool !== undefined;

/** All tools, sorted by name. */
export const TOOLS: readonly Tool[] = [...ROUTES.filter(isTool).map(routeTool), ...TOOL_JOBS.map(jobTool), ...OWN]
  .sort((a, b) => a.name < b.name ? -1 : 1);

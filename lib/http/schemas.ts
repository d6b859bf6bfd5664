/** Shapes that several routes share. Replies are open: a later version may add members. */
import { DIAGNOSTIC, documentOf, OBJECT } from "../api/documents.ts";
import type { JsonObject } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { RUN_STATUSES } from "../run/documents.ts";
import type { RunRow } from "../run/store.ts";
import { JOB_KINDS, JOB_STATES } from "./jobs/types.ts";

export { DIAGNOSTIC, documentOf, OBJECT };
/** A recipe in a request; the compiler reports its problems, each with a place and a hint. */
export const RECIPE = z.unknown().describe("authored recipe; 1 and 1.0 are two values");
export const EXECUTION = z.unknown().describe(
  "{parallel_workers, parallel_points: integers 1 to 32, use_plan_cache: boolean}; left out, sequential with the plan " +
    "cache. parallel_points, the rows that run side by side, is for benchmarks",
);
const TIME = z.string().describe("ISO 8601, UTC");

export const PROBLEM = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string().optional(),
  code: z.string(),
  hint: z.string().nullable().optional(),
  diagnostics: z.array(DIAGNOSTIC),
});

type BaseRunRow = Pick<
  RunRow,
  "run_id" | "status" | "recipe_name" | "suite" | "created_at_utc" | "completed_at_utc"
>;
/** Members beyond these stand in a row where `fields` asks for them. */
export const RUN_ROW = documentOf<
  BaseRunRow & Partial<RunRow> & {
    metrics?: JsonObject;
    intervals?: JsonObject;
    changed?: JsonObject;
    problem?: string;
  }
>(z.object({
  run_id: z.string(),
  status: z.enum(RUN_STATUSES),
  recipe_name: z.string().nullable(),
  suite: z.string().nullable(),
  created_at_utc: TIME.nullable(),
  completed_at_utc: TIME.nullable(),
}));

/** Members beyond these depend on `kind`. */
const EVENT = z.looseObject({
  id: z.int(),
  seq: z.int(),
  job_id: z.string(),
  time: TIME,
  kind: z.string(),
  level: z.enum(["info", "warning", "error"]),
  message: z.string(),
});

export const JOB = z.object({
  job_id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(JOB_STATES),
  recipe_name: z.string().nullable(),
  run_id: z.string().nullable(),
  summary_path: z.string().nullable(),
  error: documentOf<JsonObject>().nullable(),
  execution: OBJECT,
  resource_guard: OBJECT,
  created_at_utc: TIME,
  started_at_utc: TIME.nullable(),
  completed_at_utc: TIME.nullable(),
  interruption: z.string().optional(),
  events: z.array(EVENT),
  next_event_seq: z.int(),
  events_truncated: z.boolean(),
  progress: OBJECT,
  result: documentOf<JsonObject>().optional(),
  resume: z.object({ result_id: z.string() }).optional().describe("what resumes an interrupted benchmark"),
});

/** A reply with a JSON body. */
export const reply = <Schema extends z.ZodType>(description: string, schema: Schema) => ({ description, schema });

/** A reply with a problem body. */
const problem = (description: string) => ({ description, schema: PROBLEM, media: "application/problem+json" });

/** Refusals that mean the same for every route. */
const REFUSALS = {
  400: problem("The request cannot be used; the diagnostics name every problem"),
  403: problem("The path is not a plain path in its folder, or the server is read-only"),
  404: problem("The request names something that does not exist"),
  409: problem("The state of the named thing does not permit the request"),
  412: problem("The file changed since it was read"),
  416: problem("The file has no byte in the range that was asked for; Content-Range gives its size"),
  422: problem("The named file or run lacks data that the request needs"),
  429: problem("Too many jobs or streams of this kind are active; Retry-After gives the time of the next attempt"),
} as const;

/** The replies of a route that refuses requests with these statuses. */
export function refusals<Status extends keyof typeof REFUSALS>(...statuses: Status[]): Pick<typeof REFUSALS, Status> {
  return Object.fromEntries(statuses.map((status) => [status, REFUSALS[status]])) as Pick<typeof REFUSALS, Status>;
}

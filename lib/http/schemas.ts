/** Shapes that several routes share. Replies are open: a later version may add members. */
import { RUN_STATUSES } from "../run/documents.ts";
import { z } from "../contract/zod.ts";
import { JOB_KINDS, JOB_STATES } from "./jobs/types.ts";

/** Any JSON object, its numbers typed. */
export const OBJECT = z.record(z.string(), z.unknown());
/** A recipe in a request: whatever is wrong with it, the compiler says it with a place and a hint. */
export const RECIPE = z.unknown().describe("authored recipe; 1 and 1.0 are two values");
export const EXECUTION = z.unknown().describe(
  "{parallel_workers: integer 1 to 32, use_plan_cache: boolean}; left out, sequential with the plan cache",
);
export const TIME = z.string().describe("ISO 8601, UTC");

export const DIAGNOSTIC = z.object({
  severity: z.enum(["error", "warning", "info"]),
  code: z.string(),
  message: z.string(),
  path: z.string(),
  hint: z.string().nullable(),
  pointer: z.string().optional(),
  step_id: z.string().optional(),
});

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

export const RUN_ROW = z.object({
  run_id: z.string(),
  status: z.enum(RUN_STATUSES),
  recipe_name: z.string().nullable(),
  suite: z.string().nullable(),
  created_at_utc: TIME.nullable(),
  completed_at_utc: TIME.nullable(),
});

export const EVENT = z.object({
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
  error: OBJECT.nullable(),
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
  result: OBJECT.optional(),
});

/** A reply with a problem body. */
export const problem = (description: string) => ({ description, schema: PROBLEM, media: "application/problem+json" });

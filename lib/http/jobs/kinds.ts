/**
 * The calls that run as jobs. A kind names its call and says how a request is admitted and what its end means; the route of
 * its submission, the work of its job and its tool for assistants are made of that.
 */
import { join, relative, sep } from "node:path";
import { type AnyCall, type Call, camelKeys, type RefusalStatus, type Shape } from "../../api/call.ts";
import { benchmarks } from "../../api/calls/benchmarks.ts";
import { recipes } from "../../api/calls/recipes.ts";
import { runs } from "../../api/calls/runs.ts";
import { training } from "../../api/calls/training.ts";
import type { Session } from "../../api/session.ts";
import { SvcError } from "../../contract/error.ts";
import { seal, type SealedText } from "../../contract/sealed.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { selectPoints } from "../../recipe/select_points.ts";
import { keptArtifacts } from "../../run/prune.ts";
import { checkResources, readCapacity, writtenResources } from "../../run/resources.ts";
import { stillExecuting } from "../../run/store.ts";
import { admitCapture, type AdmittedCapture, type CaptureRequest } from "../capture_request.ts";
import { confinedPack } from "../../study/pack/packs.ts";
import { sourceOf } from "../recipe_file.ts";
import { RECIPE } from "../schemas.ts";
import type { JobKind, JobOutcome } from "./types.ts";

/** A request that a job can be made of. */
export interface Admission {
  /** What the job keeps: fields of its call; a JSON value. */
  request: object;
  /** Of the recipe or the pack. */
  name: string | null;
  /** A `PreparedRun` or a `LoadedPack`, which the job uses in place of making it again. */
  prepared?: SealedText | null;
}

/** The end of a job; members that are left out are null. Its result carries the warnings of its call. */
type JobEnd = Pick<JobOutcome, "status"> & Partial<JobOutcome> & { result: JsonObject };

interface Ended<Out> {
  result: Out;
  request: JsonObject;
  session: Session;
  cancelled: boolean;
}

export interface Job<C extends AnyCall, Path extends string, Body extends Shape, Status extends RefusalStatus> {
  call: C;
  /** Route of the submission. */
  path: Path;
  /** Fields of a request besides those in the path and `execution`. */
  body: Body;
  refuses: readonly Status[];
  /** Checks a request in a library thread, before a job is made of it. @throws SvcError with every problem */
  admit(session: Session, request: z.output<z.ZodObject<Body>>, usePlanCache: boolean): Promise<Admission>;
  /** Performs an admitted request where that is more than its call. */
  perform?(session: Session, input: Readonly<Record<string, unknown>>, means: object): Promise<ResultOf<C>>;
  end(ended: Ended<ResultOf<C>>): JobEnd;
  /** The tool that waits for the end: its name, what it does, and its reply, which carries the warnings too. */
  tool?: { name: string; summary: string; reply(result: ResultOf<C>): object };
}

type ResultOf<C> = C extends
  Call<infer _F, infer _Args, infer Out, infer _Means, infer _Http, infer _Status, infer _Doc> ? Out : never;

const job = <C extends AnyCall, Path extends string, Body extends Shape, const Status extends RefusalStatus>(
  definition: Job<C, Path, Body, Status>,
) => definition;

/** Fields of a call without those that the request gives otherwise: as `execution`, or never. */
function bodyOf<F extends Shape, Name extends keyof F>(fields: F, ...names: Name[]): Omit<F, Name> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name as Name))) as Omit<F, Name>;
}

/** A recipe in a request: itself, or a file in `recipes/`. */
const SOURCE = {
  recipe: RECIPE.optional(),
  path: z.string().optional().describe("a recipe file in place of recipe, such as recipes/link.yaml"),
};

/** Admits a job that executes a finished run again. @throws SvcError `run_not_found`, `run_still_executing` */
const again = (verb: string) => async ({ runs }: Session, given: object) => {
  const { run_id, summary } = await runs.show((given as { run_id: string }).run_id);
  if (summary.status === "running") throw stillExecuting(run_id, verb);
  return { request: { run_id }, name: summary.recipe_name as string | null };
};

const summaryOf = (run_id: string) => `runs/${run_id}/summary.json`;

export const JOBS = {
  run: job({
    call: recipes.run,
    path: "/api/run-jobs",
    body: {
      ...SOURCE,
      ...bodyOf(recipes.run.fields, "recipe", "parallel_workers", "use_plan_cache", "lint"),
    },
    refuses: [400, 403, 404, 429],
    async admit(session, { recipe, path, ...request }, usePlanCache) {
      const { mode, ignore_estimate, keep, drop } = request;
      const source = await sourceOf(session, { recipe: recipe as Value, path });
      const prepared = await session.recipes.prepare(source, { ...camelKeys(request), mode, usePlanCache });
      const { plan, recipe: { name } } = prepared.planned;
      const isKept = keptArtifacts({ keep, drop }, plan.steps.map(({ step_id }) => step_id));
      const written = writtenResources(plan, prepared.planned.recipe, isKept);
      if (!ignore_estimate) checkResources(written, session.workspace.stateDir, readCapacity);
      return { request: { recipe: source.value, ...request }, name, prepared: seal(prepared) };
    },
    end: ({ result: { run_id, status, summary, summary_path }, session: { workspace } }) => ({
      status,
      run_id,
      summary_path: relative(workspace.stateDir, summary_path).split(sep).join("/"),
      error: status === "completed" ? null : runError(run_id, status, summary),
      result: {},
    }),
    tool: {
      name: "recipes_run",
      summary: "Run a recipe, wait for its end, and give its metrics",
      reply: ({ run_id, status, summary }) => (
        { run_id, status, metrics: summary.metrics, failure: summary.failure ?? null }
      ),
    },
  }),

  matrix: job({
    call: recipes.runMatrix,
    path: "/api/matrix-jobs",
    body: {
      ...SOURCE,
      ...bodyOf(recipes.runMatrix.fields, "recipe", "parallel_workers", "parallel_points", "use_plan_cache", "lint"),
    },
    refuses: [400, 403, 404, 429],
    async admit(session, { recipe, path, ...request }) {
      const { mode, points, keep, drop } = request;
      const source = await sourceOf(session, { recipe: recipe as Value, path });
      const { expansion } = await session.recipes.validate(source, { mode });
      if (expansion.points.length === 0) {
        throw new SvcError("matrix_definition_invalid", "Cannot run a matrix: the recipe has none", {
          hint: "Run it by POST /api/run-jobs",
        });
      }
      if (points !== undefined) selectPoints(expansion.points, points);
      const { name, steps } = expansion.recipe!;
      keptArtifacts({ keep, drop }, steps.map(({ id }) => id));
      return { request: { recipe: source.value, ...request }, name };
    },
    end({ result: { status, recipe_name, canonical_matrix, rows } }) {
      const [first, ...more] = rows.filter((row) => row.status === "failed");
      return {
        status,
        error: status !== "failed" ? null : {
          code: "run_failed",
          message: `Variant ${first.index} of ${recipe_name} failed${
            more.length > 0 ? `, and ${more.length} more` : ""
          }`,
          hint: "Its row gives the reason",
          diagnostics: [],
          extra: { run_id: first.run_id },
        },
        result: { recipe_name, canonical_matrix, rows },
      };
    },
    tool: {
      name: "recipes_sweep",
      summary: "Run the points of a recipe with a matrix, wait for their end, and give a row for each",
      reply: ({ status, recipe_name, rows }) => ({ status, recipe_name, rows }),
    },
  }),

  benchmark: job({
    call: benchmarks.run,
    path: "/api/benchmark-jobs",
    body: {
      path: z.string().describe("name or id of a pack, or its file in benchmarks/"),
      ...bodyOf(benchmarks.run.fields, "pack", "parallel_workers", "parallel_points", "lint"),
    },
    refuses: [400, 403, 404, 429],
    async admit({ benchmarks, workspace }, { path, ...request }) {
      const { file, name } = confinedPack(path, workspace.projectRoot), { resume } = request;
      if (resume !== undefined) await benchmarks.result(resume);
      const { recipes, ...loaded } = await benchmarks.loaded(file, { ...camelKeys(request), name: path });
      const admitted = { request: { pack: file, ...request }, name };
      // The replication of a result that is resumed is its own, and the points of a study are made where they run.
      if (resume !== undefined || recipes.some(({ study }) => study !== undefined)) return admitted;
      // Places in the text have served: the diagnostics name them.
      const plain = { ...loaded, recipes: recipes.map(({ locate: _locate, ...recipe }) => recipe) };
      return { ...admitted, prepared: seal(plain) };
    },
    end({ result: { result: { result_id, status } }, cancelled }) {
      const ended = status === "completed" ? "completed" : cancelled ? "canceled" : "failed";
      return {
        status: ended,
        summary_path: `benchmarks/${result_id}/result.json`,
        error: ended !== "failed" ? null : {
          code: "run_failed",
          message: `Benchmark ${result_id} is ${status}`,
          hint: `Its rows give the reasons: svc benchmark result ${result_id}`,
          diagnostics: [],
          extra: { result_id },
        },
        result: { result_id },
      };
    },
    tool: {
      name: "packs_run",
      summary: "Run a benchmark pack, wait for its end, and give the statistics of its metrics",
      reply: ({ result: { result_id, status, aggregates, comparisons } }) => (
        { result_id, status, aggregates, comparisons }
      ),
    },
  }),

  dataset_capture: job({
    call: training.capture,
    path: "/api/dataset-capture-jobs",
    body: {
      recipe: RECIPE.optional(),
      path: z.string().optional().describe("recipe file in recipes/"),
      project_path: z.string().optional().describe("training_projects/<name>; the split goes into it"),
      training_plan: training.capture.fields.plan,
      out: z.string().optional().describe("place below dataset_captures/; <recipe>/<split> when left out"),
      ...bodyOf(training.capture.fields, "recipe", "plan", "out", "taps", "parallel_workers", "lint"),
    },
    refuses: [400, 403, 404, 409, 429],
    admit: (session, request) => admitCapture(session, request as CaptureRequest),
    async perform(session, input, means) {
      const { recipe, project, training_plan: plan, out, ...fields } = input as unknown as AdmittedCapture;
      const how = { ...means, shownOut: out };
      return await (project !== undefined
        ? session.perform(training.captureProject, { path: project, ...fields }, { ...how, confined: true })
        : session.perform(
          training.capture,
          { recipe, plan, out: join(session.workspace.stateDir, out), ...fields },
          how,
        )) as ResultOf<typeof training.capture>;
    },
    end({ result: { status, out: _place, ...rest }, request: { out } }) {
      return {
        status,
        summary_path: status === "completed" ? `${out}/schema.json` : null,
        result: { ...rest, out } as JsonObject,
      };
    },
  }),

  reproduce: job({
    call: runs.reproduce,
    path: "/api/runs/:run_id/reproduce",
    body: {},
    refuses: [400, 404, 409, 429],
    admit: again("reproduce"),
    // A difference is a finding of the report, not a failure of the job.
    end: ({ result: report, cancelled }) => ({
      status: cancelled ? "canceled" : "completed",
      run_id: report.reproduced_run_id,
      summary_path: summaryOf(report.reproduced_run_id),
      result: { report: report as unknown as Value },
    }),
    tool: {
      name: "runs_reproduce",
      summary: "Run the recipe of a run again and compare all artifacts",
      reply: (report) => report,
    },
  }),

  restore: job({
    call: runs.restore,
    path: "/api/runs/:run_id/restore",
    body: {},
    refuses: [400, 404, 409, 429],
    admit: again("restore"),
    end: ({ result: report }) => ({
      status: "completed",
      run_id: report.run_id,
      summary_path: summaryOf(report.run_id),
      result: { report: report as unknown as Value },
    }),
  }),
};

/** A job of any kind, for what is made of all of them. */
export type AnyJob = Job<AnyCall, string, Shape, RefusalStatus>;
const BY_KIND: Readonly<Record<JobKind, AnyJob>> = JOBS;
export const jobOf = (kind: JobKind): AnyJob => BY_KIND[kind];

/** The error record of a run that did not complete. */
function runError(runId: string, status: "failed" | "canceled", summary: JsonObject): Value {
  const { failure = {}, error } = summary as { failure?: JsonObject; error?: string };
  const { system_code } = failure;
  return {
    code: `run_${status}`,
    message: `Run ${runId} ${status}${error === undefined ? "" : `: ${error}`}`,
    hint: status === "failed" ? `See its bundle: svc runs show ${runId}` : null,
    diagnostics: [],
    extra: { run_id: runId, failure, ...(system_code === undefined ? {} : { system_code }) },
  };
}

/** The recipe that a job ran: a result belongs to it, and the recipe of a copy may have changed since. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get } from "../api.ts";
import { hasMatrix } from "../../lib/contract/matrix_edits.ts";
import { resultForm } from "../form/result_form.ts";
import { centreView } from "./centre_view.ts";
import { type Copy, nameOf } from "./copies.ts";
import { type Job, jobs } from "./events.ts";
import { useLoaded } from "./fetched.ts";
import { jobOf } from "./summaries.ts";

/** The jobs over the matrix of a recipe, whoever started them, the latest first. */
export const sweepsOf = (copy: Copy): Job[] =>
  [...jobs.value.values()].filter(({ kind, recipe_name }) => kind === "matrix" && recipe_name === nameOf(copy))
    .sort((a, b) => a.created_at_utc > b.created_at_utc ? -1 : 1);
export const sweepOf = (copy: Copy): Job | undefined => sweepsOf(copy)[0];

/** A shown result of another recipe. */
export interface Stale {
  job: Job;
  /** The recipe that ran; null where the server does not have it. */
  ran: JsonObject | null;
}

/** Whether the shown result of a copy belongs to another recipe; null where it does not. */
export function useStale(copy: Copy): Stale | null {
  const own = jobOf(copy), job = hasMatrix(copy.recipe) && centreView.value === "Matrix" ? sweepOf(copy) ?? own : own;
  const { value } = useLoaded(
    (signal) => get("/api/run-jobs/:job_id/recipe", { params: { job_id: job!.job_id }, signal }),
    job?.job_id ?? null,
  );
  if (job === undefined || value === null) return null;
  return value.recipe !== null && resultForm(value.recipe) === resultForm(copy.recipe)
    ? null
    : { job, ran: value.recipe };
}

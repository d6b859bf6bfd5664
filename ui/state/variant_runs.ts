/** The runs of the variants of a recipe, from its sweeps. */
import { get } from "../api.ts";
import { resultForm } from "../form/result_form.ts";
import type { Copy } from "./copies.ts";
import { isEnded, type Job, variantRuns } from "./events.ts";
import { useLoaded } from "./fetched.ts";
import { sweepsOf } from "./ran.ts";

/** Sweeps before the shown one that are asked for variants. */
const MOST_SWEEPS = 8;

/** The runs of the variants: of the shown sweep, and of sweeps of the same recipe before it for the variants that it left out. */
export function useVariantRuns(copy: Copy, sweep: Job | undefined, count: number): ReturnType<typeof variantRuns> {
  const own = sweep === undefined ? {} : variantRuns(sweep);
  const isPart = sweep !== undefined && isEnded(sweep.state) && Object.keys(own).length < count;
  const before = isPart ? sweepsOf(copy).slice(1, 1 + MOST_SWEEPS) : [];
  const { value } = useLoaded(async (signal) => {
    const [form, ...forms] = await Promise.all([sweep!, ...before].map(async ({ job_id }) => {
      const { recipe } = await get("/api/run-jobs/:job_id/recipe", { params: { job_id }, signal });
      return recipe === null ? null : resultForm(recipe);
    }));
    return before.filter((_, index) => form !== null && forms[index] === form);
  }, before.length === 0 ? null : [sweep!, ...before].map(({ job_id }) => job_id).join());
  return Object.assign({}, ...(value ?? []).map(variantRuns).reverse(), own);
}

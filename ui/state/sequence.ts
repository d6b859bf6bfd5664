/** Runs one after another: over open recipes and over the variants of a matrix. Never two at once. */
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { get, post, Problem } from "../api.ts";
import { signal } from "../preact.ts";
import { announce } from "./announce.ts";
import { type Copy, nameOf, setJob } from "./copies.ts";
import { isEnded, type Job, rememberJob } from "./events.ts";
import { cancelRun, submit } from "./runs.ts";
import { stopAfterFailure } from "./settings.ts";

/** One run of the sequence. */
export interface Item {
  copyId: string;
  label: string;
  recipe: JsonObject;
  variantId: string | null;
  state: string;
  jobId: string | null;
}

export interface Sequence {
  items: readonly Item[];
  /** Index of the item that runs now; null when the sequence is over. */
  at: number | null;
  stopping: boolean;
}

export const sequence = signal<Sequence | null>(null);
export const isRunning = () => sequence.value?.at != null;
/** The latest job of every variant that was run here, by variant id. */
export const variantJobs = signal<ReadonlyMap<string, string>>(new Map());

export interface Variant {
  id: string;
  name: string;
  index: number;
  selection: { [dimension: string]: Value };
  recipe: JsonObject;
}

export const hasMatrix = (recipe: JsonObject): boolean => isObject(recipe.metadata) && isObject(recipe.metadata.matrix);

/** The variants of a recipe, verbatim from the server. @throws Problem */
export async function variantsOf(recipe: JsonObject, stop?: AbortSignal): Promise<Variant[]> {
  const { recipes } = await post("/api/recipe/matrix/expand", { recipe }, { signal: stop });
  return recipes.map((variant, index) => ({
    id: String(variant.metadata.matrix_variant_id ?? index),
    name: variant.name,
    index,
    selection: (variant.metadata.matrix_selection ?? {}) as Variant["selection"],
    recipe: variant,
  }));
}

export const itemOf = (copy: Copy, variant: Variant | null): Item => ({
  copyId: copy.id,
  label: variant?.name ?? nameOf(copy),
  recipe: variant?.recipe ?? copy.recipe,
  variantId: variant?.id ?? null,
  state: "waiting",
  jobId: null,
});

/** All runs of some copies, matrices expanded. @throws Problem */
export async function itemsOf(copies: readonly Copy[]): Promise<Item[]> {
  const items: Item[] = [];
  for (const copy of copies) {
    if (hasMatrix(copy.recipe)) items.push(...(await variantsOf(copy.recipe)).map((variant) => itemOf(copy, variant)));
    else items.push(itemOf(copy, null));
  }
  return items;
}

/** Runs items one after another and resolves when the last has ended. */
export async function runInSequence(items: readonly Item[]): Promise<void> {
  if (isRunning() || items.length === 0) return;
  sequence.value = { items, at: 0, stopping: false };
  announce(`${items.length} runs, one after another`);
  for (let at = 0; at < items.length; at++) {
    if (sequence.value!.stopping) {
      note(at, { state: "not started" });
      continue;
    }
    sequence.value = { ...sequence.value!, at };
    const state = await runItem(at, items[at]);
    if (state !== "completed" && stopAfterFailure.value === "on") {
      sequence.value = { ...sequence.value!, stopping: true };
    }
  }
  const completed = sequence.value!.items.filter(({ state }) => state === "completed").length;
  sequence.value = { ...sequence.value!, at: null };
  announce(`${completed} of ${items.length} runs completed`);
}

async function runItem(at: number, item: Item): Promise<string> {
  try {
    let job = await submit(item.recipe);
    note(at, { jobId: job.job_id, state: "running" });
    setJob(item.copyId, job.job_id);
    if (item.variantId !== null) variantJobs.value = new Map(variantJobs.value).set(item.variantId, job.job_id);
    while (!isEnded(job.state)) job = await waited(job);
    rememberJob(job);
    note(at, { state: job.state });
    return job.state;
  } catch (error) {
    note(at, { state: error instanceof Problem ? `refused: ${error.message}` : "failed" });
    return "failed";
  }
}

/** The job some time later; a server that is away for a while is asked again. */
async function waited(job: Job): Promise<Job> {
  try {
    return await get("/api/run-jobs/:job_id/wait", { params: { job_id: job.job_id }, query: { timeout_seconds: 30 } });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return job;
  }
}

/** Cancels the present run and starts no further one. */
export function stopSequence(): void {
  const present = sequence.value;
  if (present?.at == null) return;
  sequence.value = { ...present, stopping: true };
  const { jobId } = present.items[present.at];
  if (jobId !== null) cancelRun(jobId).catch(() => {});
}

function note(at: number, change: Partial<Item>): void {
  const present = sequence.value!;
  sequence.value = {
    ...present,
    items: present.items.map((item, index) => index === at ? { ...item, ...change } : item),
  };
}

/** Runs a sequence of recipes, item by item. */
import { Problem } from "../api.ts";
import { announce } from "./announce.ts";
import { type Copy, nameOf, setJob } from "./copies.ts";
import { endOf, submit } from "./runs.ts";
import { isRunning, type Item, sequence } from "./sequence.ts";
import { stopAfterFailure } from "./settings.ts";

/** Runs copies one after another and resolves when the last has ended. */
export async function runInSequence(copies: readonly Copy[]): Promise<void> {
  if (isRunning() || copies.length === 0) return;
  const items = copies.map((copy): Item => ({
    copyId: copy.id,
    label: nameOf(copy),
    recipe: copy.recipe,
    state: "waiting",
    jobId: null,
  }));
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
    job = await endOf(job.job_id);
    note(at, { state: job.state });
    return job.state;
  } catch (error) {
    note(at, { state: error instanceof Problem ? `refused: ${error.message}` : "failed" });
    return "failed";
  }
}

function note(at: number, change: Partial<Item>): void {
  const present = sequence.value!;
  sequence.value = {
    ...present,
    items: present.items.map((item, index) => index === at ? { ...item, ...change } : item),
  };
}

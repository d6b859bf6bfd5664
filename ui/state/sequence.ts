/** Runs of the open recipes one after another, never two at once; a matrix is one run. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { signal } from "../preact.ts";
import { cancelRun } from "./runs.ts";

/** One run of the sequence. */
export interface Item {
  copyId: string;
  label: string;
  recipe: JsonObject;
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

/** Cancels the present run and starts no further one. */
export function stopSequence(): void {
  const present = sequence.value;
  if (present?.at == null) return;
  sequence.value = { ...present, stopping: true };
  const { jobId } = present.items[present.at];
  if (jobId !== null) cancelRun(jobId).catch(() => {});
}

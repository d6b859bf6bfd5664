/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Performs the cases of one fuzzer, and reports before and after each. */
import { seeded } from "../lib/artifact/_fuzz.ts";
import process from "node:process";
import type { Fuzzer } from "./inputs.ts";

export interface FuzzInput {
  name: string;
  /** An empty folder for the files of the fuzzer. */
  folder: string;
  seed: number;
  /** Whether the known inputs are performed first. */
  corpus: boolean;
}

export type FuzzMessage =
  | { type: "begin"; seed: number | null; name: string }
  /** Seconds of this thread's processor time. */
  | { type: "done"; error: string | null; took: number };

const OPEN: Record<string, () => Promise<{ open(folder: string): Promise<Fuzzer> }>> = {
  recipes: () => import("./recipes.ts"),
  readers: () => import("./readers.ts"),
  http: () => import("./http.ts"),
  cli: () => import("./cli.ts"),
};

const send = (message: FuzzMessage) => self.postMessage(message);

async function perform(begin: { seed: number | null; name: string }, act: () => void | Promise<void>) {
  send({ type: "begin", ...begin });
  const before = process.threadCpuUsage();
  let error: string | null = null;
  try {
    await act();
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown);
  }
  const { user, system } = process.threadCpuUsage(before);
  send({ type: "done", error, took: (user + system) / 1e6 });
  // The messages of the parent are read between the cases.
  await new Promise((resolve) => setTimeout(resolve, 0));
}

self.onmessage = async ({ data: { name, folder, seed, corpus } }: MessageEvent<FuzzInput>) => {
  const own = await Deno.makeTempDir({ dir: folder });
  const { open } = await OPEN[name]();
  const fuzzer = await open(own);
  if (corpus) {
    for (const [known, act] of Object.entries(fuzzer.corpus)) await perform({ seed: null, name: known }, act);
  }
  for (let at = seed;; at++) await perform({ seed: at, name: "" }, () => fuzzer.perform(seeded(at)));
};

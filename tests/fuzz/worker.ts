/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Performs the cases of one fuzzer, and reports before and after each. */
import { seeded } from "../lib/artifact/_fuzz.ts";
import process from "node:process";
import { parseYaml } from "../../lib/contract/yaml.ts";
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
  /** This thread's processor time, in seconds of the machine that {@link UNIT_S} was measured on. */
  | { type: "done"; error: string | null; took: number };

/** Processor time of {@link unitOfWork} on an idle core at 2.9 GHz. */
const UNIT_S = 0.08;
/** A case that takes longer is compared with the unit of work, because cores differ and share their units. */
const LONG_S = 5;
const UNIT_TEXT = Array.from({ length: 4000 }, (_, at) => `key_${at}: [1, two, 3.0]\n`).join("");

/** Work of the kind that most cases do; it is repeated, because the first times compile it. */
function unitOfWork(): number {
  const times = Array.from({ length: 8 }, () => {
    const before = process.threadCpuUsage();
    parseYaml(UNIT_TEXT);
    return secondsSince(before);
  });
  return times.sort((a, b) => a - b)[4];
}

const secondsSince = (before: { user: number; system: number }) => {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
};

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
  const spent = secondsSince(before);
  send({ type: "done", error, took: spent < LONG_S ? spent : spent * Math.min(1, UNIT_S / unitOfWork()) });
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

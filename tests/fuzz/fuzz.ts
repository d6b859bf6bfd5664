/**
 * Random hostile inputs for bounded time, or a number of them.
 *
 *     deno task fuzz [--seconds 60 | --cases N] [--seed <now>] [--only recipes,readers,http,cli]
 *
 * Each fuzzer performs the inputs that once failed, then random ones, each from a seed of its own. A finding is an error
 * without a code, a reply 500, an answer of unbounded size or after more than {@link SLOW_S} seconds of processor time, and a
 * case that does not end. It is printed with the command that repeats it. Exits with 1 after findings. The fuzzers run in a worker that
 * may write to a temporary folder alone, and reach no network.
 */
import { parseArgs } from "node:util";
import type { FuzzInput, FuzzMessage } from "./worker.ts";

const FUZZERS = ["recipes", "readers", "http", "cli"];
/** Processor time of a case, in seconds of the machine that the worker's unit of work was measured on. */
const SLOW_S = 12;
/** A case that takes this long by the clock, maybe on a busy machine, is ended with its worker. */
const HANG_S = 150;
/** Findings of a fuzzer, after which it ends. */
const MAX_FINDINGS = 20;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seconds: { type: "string", default: "60" },
    cases: { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    only: { type: "string", default: FUZZERS.join(",") },
  },
});
const [seconds, wanted, first] = [values.seconds, values.cases, values.seed].map(Number);
const names = values.only.split(",");
if (!(seconds >= 0 && wanted >= 0) || !Number.isInteger(first) || names.some((name) => !FUZZERS.includes(name))) {
  console.error(
    "Usage: deno task fuzz [--seconds <number> | --cases <number>] [--seed <whole number>] [--only recipes,readers,http,cli]",
  );
  Deno.exit(2);
}

const folder = await Deno.makeTempDir({ prefix: "svc-fuzz-" });
// Temporary files of the program itself.
Deno.env.set("TMPDIR", folder);
let findings = 0;
try {
  for (const name of names) findings += await fuzz(name, seconds / names.length);
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(findings === 0 ? 0 : 1);

/** Runs one fuzzer for a time, or for the wanted number of random cases; at least one. @returns the number of findings */
async function fuzz(name: string, budgetS: number): Promise<number> {
  const seen = new Set<string>();
  const ends = performance.now() + budgetS * 1000;
  let seed = first, corpus = true, cases = 0, slowest = 0, slowestCase = "";
  const isDone = () => wanted > 0 ? seed - first >= wanted : performance.now() >= ends;
  const report = (at: string, text: string) => {
    // Equal places in the program are one finding.
    const key = text.split("\n").filter((line) => /^\s+at /.test(line)).slice(0, 2).join() || text.slice(0, 60);
    if (seen.has(key)) return;
    seen.add(key);
    console.log(`FINDING in ${name}, ${at}: ${text.slice(0, 4000)}`);
  };
  do {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      deno: {
        permissions: { read: true, write: [folder], env: true, sys: true, ffi: false, run: false, net: ["127.0.0.1"] },
      },
    });
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let current = "its start", began = performance.now();
    const watchdog = setInterval(() => {
      if (performance.now() - began < HANG_S * 1000) return;
      report(current, `the case does not end within ${HANG_S} s`);
      resolve();
    }, 500);
    worker.onerror = (event) => {
      event.preventDefault();
      report(current, `the worker ended: ${event.message}`);
      resolve();
    };
    worker.onmessage = ({ data }: MessageEvent<FuzzMessage>) => {
      if (data.type === "begin") {
        corpus &&= data.seed === null;
        current = data.seed === null
          ? `the known input "${data.name}"`
          : `deno task fuzz --only ${name} --seconds 0 --seed ${data.seed}`;
        if (data.seed !== null) seed = data.seed + 1;
        cases++;
        began = performance.now();
        return;
      }
      const { took } = data;
      if (took > slowest) [slowest, slowestCase] = [took, current];
      if (took > SLOW_S) report(current, `the case took ${took.toFixed(1)} s of processor time`);
      if (data.error !== null) report(current, data.error);
      began = performance.now();
      if (seen.size >= MAX_FINDINGS || (!corpus && isDone())) resolve();
    };
    worker.postMessage({ name, folder, seed, corpus } satisfies FuzzInput);
    await ended;
    clearInterval(watchdog);
    worker.terminate();
    // A worker that hung or died is replaced; its case is not repeated, and the known inputs neither.
    corpus = false;
  } while (seen.size < MAX_FINDINGS && !isDone());
  console.log(
    `${name}: ${cases} cases from seed ${first}, slowest ${
      slowest.toFixed(1)
    } s (${slowestCase}), ${seen.size} findings`,
  );
  return seen.size;
}

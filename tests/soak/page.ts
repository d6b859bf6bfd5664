/**
 * The tests of the page under load, again and again.
 *
 *     deno task soak page [load] [runs, 10 by default] [parts of paths, tests/ui by default]
 *
 * Loads: `idle`; `busy` (two processor loops); `disk` (64 MiB written and synchronised all the time); `half` (half of the
 * processors, by taskset); `three` (three files at a time); `all` of them, one after another. It prints a line for each run
 * and exits with 1 when a run fails. A run ends after an hour at the latest; the load runs in threads, which end with it.
 */
import { join } from "node:path";
import { ROOT_PATH } from "../support/paths.ts";

const [, name = "idle", runs = "10", ...asked] = Deno.args, count = Number(runs);
const LIMIT_MS = 3_600_000;
const CORES = navigator.hardwareConcurrency;

interface Load {
  /** Sources of threads that load the machine. */
  threads?: readonly string[];
  /** Stands before the command of a run. */
  before?: readonly string[];
  options?: readonly string[];
}

const BUSY = "for (;;);";
const DISK = `const path = Deno.makeTempFileSync(), file = Deno.openSync(path, { write: true });
Deno.removeSync(path);
for (const block = new Uint8Array(2 ** 20);;) {
  file.seekSync(0, Deno.SeekMode.Start);
  for (let i = 0; i < 64; i++) file.writeSync(block);
  file.syncSync();
}`;
const LOADS: Readonly<Record<string, Load>> = {
  idle: {},
  busy: { threads: [BUSY, BUSY] },
  disk: { threads: [DISK] },
  half: { before: ["taskset", "-c", `0-${Math.max(1, Math.floor(CORES / 2)) - 1}`] },
  three: { options: ["--jobs", "3"] },
};

const names = name === "all" ? Object.keys(LOADS) : [name];
if (names.some((one) => !Object.hasOwn(LOADS, one)) || !(count > 0)) {
  console.error(`Usage: deno task soak page [${Object.keys(LOADS).join("|")}|all] [runs] [parts of paths]`);
  Deno.exit(2);
}

/** Runs the tests once. @returns their output, or null when the limit ended them */
async function run({ before = [], options = [] }: Load): Promise<string | null> {
  const paths = asked.length === 0 ? ["tests/ui"] : asked;
  const [program, ...args] = [
    ...before,
    Deno.execPath(),
    "run",
    "-A",
    "--frozen",
    "tests/run.ts",
    ...paths,
    ...options,
  ];
  const signal = AbortSignal.timeout(LIMIT_MS);
  const { stdout } = await new Deno.Command(program, { args, cwd: ROOT_PATH, stdin: "null", stderr: "inherit", signal })
    .output();
  return signal.aborted ? null : new TextDecoder().decode(stdout);
}

let failed = false;
console.log("load   run  seconds  result");
for (const one of names) {
  const load = LOADS[one];
  const threads = (load.threads ?? []).map((source) =>
    new Worker(`data:application/javascript,${encodeURIComponent(source)}`, { type: "module" })
  );
  for (let turn = 1; turn <= count; turn++) {
    const began = performance.now(), output = await run(load);
    const seconds = Math.round((performance.now() - began) / 1000);
    const result = output?.match(/^\d+ passed, \d+ failed, \d+ skipped.*$/gm)?.at(-1) ?? "no end within an hour";
    const failures = output?.match(/^FAILED .*$/gm) ?? [];
    failed ||= !result.includes(" 0 failed");
    console.log([one.padEnd(6), String(turn).padStart(3), String(seconds).padStart(8), ` ${result}`].join(" "));
    for (const failure of new Set(failures)) console.log(`       ${failure}`);
    if (failures.length > 0) {
      const path = join(await Deno.makeTempDir({ prefix: "svc-soak-" }), "output.txt");
      await Deno.writeTextFile(path, output!);
      console.log(`       ${path}`);
    }
  }
  for (const thread of threads) thread.terminate();
}
// A thread in a loop without a pause ends with the process.
Deno.exit(failed ? 1 : 0);

/**
 * Runs test files, each in a process of its own, and always ends.
 *
 *     deno task test [paths or parts of paths] [options]
 *
 *     --filter TEXT      only tests whose names contain this text
 *     --jobs N           files at a time (DENO_JOBS); by default one a processor, and more while processors are idle
 *     --shuffle[=SEED]   files and tests in random order; the seed is printed
 *     --times N          length of the list of slow files, 5 by default
 *     --verbose          all output as it comes
 *     --stall S          seconds without progress and without work after which a file is ended, 180 by default
 *     --limit S          seconds after which a file is ended in any case, 2700 by default
 *     --record           writes the times to tests/durations.json, by which the longest files start first
 *     --table FILE       writes seconds, processor seconds and path of every file, tab-separated
 *
 * A file that is ended is asked for its state first, by SIGUSR2; its test counts as failed and the other files go on. The
 * last line is "N passed, N failed, N skipped".
 */
import { readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import durations from "./durations.json" with { type: "json" };
import { FilesAtATime } from "./jobs.ts";
import { ROOT_PATH } from "./support/paths.ts";
import { childrenCpuS, commandOf, ProcessTree, send } from "./support/process_tree.ts";
import { Stall } from "./support/stall.ts";
import { type Counts, TestOutput } from "./support/test_output.ts";

/** Time for a file to tell its state before it is ended, and for the programs of a file that has ended to follow it. */
const GRACE_S = 8;
const PROGRESS_INTERVAL_S = 30;
/** Files that take less are not worth an entry in the list of durations. */
const RECORDED_S = 5;

/** Ends with the code of a usage error: 2. */
function refuse(reason: unknown): never {
  console.error(reason instanceof Error ? reason.message : reason);
  Deno.exit(2);
}

const { values: asked, positionals } = parsed();
function parsed() {
  try {
    return parseArgs({
      args: Deno.args.map((arg) => arg === "--shuffle" ? `--shuffle=${Math.floor(Math.random() * 2 ** 31)}` : arg),
      allowPositionals: true,
      options: {
        filter: { type: "string" },
        jobs: { type: "string", default: Deno.env.get("DENO_JOBS") },
        shuffle: { type: "string" },
        times: { type: "string", default: "5" },
        verbose: { type: "boolean", default: false },
        stall: { type: "string", default: "180" },
        limit: { type: "string", default: "2700" },
        record: { type: "boolean", default: false },
        table: { type: "string" },
      },
    });
  } catch (error) {
    refuse(error);
  }
}
const [listed, stallS, limitS] = (["times", "stall", "limit"] as const).map((name) => positive(name, asked[name]));
const atATime = new FilesAtATime(asked.jobs === undefined ? undefined : positive("jobs", asked.jobs));

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) refuse(`--${name} takes a number above 0, not ${text}`);
  return value;
}

interface Outcome extends Counts {
  path: string;
  seconds: number;
  /** Processor time of its programs that it waited for; null where the system does not tell. */
  cpuS: number | null;
  /** Names of failed tests, or the reason why the file failed. */
  failures: string[];
  text: string;
  needs: string[];
  /** Programs that the file left running. */
  left: string[];
}

class TestFile {
  readonly output = new TestOutput();
  readonly startedMs = performance.now();
  readonly #child: Deno.ChildProcess;
  readonly #tree: ProcessTree;
  #progress = 0;

  constructor(readonly path: string) {
    const mark = { SVC_TEST_FILE: `${Deno.pid}:${path}` };
    // What the user of this machine trusts must not decide a test.
    const trust = { SVC_TRUST: join(ROOT_PATH, "tests", "no_trust.json") };
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "-A",
        "--frozen",
        "--no-check",
        "--config",
        join(ROOT_PATH, "deno.json"),
        ...flags(),
        resolve(ROOT_PATH, path),
      ],
      env: { ...trust, ...mark },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#tree = new ProcessTree(this.#child.pid, `SVC_TEST_FILE=${mark.SVC_TEST_FILE}`);
  }

  get seconds(): number {
    return (performance.now() - this.startedMs) / 1000;
  }

  kill(): Promise<void> {
    return this.#tree.kill();
  }

  async run(): Promise<Outcome> {
    const reading = [this.#child.stdout, this.#child.stderr].map((stream) => this.#read(stream));
    const ended = new AbortController();
    const watching = this.#watch(ended.signal);
    const { code, signal } = await this.#child.status;
    const { seconds } = this, cpuS = endedCpuS();
    ended.abort();
    const stopped = await watching;
    const left = await this.#endProgramsLeft();
    await Promise.all(reading);
    const { closing, seen, failedTests, announced, failureText, needs } = this.output;
    const counts = stopped === null && closing !== null ? closing : seen;
    const failures = [...failedTests];
    const named = failures.length;
    if (stopped !== null) failures.push(stopped);
    else if (closing === null) failures.push(`the process ended with ${signal ?? `code ${code}`} before its tests had`);
    else if (code !== 0 && closing.failed === 0) failures.push(`the process ended with code ${code}`);
    else if (closing.failed > failures.length) failures.push("an error outside of its tests");
    for (const failure of failures.slice(named)) say(`FAILED ${this.path}: ${failure}`);
    const failed = Math.max(counts.failed, failures.length);
    const open = announced - seen.passed - seen.failed - seen.ignored - 1;
    if (stopped !== null && open > 0) failures.push(`${open} tests after it did not run`);
    return {
      ...counts,
      failed,
      path: this.path,
      seconds,
      cpuS,
      failures,
      text: failed > 0 ? failureText : "",
      needs,
      left,
    };
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.#progress++;
      const failedBefore = this.output.failedTests.length;
      for (const line of this.output.push(text)) if (asked.verbose) say(`${this.path} | ${line}`);
      for (const name of this.output.failedTests.slice(failedBefore)) say(`FAILED ${this.path}: ${name}`);
    }
  }

  /** Ends the file when it stalls; returns the reason then, and null when it ended by itself. */
  async #watch(ended: AbortSignal): Promise<string | null> {
    const stall = new Stall(stallS);
    for (let lastMs = performance.now();;) {
      await delay(1000 * stall.intervalS, null, { signal: ended }).catch(() => {});
      if (ended.aborted) return null;
      const nowMs = performance.now();
      const stalled = stall.sample((nowMs - lastMs) / 1000, this.#tree.load(), this.#progress);
      lastMs = nowMs;
      if (!stalled && this.seconds < limitS) continue;
      const why = stalled ? `no progress and no work for ${stallS} s` : `the file took more than ${limitS} s`;
      const { running, complete } = this.output;
      const reason = complete
        ? `the tests ended, but the process did not: ${why}`
        : `stopped in "${running ?? "no test: it loads, or runs a hook"}": ${why}`;
      say(`${this.path} is ended: ${reason}`);
      send(this.#child.pid, "SIGUSR2");
      await delay(1000 * Math.min(GRACE_S, stallS), null, { signal: ended }).catch(() => {});
      await this.#tree.kill();
      return reason;
    }
  }

  async #endProgramsLeft(): Promise<string[]> {
    const untilMs = performance.now() + 1000 * GRACE_S;
    while (this.#tree.alive().length > 0 && performance.now() < untilMs) await delay(200);
    const left = this.#tree.alive().map(commandOf);
    await this.#tree.kill();
    return left;
  }
}

function flags(): string[] {
  const { filter, shuffle } = asked;
  return [
    ...filter === undefined ? [] : ["--filter", filter],
    ...shuffle === undefined ? [] : [`--shuffle=${shuffle}`],
  ];
}

let countedCpuS: number | null;
/** Processor time of the file that has just ended: what the runner's ended children used since the last call. */
function endedCpuS(): number | null {
  const before = countedCpuS;
  countedCpuS = childrenCpuS();
  return before === null || countedCpuS === null ? null : countedCpuS - before;
}

/** Paths of test files, relative to the checkout. */
function testFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /_test\.tsx?$/.test(entry.name));
  return names.map(({ parentPath, name }) => join(parentPath, name));
}

/** Files that arguments name: a file, a folder, or a part of the paths of tests. */
function wantedFiles(): string[] {
  const all = testFiles(join(ROOT_PATH, "tests"));
  const wanted = positionals.flatMap((argument) => {
    const path = resolve(argument), stat = statSync(path, { throwIfNoEntry: false });
    const found = stat?.isFile()
      ? [path]
      : stat?.isDirectory()
      ? testFiles(path)
      : all.filter((file) => relative(ROOT_PATH, file).includes(argument));
    if (found.length === 0) refuse(`There is no test file for ${argument}`);
    return found;
  });
  return [...new Set(positionals.length === 0 ? all : wanted)].map((path) => {
    const inCheckout = relative(ROOT_PATH, path);
    return inCheckout.startsWith("..") ? path : inCheckout;
  });
}

/** The order of the files: longest first, or shuffled by the seed (mulberry32). */
function ordered(paths: string[]): string[] {
  const times: Record<string, number> = durations;
  if (asked.shuffle === undefined) return paths.sort().sort((a, b) => (times[b] ?? 0) - (times[a] ?? 0));
  let state = Number(asked.shuffle);
  const keys = new Map(
    paths.sort().map((path) => {
      state = (state + 0x6d2b79f5) | 0;
      let bits = Math.imul(state ^ (state >>> 15), 1 | state);
      bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
      return [path, (bits ^ (bits >>> 14)) >>> 0];
    }),
  );
  return paths.sort((a, b) => keys.get(a)! - keys.get(b)!);
}

const terminal = Deno.stdout.isTerminal();
/** Writes a line above the line of progress. */
function say(line: string): void {
  console.log(terminal ? `\r\x1b[K${line}` : line);
}

const files = ordered(wantedFiles()), total = files.length;
const running = new Set<TestFile>(), outcomes: Outcome[] = [];
const sum = (key: keyof Counts) => outcomes.reduce((count, outcome) => count + outcome[key], 0);
const seconds = (time: number) => `${time.toFixed(time < 10 ? 1 : 0)} s`;

function progress(): string {
  const slowest = [...running].sort((a, b) => a.startedMs - b.startedMs).slice(0, 2);
  const times = slowest.map((file) => `${file.path} ${seconds(file.seconds)}`);
  return [`${outcomes.length}/${total} files, ${sum("failed")} failed`, ...times].join("; ");
}

let shownMs = performance.now(), shownFiles = 0;
function showProgress(): void {
  if (terminal) {
    const { columns } = Deno.consoleSize();
    Deno.stdout.writeSync(new TextEncoder().encode(`\r\x1b[K${progress().slice(0, columns - 1)}`));
    return;
  }
  const nowMs = performance.now();
  if (nowMs - shownMs < 1000 * PROGRESS_INTERVAL_S && outcomes.length - shownFiles < total / 20) return;
  console.log(progress());
  [shownMs, shownFiles] = [nowMs, outcomes.length];
}

function summarise(): void {
  const failed = outcomes.filter((outcome) => outcome.failed > 0);
  if (failed.length > 0) say("\nFAILURES");
  for (const { path, failures, text } of failed) {
    say(
      `\n${path}\n${
        [...failures, ...text === "" ? [] : ["", ...text.split("\n")]].map((line) => `  ${line}`.trimEnd()).join("\n")
      }`,
    );
  }
  const skipped = new Map<string, string[]>();
  for (const { path, ignored, needs } of outcomes) {
    const unexplained = Array(Math.max(0, ignored - needs.length)).fill("no reason given");
    // A filter leaves out tests that declare a need.
    const declared = asked.filter === undefined ? needs : needs.slice(0, ignored);
    for (const need of [...declared, ...unexplained]) {
      skipped.set(need, [...skipped.get(need) ?? [], path]);
    }
  }
  if (skipped.size > 0) say("\nSkipped tests and parts of tests, and the missing program or setting that they need");
  for (const [need, paths] of [...skipped].sort()) {
    say(`${String(paths.length).padStart(5)}  ${need}: ${[...new Set(paths)].join(", ")}`);
  }
  const left = outcomes.filter((outcome) => outcome.left.length > 0);
  if (left.length > 0) say("\nPrograms that files left running, which were ended");
  for (const { path, left: commands } of left) say(`       ${path}: ${commands.join("; ")}`);
  const slow = outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, listed);
  say("\nSlowest files: time, processor time");
  const shownCpu = (cpuS: number | null) => cpuS === null ? "" : `${cpuS.toFixed(1)} s`;
  for (const { path, seconds: time, cpuS } of slow) {
    say(`${seconds(time).padStart(7)}${shownCpu(cpuS).padStart(10)}  ${path}`);
  }
  say(`\n${sum("passed")} passed, ${sum("failed")} failed, ${sum("ignored")} skipped`);
}

let stoppedBy: Deno.Signal | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    stoppedBy = signal;
    files.length = 0;
    for (const file of running) file.kill();
  });
}

say(
  `${total} test files, ${atATime} at a time${asked.shuffle === undefined ? "" : `, --shuffle=${asked.shuffle}`}`,
);
// Packages that are not in the cache come once, not in several processes at a time. A module that does not load fails its
// own file, with the reason.
await new Deno.Command(Deno.execPath(), {
  args: [
    "cache",
    "--frozen",
    "--no-check",
    "--config",
    join(ROOT_PATH, "deno.json"),
    ...files.map((file) => resolve(ROOT_PATH, file)),
  ],
  stdout: "null",
  stderr: "null",
}).output();

countedCpuS = childrenCpuS();
const timer = setInterval(showProgress, terminal ? 500 : 1000);
const ends = new Set<Promise<void>>();
while (files.length > 0 || ends.size > 0) {
  while (files.length > 0 && atATime.mayStart(running.size)) {
    const file = new TestFile(files.shift()!);
    running.add(file);
    const end = file.run().then((outcome) => {
      outcomes.push(outcome);
      running.delete(file);
      ends.delete(end);
    });
    ends.add(end);
  }
  const tick = new AbortController();
  await Promise.race([...ends, delay(1000, null, { signal: tick.signal }).catch(() => {})]);
  tick.abort();
}
clearInterval(timer);
say(progress());
if (stoppedBy !== null) say(`\nStopped by ${stoppedBy}: ${total - outcomes.length} files did not run`);
summarise();
if (asked.record) await record();
if (asked.table !== undefined) {
  const rows = outcomes.toSorted((a, b) => (b.cpuS ?? 0) - (a.cpuS ?? 0))
    .map(({ path, seconds, cpuS }) => [seconds.toFixed(1), cpuS?.toFixed(1) ?? "", path].join("\t"));
  await Deno.writeTextFile(asked.table, `${rows.join("\n")}\n`);
}
Deno.exit(stoppedBy !== null ? 130 : sum("failed") > 0 ? 1 : 0);

async function record(): Promise<void> {
  const times: Record<string, number> = { ...durations };
  for (const { path, seconds } of outcomes) times[path] = Math.round(seconds);
  const kept = Object.entries(times)
    .filter(([path, time]) => time >= RECORDED_S && statSync(join(ROOT_PATH, path), { throwIfNoEntry: false }))
    .sort(([a, timeA], [b, timeB]) => timeB - timeA || (a < b ? -1 : 1));
  const text = JSON.stringify(Object.fromEntries(kept), null, 2);
  await Deno.writeTextFile(join(ROOT_PATH, "tests/durations.json"), `${text}\n`);
}

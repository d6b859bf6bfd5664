/**
 * Runs test files and always ends. Files of folders with many short ones share a process, in which modules are loaded once; a file with the
 * comment "// Process of its own: reason" does not, and `--alone` gives each file its own. Every test is counted for its file.
 *
 *     deno task test [paths or parts of paths] [options]
 *
 *     --filter TEXT      only tests whose names contain this text
 *     --alone            each file in a process of its own
 *     --jobs N           processes at a time (DENO_JOBS); by default one a processor, and more while processors are idle
 *     --shuffle[=SEED]   files and tests in random order; the seed is printed
 *     --times N          length of the list of slow files, 5 by default
 *     --verbose          all output as it comes
 *     --stall S          seconds without progress and without work after which a process is ended, 180 by default
 *     --limit S          seconds after which a process is ended in any case, 2700 by default
 *     --record           writes the times to tests/durations.json, by which the longest files start first
 *     --table FILE       writes seconds, processor seconds and path of every file, tab-separated
 *
 * A process that is ended is asked for its state first, by SIGUSR2; its test counts as failed and the other files go on, each
 * in a process of its own where they shared that one. The last line is "N passed, N failed, N skipped".
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import durations from "./durations.json" with { type: "json" };
import { FilesAtATime } from "./jobs.ts";
import { ROOT_PATH } from "./support/paths.ts";
import { type FileOutput, GROUP_VARIABLE, GroupOutput, type GroupRequest } from "./support/group_output.ts";
import { childrenCpuS, commandOf, ProcessTree, send } from "./support/process_tree.ts";
import { shuffled } from "./support/shuffle.ts";
import { Stall } from "./support/stall.ts";
import type { Counts } from "./support/test_output.ts";

/** Time for a file to tell its state before it is ended, and for the programs of a file that has ended to follow it. */
const GRACE_S = 8;
const PROGRESS_INTERVAL_S = 30;
/** Files that take less are not worth an entry in the list of durations. */
const RECORDED_S = 5;
/** Time of a file without an entry. */
const SHORT_S = 2;
/** Limits of a group: its processes and what its files leave in memory, and its time, so that none runs alone at the end. */
const GROUP_FILES = 40;
const GROUP_S = 120;
/** Folders of many files that are short beside the loading of their modules. */
const GROUP_FOLDERS = ["adapters", "benchmarks", "e2e", "golden", "lib", "ops", "recipes", "ui"].map((name) =>
  `tests/${name}`
);
const GROUP_MODULE = fileURLToPath(new URL("./support/test_group.ts", import.meta.url));

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
        alone: { type: "boolean", default: false },
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

/** A process of tests: of one file, or of several. */
class TestProcess {
  readonly output: GroupOutput;
  readonly startedMs = performance.now();
  readonly #child: Deno.ChildProcess;
  readonly #tree: ProcessTree;
  /** Programs that live at the end of each file. */
  readonly #alive = new Map<FileOutput, number[]>();
  #progress = 0;

  constructor(readonly paths: string[]) {
    this.output = new GroupOutput(paths);
    const mark = { SVC_TEST_FILE: `${Deno.pid}:${paths[0]}` };
    // What the user of this machine trusts must not decide a test.
    const trust = { SVC_TRUST: join(ROOT_PATH, "tests", "no_trust.json") };
    const isGroup = paths.length > 1;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "-A",
        "--frozen",
        "--no-check",
        "--config",
        join(ROOT_PATH, "deno.json"),
        ...isGroup ? [GROUP_MODULE] : [...flags(), resolve(ROOT_PATH, paths[0])],
      ],
      env: { ...trust, ...mark, ...isGroup && { [GROUP_VARIABLE]: JSON.stringify(groupRequest(paths)) } },
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

  /** Files that did not run to their end because of another one are left, to run again. */
  async run(): Promise<{ outcomes: Outcome[]; left: string[] }> {
    const reading = [this.#child.stdout, this.#child.stderr].map((stream) => this.#read(stream));
    const ended = new AbortController();
    const watching = this.#watch(ended.signal);
    const status = await this.#child.status;
    const { seconds } = this, cpuS = endedCpuS();
    ended.abort();
    const stopped = await watching;
    const programs = await this.#endProgramsLeft();
    await Promise.all(reading);
    this.output.end();
    const { files, current } = this.output;
    if (files.length === 1) {
      return { outcomes: [this.#outcome(current, { ...status, stopped, seconds, cpuS, programs })], left: [] };
    }
    // What belongs to no file, as the start of the process, is shared out. One that did not end has what is left.
    const ran = files.filter((file) => file.ended || file === current);
    const rest = (whole: number, part: (file: FileOutput) => number) =>
      Math.max(0, ran.reduce((left, file) => left - part(file), whole)) / (current.ended ? ran.length : 1);
    const restOf = (file: FileOutput) => current.ended || file === current ? 1 : 0;
    const restS = rest(seconds, (file) => file.seconds);
    const restCpuS = cpuS === null ? null : rest(cpuS, (file) => file.cpuS ?? 0);
    const outcomes = ran.map((file) =>
      this.#outcome(file, {
        ...status,
        stopped: file === current ? stopped : null,
        seconds: file.seconds + restS * restOf(file),
        cpuS: restCpuS === null || file.cpuS === null ? null : file.cpuS + restCpuS * restOf(file),
        programs: programs.filter(({ pid }) => file === files.find((one) => this.#alive.get(one)?.includes(pid))),
      })
    );
    return { outcomes, left: files.filter((file) => !ran.includes(file)).map(({ path }) => path) };
  }

  #outcome(
    file: FileOutput,
    { code, signal, stopped, seconds, cpuS, programs }: Deno.CommandStatus & {
      stopped: string | null;
      seconds: number;
      cpuS: number | null;
      programs: { command: string }[];
    },
  ): Outcome {
    const { closing, seen, failedTests, announced, failureText, needs, path } = file;
    const counts = stopped === null && closing !== null ? closing : seen;
    const failures = [...failedTests];
    const named = failures.length;
    const { paths, output } = this, isGroup = paths.length > 1;
    const open = (announced ?? 0) - seen.passed - seen.failed - seen.ignored;
    const early = `the process ended with ${signal ?? `code ${code}`} before its tests had`;
    if (stopped !== null) failures.push(stopped);
    else if (isGroup && announced === null || output.closing === null && file === output.current) failures.push(early);
    else if (isGroup ? output.crashed && file === output.current : closing!.failed > failures.length) {
      failures.push("an error outside of its tests");
    } else if (isGroup && (open > 0 || !file.ended)) failures.push(`${open} of ${announced} tests did not run`);
    else if (code !== 0 && output.files.every((one) => one.failedTests.length === 0) && file === output.current) {
      failures.push(`the process ended with code ${code}`);
    }
    for (const failure of failures.slice(named)) say(`FAILED ${path}: ${failure}`);
    const failed = Math.max(counts.failed, failures.length);
    if (stopped !== null && open > 1) failures.push(`${open - 1} tests after it did not run`);
    const before = paths.slice(0, paths.indexOf(path));
    if (failed > 0 && before.length > 0) {
      failures.push(`(ran in one process after ${before.join(", ")}; --alone runs it without them)`);
    }
    return {
      ...counts,
      failed,
      path,
      seconds,
      cpuS,
      failures,
      text: failed > 0 ? failureText : "",
      needs,
      left: programs.map(({ command }) => command),
    };
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.#progress++;
      const { files } = this.output;
      const before = files.map(({ failedTests, ended }) => ({ failed: failedTests.length, ended }));
      for (const { file, line } of this.output.push(text)) if (asked.verbose) say(`${file.path} | ${line}`);
      for (const [index, file] of files.entries()) {
        for (const name of file.failedTests.slice(before[index].failed)) say(`FAILED ${file.path}: ${name}`);
        if (file.ended && !before[index].ended) this.#alive.set(file, this.#tree.alive());
      }
    }
  }

  /** Ends the process when it stalls; returns the reason then, and null when it ended by itself. */
  async #watch(ended: AbortSignal): Promise<string | null> {
    const stall = new Stall(stallS);
    for (let lastMs = performance.now();;) {
      await delay(1000 * stall.intervalS, null, { signal: ended }).catch(() => {});
      if (ended.aborted) return null;
      const nowMs = performance.now();
      const stalled = stall.sample((nowMs - lastMs) / 1000, this.#tree.load(), this.#progress);
      lastMs = nowMs;
      if (!stalled && this.seconds < limitS) continue;
      const subject = this.paths.length > 1 ? "the files of its process" : "the file";
      const why = stalled ? `no progress and no work for ${stallS} s` : `${subject} took more than ${limitS} s`;
      this.output.end();
      const { running, complete, path } = this.output.current;
      const reason = complete
        ? `the tests ended, but the process did not: ${why}`
        : `stopped in "${running ?? "no test: it loads, or runs a hook"}": ${why}`;
      say(`${path} is ended: ${reason}`);
      send(this.#child.pid, "SIGUSR2");
      await delay(1000 * Math.min(GRACE_S, stallS), null, { signal: ended }).catch(() => {});
      await this.#tree.kill();
      return reason;
    }
  }

  async #endProgramsLeft(): Promise<{ pid: number; command: string }[]> {
    const untilMs = performance.now() + 1000 * GRACE_S;
    while (this.#tree.alive().length > 0 && performance.now() < untilMs) await delay(200);
    const left = this.#tree.alive().map((pid) => ({ pid, command: commandOf(pid) }));
    await this.#tree.kill();
    return left;
  }
}

function groupRequest(paths: string[]): GroupRequest {
  const files = paths.map((path) => ({ path, url: pathToFileURL(resolve(ROOT_PATH, path)).href }));
  return { files, filter: asked.filter, seed: asked.shuffle === undefined ? undefined : Number(asked.shuffle) };
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

const times: Record<string, number> = durations;
const timeOf = (paths: string[]) => paths.reduce((sum, path) => sum + (times[path] ?? SHORT_S), 0);

/** Files of one folder with like needs, which may share a process; null for a file that may not. */
function kindOf(path: string): string | null {
  const text = readFileSync(resolve(ROOT_PATH, path), "utf8");
  if (/^\/\/ Process of its own: ./m.test(text)) return null;
  // A browser that waits for the next test works meanwhile, which tests that count their operations do not allow.
  const folder = isAbsolute(path) ? dirname(path) : path.split("/").slice(0, 2).join("/");
  if (!isAbsolute(path) && !GROUP_FOLDERS.includes(folder)) return null;
  return `${folder}${/\bbrowserTest\(/.test(text) ? " in a browser" : ""}`;
}

/** Processes and their files, longest first, or shuffled by the seed. */
function processes(paths: string[]): string[][] {
  const sorted = asked.shuffle === undefined ? paths.sort() : shuffled(paths.sort(), Number(asked.shuffle));
  if (asked.alone) return ordered(sorted.map((path) => [path]));
  const limit = Math.min(GROUP_S, timeOf(paths) / Number(asked.jobs ?? navigator.hardwareConcurrency));
  const groups: string[][] = [], open = new Map<string, string[]>();
  for (const path of sorted) {
    const kind = kindOf(path), group = kind === null ? undefined : open.get(kind);
    if (group !== undefined && group.length < GROUP_FILES && timeOf([...group, path]) <= limit) group.push(path);
    else {
      groups.push([path]);
      if (kind !== null) open.set(kind, groups.at(-1)!);
    }
  }
  return ordered(groups);
}

function ordered(groups: string[][]): string[][] {
  return asked.shuffle === undefined ? groups.sort((a, b) => timeOf(b) - timeOf(a)) : groups;
}

const terminal = Deno.stdout.isTerminal();
/** Writes a line above the line of progress. */
function say(line: string): void {
  console.log(terminal ? `\r\x1b[K${line}` : line);
}

const files = wantedFiles(), total = files.length;
const waiting = processes(files);
const running = new Set<TestProcess>(), outcomes: Outcome[] = [];
const sum = (key: keyof Counts) => outcomes.reduce((count, outcome) => count + outcome[key], 0);
const seconds = (time: number) => `${time.toFixed(time < 10 ? 1 : 0)} s`;

function progress(): string {
  const slowest = [...running].sort((a, b) => a.startedMs - b.startedMs).slice(0, 2);
  const times = slowest.map((one) => `${one.output.current.path} ${seconds(one.seconds)}`);
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
    waiting.length = 0;
    for (const one of running) one.kill();
  });
}

say(
  `${total} test files in ${waiting.length} processes, ${atATime} at a time${
    asked.shuffle === undefined ? "" : `, --shuffle=${asked.shuffle}`
  }`,
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
while (waiting.length > 0 || ends.size > 0) {
  while (waiting.length > 0 && atATime.mayStart(running.size)) {
    const one = new TestProcess(waiting.shift()!);
    running.add(one);
    const end = one.run().then(({ outcomes: ended, left }) => {
      outcomes.push(...ended);
      running.delete(one);
      ends.delete(end);
      if (stoppedBy === null) waiting.unshift(...left.map((path) => [path]));
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
    .map(({ path, seconds, cpuS }) => [seconds.toFixed(1), cpuS?.toFixed(3) ?? "", path].join("\t"));
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

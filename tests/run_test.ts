import assert from "node:assert/strict";
import { join } from "node:path";
import { exists } from "../lib/artifact/path_kind.ts";
import { FilesAtATime } from "./jobs.ts";
import { ROOT_PATH } from "./support/paths.ts";
import { ProcessTree } from "./support/process_tree.ts";
import { Stall } from "./support/stall.ts";
import { until } from "./support/until.ts";
import { temporaryFolder } from "./support/temporary.ts";

const NEEDS = new URL("./support/needs.ts", import.meta.url);
/** A file of tests for each way to end, or not. */
const FILES = {
  passes: `
    Deno.test("good", () => {});
    Deno.test("writes", () => console.log("noise of a test that passes"));`,
  fails: `
    Deno.test("good", () => {});
    Deno.test("bad", () => { console.log("captured"); throw new Error("the reason"); });`,
  does_not_load: `throw new Error("at the top");`,
  exits_at_load: `Deno.exit(0);`,
  hangs: `
    Deno.test("first", () => {});
    Deno.test("holds", async () => {
      Deno.addSignalListener("SIGUSR2", () => console.log("open requests: 1"));
      const child = new Deno.Command("sh", { args: ["-c", "sleep 7000 & sleep 7000"], stdout: "null" }).spawn();
      await Deno.writeTextFile(new URL("./new", import.meta.url), String(child.pid));
      await Deno.rename(new URL("./new", import.meta.url), new URL("./pid", import.meta.url));
      await child.status;
    });
    Deno.test("never reached", () => {});`,
  does_not_end: `
    Deno.test("good", () => {});
    Deno.test.afterAll(() => new Promise((done) => setTimeout(done, 1e9)));`,
  leaves_a_program: `
    Deno.test({ name: "good", sanitizeResources: false, fn() {
      new Deno.Command("sleep", { args: ["7001"], stdin: "null", stdout: "null", stderr: "null" }).spawn().unref();
    } });`,
  skips: `
    import { needs } from ${JSON.stringify(NEEDS)};
    Deno.test({ name: "one", ...needs("a printer", null), fn() {} });
    Deno.test({ name: "two", ...needs("a printer", undefined), fn() {} });
    Deno.test({ name: "runs", ...needs("paper", "/paper"), fn() {} });
    Deno.test({ name: "three", ignore: true, fn() {} });`,
};

interface Ran {
  code: number;
  output: string;
}

async function withFiles(names: (keyof typeof FILES)[], body: (folder: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder("svc-runner-");
  for (const name of names) await Deno.writeTextFile(join(folder, `${name}_test.ts`), FILES[name]);
  await body(folder);
}

function startRunner(args: string[], cwd?: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--frozen", join(ROOT_PATH, "tests/run.ts"), ...args],
    cwd,
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

async function run(args: string[], cwd?: string): Promise<Ran> {
  const { code, stdout } = await startRunner(args, cwd).output();
  return { code, output: new TextDecoder().decode(stdout) };
}

const lastLine = (output: string) => output.trimEnd().split("\n").at(-1);
const lives = (pid: string) => new ProcessTree(Number(pid), "SVC_NO_MARK=1").alive().length > 0;

Deno.test("the runner counts every kind of end, gives the reasons last, and ends what does not end by itself", async () => {
  const names = Object.keys(FILES) as (keyof typeof FILES)[];
  await withFiles(names, async (folder) => {
    const { code, output } = await run([folder, "--alone", "--jobs", "3", "--stall", "5"]);
    assert.equal(code, 1, output);
    assert.equal(lastLine(output), "7 passed, 5 failed, 3 skipped", output);
    const [before, failures] = output.split("\nFAILURES\n");
    for (const line of [`FAILED ${join(folder, "fails_test.ts")}: bad`, `8/8 files, 5 failed`]) {
      assert.ok(before.includes(line), `${line} is not in ${before}`);
    }
    const blocks = new Map(
      failures.split(`\n${folder}/`).slice(1).map((block) => [block.slice(0, block.indexOf("_test.ts")), block]),
    );
    assert.deepEqual([...blocks.keys()].sort(), ["does_not_end", "does_not_load", "exits_at_load", "fails", "hangs"]);
    assert.match(blocks.get("fails")!, /\n {2}bad\n[^]*captured[^]*Error: the reason/);
    assert.match(blocks.get("exits_at_load")!, /the process ended with code 0 before its tests had/);
    assert.match(blocks.get("does_not_load")!, /an error outside of its tests[^]*at the top/);
    assert.match(
      blocks.get("hangs")!,
      /stopped in "holds": no progress and no work for 5 s\n {2}1 tests after it did not run\n[^]*open requests: 1/,
    );
    assert.match(blocks.get("does_not_end")!, /the tests ended, but the process did not: no progress/);
    assert.ok(!output.includes("noise of a test that passes"));
    assert.match(output, / 2 {2}a printer: \S*skips_test\.ts\n/);
    assert.match(output, / 1 {2}no reason given: \S*skips_test\.ts\n/);
    assert.match(output, /which were ended\n.*leaves_a_program_test\.ts: \S*sleep 7001\n/);
    assert.ok(!lives(await Deno.readTextFile(join(folder, "pid"))), "the program of the test that holds lives");
  });
});

/** A file between two others in one process: what it does, and how its end is reported. */
const GROUPED: Record<string, { text: string; failures: string[]; reason: RegExp; passed?: number }> = {
  throws_at_load: {
    text: `Deno.test("lost", () => {}); throw new Error("at the top");`,
    failures: ["[load]"],
    reason: /Error: at the top/,
  },
  does_not_parse: { text: `Deno.test("lost", () => {`, failures: ["[load]"], reason: /SyntaxError/ },
  lacks_a_module: { text: `import "./no_such.ts";`, failures: ["[load]"], reason: /Module not found/ },
  exits_at_load: { text: `Deno.exit(0);`, failures: ["[load]"], reason: /ends its process while it loads/ },
  pends_at_load: {
    text: `await new Promise(() => {}); Deno.test("lost", () => {});`,
    failures: ["the process ended with code 1 before its tests had"],
    reason: /Top-level await promise never resolved/,
  },
  sets_at_load: {
    text: `Deno.env.set("SVC_X", "1"); Deno.test("lost", () => {});`,
    failures: ["[load]"],
    reason: /changes the variable SVC_X for files that share its process/,
  },
  fails_before: {
    text: `Deno.test.beforeAll(() => { throw new Error("of a hook"); }); Deno.test("good", () => {});`,
    failures: ["[before all tests]"],
    reason: /Error: of a hook/,
    passed: 1,
  },
  fails_after: {
    text: `Deno.test.afterAll(() => { throw new Error("of a hook"); }); Deno.test("good", () => {});`,
    failures: ["[after all tests]"],
    reason: /Error: of a hook/,
    passed: 1,
  },
  exits: {
    text: `Deno.test({ name: "exits", sanitizeExit: false, fn: () => Deno.exit(0) }); Deno.test("lost", () => {});`,
    failures: ["the process ended with code 0 before its tests had"],
    reason: /called Deno\.exit\(0\)/,
  },
  is_killed: {
    // Deno writes the names of tests in a thread of its own.
    text: `Deno.test("is killed", () => new Promise(() => setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), 1000)));`,
    failures: ["the process ended with SIGKILL before its tests had"],
    reason: /is killed \.\.\./,
  },
  rejects: {
    text: `Deno.test("rejects", () => void Promise.reject(new Error("not handled"))); Deno.test("lost", () => {});`,
    failures: ["rejects", "lost", "[after all tests]", "an error outside of its tests"],
    reason: /Error: not handled/,
  },
  pends: {
    text: `Deno.test("pends", () => new Promise(() => {})); Deno.test("good", () => {});`,
    failures: ["pends"],
    reason: /Promise resolution is still pending/,
    passed: 1,
  },
  holds: {
    text: `Deno.test("holds", () => new Promise((done) => setTimeout(done, 1e9))); Deno.test("lost", () => {});`,
    failures: ['stopped in "holds": no progress and no work for 5 s', "1 tests after it did not run"],
    reason: /holds \.\.\./,
  },
  chooses: {
    text: `Deno.test.only("only", () => {}); Deno.test("lost", () => {});`,
    failures: ["1 of 2 tests did not run"],
    reason: /"only" option/,
    passed: 1,
  },
  fails_in_a_step: {
    text: `Deno.test("outer", (t) => t.step("inner", () => { throw new Error("of a step"); }));`,
    failures: ["outer"],
    reason: /Error: of a step/,
  },
  changes_the_clock: {
    text: `Deno.test("clock", () => { Date.now = () => 0; });`,
    failures: ["[after all tests]"],
    reason: /changes Date\.now for files/,
    passed: 1,
  },
};

Deno.test("in a process of several files each end is named for its file, and the files beside it run", async () => {
  const root = temporaryFolder("svc-runner-");
  for (const [name, { text }] of Object.entries(GROUPED)) {
    const folder = join(root, name);
    await Deno.mkdir(folder);
    await Deno.writeTextFile(join(folder, "a_test.ts"), `Deno.test("before", () => {});`);
    await Deno.writeTextFile(join(folder, "b_test.ts"), text);
    await Deno.writeTextFile(
      join(folder, "c_test.ts"),
      `import { needs } from ${JSON.stringify(NEEDS)};
        Deno.test("behind", () => new Promise((done) => setTimeout(done, 20)));
        Deno.test({ name: "skipped", ...needs("a printer", null), fn() {} });`,
    );
  }
  const table = join(root, "times.tsv"), kinds = Object.keys(GROUPED);
  const { code, output } = await run([root, "--jobs", "3", "--stall", "5", "--table", table]);
  assert.equal(code, 1, output);
  assert.match(output, new RegExp(`^${3 * kinds.length} test files in ${kinds.length} processes`));
  const blocks = new Map(
    output.split("\nFAILURES\n")[1].split(`\n${root}/`).slice(1).map((block) => [
      block.slice(0, block.indexOf("\n")),
      block,
    ]),
  );
  assert.deepEqual([...blocks.keys()].sort(), kinds.map((name) => `${name}/b_test.ts`).sort());
  for (const [name, { failures, reason }] of Object.entries(GROUPED)) {
    const block = blocks.get(`${name}/b_test.ts`)!;
    const named = block.split("\n  (ran in one process after ")[0].split("\n").slice(1).map((line) => line.trim());
    assert.deepEqual(named, failures, block);
    assert.match(block, reason);
  }
  const values = Object.values(GROUPED);
  const passed = 2 * kinds.length + values.reduce((sum, { passed = 0 }) => sum + passed, 0);
  const failed = values.reduce(
    (sum, { failures }) => sum + failures.filter((line) => !/ after it /.test(line)).length,
    0,
  );
  assert.equal(lastLine(output), `${passed} passed, ${failed} failed, ${kinds.length} skipped`, output);
  assert.equal((await Deno.readTextFile(table)).trimEnd().split("\n").length, 3 * kinds.length);
});

Deno.test("files that share a process keep their order, hooks, filter and seed; one that asks for it has its own", async () => {
  const folder = temporaryFolder("svc-runner-");
  const file = (name: string) => `
      const log = (line: string) => console.log("said", ${JSON.stringify(name)}, line, Deno.pid);
      Deno.test.beforeAll(() => log("opens"));
      Deno.test.afterAll(() => log("closes"));
      for (const test of ["one", "two", "three"]) Deno.test(test, () => log(test));`;
  for (const name of ["a", "b"]) await Deno.writeTextFile(join(folder, `${name}_test.ts`), file(name));
  await Deno.writeTextFile(join(folder, "c_test.ts"), `// Process of its own: it changes everything.\n${file("c")}`);
  const said = async (...args: string[]) => {
    const { code, output } = await run([folder, "--jobs", "1", "--verbose", ...args]);
    assert.equal(code, 0, output);
    return output.split("\n").flatMap((line) => /(\S+)_test\.ts \| said (.*) (\d+)$/.exec(line)?.slice(2) ?? []);
  };
  const plain = await said(), lines = plain.filter((_, index) => index % 2 === 0);
  const pids = new Map(lines.map((line, index) => [line.slice(0, 1), plain[2 * index + 1]]));
  assert.equal(pids.get("a"), pids.get("b"));
  assert.notEqual(pids.get("a"), pids.get("c"));
  const all = ["opens", "one", "two", "three", "closes"];
  assert.deepEqual(lines, ["a", "b", "c"].flatMap((name) => all.map((line) => `${name} ${line}`)));
  const filtered = await said("--filter", "/^t/");
  assert.deepEqual(
    filtered.filter((line) => /^[ab] [^oc]/.test(line)),
    ["a two", "a three", "b two", "b three"],
  );
  const orders = await Promise.all(
    ["1", "2", "3", "1"].map(async (seed) =>
      (await said(`--shuffle=${seed}`)).filter((_, index) => index % 2 === 0).join()
    ),
  );
  assert.equal(orders[0], orders[3]);
  assert.ok(new Set(orders).size > 1, "the seed changes the order");
});

Deno.test("all files pass, from any folder: exit code 0; a filter, a seed and all output on request", async () => {
  await withFiles(["passes", "skips"], async (folder) => {
    const paths = [folder, "tests/lib/contract/codes_"];
    const table = join(folder, "times.tsv");
    const asked = ["--shuffle=7", "--filter", "writes", "--verbose", "--table", table];
    const { code, output } = await run([...paths, ...asked], folder);
    assert.equal(code, 0, output);
    assert.equal(lastLine(output), "1 passed, 0 failed, 0 skipped");
    assert.match(output, /^3 test files.*--shuffle=7\n/);
    assert.match(output, /passes_test\.ts \| noise of a test that passes/);
    assert.doesNotMatch(output, /Skipped tests/);
    const rows = (await Deno.readTextFile(table)).trimEnd().split("\n").map((row) => row.split("\t"));
    assert.deepEqual(rows.map(([, , path]) => path.split("/").at(-1)).sort(), [
      "codes_test.ts",
      "passes_test.ts",
      "skips_test.ts",
    ]);
    if (Deno.build.os === "linux") assert.ok(rows.every(([, cpuS]) => Number(cpuS) > 0), "every file uses a processor");
    for (const wrong of [["no/such/test"], ["--jobs", "0"], ["--jbos"]]) assert.equal((await run(wrong)).code, 2);
  });
});

Deno.test("a signal ends the runner and what its files have started", async () => {
  await withFiles(["hangs"], async (folder) => {
    const runner = startRunner([folder]);
    const output = new Response(runner.stdout).text();
    const pidFile = join(folder, "pid");
    await until("the test that holds starts its program", () => exists(pidFile));
    assert.ok(lives(await Deno.readTextFile(pidFile)));
    runner.kill("SIGTERM");
    assert.equal((await runner.status).code, 130);
    assert.match(await output, /Stopped by SIGTERM: 0 files did not run[^]*\n1 passed, 1 failed, 0 skipped\n$/);
    assert.ok(!lives(await Deno.readTextFile(pidFile)), "the program of the test lives");
  });
});

Deno.test("a number of files at a time is kept; without one, each processor has a file, and idle ones more up to three each", () => {
  const cores = navigator.hardwareConcurrency, free = new FilesAtATime();
  for (const fixed of [1, cores + 2]) {
    const files = new FilesAtATime(fixed);
    assert.deepEqual([fixed - 1, fixed].map((running) => files.mayStart(running)), [true, false], `${fixed} at a time`);
  }
  assert.deepEqual([0, cores - 1, 3 * cores].map((running) => free.mayStart(running)), [true, true, false]);
  assert.equal(free.mayStart(cores), false, "the window in which idle processors are counted has only begun");
});

Deno.test("time alone is no stall: work, waiting for a processor or a disk, and progress are none", () => {
  const still = { cpuS: 3, wants: false };
  const stalls = (sample: (second: number) => [number, { cpuS: number; wants: boolean } | null, number]) => {
    const stall = new Stall(100);
    return Array.from({ length: 400 }, (_, second) => stall.sample(...sample(second))).indexOf(true);
  };
  assert.equal(stalls(() => [1, still, 0]), 100);
  assert.equal(
    stalls((second) => [1, { cpuS: 0.01 * second, wants: second % 10 === 0 }, 0]),
    100,
    "timers of idle programs",
  );
  assert.equal(stalls((second) => [1, still, Math.min(second, 50)]), 150, "the last progress counts");
  assert.equal(stalls((second) => [1, { cpuS: Math.min(second, 50), wants: false }, 0]), 146, "the last work counts");
  assert.equal(stalls((second) => [1, still, Math.floor(second / 90)]), -1, "progress");
  assert.equal(stalls((second) => [1, { cpuS: 0.1 * second, wants: false }, 0]), -1, "work");
  assert.equal(stalls((second) => [1, { cpuS: 3, wants: second % 3 === 0 }, 0]), -1, "waiting");
  assert.equal(
    stalls((second) => [second === 50 ? 1e6 : 1, still, 0]),
    91,
    "a machine that slept counts as two intervals",
  );
  assert.equal(stalls(() => [1, null, 0]), -1, "a system that does not tell");
});

/**
 * Every benchmark program runs, at a tiny size: the working program is under test, its times are not. Programs that take a second of
 * processor time even so run under `deno task soak whole`, but one of processes and one of sessions: what they start has tests of its
 * own, and their types are checked.
 */
import assert from "node:assert/strict";
// Its process of commands ends after the tests: a module that a test loads cannot define that.
import "./support/cli.ts";
import { FULL_SIZE } from "./support/reduced_sizes.ts";

Deno.env.set("SVC_BENCH_SIZE", "tiny");
const BENCHES = new URL("./bench/", import.meta.url);

const LONG = [
  ...[
    "adapter",
    "benchmark",
    "index",
    "native",
    "newcomer",
    "onnx",
    "overhead",
    "page",
    "plot",
    "python_adapter",
    "rows",
  ],
  ...["study", "tasks"],
].map((name) => `${name}_bench.ts`);

const programs = [...Deno.readDirSync(BENCHES)].map(({ name }) => name).filter((name) => name.endsWith("_bench.ts"));
for (const name of programs.filter((name) => FULL_SIZE || !LONG.includes(name))) {
  Deno.test(`${name} runs`, { sanitizeOps: false, sanitizeResources: false }, async () => {
    const lines: string[] = [];
    const { log, table } = console;
    Object.assign(console, {
      log: (line: string) => lines.push(line),
      table: (rows: unknown[]) => lines.push(...rows.map(String)),
    });
    try {
      await import(new URL(name, BENCHES).href);
    } finally {
      Object.assign(console, { log, table });
    }
    assert.ok(lines.length > 0, "it reports something");
  });
}

Deno.test("the programs that run in whole alone are there", () => {
  assert.deepEqual(LONG.filter((name) => !programs.includes(name)), []);
});

Deno.test("two reports are compared row by row", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-bench-" });
  try {
    const machine = { processor: "p", cores: 2, memory_gib: 8, system: "s", deno: "2" };
    const write = async (name: string, rows: [string, string][]) => {
      const path = `${folder}/${name}`;
      const told = rows.map(([what, value]) => ({ program: "kernels", what, value, note: "" }));
      await Deno.writeTextFile(path, JSON.stringify({ date: "2026-01-01", machine, rows: told }));
      return path;
    };
    const before = await write("a.json", [["map", "4.00 ms"], ["pack", "1.00 ms"], ["old", "1 /s"], ["size", "5 MiB"]]);
    const after = await write("b.json", [["map", "2.00 ms"], ["pack", "1.02 ms"], ["new", "1 /s"], ["size", "1 GiB"]]);
    const args = ["run", "-A", new URL("all.ts", BENCHES).href];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: [...args, "--compare", before, after] })
      .output();
    assert.deepEqual(new TextDecoder().decode(stdout).trim().split("\n"), [
      "kernels: map: 4.00 ms -> 2.00 ms, times 0.50",
      "kernels: new: new, 1 /s",
      "kernels: size: 5 MiB -> 1 GiB",
      "kernels: old: gone",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

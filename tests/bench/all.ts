/**
 * Runs every benchmark, each in a process of its own, one after the other, and closes with one table.
 *
 *     deno task bench [name …]              all, or the named ones
 *     deno task bench --json FILE [name …]  also writes the rows, the machine and the date
 *     deno task bench --page [name …]       also writes docs/reference/performance.md; with names, the sections that hold them
 *     deno task bench tasks                 whole tasks beside other programs, the rows that a user decides by
 *     deno task bench --only OFDM tasks     tasks with this text in their names
 *     deno task bench --compare A B         what changed between two such files
 *
 * Machines differ and are shared: only rows of one run, or of runs that took turns on one machine, can be compared.
 */
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import type { Row } from "./measure.ts";

interface Report {
  date: string;
  machine: { processor: string; cores: number; memory_gib: number; system: string; deno: string };
  rows: Row[];
}

const LEAST_CHANGE = 0.05;

/** One line a row: program, what, value, note. */
const lineOf = ({ program, what, value, note }: Row): string =>
  `${program.padEnd(10)} ${what.padEnd(56)} ${value.padStart(14)}  ${note}`;

async function run(wanted: readonly string[], only: string): Promise<{ report: Report; failed: string[] }> {
  const record = await Deno.makeTempFile({ prefix: "svc-bench-", suffix: ".jsonl" });
  const failed: string[] = [];
  try {
    for (const name of wanted) {
      console.log(`\n== ${name}`);
      const args = ["run", "-A", "--frozen", new URL(`${name}_bench.ts`, import.meta.url).href];
      const { success } = await new Deno.Command(Deno.execPath(), {
        args,
        env: { SVC_BENCH_RECORD: record, SVC_BENCH_ONLY: only },
      })
        .spawn().status;
      if (!success) failed.push(name);
    }
    const rows = (await Deno.readTextFile(record)).split("\n").filter(Boolean).map((line): Row => JSON.parse(line));
    const [{ model }] = cpus();
    const machine = {
      processor: model,
      cores: navigator.hardwareConcurrency,
      memory_gib: Math.round(totalmem() / 2 ** 30),
      system: Deno.build.target,
      deno: Deno.version.deno,
    };
    return { report: { date: new Date().toISOString().slice(0, 10), machine, rows }, failed };
  } finally {
    await Deno.remove(record);
  }
}

/** Rows of both files whose numbers have one unit and differ by more than 5 %, and rows of one file only. */
function comparison(before: Report, after: Report): string[] {
  const key = ({ program, what }: Row) => `${program}: ${what}`;
  const quantity = ({ value }: Row) => /^(-?[\d.]+)(?: (.*))?$/.exec(value);
  const earlier = new Map(before.rows.map((row) => [key(row), row]));
  const later = new Set(after.rows.map(key));
  const lines = after.rows.flatMap((row) => {
    const old = earlier.get(key(row));
    if (old === undefined) return [`${key(row)}: new, ${row.value}`];
    const [was, is] = [quantity(old), quantity(row)];
    if (was === null || is === null || was[2] !== is[2]) {
      return old.value === row.value ? [] : [`${key(row)}: ${old.value} -> ${row.value}`];
    }
    const ratio = Number(is[1]) / Number(was[1]);
    return Math.abs(ratio - 1) <= LEAST_CHANGE
      ? []
      : [`${key(row)}: ${old.value} -> ${row.value}, times ${ratio.toFixed(2)}`];
  });
  return [...lines, ...before.rows.filter((row) => !later.has(key(row))).map((row) => `${key(row)}: gone`)];
}

/** Programs of codes other than the 5G LDPC code, which have a section of their own. */
const CODES = ["polar", "table_ldpc", "trellis"];

const overGrids = ({ program, what }: Row): boolean => program === "tasks" && /OFDM/.test(what);

/** Sections of the page, each with its own date and machine. */
const SECTIONS = [
  {
    title: "Whole tasks",
    has: (row: Row) => row.program === "tasks" && !overGrids(row),
    about: [
      "Processor time of the whole command, start and evidence included: every array is hashed, and kept but in rows with `metrics only`.",
      "A ratio above 1 means that svc takes more than its peer. `deno task bench tasks` measures your processor.",
      "Rows of a point are parts that stay whatever the kernels do: the digests of its arrays and its normal values in NumPy's order. With",
      "the start, which the smallest run shows, and the decoder they are the least that a coded link can take.",
      "",
      "AFF3CT, OpenCV and Snakemake are not compared here: they are not installed everywhere.",
    ],
  },
  {
    title: "Whole tasks over OFDM grids",
    has: overGrids,
    about: [
      "As the tasks above, for links that run in blocks; `deno task bench --only OFDM tasks` measures your processor. The same link of a few",
      "bits shows the time of start and documents. Parts of a point stay whatever the kernels do: its files are written, read back and",
      "hashed, and its normal values are those of NumPy in NumPy's order, in binary64. Where start and files of all points together take",
      "longer than the whole task in NumPy, no kernel brings the ratio to 1 at this length.",
    ],
  },
  {
    title: "Growth",
    has: ({ program }: Row) => program === "growth",
    about: [
      "Processor time by what a project holds and what a recipe asks for, in a process whose threads have loaded. The value is the exponent",
      "between the two largest sizes: 0 is flat, 1 is linear. A recipe has at most 512 steps and a matrix 256 points; longer studies are",
      "rows of a pack. The main thread plans points and files their bundles while other threads work: a sweep keeps as many cores busy as",
      "its rows say. `deno task bench growth` measures your processor.",
    ],
  },
  {
    title: "Decoders of codes",
    has: ({ program }: Row) => CODES.includes(program),
    about: [
      "Decoders on one thread, without file or start. C / kernel is the time of the kernel over that of plain C by gcc -O2. Exact check",
      "nodes stand beside those of min-sum, block by block in turn, each with its best time of 40.",
      "`deno task bench polar table_ldpc trellis` measures your processor.",
    ],
  },
  {
    title: "The page in a browser",
    has: ({ program }: Row) => program === "page",
    about: [
      "The times of a first visit hold the start of nothing but the page: the server runs. `deno task bench page` measures yours.",
    ],
  },
  {
    title: "Kernels and parts",
    has: ({ program }: Row) => !["tasks", "page", "growth"].includes(program) && !CODES.includes(program),
    about: [
      "These rows are kernels and parts of the program alone, most of them on arrays that are there. They are not rates of tasks: a",
      "task also starts, checks, writes and hashes.",
    ],
  },
];

/** A section of the page. @param load of the machine at the start */
function section({ title, about }: typeof SECTIONS[number], rows: Row[], { date, machine }: Report, load: number) {
  const { processor, cores, memory_gib, system, deno } = machine, cell = (text: string) => text.replaceAll("|", "\\|");
  const busy = load > 0.5 * cores;
  return [
    `## ${title}`,
    "",
    ...about,
    "",
    `Measured on ${date} with Deno ${deno} on ${processor}, ${cores} cores, ${memory_gib} GiB, ${system}.`,
    `The load was ${load.toFixed(1)} at the start${
      busy ? ": other programs ran at the same time, so times are upper bounds" : ""
    }.`,
    "",
    "| Program | What | Value | Beside it |",
    "|---|---|---:|---|",
    ...rows.map(({ program, what, value, note }) => `| ${[program, what, value, note].map(cell).join(" | ")} |`),
    "",
  ].join("\n");
}

/** The page of measurements: sections without a new row stay as they are. @param before the page so far */
function page(report: Report, load: number, before: string): string {
  const parts = new Map(before.split(/^(?=## )/m).map((text) => [/^## (.*)\n/.exec(text)?.[1], text]));
  return [
    "# Performance",
    "",
    "<!-- Written by deno task bench --page. -->",
    "",
    "Programs that are compared ran in the same minutes: their ratios tell more than their times.",
    "`deno task bench` measures your machine; [Tune speed](../guides/tune_speed.md) tells what to do about it.",
    "",
    ...SECTIONS.map((one) => {
      const rows = report.rows.filter(one.has);
      return rows.length > 0 ? section(one, rows, report, load) : parts.get(one.title)?.trimEnd().concat("\n") ?? "";
    }),
  ].join("\n");
}

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    json: { type: "string" },
    page: { type: "boolean" },
    compare: { type: "boolean" },
    only: { type: "string", default: "" },
  },
});
if (values.compare) {
  if (positionals.length !== 2) {
    console.error("Cannot compare: name two files that --json has written");
    Deno.exit(2);
  }
  const [before, after] = positionals.map((path): Report => JSON.parse(Deno.readTextFileSync(path)));
  if (JSON.stringify(before.machine) !== JSON.stringify(after.machine)) {
    console.log(`The machines differ: ${JSON.stringify(before.machine)} and ${JSON.stringify(after.machine)}`);
  }
  const lines = comparison(before, after);
  console.log(lines.length > 0 ? lines.join("\n") : `No row changed by more than ${100 * LEAST_CHANGE} %`);
} else {
  const names = [...Deno.readDirSync(new URL("./", import.meta.url))]
    .flatMap(({ name }) => /^(\w+)_bench\.ts$/.exec(name)?.[1] ?? []).sort();
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`Cannot run the benchmark ${unknown.join(", ")}: the names are ${names.join(", ")}`);
    Deno.exit(2);
  }
  const load = Deno.loadavg()[0];
  const { report, failed } = await run(positionals.length > 0 ? positionals : names, values.only);
  console.log(`\n== all, ${report.date}, ${report.machine.processor}, ${report.machine.cores} cores`);
  for (const row of report.rows) console.log(lineOf(row));
  if (values.page && failed.length === 0) {
    const path = new URL("../../docs/reference/performance.md", import.meta.url);
    await Deno.writeTextFile(path, page(report, load, await Deno.readTextFile(path)));
  }
  if (values.json !== undefined) await Deno.writeTextFile(values.json, JSON.stringify(report, null, 1) + "\n");
  if (failed.length > 0) {
    console.error(`Failed: ${failed.join(", ")}`);
    Deno.exit(1);
  }
}

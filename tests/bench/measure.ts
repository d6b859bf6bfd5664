/** Medians, best times, rows of output and peer programs for the benchmarks. */

/** SVC_BENCH_SIZE=tiny: a benchmark does everything once at a small size, to show that it works. */
const TINY = Deno.env.get("SVC_BENCH_SIZE") === "tiny";

/** A size or a number of rounds, and its value in a tiny run. */
export const sized = (full: number, tiny: number): number => TINY ? tiny : full;

/** Median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Milliseconds of each of `runs` runs, after runs to warm up that do not count. */
export function timesOf(runs: number, body: () => unknown, warmUp = 1): number[] {
  for (let run = 0; run < sized(warmUp, 0); run++) body();
  return Array.from({ length: sized(runs, 1) }, () => {
    const started = performance.now();
    body();
    return performance.now() - started;
  });
}

/** Median time of a body in milliseconds over `runs` runs after one that does not count. */
export async function time(runs: number, body: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = sized(-1, 0); run < sized(runs, 1); run++) {
    const started = performance.now();
    await body();
    if (run >= 0) times.push(performance.now() - started);
  }
  return median(times);
}

/** A row of a benchmark as `all.ts` records it: what was measured, a number with its unit, and what it is compared with. */
export interface Row {
  program: string;
  what: string;
  value: string;
  note: string;
}

/** SVC_BENCH_RECORD names a file that takes every row as a line of JSON. */
const RECORD = Deno.env.get("SVC_BENCH_RECORD");

/** Prints one row: what, how long, and against what. */
export function row(what: string, value: string, note = ""): void {
  console.log(`${what.padEnd(52)} ${value.padStart(14)}  ${note}`);
  if (RECORD === undefined) return;
  const program = /(\w+)_bench\.ts$/.exec(Deno.mainModule)?.[1] ?? "";
  const line: Row = { program, what: what.trim(), value, note };
  Deno.writeTextFileSync(RECORD, JSON.stringify(line) + "\n", { append: true });
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

/** Runs a program and returns its standard output. @throws Error with its standard error when it fails */
export async function output(program: string, args: string[], cwd?: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/**
 * Compiles a C file of this folder with gcc -O3 and runs it.
 *
 * @param prepare writes files beside the program and returns its arguments
 * @returns the JSON that it prints, or the reason why there is none
 */
export async function plainC<T>(
  source: string,
  flags: readonly string[],
  prepare: (folder: string) => string[],
): Promise<T | string> {
  const folder = await Deno.makeTempDir({ prefix: "svc-bench-c-" });
  try {
    const args = prepare(folder);
    const file = new URL(source, import.meta.url).pathname;
    const compile = [`-O${sized(3, 0)}`, ...flags, `-I${folder}`, file, "-o", `${folder}/plain`, "-lm"];
    const built = await new Deno.Command("gcc", { args: compile }).output();
    if (!built.success) return new TextDecoder().decode(built.stderr);
    return JSON.parse(await output(`${folder}/plain`, args));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "gcc is not installed";
    throw error;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

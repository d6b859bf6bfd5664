/** What the benchmarks share: medians, ratios, whole processes, and peers that may be missing. */

/** Median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median time of a body in milliseconds over `runs` runs after one that does not count. */
export async function time(runs: number, body: () => unknown): Promise<number> {
  await body();
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    await body();
    times.push(performance.now() - started);
  }
  return median(times);
}

/** Prints one row: what, how long, and against what. */
export function row(what: string, value: string, note = ""): void {
  console.log(`${what.padEnd(52)} ${value.padStart(14)}  ${note}`);
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

/** Runs a program and returns its standard output. @throws Error with its standard error when it fails */
export async function output(program: string, args: string[], cwd?: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Runs a Python text; null with a remark when Python or NumPy is missing. */
export async function python(script: string): Promise<string | null> {
  try {
    return await output("python3", ["-c", script]);
  } catch (error) {
    console.log(`  no comparison with NumPy: ${error instanceof Error ? error.message.split("\n").pop() : error}`);
    return null;
  }
}

/**
 * A process that performs commands of the command line one after another: each request is a line of JSON on standard
 * input, each result a line on standard output. A command has its own working folder, environment and streams, as in a
 * process of its own; modules stay loaded. The argument is the URL of `lib/cli/main.ts` in an installed program, of which alone
 * modules are read then.
 */
import { createInterface } from "node:readline";
import { measureResources, type Resources } from "./resources.ts";

/** A command and its surroundings. */
export interface HostRequest {
  args: string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string;
}

export interface HostResult {
  code: number;
  stdout: string;
  stderr: string;
  /** Of a command in a process that performs several. */
  used?: Resources;
}

const [installed] = Deno.args, start = Deno.cwd();
const { main } = installed === undefined
  ? await import("../../lib/cli/main.ts")
  : await import(installed) as typeof import("../../lib/cli/main.ts");

/** An output stream that keeps the text. */
function kept() {
  const decoder = new TextDecoder();
  const stream = {
    text: "",
    isTerminal: () => false,
    writeSync(data: Uint8Array) {
      stream.text += decoder.decode(data, { stream: true });
      return data.length;
    },
  };
  return stream;
}

async function perform({ args, cwd, env, stdin }: HostRequest): Promise<HostResult> {
  const stdout = kept(), stderr = kept();
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    console[method] = (...values: unknown[]) => {
      stderr.text += values.map(String).join(" ") + "\n";
    };
  }
  const before = Object.keys(env).map((name) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
  Deno.chdir(cwd);
  const used = measureResources();
  try {
    const input = { readable: new Response(stdin).body!, isTerminal: () => false };
    const code = await main(args, { stdin: input, stdout, stderr });
    return { code, stdout: stdout.text, stderr: stderr.text, used: used() };
  } finally {
    Deno.chdir(start);
    for (const [name, value] of before) value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
  }
}

if (import.meta.main) {
  for await (const line of createInterface({ input: (await import("node:process")).stdin })) {
    const result = JSON.stringify(await perform(JSON.parse(line))) + "\n";
    for (let bytes = new TextEncoder().encode(result); bytes.length > 0;) {
      bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
    }
  }
  // As the program does at its end: threads that wait do not hold the process.
  Deno.exit();
}

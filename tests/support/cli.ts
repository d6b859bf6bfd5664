/** Runs the command line as a user does: its own working folder, environment and streams. */
import { join } from "node:path";
import type { HostRequest, HostResult } from "./cli_host.ts";
import { ROOT_PATH } from "./paths.ts";
import { atProcessEnd } from "./process_end.ts";

export interface CliResult extends HostResult {
  /** Standard output read as JSON, with integers and floats as plain numbers. */
  // deno-lint-ignore no-explicit-any -- tests look into documents of every shape
  json: any;
}

export interface CliOptions {
  cwd?: string;
  stdin?: string;
  env?: Record<string, string>;
}

export const CLI_ARGS = [
  "run",
  "-A",
  "--no-check",
  "--config",
  join(ROOT_PATH, "deno.json"),
  join(ROOT_PATH, "cli.ts"),
];

/** Runs a command in a process of its own: for signals, pipes, permissions, and modules that a command before has read. */
export async function svcProcess(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...CLI_ARGS, ...args],
    cwd: options.cwd ?? ROOT_PATH,
    env: { NO_COLOR: "1", ...options.env },
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  return resultOf({ code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) });
}

function resultOf(result: HostResult): CliResult {
  return {
    ...result,
    get json() {
      return JSON.parse(result.stdout);
    },
  };
}

/** The process that performs the commands of the tests, from their first one to the end of the last test. */
let host:
  | { requests: WritableStreamDefaultWriter<string>; results: AsyncIterator<string>; process: Deno.ChildProcess }
  | undefined;
let last: Promise<unknown> = Promise.resolve();

function startHost() {
  const process = new Deno.Command(Deno.execPath(), {
    args: [...CLI_ARGS.slice(0, -1), join(ROOT_PATH, "tests/support/cli_host.ts")],
    cwd: ROOT_PATH,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const encoder = new TextEncoderStream();
  encoder.readable.pipeTo(process.stdin).catch(() => {});
  return { requests: encoder.writable.getWriter(), results: lines(process.stdout), process };
}

// Its processor time counts for this file once it has ended.
atProcessEnd(async () => {
  if (host === undefined) return;
  const { requests, process } = host;
  await requests.close();
  // One that does not end by itself must not hold the file.
  const timer = setTimeout(() => process.kill("SIGKILL"), 20_000);
  await process.status;
  clearTimeout(timer);
});

async function* lines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let parts: string[] = [];
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const [first, ...rest] = text.split("\n");
    parts.push(first);
    for (const next of rest) {
      yield parts.join("");
      parts = [next];
    }
  }
}

/** Runs a command as a user does, with its own working folder, in a process that this file's commands share. */
export async function svc(
  args: string[],
  { cwd = ROOT_PATH, env = {}, stdin = "" }: CliOptions = {},
): Promise<CliResult> {
  const perform = async () => {
    const { requests, results } = host ??= startHost();
    const request: HostRequest = { args, cwd, env, stdin };
    await requests.write(JSON.stringify(request) + "\n");
    const { value, done } = await results.next();
    if (!done) return resultOf(JSON.parse(value));
    host = undefined;
    throw new Error(`svc ${args.join(" ")} has ended the process that ran it`);
  };
  const result = last.then(perform);
  last = result.catch(() => {});
  return await result;
}

/** Calls a body with a fresh folder that is removed afterwards. */
export function inFolder(body: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = await Deno.makeTempDir({ prefix: "svc-cli-" });
    try {
      await body(folder);
    } catch (error) {
      // Programs that a failed body left may still write there, and its error is the one to report.
      await Deno.remove(folder, { recursive: true }).catch(console.warn);
      throw error;
    }
    await Deno.remove(folder, { recursive: true });
  };
}

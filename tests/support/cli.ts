/** Runs the command line as a user does: its own working folder, environment and streams. */
import { join } from "node:path";
import type { HostRequest, HostResult } from "./cli_host.ts";
import { LineHost } from "./line_host.ts";
import { ROOT_PATH } from "./paths.ts";
import { atProcessEnd } from "./process_end.ts";
import { temporaryFolder } from "./temporary.ts";

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

/**
 * A process that performs commands, from the first one on.
 * @param flags of Deno, before the module
 * @param installed URL of `lib/cli/main.ts` in an installed program, or none for this checkout
 */
export function commandHost(flags: string[], options: Deno.CommandOptions, ...installed: [] | [url: string]) {
  const host = new LineHost<HostRequest, HostResult>(Deno.execPath(), {
    ...options,
    args: [...flags, join(ROOT_PATH, "tests/support/cli_host.ts"), ...installed],
    env: { NO_COLOR: "1", ...options.env },
  });
  return {
    async perform(
      args: string[],
      { cwd = ROOT_PATH, env = {}, stdin = "" }: CliOptions = {},
    ): Promise<CliResult> {
      const result = await host.ask({ args, cwd, env, stdin });
      if (result === null) throw new Error(`svc ${args.join(" ")} has ended the process that ran it`);
      return resultOf(result);
    },
    [Symbol.asyncDispose]: () => host.end(),
  };
}

/** The process that performs the commands of the tests, from their first one to the end of the last test. */
const checkout = commandHost(CLI_ARGS.slice(0, -1), { cwd: ROOT_PATH });
atProcessEnd(() => checkout[Symbol.asyncDispose]());

/** Runs a command as a user does, with its own working folder, in a process that this file's commands share. */
export const svc = checkout.perform;

/** Calls a body with a fresh folder that is removed after all tests. */
export const inFolder = (body: (folder: string) => Promise<void>) => () => body(temporaryFolder("svc-cli-"));

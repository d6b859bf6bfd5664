/** Runs the command line as a user does: its own process, its own working folder. */
import { join } from "node:path";
import { ROOT_PATH } from "./paths.ts";

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
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

export async function svc(args: string[], options: CliOptions = {}): Promise<CliResult> {
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
  const text = new TextDecoder().decode(stdout);
  return {
    code,
    stdout: text,
    stderr: new TextDecoder().decode(stderr),
    get json() {
      return JSON.parse(text);
    },
  };
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

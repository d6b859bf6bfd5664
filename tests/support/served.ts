/** `svc ui serve` as its own process, for tests that end it, kill it or look at its page. */
import { CLI_ARGS } from "./cli.ts";
import { within } from "./until.ts";

export interface Served extends AsyncDisposable {
  url: string;
  child: Deno.ChildProcess;
  stderr: Promise<string>;
}

export interface ServeOptions {
  /** Program and first arguments, in place of the checkout's. */
  command?: readonly string[];
  env?: Record<string, string>;
  /** Permissions in place of all. */
  flags?: string[];
  /** More arguments of `ui serve`. */
  args?: string[];
  /** Before the subcommand, such as `--adapter`. */
  globals?: string[];
  /** 0, a free one, when left out. */
  port?: number;
}

/** Limit of the end: the process is killed then. */
const END_MS = 20_000;

/** Starts `svc ui serve` over a folder and waits for its address. */
export async function serve(folder: string, options: ServeOptions = {}): Promise<Served> {
  const { flags, args = [], globals = [], port = 0, env } = options;
  const checkout = flags === undefined ? CLI_ARGS : ["run", ...flags, ...CLI_ARGS.slice(2)];
  const [program, ...before] = options.command ?? [Deno.execPath(), ...checkout];
  const child = new Deno.Command(program, {
    env,
    args: [...before, "--project-root", folder, ...globals, "--json", "ui", "serve", "--port", String(port), ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stderr = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("}")) {
    const { done, value } = await within("the server names its address", reader.read());
    if (done) throw new Error(`The server ended: ${await stderr}`);
    text += value;
  }
  reader.cancel();
  return {
    url: JSON.parse(text).url,
    child,
    stderr,
    [Symbol.asyncDispose]: async () => {
      try {
        // A launcher passes SIGTERM on; killed, it would leave the server behind.
        child.kill(options.command === undefined ? "SIGKILL" : "SIGTERM");
      } catch {
        // It has ended by itself.
      }
      const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await child.status;
      clearTimeout(late);
      await stderr;
    },
  };
}

/** `svc ui serve`: everything that the command line can do, over HTTP. */
import { SvcError } from "../../contract/error.ts";
import { type Command, InvalidArgumentError, Option } from "../commander.ts";
import { contextOf } from "../context.ts";
import { environment } from "../terminal.ts";

interface ServeOptions {
  host: string;
  port: number;
  open?: boolean;
  readOnly?: boolean;
  allowHost: string[];
  allowOrigin: string[];
  tokenFile?: string;
  maxRunningJobs: number;
  jobTimeout?: number;
  jsonBodyLimit: number;
}

const collect = (value: string, previous: string[]): string[] => [...previous, value];

/** A whole number within bounds. */
function whole(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (!/^\d+$/.test(text) || count < minimum || count > maximum) {
      throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`);
    }
    return count;
  };
}

export function uiCommands(program: Command): void {
  const ui = program.command("ui").description("serve the HTTP interface");

  ui.command("serve")
    .description("serve the HTTP interface of this project until Ctrl+C")
    .option("--host <address>", "address to listen at; any but the loopback needs a token", "127.0.0.1")
    .option("--port <n>", "port; 0 takes a free one", whole(0, 65535), 8765)
    .option("--open", "open the page in a browser")
    .option("--read-only", "refuse everything that writes or runs")
    .addOption(
      new Option("--allow-host <name>", "another name that requests may come for").argParser(collect).default(
        [],
        "none",
      ),
    )
    .addOption(
      new Option("--allow-origin <origin>", "another site whose pages may call").argParser(collect).default([], "none"),
    )
    .option("--token-file <file>", "bearer token that requests must send; else $SVC_TOKEN")
    .option("--max-running-jobs <n>", "jobs that run at once; timings are clean with one", whole(1, 32), 1)
    .option("--job-timeout <seconds>", "ask a job to stop after this long", whole(1, 31_536_000))
    .option("--json-body-limit <bytes>", "longest JSON body", whole(1024, 1_073_741_824), 2 * 1024 * 1024)
    .addHelpText(
      "after",
      "\nExamples\n  svc ui serve\n  svc ui serve --read-only --port 0\n" +
        "  openssl rand -hex 32 > token && svc ui serve --host 0.0.0.0 --allow-host lab.example --token-file token\n" +
        "\nIt needs no more than\n  deno run --no-prompt --allow-read --allow-write=<project>/.svc,<project>/recipes \\\n" +
        "    --allow-net=127.0.0.1:8765 --allow-env --allow-sys cli.ts ui serve\n",
    )
    .action(serve);
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { logLine, serveUntilSignal } = await import("../../http/serve.ts");
  const { projectRoot, stateDir } = await context.workspace();
  const { resolve } = await import("node:path");
  const { folders, grants } = await context.adapters();
  await serveUntilSignal({
    projectRoot,
    stateDir,
    adapters: { folders: folders.map((folder) => resolve(folder)), grants },
    host: options.host,
    port: options.port,
    readOnly: options.readOnly ?? false,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    token: await tokenOf(options),
    maxRunningJobs: options.maxRunningJobs,
    jobTimeoutS: options.jobTimeout ?? null,
    jsonBodyLimit: options.jsonBodyLimit,
    log(record) {
      if (record.message === "Listening") {
        const url = String(record.url);
        context.emit({ schema_version: 1, ...record });
        context.print(
          `${context.paint("green", "serving")}  ${url}\n  project  ${projectRoot}\n  state    ${stateDir}`,
        );
        if (options.open) openBrowser(url);
      }
      // One line a request is for those who ask for it.
      if (context.verbose > 0 || (record.level !== "info" && !context.quiet)) logLine(record);
    },
  });
}

/** The token of a file or of the environment; never of the command line, where every process can read it. */
async function tokenOf({ tokenFile }: ServeOptions): Promise<string | null> {
  if (tokenFile === undefined) return environment("SVC_TOKEN") || null;
  try {
    return (await Deno.readTextFile(tokenFile)).trim();
  } catch (error) {
    throw new SvcError("file_not_found", `Cannot read the token of ${tokenFile}`, {
      hint: "Make one with: openssl rand -hex 32",
      cause: error,
    });
  }
}

function openBrowser(url: string): void {
  const [program, ...args] = Deno.build.os === "darwin"
    ? ["open"]
    : Deno.build.os === "windows"
    ? ["cmd", "/c", "start"]
    : ["xdg-open"];
  try {
    new Deno.Command(program, { args: [...args, url], stdout: "null", stderr: "null" }).spawn().unref();
  } catch {
    // Without a browser, or the permission to start one, the address stands on the terminal.
  }
}

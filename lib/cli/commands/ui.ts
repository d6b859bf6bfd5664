/** `svc ui serve`: the HTTP interface and the page. By hand: a server. */
import { SvcError } from "../../contract/error.ts";
import { command, type CommandSpec, flag, list, parsed, text, whole } from "../command.ts";
import { environment } from "../terminal.ts";

export const uiCommands: CommandSpec[] = [
  command({
    usage: "ui serve",
    summary: "serve the HTTP interface of this project until Ctrl+C",
    options: {
      host: parsed("--host <address>", "address to listen on; other than loopback needs a token", String, "127.0.0.1"),
      port: parsed("--port <n>", "port; 0 picks a free port", whole(0, 65535), 8765),
      open: flag("--open", "open the page in a browser"),
      readOnly: flag("--read-only", "refuse all requests that write or run"),
      allowHost: list("--allow-host <name>", "additional host name to accept"),
      allowOrigin: list("--allow-origin <origin>", "additional origin (site) to accept requests from"),
      tokenFile: text("--token-file <file>", "bearer token that requests must send; else $SVC_TOKEN"),
      maxRunningJobs: parsed(
        "--max-running-jobs <n>",
        "jobs that run at once; timings are clean with one",
        whole(1, 32),
        1,
      ),
      maxActiveJobs: parsed(
        "--max-active-jobs <n>",
        "jobs of a kind, queued or running; more are refused",
        whole(1, 1024),
        64,
      ),
      jobTimeout: parsed("--job-timeout <seconds>", "cancel a job after this time", whole(1, 31_536_000)),
      jsonBodyLimit: parsed(
        "--json-body-limit <bytes>",
        "longest JSON body",
        whole(1024, 1_073_741_824),
        2 * 1024 * 1024,
      ),
    },
    notes:
      "It needs no more than\n  deno run --no-prompt --allow-read --allow-write=<project>/.svc,<project>/recipes \\\n" +
      "    --allow-net=127.0.0.1:8765 --allow-env --allow-sys --allow-run=deno,sh,git cli.ts ui serve",
    examples: [
      "svc ui serve",
      "svc ui serve --read-only --port 0",
      "openssl rand -hex 32 > token && svc ui serve --host 0.0.0.0 --allow-host lab.example --token-file token",
    ],
    async call({ svc, options, context }) {
      const [{ logLine }, { serveUntilSignal }] = await Promise.all([
        import("../../http/log.ts"),
        import("../../http/serve.ts"),
      ]);
      const { projectRoot, stateDir } = svc.workspace;
      await serveUntilSignal({
        ...svc.options(),
        host: options.host,
        port: options.port,
        readOnly: options.readOnly ?? false,
        allowHosts: options.allowHost,
        allowOrigins: options.allowOrigin,
        token: await tokenOf(options.tokenFile),
        maxRunningJobs: options.maxRunningJobs,
        maxActiveJobs: options.maxActiveJobs,
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
          if (context.verbose > 0 || (record.level !== "info" && !context.quiet)) logLine(record);
        },
      });
    },
    json: null,
    show() {},
  }),
];

/** The token of a file or of the environment; never of the command line, where every process can read it. */
async function tokenOf(tokenFile: string | undefined): Promise<string | null> {
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

/**
 * A server of the Model Context Protocol over standard input and output. Requests run side by side; a cancelled one stops its
 * run, and a client that asks for progress gets the events of its run.
 */
import { Server } from "npm:@modelcontextprotocol/server@^2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
import { didYouMean } from "../contract/nearest.ts";
import { asObject, canonicalJson, parseJson } from "../contract/json.ts";
import { SvcError } from "../contract/error.ts";
import { createCancellation } from "../execute/cancellation.ts";
import { errorRecord } from "../http/problem.ts";
import { version } from "../run/version.ts";
import type { CancellationToken } from "../execute/types.ts";
import type { Session } from "../api/session.ts";
import { type Tool, type ToolResult, TOOLS } from "./tools.ts";

const INSTRUCTIONS =
  "svc runs experiments of communication and semantic communication. A recipe is a graph of operations: start from " +
  "templates_list and templates_instantiate, or operations_list and operations_show; check it with recipes_validate, which " +
  "names every problem with its place; run it with recipes_run, or a matrix with recipes_sweep. Metrics come with intervals: " +
  "runs_table. Evidence of a run is checked by runs_verify. Paths are relative to the project.";

export interface ServeOptions {
  /** Offers only tools that neither write nor run. */
  readOnly: boolean;
  /** Told of messages that are no requests. */
  onError(error: Error): void;
  /** Ends it. */
  cancellation: CancellationToken;
}

/** Serves until the client closes standard input. */
export async function serveMcp(session: Session, options: ServeOptions): Promise<void> {
  const { readOnly, onError, cancellation } = options;
  const ended = Promise.withResolvers<void>();
  const tools = TOOLS.filter(({ writes }) => !(readOnly && writes));
  const served = serveStdio(() => {
    const server = serverOf(session, tools);
    server.onclose = () => ended.resolve();
    return server;
  }, { onerror: onError });
  cancellation.onCancel(() => void served.close().finally(ended.resolve));
  await ended.promise;
}

function serverOf(session: Session, tools: readonly Tool[]): Server {
  const server = new Server({ name: "svc", version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler("tools/list", () => ({
    tools: tools.map(({ name, summary, input, writes, destructive }) => ({
      name,
      description: summary,
      inputSchema: input as { type: "object" },
      annotations: { readOnlyHint: !writes, destructiveHint: destructive, openWorldHint: false },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {}, _meta } }, { mcpReq }) => {
    const cancellation = createCancellation();
    mcpReq.signal.addEventListener("abort", () => cancellation.cancel(), { once: true });
    let progress = 0;
    const onReport = ({ message }: { message: string }) => {
      if (_meta?.progressToken === undefined) return;
      const params = { progressToken: _meta.progressToken, progress: ++progress, message };
      // The end of the request may come first; its progress is then of no use.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    };
    try {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw unknownTool(name, tools);
      // The protocol has numbers of one kind: 6 is an integer here, as in a recipe.
      const input = asObject(parseJson(JSON.stringify(given)));
      return contentOf(await tool.call(input, { session, cancellation, onReport }));
    } catch (error) {
      const { stack: _stack, code, extra, ...problem } = errorRecord(error);
      return {
        isError: true,
        content: [textOf(canonicalJson({ ...extra, code: code ?? "internal_error", ...problem }))],
      };
    }
  });
  return server;
}

const textOf = (text: string) => ({ type: "text" as const, text });

function contentOf(result: ToolResult) {
  if ("png" in result) {
    return { content: [{ type: "image" as const, data: result.png.toBase64(), mimeType: "image/png" }] };
  }
  return { content: [textOf(result.json)] };
}

const unknownTool = (name: string, tools: readonly Tool[]) =>
  new SvcError("not_found", `Cannot find the tool ${name}`, {
    hint: didYouMean(name, tools.map((tool) => tool.name)) ?? "tools/list names them",
  });

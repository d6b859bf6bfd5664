/** Serves this checkout over loopback HTTP, as a place to import it from by URL. */
import { join, normalize } from "node:path";
import { ROOT_PATH } from "./paths.ts";

const TYPES: Record<string, string> = {
  ts: "application/typescript",
  json: "application/json",
  wasm: "application/wasm",
  txt: "text/plain",
  yaml: "text/yaml",
};

export interface TreeServer extends AsyncDisposable {
  /** URL of the root, with a closing slash. */
  readonly url: string;
  /** Paths that were asked for. */
  readonly requests: Set<string>;
}

/** @param missing paths that are answered as if they were not there */
export function serveTree(missing: (path: string) => boolean = () => false): TreeServer {
  const requests = new Set<string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname);
    requests.add(path);
    try {
      if (missing(path)) throw new Deno.errors.NotFound(path);
      const bytes = await Deno.readFile(join(ROOT_PATH, normalize(path)));
      const type = TYPES[path.split(".").pop() ?? ""] ?? "application/octet-stream";
      return new Response(bytes, { headers: { "content-type": type } });
    } catch {
      return new Response("not found", { status: 404 });
    }
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * svc over HTTP: a server of one's own, and a typed client for scripts.
 *
 * ```sh
 * deno run -A server.ts --port 8765
 * ```
 *
 * @module
 */
export { type ApiClient, createClient } from "./lib/http/client.ts";
export { type RunningServer, type ServeOptions, startServer } from "./lib/http/serve.ts";
import { main } from "./lib/cli/main.ts";

if (import.meta.main) Deno.exit(await main(["ui", "serve", ...Deno.args]));

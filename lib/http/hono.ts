/** The one place that names the HTTP library: its router, its types and its client. */
export { Hono } from "npm:hono@^4.13.19";
export type { Context, MiddlewareHandler } from "npm:hono@^4.13.19";
export type { BlankEnv } from "npm:hono@^4.13.19/types";
export { hc } from "npm:hono@^4.13.19/client";

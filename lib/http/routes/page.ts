/** The dashboard: its document at `/`, and what it is made of under `/static`. Neither holds data, and both need no token. */
import { join } from "node:path";
import { messageOf, SvcError } from "../../contract/error.ts";
import { landingPage } from "../landing_page.ts";
import { dashboardPage } from "../dashboard_page.ts";
import { Answer, route } from "../route.ts";
import { freshNonce, securityHeaders } from "../security.ts";

const MEDIA: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  woff2: "font/woff2",
};
/** A file of the page: one name, no path. */
const FILE = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|woff2)$/;

export const pageRoutes = [
  route({
    method: "get",
    path: "/",
    summary: "The dashboard",
    description: "Where the page cannot be built, a plain one with the reason and links to the interface",
    replies: { 200: { description: "A page", media: "text/html" } },
    async handle({ service }) {
      const nonce = freshNonce();
      let html: string;
      try {
        html = dashboardPage(nonce, await service.page());
      } catch (error) {
        html = landingPage(nonce, messageOf(error));
      }
      return new Answer(html, {
        headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", ...securityHeaders(nonce) },
      });
    },
  }),
  route({
    method: "get",
    path: "/static/:digest/:file",
    summary: "A script, style sheet or font of the dashboard",
    description: "Named by the digest of its sources and never changed, so a browser keeps it for good",
    replies: { 200: { description: "The file", media: "application/octet-stream" } },
    async handle({ params, service }) {
      const { digest, folder } = await service.page();
      const kind = FILE.exec(params.file)?.[1];
      if (params.digest !== digest || kind === undefined) throw missing(params.file);
      let bytes: Uint8Array<ArrayBuffer>;
      try {
        bytes = await Deno.readFile(join(folder, params.file));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) throw missing(params.file);
        throw error;
      }
      return new Answer(bytes, {
        headers: { "content-type": MEDIA[kind], "cache-control": "public, max-age=31536000, immutable" },
      });
    },
  }),
];

const missing = (file: string) => new SvcError("not_found", `Cannot find ${file} among the files of the page`);

/**
 * The dashboard: its document at `/` and its files under `/static`. They hold no data and are public.
 * By hand: files of the page.
 */
import { join } from "node:path";
import { messageOf, SvcError } from "../../contract/error.ts";
import { takes } from "../answer.ts";
import { landingPage } from "../landing_page.ts";
import { dashboardPage } from "../dashboard_page.ts";
import { Answer, get } from "../route.ts";
import { freshNonce, securityHeaders } from "../security.ts";

const MEDIA: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  woff2: "font/woff2",
  jpg: "image/jpeg",
};
/** Kinds that are compressed by themselves. */
const COMPRESSED = ["woff2", "jpg"];
/** Content codings in order of preference, with the suffix of the files that have them. */
const CODINGS = [{ name: "br", suffix: ".br" }, { name: "gzip", suffix: ".gz" }];
/** A file of the page: one name, no path. */
const FILE = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|woff2|jpg)$/;

export const pageRoutes = [
  get("/", "The dashboard", {
    access: "public",
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
  get("/static/:digest/:file", "A script, style sheet, font or picture of the dashboard", {
    access: "public",
    description:
      "Its address holds a digest over all files, so a browser keeps it for good. Sent with Brotli or gzip on request",
    replies: { 200: { description: "The file", media: "application/octet-stream" } },
    async handle({ params, headers, service }) {
      const { digest, folder } = await service.page();
      const kind = FILE.exec(params.file)?.[1];
      if (params.digest !== digest || kind === undefined) throw missing(params.file);
      const coding = COMPRESSED.includes(kind)
        ? undefined
        : CODINGS.find(({ name }) => takes(headers["accept-encoding"], name));
      let bytes: Uint8Array<ArrayBuffer>;
      try {
        bytes = await Deno.readFile(join(folder, params.file + (coding?.suffix ?? "")));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) throw missing(params.file);
        throw error;
      }
      return new Answer(bytes, {
        headers: {
          "content-type": MEDIA[kind],
          "cache-control": "public, max-age=31536000, immutable",
          etag: `"${digest}${coding?.suffix ?? ""}"`,
          vary: "accept-encoding",
          ...(coding === undefined ? {} : { "content-encoding": coding.name }),
        },
      });
    },
  }),
  get("/favicon.ico", "No icon: browsers request this path beside JSON and images", {
    access: "public",
    replies: { 204: { description: "Nothing" } },
    handle: () => new Answer(null, { status: 204, headers: { "cache-control": "public, max-age=86400" } }),
  }),
];

const missing = (file: string) => new SvcError("not_found", `Cannot find ${file} among the files of the page`);

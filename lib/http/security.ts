/**
 * Who may call. Every request passes these checks, in this order, before its route reads anything:
 *
 * - Host: a page of another site can make a browser send requests to this machine under a name of its own (DNS rebinding);
 *   only names on the list are answered.
 * - Origin and Sec-Fetch-Site: a page of another site can send requests that it cannot read the answer of (request
 *   forgery); none is taken. No cross-origin header is ever sent.
 * - Token: where one is configured, every route needs it that is not declared public, and so does a path without a route.
 *
 * The checks see the route that the router matched, never the path of the request: a path has many spellings.
 */
import { timingSafeEqual } from "node:crypto";
import { SvcError } from "../contract/error.ts";
import { nodeCrypto } from "../contract/node_builtins.ts";
import type { Access } from "./route.ts";

export interface GuardOptions {
  /** The port that was bound; hosts on the list are expected with it. */
  port: number;
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
  token: string | null;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** Characters that a bearer token needs at least. */
export const MINIMUM_TOKEN_LENGTH = 32;

/** What the router matched: the path as the route declares it. */
export interface Target {
  readonly path: string;
  readonly access: Access;
}

/** A function that lets a request pass or throws. */
export type Guard = (target: Target, method: string, headers: Headers) => void;

/**
 * Makes the guard of a server.
 * @returns throws SvcError `host_refused`, `origin_refused`, `unauthorized`
 */
export function createGuard({ port, allowHosts, allowOrigins, token }: GuardOptions): Guard {
  const hosts = new Set([
    ...LOOPBACK.flatMap((name) => port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]),
    ...allowHosts.map((name) => name.toLowerCase()),
    ...allowHosts.filter((name) => !/:\d+$/.test(name)).map((name) => `${name.toLowerCase()}:${port}`),
  ]);
  const origins = new Set([
    ...[...hosts].flatMap((host) => [`http://${host}`, `https://${host}`]),
    ...allowOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")),
  ]);
  const wanted = token === null ? null : digest(token);
  return ({ path, access }, method, headers) => {
    const host = headers.get("host")?.toLowerCase() ?? "";
    if (!hosts.has(host)) {
      throw new SvcError("host_refused", `Cannot accept a request for the host ${JSON.stringify(host)}`, {
        hint: "Use the address that the server printed, or add the name with --allow-host",
      });
    }
    const origin = headers.get("origin");
    if (origin !== null && !origins.has(origin.toLowerCase())) {
      throw new SvcError("origin_refused", `Cannot answer a page of ${JSON.stringify(origin)}`, {
        hint: "Add its origin with --allow-origin when the page is yours",
      });
    }
    if (headers.get("sec-fetch-site") === "cross-site") {
      // Following a link to the page is how people come here.
      const topLevel = method === "GET" && path === "/" && headers.get("sec-fetch-mode") === "navigate";
      if (!topLevel && !(origin !== null && origins.has(origin.toLowerCase()))) {
        throw new SvcError("origin_refused", "Cannot answer a request that a page of another site made");
      }
    }
    if (wanted === null || access === "public") return;
    const given = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
    // Digests have one length, so that a comparison reveals nothing about the length of the token.
    if (!timingSafeEqual(digest(given), wanted)) {
      throw new SvcError("unauthorized", "Cannot answer without the token of this server", {
        hint: "Send Authorization: Bearer <token>",
      });
    }
  };
}

const digest = (text: string): Uint8Array =>
  new TextEncoder().encode(nodeCrypto().createHash("sha256").update(text).digest("hex"));

/**
 * Headers of every reply.
 * @param nonce of the page's own styles; null where there is no page
 */
export function securityHeaders(nonce: string | null): Record<string, string> {
  const styles = nonce === null ? "'self'" : `'self' 'nonce-${nonce}'`;
  return {
    "content-security-policy":
      `default-src 'self'; img-src 'self' blob: data:; style-src ${styles}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
}

/** A fresh nonce for a page. */
export function freshNonce(): string {
  return crypto.getRandomValues(new Uint8Array(18)).toBase64();
}

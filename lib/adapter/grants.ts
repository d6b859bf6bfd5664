/**
 * Effective permissions of an adapter: its requests that the operator granted, with flags (`--grant`) or, if no flag
 * names the adapter, with an entry of the user's trust file for the digest of the folder.
 */
import { join, resolve } from "node:path";
import { exists } from "../artifact/path_kind.ts";
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { ENV_REQUEST, NET_REQUEST } from "./manifest_schema.ts";
import { findTrust, PROJECT_TRUST_FILE, type TrustFile } from "./trust.ts";
import type { AdapterPackage, EffectiveGrants, Grant } from "./types.ts";
import type { PermissionSet } from "./manifest_schema.ts";

const KINDS = ["net", "read", "env"] as const;
const FORM = "Write <adapter>:net=<host[:port]>, <adapter>:read=<path>, <adapter>:env=<NAME> or <adapter>:unsandboxed";

/**
 * Reads a grant.
 * @param text `<adapter>:net=<host[:port]>`, `<adapter>:read=<path>`, `<adapter>:env=<NAME>` or `<adapter>:unsandboxed`
 * @param adapter the name for a text without one
 * @throws SvcError `adapter_permission_unsupported`
 */
export function parseGrant(text: string, adapter?: string): Grant {
  const refuse = (message: string, hint = FORM): never => {
    throw new SvcError("adapter_permission_unsupported", message, { hint });
  };
  const match = /^(?:([a-z0-9][a-z0-9_-]*):)?(?:([a-z]+)=(.+)|unsandboxed)$/s.exec(text);
  if (match === null) return refuse(`Cannot read ${JSON.stringify(text)} as a grant`);
  const [, name = adapter, kind, value] = match;
  if (name === undefined) return refuse(`Cannot find an adapter name in the grant ${text}`);
  if (kind === undefined) return { adapter: name, kind: "unsandboxed", value: "" };
  if (!(KINDS as readonly string[]).includes(kind)) {
    return refuse(`Cannot grant ${kind}`, "An adapter can be granted net, read and env only");
  }
  if (kind === "net" && !new RegExp(NET_REQUEST).test(value)) return refuse(`Cannot read ${value} as a host`);
  if (kind === "env" && !new RegExp(ENV_REQUEST).test(value)) {
    return refuse(`Cannot read ${value} as the name of an environment variable`);
  }
  return { adapter: name, kind: kind as Grant["kind"], value };
}

/** The text of a grant, as on the command line. */
export function grantFlag(adapter: string, kind: keyof PermissionSet, value: string): string {
  return `--grant ${adapter}:${kind}=${value}`;
}

/**
 * The effective permissions of an adapter.
 * @param adapter folder and manifest
 * @param grants flags; those for other adapters are ignored
 * @param trust the user's trust file
 * @param projectRoot base of relative paths in grants; a trust file there grants nothing
 * @param diagnostics receives `adapter_trust_mismatch` for an entry with another digest, and `trust_file_ignored`
 */
export function effectiveGrants(
  adapter: AdapterPackage,
  grants: readonly Grant[],
  trust: TrustFile,
  projectRoot: string,
  diagnostics: Diagnostic[] = [],
): EffectiveGrants {
  const { manifest: { name, permissions: requested, python }, folder } = adapter;
  const flags = grants.filter((grant) => grant.adapter === name);
  const entry = findTrust(trust, name, folder.folder_sha256);
  if (entry === "mismatch" && flags.length === 0) {
    diagnostics.push(diagnostic(
      "adapter_trust_mismatch",
      [],
      `Cannot apply the trust file to ${name}: the folder has changed since it was trusted`,
      { severity: "warning", hint: `Review the changes, then run svc adapter trust ${folder.root}` },
    ));
  }
  if (KINDS.some((kind) => requested[kind].length > 0) && exists(join(projectRoot, PROJECT_TRUST_FILE))) {
    diagnostics.push(diagnostic(
      "trust_file_ignored",
      [],
      `Cannot apply ${PROJECT_TRUST_FILE} of the project to ${name}: only the user grants permissions`,
      { severity: "warning", hint: `Review the adapter, then run svc adapter trust ${folder.root}` },
    ));
  }
  const trusted = typeof entry === "object" ? entry : null;
  const unsandboxed = flags.length > 0
    ? flags.some(({ kind }) => kind === "unsandboxed")
    : trusted?.unsandboxed === true;
  if (unsandboxed && python === undefined) throw notPython(name);
  const given: PermissionSet = flags.length > 0
    ? {
      net: flags.filter(({ kind }) => kind === "net").map(({ value }) => value),
      read: flags.filter(({ kind }) => kind === "read").map(({ value }) => value),
      env: flags.filter(({ kind }) => kind === "env").map(({ value }) => value),
    }
    : trusted?.permissions ?? noPermissions();

  const granted: PermissionSet = { net: [], read: [], env: [] };
  const missing: PermissionSet = { net: [], read: [], env: [] };
  const readable = given.read.map((path) => realPath(resolve(projectRoot, path)));
  const judge = (kind: keyof PermissionSet, request: string, allowed: string[]) =>
    (allowed.length > 0 ? granted[kind] : missing[kind]).push(...(allowed.length > 0 ? allowed : [request]));
  for (const host of requested.net) judge("net", host, given.net.flatMap((grant) => commonHost(host, grant) ?? []));
  for (const path of requested.read) {
    const wanted = requestedPath(folder.root, path);
    judge("read", path, readable.flatMap((grant) => commonPath(wanted, grant) ?? []));
  }
  for (const variable of requested.env) judge("env", variable, given.env.includes(variable) ? [variable] : []);
  for (const kind of KINDS) granted[kind] = [...new Set(granted[kind])].sort();
  const any = unsandboxed || KINDS.some((kind) => granted[kind].length > 0);
  return { granted, missing, unsandboxed, source: !any ? "none" : flags.length > 0 ? "flag" : "trust_file" };
}

/** The error of a grant `unsandboxed` for an adapter that always has a sandbox. */
export const notPython = (name: string): SvcError =>
  new SvcError("adapter_permission_unsupported", `Cannot run ${name} without a sandbox: it is not in Python`, {
    hint: "An adapter in TypeScript or JavaScript always has one",
  });

/** The absolute path of a read request. */
export function requestedPath(root: string, path: string): string {
  return realPath(resolve(root, path));
}

/** The intersection of a request and a grant: a host without a port includes all of its ports. Exported for tests. */
export function commonHost(request: string, grant: string): string | null {
  const [host, port] = splitHost(request), [grantedHost, grantedPort] = splitHost(grant);
  if (host !== grantedHost || (port !== null && grantedPort !== null && port !== grantedPort)) return null;
  const both = port ?? grantedPort;
  return both === null ? host : `${host}:${both}`;
}

function splitHost(text: string): [string, string | null] {
  const match = /^(.*?)(?::([0-9]{1,5}))?$/.exec(text.startsWith("[") ? text : text.toLowerCase())!;
  if (!text.startsWith("[")) return [match[1], match[2] ?? null];
  const end = text.indexOf("]");
  return [text.slice(0, end + 1).toLowerCase(), text.slice(end + 2) || null];
}

/** The intersection of a request and a grant: the path that lies inside the other. */
function commonPath(request: string, grant: string): string | null {
  const within = (path: string, folder: string) => path === folder || path.startsWith(join(folder, "/"));
  return within(request, grant) ? request : within(grant, request) ? grant : null;
}

/** The path without symbolic links, as far as it exists. */
function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

/** A new set without permissions. */
export function noPermissions(): PermissionSet {
  return { net: [], read: [], env: [] };
}

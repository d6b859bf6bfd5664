/**
 * The trust file of the user: grants for adapters by the digests of their folders, so that a changed folder has none. It
 * is `$SVC_TRUST`, else `$XDG_CONFIG_HOME/svc/trust.json`, else `~/.config/svc/trust.json`. A file of a project grants
 * nothing: its author is not the one who runs it.
 */
import { closeSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { exists } from "../artifact/path_kind.ts";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { prettyJson } from "../contract/json.ts";
import { z } from "../contract/zod.ts";
import { environmentValue } from "../run/workspace.ts";
import { ENV_REQUEST, NET_REQUEST } from "./manifest_schema.ts";

/** In the root of a project; grants nothing. */
export const PROJECT_TRUST_FILE = "svc_trust.json";

const MAX_BYTES = 2 ** 20;

const matching = (pattern: string) => z.array(z.string().regex(new RegExp(pattern)));

const ENTRY = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
  permissions: z.strictObject({
    net: matching(NET_REQUEST),
    read: z.array(z.string().refine(isAbsolute, "the path is not absolute")),
    env: matching(ENV_REQUEST),
  }),
  unsandboxed: z.literal(true).optional(),
  note: z.string().optional(),
});

const FILE = z.strictObject({
  schema_version: z.literal(1),
  kind: z.literal("svc.adapter_trust"),
  /** By the digest of the folder. */
  adapters: z.record(z.string().regex(/^[0-9a-f]{64}$/), ENTRY),
});

export type TrustEntry = z.infer<typeof ENTRY>;
export type TrustFile = z.infer<typeof FILE>;

const NO_TRUST: TrustFile = { schema_version: 1, kind: "svc.adapter_trust", adapters: {} };

/** The path of the trust file; null where the environment names no home, or must not be read. */
function trustFilePath(): string | null {
  const chosen = environmentValue("SVC_TRUST"), config = environmentValue("XDG_CONFIG_HOME");
  if (chosen !== undefined) return resolve(chosen);
  const home = environmentValue(Deno.build.os === "windows" ? "USERPROFILE" : "HOME");
  const folder = config !== undefined && isAbsolute(config)
    ? config
    : home === undefined
    ? null
    : join(home, ".config");
  return folder === null ? null : join(folder, "svc", "trust.json");
}

/**
 * Reads the trust file. A missing file, and one that this process must not read, grants nothing.
 * @throws SvcError `trust_file_invalid`: a partly invalid file grants nothing
 */
export function readTrustFile(path: string | null = trustFilePath()): TrustFile {
  if (path === null) return NO_TRUST;
  try {
    // Before it is opened: opening a pipe waits for its writer.
    const { isFile } = Deno.statSync(path);
    if (!isFile) throw new Error("it is not a regular file");
    const bytes = new Uint8Array(MAX_BYTES + 1), descriptor = openSync(path, "r");
    let length: number;
    try {
      length = readSync(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
    if (length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
    const { data, error } = FILE.safeParse(JSON.parse(text));
    if (error === undefined) return data;
    throw new Error(error.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message}`).join("; "));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return NO_TRUST;
    throw new SvcError("trust_file_invalid", `Cannot read the trust file ${path}: ${messageOf(error)}`, {
      hint: "Correct or remove it; svc adapter trust writes it",
      cause: error,
    });
  }
}

/**
 * Changes the trust file under a lock, so that no writer loses the change of another.
 * @returns its path
 * @throws SvcError `trust_file_invalid`, `trust_file_unknown`, `file_write_failed`
 */
export function changeTrustFile(change: (adapters: TrustFile["adapters"]) => void): string {
  const path = trustFilePath();
  if (path === null) {
    throw new SvcError(
      "trust_file_unknown",
      "Cannot find the folder of the trust file: the environment names no home",
      {
        hint: "Set SVC_TRUST to the path of the file",
      },
    );
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  using lock = Deno.openSync(`${path}.lock`, { create: true, read: true, write: true, mode: 0o600 });
  lock.lockSync(true);
  const adapters = { ...readTrustFile(path).adapters };
  change(adapters);
  // A link, as of a folder of settings under version control, stays.
  writeFileAtomic(exists(path) ? Deno.realPathSync(path) : path, prettyJson({ ...NO_TRUST, adapters }), 0o600);
  return path;
}

/** The entry for this digest, `mismatch` if there are only entries for other digests of the adapter, or null. */
export function findTrust({ adapters }: TrustFile, name: string, folderSha256: string): TrustEntry | "mismatch" | null {
  if (Object.hasOwn(adapters, folderSha256)) return adapters[folderSha256];
  return Object.values(adapters).some((entry) => entry.name === name) ? "mismatch" : null;
}

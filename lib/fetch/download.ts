/**
 * Downloads one file. Received bytes are kept in `<target>.part`, so that an interrupted download resumes; the target
 * appears only complete and with the right digest.
 */
import { createHash } from "node:crypto";
import { type Code, messageOf, SvcError } from "../contract/error.ts";

export interface DownloadOptions {
  /** Required digest of the file. */
  sha256?: string;
  /** Code of network errors: `model_unavailable` or `dataset_unavailable`. */
  code: Code;
  signal?: AbortSignal;
  /** Received bytes, and the total if the server sends it. */
  onProgress?(received: number, total: number | null): void;
}

export interface Downloaded {
  sha256: string;
  size_bytes: number;
  /** Bytes of an earlier attempt. */
  resumed_from: number;
}

/** Identity of a partial file: a changed file on the server is downloaded from the start. */
interface PartRecord {
  url: string;
  validator: string;
}

/**
 * Checks an address before any request: https, or http to this machine, or http with a digest.
 * @throws SvcError `path_refused`
 */
export function checkAddress(address: string, sha256?: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new SvcError("path_refused", `Cannot fetch ${address}: it is not an address`);
  }
  const own = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (own || sha256))) {
    throw new SvcError(
      "path_refused",
      `Cannot fetch ${address}: only https guarantees the published content`,
      {
        hint: url.protocol === "http:" ? "Set the SHA-256 of the file" : "Use an https address",
      },
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new SvcError("path_refused", "Cannot fetch from an address with a password in it");
  }
  return url;
}

/**
 * Downloads a file.
 * @param address its URL
 * @param target path of the file in an existing folder
 * @throws SvcError `options.code` for a failed download, `artifact_hash_mismatch` for another digest
 */
export async function download(address: string, target: string, options: DownloadOptions): Promise<Downloaded> {
  const url = checkAddress(address, options.sha256);
  const part = `${target}.part`, notes = `${target}.part.json`;
  const before = await partRecord(notes, url.href);
  const have = before === null ? 0 : await sizeOf(part);
  const response = await request(url, have > 0 ? before : null, have, options);
  const resumed = response.status === 206 ? have : 0;
  const length = response.headers.get("content-length");
  const total = length === null ? null : Number(length) + resumed;
  const validator = response.headers.get("etag") ?? response.headers.get("last-modified") ?? "";
  await Deno.writeTextFile(notes, JSON.stringify({ url: url.href, validator } satisfies PartRecord));

  // The digest covers the earlier part.
  const hash = createHash("sha256");
  if (resumed > 0) await hashInto(hash, part);
  const file = await Deno.open(part, { write: true, create: true, truncate: resumed === 0, append: resumed > 0 });
  let received = resumed;
  try {
    for await (const chunk of response.body ?? []) {
      for (let at = 0; at < chunk.length;) at += await file.write(chunk.subarray(at));
      hash.update(chunk);
      received += chunk.length;
      options.onProgress?.(received, total);
    }
  } catch (error) {
    throw unavailable(url, messageOf(error), options, "Run it again: received bytes are kept");
  } finally {
    file.close();
  }
  if (total !== null && received !== total) {
    throw unavailable(url, `${received} of ${total} bytes arrived`, options, "Run it again: received bytes are kept");
  }
  const sha256 = hash.digest("hex");
  if (options.sha256 !== undefined && sha256 !== options.sha256) {
    await forget(part, notes);
    throw new SvcError("artifact_hash_mismatch", `Cannot use ${url.href}: its SHA-256 is ${sha256}`, {
      hint: `Expected ${options.sha256}`,
    });
  }
  await Deno.rename(part, target);
  await forget(notes);
  return { sha256, size_bytes: received, resumed_from: resumed };
}

async function request(
  url: URL,
  before: PartRecord | null,
  have: number,
  options: DownloadOptions,
): Promise<Response> {
  const headers = before === null ? undefined : { range: `bytes=${have}-`, "if-range": before.validator };
  let response: Response;
  try {
    response = await fetch(url, { headers, signal: options.signal });
  } catch (error) {
    options.signal?.throwIfAborted();
    const denied = error instanceof Deno.errors.NotCapable;
    const hint = denied ? `Allow it: --allow-net=${url.host}` : "Check the network connection; only fetching needs it";
    throw unavailable(url, messageOf(error), options, hint);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  // The partial file is complete or too long: start again.
  if (response.status === 416 && before !== null) return await request(url, null, 0, options);
  throw unavailable(url, `the server answered ${response.status}`, options, null);
}

function unavailable(url: URL, reason: string, { code }: DownloadOptions, hint: string | null): SvcError {
  return new SvcError(code, `Cannot fetch ${url.href}: ${reason}`, { hint });
}

/** The partial file of an earlier attempt, if it can be resumed. */
async function partRecord(notes: string, url: string): Promise<PartRecord | null> {
  try {
    const record = JSON.parse(await Deno.readTextFile(notes)) as PartRecord;
    // A weak validator does not guarantee identical bytes.
    return record.url === url && record.validator !== "" && !record.validator.startsWith("W/") ? record : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

async function hashInto(hash: ReturnType<typeof createHash>, path: string): Promise<void> {
  using file = await Deno.open(path);
  const block = new Uint8Array(1 << 20);
  for (let count; (count = await file.read(block)) !== null;) hash.update(block.subarray(0, count));
}

async function forget(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await Deno.remove(path).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}

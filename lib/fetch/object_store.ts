/**
 * A bucket of an S3-compatible object store: put, get, size and list of objects. Requests are signed with AWS Signature
 * Version 4; credentials come from the usual environment variables and are in no message, record or file.
 *
 * The store is not trusted: an answer is read up to a limit, redirections are not followed, and of its texts only a code in
 * letters is shown.
 */
import { joinBytes } from "../artifact/join_bytes.ts";
import { AwsV4Signer } from "npm:aws4fetch@^1.0.20";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { checkAddress } from "./download.ts";

export interface ObjectStoreOptions {
  /** Address of the service; default `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or that of AWS for the region. */
  endpoint?: string;
  /** Whether an endpoint of another machine may be `http:`; default false. */
  allowHttp?: boolean;
  signal?: AbortSignal;
  /** Reads an environment variable; tests replace it. */
  variable?: (name: string) => string | undefined;
  /** Time before the first repetition of a failed request, doubled for each further one; tests shorten it. */
  retryMs?: number;
  /** Most keys and most pages of a list; tests lower them. */
  listLimits?: { keys: number; pages: number };
}

/** A failed request is made so often in all: connections break, and stores ask to slow down. */
const ATTEMPTS = 5;
/** Without an answer for so long a request counts as failed. */
const TIMEOUT_MS = 300_000;
/** Of a page of a list: 1000 keys of 1024 bytes, and their descriptions. */
const LIST_PAGE_BYTES = 8 * 2 ** 20;
const LIST_LIMITS = { keys: 1_000_000, pages: 2_000 };

export class ObjectStore {
  /** As given, for messages: `s3://bucket/prefix`. */
  readonly address: string;
  readonly #base: string;
  readonly #prefix: string;
  readonly #region: string;
  readonly #credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | null;
  readonly #signal: AbortSignal | undefined;
  readonly #retryMs: number;
  readonly #listLimits: { keys: number; pages: number };

  /**
   * @param address `s3://bucket` or `s3://bucket/prefix`
   * @throws SvcError `usage_invalid` for another address, `path_refused` for an endpoint without TLS
   */
  constructor(address: string, options: ObjectStoreOptions = {}) {
    const { endpoint, allowHttp = false, signal, variable = environmentVariable, retryMs = 200 } = options;
    const [, bucket, path = ""] =
      /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(address) ?? [];
    const prefix = path.replace(/\/+$/, "");
    if (bucket === undefined || prefix.split("/").some((part) => part === "." || part === ".." || prefix && !part)) {
      throw new SvcError("usage_invalid", `Cannot use ${address} as an object store`, {
        hint: "Write s3://bucket/prefix, with letters, digits and ._- in the prefix",
      });
    }
    this.address = prefix === "" ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? "us-east-1";
    const given = endpoint ?? variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL");
    if (given !== undefined) {
      this.#base = `${endpointUrl(given, allowHttp)}/${bucket}`;
    } else {
      const host = `s3.${this.#region}.amazonaws.com`;
      // A name with dots does not match the certificate.
      this.#base = bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
    }
    const accessKeyId = variable("AWS_ACCESS_KEY_ID"), secretAccessKey = variable("AWS_SECRET_ACCESS_KEY");
    this.#credentials = accessKeyId === undefined || secretAccessKey === undefined
      ? null
      : { accessKeyId, secretAccessKey, sessionToken: variable("AWS_SESSION_TOKEN") };
    this.#signal = signal;
    this.#retryMs = retryMs;
    this.#listLimits = options.listLimits ?? LIST_LIMITS;
  }

  /** Writes an object. The store checks the bytes against their digest, which is signed. */
  async put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#request("PUT", this.#url(key), 0, bytes);
  }

  /** Size of an object; null without one. */
  async size(key: string): Promise<number | null> {
    const answer = await this.#request("HEAD", this.#url(key), 0);
    return answer === null ? null : Number(answer.headers.get("content-length"));
  }

  /** Bytes of an object; null without one. @throws SvcError `store_invalid` for more than `most` bytes */
  async get(key: string, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
    return (await this.#request("GET", this.#url(key), most))?.bytes ?? null;
  }

  /** Keys below a folder, in the order of the store, without the prefix of the address. */
  async *list(folder: string): AsyncGenerator<string> {
    const start = `${this.#prefix}${folder}/`, { keys, pages } = this.#listLimits;
    const seen = new Set<string>();
    let token: string | undefined;
    for (let page = 0; page < pages; page++) {
      const query = new URLSearchParams({ "list-type": "2", prefix: start });
      if (token !== undefined) query.set("continuation-token", token);
      const answer = await this.#request("GET", `${this.#base}?${query}`, LIST_PAGE_BYTES);
      if (answer === null) throw this.#unavailable("there is no such bucket");
      const text = new TextDecoder().decode(answer.bytes);
      for (const [, key] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) {
        const name = plainText(key);
        if (!name.startsWith(start)) continue;
        if (seen.has(name)) throw this.#unavailable("its list repeats itself");
        seen.add(name);
        if (seen.size > keys) throw this.#unavailable(`its list has more than ${keys} keys`);
        yield name.slice(this.#prefix.length);
      }
      const next = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(text)?.[1];
      if (next === undefined) return;
      if (token === plainText(next)) break;
      token = plainText(next);
    }
    throw this.#unavailable("its list does not end");
  }

  #url(key: string): string {
    return `${this.#base}/${this.#prefix}${key}`;
  }

  /** @returns null for an object that is not there */
  async #request(
    method: string,
    url: string,
    most: number,
    body?: Uint8Array<ArrayBuffer>,
  ): Promise<{ headers: Headers; bytes: Uint8Array<ArrayBuffer> } | null> {
    for (let attempt = 1;; attempt++) {
      let why: string, hint: string | null = "Run it again: received data are kept";
      try {
        const answer = await this.#send(method, url, body);
        if (answer.ok) {
          return {
            headers: answer.headers,
            bytes: method === "GET" ? await readAtMost(answer, most) : await drained(answer),
          };
        }
        const code = method === "HEAD" ? null : errorCode(await readAtMost(answer, LIST_PAGE_BYTES));
        if (answer.status === 404 && code !== "NoSuchBucket") return null;
        why = `the store answered ${answer.status}${code === null ? "" : ` ${code}`}`;
        if (answer.status !== 429 && answer.status < 500) {
          if (answer.status === 401 || answer.status === 403) {
            hint = this.#credentials === null
              ? "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
              : "Check the credentials, their rights, and AWS_REGION";
          } else hint = "Check the bucket, --endpoint and AWS_REGION";
          throw this.#unavailable(why, hint);
        }
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (error instanceof SvcError) throw error;
        if (error instanceof Deno.errors.NotCapable) {
          throw this.#unavailable(messageOf(error), `Allow it: --allow-net=${new URL(url).host}`);
        }
        why = "the connection failed";
      }
      if (attempt === ATTEMPTS) throw this.#unavailable(why, hint);
      await pause(this.#retryMs * 2 ** (attempt - 1), this.#signal);
    }
  }

  async #send(method: string, url: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = this.#signal === undefined ? timeout : AbortSignal.any([this.#signal, timeout]);
    let headers = new Headers();
    if (this.#credentials !== null) {
      const signer = new AwsV4Signer({
        ...this.#credentials,
        method,
        url,
        service: "s3",
        region: this.#region,
        headers: { "x-amz-content-sha256": sha256Hex(body ?? new Uint8Array()) },
      });
      ({ headers } = await signer.sign());
    }
    return await fetch(url, { method, headers, body, signal, redirect: "manual" });
  }

  #unavailable(why: string, hint: string | null = null): SvcError {
    return new SvcError("store_unavailable", `Cannot use ${this.address}: ${why}`, { hint });
  }
}

/** A variable without permission counts as unset. */
function environmentVariable(name: string): string | undefined {
  return Deno.permissions.querySync({ name: "env", variable: name }).state === "granted"
    ? Deno.env.get(name) || undefined
    : undefined;
}

function endpointUrl(address: string, allowHttp: boolean): string {
  // With a digest `checkAddress` accepts http: here signatures and digests protect requests and replies.
  const url = checkAddress(address, allowHttp ? "any" : undefined);
  return url.href.replace(/\/+$/, "");
}

/** @throws Error for more bytes, or fewer than announced: both are repeated, and end as a failed connection */
async function readAtMost(answer: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body ?? []) {
    size += part.length;
    if (size > most) {
      const { pathname } = new URL(answer.url);
      throw new SvcError("store_invalid", `Cannot use ${pathname} of the store: it has more than ${most} bytes`);
    }
    parts.push(part);
  }
  const announced = answer.headers.get("content-length");
  if (announced !== null && !answer.headers.has("content-encoding") && Number(announced) !== size) {
    throw new Error("The answer was cut");
  }
  return joinBytes(parts);
}

async function drained(answer: Response): Promise<Uint8Array<ArrayBuffer>> {
  await answer.body?.cancel();
  return new Uint8Array();
}

/** The code of an error document, in letters alone: a store may write anything there, such as what it was sent. */
function errorCode(bytes: Uint8Array): string | null {
  return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1] ?? null;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const plainText = (xml: string) => xml.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]);

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
  signal?.throwIfAborted();
}

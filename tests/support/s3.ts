/**
 * A small S3-compatible store in memory for tests: objects of one bucket, lists in pages of three, and signatures of
 * version 4 checked as the documentation of AWS computes them, apart from the client of the program.
 *
 * Source: AWS, "Signature Version 4 for API requests", IAM User Guide.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Uint8Array, text: string) => createHmac("sha256", key).update(text).digest();

export const KEYS = { AWS_ACCESS_KEY_ID: "TESTKEY", AWS_SECRET_ACCESS_KEY: "test/secret+key", AWS_REGION: "eu-test-1" };

/** What a test does to an answer: another one, an end in the middle of its bytes, or none at all. */
export type Fault = (method: string, key: string, bytes: Uint8Array | undefined) => Response | "cut" | "down" | null;

export interface TestStore extends AsyncDisposable {
  endpoint: string;
  /** By key. */
  objects: Map<string, Uint8Array<ArrayBuffer>>;
  /** Method and key of each request, in order. */
  requests: string[];
  fault: Fault;
}

/** Why the signature of a request is wrong; null if it is right. */
function signatureProblem(request: Request, url: URL, body: Uint8Array): string | null {
  const { headers } = request, given = headers.get("authorization") ?? "";
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/
      .exec(given);
  if (match === null) return "AccessDenied";
  const [, key, day, region, names, signature] = match, time = headers.get("x-amz-date") ?? "";
  if (key !== KEYS.AWS_ACCESS_KEY_ID || region !== KEYS.AWS_REGION || !time.startsWith(day)) {
    return "InvalidAccessKeyId";
  }
  const digest = headers.get("x-amz-content-sha256");
  if (digest !== sha256(body) || !names.split(";").includes("x-amz-content-sha256")) return "XAmzContentSHA256Mismatch";
  const query = [...url.searchParams].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort().join("&");
  const signed = names.split(";").map((name) => `${name}:${name === "host" ? url.host : headers.get(name)?.trim()}\n`);
  const canonical = [request.method, url.pathname, query, signed.join(""), names, digest].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const secret = [day, region, "s3", "aws4_request"]
    .reduce<string | Uint8Array>((key, part) => hmac(key, part), `AWS4${KEYS.AWS_SECRET_ACCESS_KEY}`);
  const right = hmac(secret, text).toString("hex");
  return timingSafeEqual(new TextEncoder().encode(right), new TextEncoder().encode(signature.padEnd(64).slice(0, 64)))
    ? null
    : "SignatureDoesNotMatch";
}

const failure = (status: number, code: string) =>
  new Response(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`, { status });

/** Starts a store on this machine. */
export function testStore(bucket: string): TestStore {
  const objects: TestStore["objects"] = new Map(), requests: string[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {}, onError: () => failure(500, "Down") },
    handle,
  );
  const store: TestStore = {
    endpoint: `http://127.0.0.1:${server.addr.port}`,
    objects,
    requests,
    fault: () => null,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return store;

  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url), body = new Uint8Array(await request.arrayBuffer());
    const [, name, ...rest] = url.pathname.split("/"), key = rest.join("/");
    requests.push(`${request.method} ${key}`);
    const stored = objects.get(key);
    const fault = store.fault(request.method, key, stored);
    if (fault === "down") throw new Error("down");
    if (fault instanceof Response) return fault;
    const problem = signatureProblem(request, url, body);
    if (problem !== null) return failure(403, problem);
    if (name !== bucket) return failure(404, "NoSuchBucket");
    if (request.method === "PUT") {
      objects.set(key, body);
      return new Response(null);
    }
    if (key === "") return list(url.searchParams);
    if (stored === undefined) {
      return request.method === "HEAD" ? new Response(null, { status: 404 }) : failure(404, "NoSuchKey");
    }
    const headers = { "content-length": String(stored.length) };
    if (request.method === "HEAD") return new Response(null, { headers });
    if (fault !== "cut") return new Response(stored, { headers });
    const half = new ReadableStream({
      start(controller) {
        controller.enqueue(stored.subarray(0, stored.length >> 1));
      },
      pull: (controller) => controller.error(new Error("cut")),
    });
    return new Response(half, { headers });
  }

  function list(query: URLSearchParams): Response {
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "")).sort();
    const from = Number(query.get("continuation-token") ?? 0), page = keys.slice(from, from + 3);
    const next = from + 3 < keys.length ? `<NextContinuationToken>${from + 3}</NextContinuationToken>` : "";
    const contents = page.map((key) => `<Contents><Key>${key.replaceAll("&", "&amp;")}</Key></Contents>`).join("");
    return new Response(`<ListBucketResult>${contents}${next}</ListBucketResult>`);
  }
}

/** A service on a folder of its own, asked without a socket. */
import { join } from "node:path";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createApp } from "../../../lib/http/app.ts";
import type { Log } from "../../../lib/http/log.ts";
import { type OpenService, openService } from "../../../lib/http/open_service.ts";
import type { openDatabase } from "../../../lib/run/index/database.ts";
import type { ReadMemory } from "../../../lib/http/jobs/resource_guard.ts";
import { type RunningServer, type ServeOptions, startServer } from "../../../lib/http/serve.ts";
import { DEFAULT_OPTIONS, type ServiceOptions } from "../../../lib/http/service.ts";
import { giveSourceDigests } from "../../support/source_digests.ts";
import { until, within } from "../../support/until.ts";

const PORT = 8765;
export const HOST = `127.0.0.1:${PORT}`;

/** A recipe that runs within milliseconds. */
export const BITS: JsonObject = {
  name: "bits",
  metadata: { seed: 7 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
    { id: "boundary", op: "channel.bit_boundary", inputs: { bits: "data.bits" } },
  ],
};

export const BITS_YAML = `# What this is for
name: bits
metadata:
  seed: 7 # kept
steps:
  - id: data
    op: source.random_bits
    params: { bit_count: 64 }
`;

/** A link whose bit error rate a pack compares. */
export const LINK = {
  name: "link",
  metadata: {
    seed: 3,
    research: { task: { id: "bit_transport" }, dataset: { id: "synthetic_random_bits" }, metrics: ["channel.ber"] },
  },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 1000 } },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "wireless_channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "wireless_channel.rx_symbols" } },
    {
      id: "evaluation",
      op: "metrics.bit_error_rate",
      inputs: { reference: "data.bits", candidate: "demodulator.bits" },
    },
  ],
};

/** A pack of recipe files. */
export function packOf(id: string, recipes: string[]) {
  return {
    schema_version: 1,
    id,
    version: "1",
    name: id,
    dataset: { id: "synthetic_random_bits", modality: "bits", version: "synthetic_random_bits-v1" },
    task: { id: "bit_transport", kind: "transport_integrity", modality: "bits" },
    metrics: ["channel.ber"],
    baselines: [],
    recipes: recipes.map((file, index) => ({
      id: `row_${index}`,
      label: file,
      role: "candidate",
      path: `../recipes/${file}`,
    })),
  };
}

export interface Asked {
  status: number;
  headers: Headers;
  text: string;
  // deno-lint-ignore no-explicit-any -- tests look into documents of every shape
  json: any;
}

export interface TestServer extends AsyncDisposable {
  folder: string;
  service: OpenService;
  log: Record<string, unknown>[];
  request(path: string, init?: RequestInit): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Asked>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Asked>;
}

export interface TestOptions extends Partial<ServiceOptions> {
  /** Files of the project by path. */
  files?: Record<string, string>;
  folder?: string;
  memory?: ReadMemory;
  openDatabase?: typeof openDatabase;
}

/** Waits for the end of a job, not for a shorter time that a test asks for. */
const WAITS = /\/wait(\?timeout_seconds=60)?$/;
/** Waits without any news after which a job has stalled. */
const MOST_UNCHANGED = 8;

/** Removes a folder in which a run of a closed service may still write. */
export async function removeLeft(folder: string): Promise<void> {
  await until(`nothing writes in ${folder}`, async () => {
    try {
      await Deno.remove(folder, { recursive: true });
      return true;
    } catch (error) {
      if (!/not empty/i.test((error as Error).message)) throw error;
      return false;
    }
  });
}

export async function openTestServer(
  { files = {}, folder, memory, openDatabase, ...options }: TestOptions = {},
): Promise<TestServer> {
  const root = folder ?? await Deno.makeTempDir({ prefix: "svc-http-" });
  for (const [path, text] of Object.entries({ "recipes/bits.yaml": BITS_YAML, ...files })) {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  giveSourceDigests(join(root, ".svc"));
  const lines: Record<string, unknown>[] = [];
  const log: Log = (record) => lines.push(record);
  const service = openService(
    { ...DEFAULT_OPTIONS, threads: 0, projectRoot: root, stateDir: join(root, ".svc"), ...options },
    log,
    { memory, openDatabase },
  );
  const app = createApp(service, { port: PORT, log });
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = new Headers({ host: HOST, ...init.headers as Record<string, string> });
    return await app.request(`http://${HOST}${path}`, { ...init, headers });
  };
  const asked = async (response: Response): Promise<Asked> => {
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  };
  return {
    folder: root,
    service,
    log: lines,
    request,
    get: async (path, headers = {}) => {
      // A job may need longer than the wait of the route: it is asked again while it makes progress.
      for (let before = "", unchanged = 0;;) {
        const reply = await asked(await request(path, { headers }));
        const ended = reply.status !== 200 || !WAITS.test(path) || reply.json.completed_at_utc;
        unchanged = reply.text === before ? unchanged + 1 : 0;
        if (ended || unchanged === MOST_UNCHANGED) return reply;
        before = reply.text;
      }
    },
    post: async (path, body, headers = {}) =>
      asked(
        await request(path, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      await service.drain();
      service.close();
      if (folder === undefined) await Deno.remove(root, { recursive: true });
    },
  };
}

/** A server on a free port and a folder of its own, for the duration of a test. */
export async function withServer(
  options: ServeOptions,
  body: (server: RunningServer, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "svc-serve-" });
  const server = await startServer({ projectRoot: folder, port: 0, threads: 1, log() {}, ...options });
  try {
    await body(server, folder);
  } finally {
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The messages of an event stream, read until it ends or `enough` says so. */
export async function readStream(
  response: Response,
  enough: (messages: StreamMessage[]) => boolean = () => false,
): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = [];
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await within("the next message of the stream", reader.read());
    if (done) return messages;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data === undefined) continue;
      messages.push({ id: field("id") ?? null, event: field("event") ?? null, data: JSON.parse(data) });
    }
    if (enough(messages)) {
      await reader.cancel();
      return messages;
    }
  }
}

export interface StreamMessage {
  id: string | null;
  event: string | null;
  data: Record<string, unknown>;
}

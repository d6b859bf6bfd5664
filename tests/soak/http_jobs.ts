/**
 * Hours of a server in minutes: thousands of jobs, clients that vanish, malformed bodies, streams that are cut and resumed.
 *
 *     deno run -A tests/soak/http_jobs.ts [jobs, 2000 by default] [state directory, a fresh one by default]
 *
 * Every job that was acknowledged must end, every event of it must be seen once by a client that keeps coming back, every
 * run must be listed, and memory must not grow with the number of jobs: the growth of the resident set from a third of the
 * way to the end is printed, with a straight line through all samples between. Exits 1 when something is lost or the
 * growth over the last two thirds is above 15 % of the set.
 */
import { join } from "node:path";
import { addressOfCli } from "../bench/places.ts";

const total = Number(Deno.args[0] ?? 2000);
const folder = Deno.args[1] ?? await Deno.makeTempDir({ prefix: "svc-soak-" });
// A process of its own: its memory is the server's alone.
const server = new Deno.Command(Deno.execPath(), {
  args: [
    ...addressOfCli,
    "--project-root",
    folder,
    "--workspace",
    join(folder, ".svc"),
    "--json",
    "ui",
    "serve",
    "--port",
    "0",
  ],
  stdin: "null",
  stdout: "piped",
}).spawn();
const url = await listening(server.stdout);
const headers = { "content-type": "application/json" };
const recipe = (seed: number) => ({
  name: "soak",
  metadata: { seed },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
    { id: "boundary", op: "channel.bit_boundary", inputs: { bits: "data.bits" } },
  ],
});

const acknowledged = new Set<string>();
const ended = new Map<string, string>();
const nextSeq = new Map<string, number>();
let lost = 0, canceled = 0, reconnects = 0, refused = 0, vanished = 0, malformed = 0;
let running = true;

/** A client of all events that is cut off every now and then and resumes where it was. */
async function follow(): Promise<void> {
  let lastId = 0;
  while (running || [...acknowledged].some((id) => !ended.has(id))) {
    const controller = new AbortController();
    const cut = setTimeout(() => controller.abort(), 200 + Math.random() * 2000);
    let reader: ReadableStreamDefaultReader<string> | undefined;
    try {
      const response = await fetch(`${url}/api/events`, {
        headers: { "last-event-id": String(lastId) },
        signal: controller.signal,
      });
      let text = "";
      reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      // A reader that waits does not always hear of the abort; whoever cuts the stream must not wait for it either.
      const aborted = new Promise<never>((_, reject) =>
        controller.signal.addEventListener("abort", () => reject(new Error("cut off")))
      );
      aborted.catch(() => {});
      for (;;) {
        const { done, value } = await Promise.race([reader.read(), aborted]);
        if (done) break;
        text += value;
        const blocks = text.split("\n\n");
        text = blocks.pop()!;
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data === undefined) continue;
          const event = JSON.parse(data);
          if (event.kind === "truncated") {
            lose("events were dropped before they were read");
            continue;
          }
          const expected = nextSeq.get(event.job_id) ?? 1;
          if (event.seq !== expected) {
            lose(`job ${event.job_id}: seq ${event.seq}, expected ${expected}`);
          }
          nextSeq.set(event.job_id, event.seq + 1);
          lastId = event.id;
          if (/^job_(completed|canceled|failed)$/.test(event.kind)) ended.set(event.job_id, event.kind);
        }
      }
    } catch {
      reconnects++;
    } finally {
      clearTimeout(cut);
      // Nor does the abort alone always close the connection.
      reader?.cancel().catch(() => {});
    }
  }
}

/** Clients that ask for something and go away before they have it. */
async function vanish(): Promise<void> {
  while (running) {
    const controller = new AbortController();
    const paths = [
      "/api/ops",
      "/api/events",
      "/api/recipes",
      "/api/runs?limit=500",
      "/api/run-jobs",
      "/api/benchmarks/packs",
    ];
    // Inspecting the templates takes longer than anything else: a few of these at a time, not a flood.
    const path = vanished % 50 === 0 ? "/api/recipe-templates" : paths[vanished % paths.length];
    const asking = fetch(url + path, { signal: controller.signal });
    setTimeout(() => controller.abort(), Math.random() * 20);
    await asking.then((response) => response.body?.cancel()).catch(() => {});
    vanished++;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Bodies that nobody should send. */
async function malform(): Promise<void> {
  const bodies = ["{", "[]", "x".repeat(10_000), '{"recipe": {"steps": [', '{"a": 1}', "\u0000", "[".repeat(5000)];
  while (running) {
    const reply = await fetch(`${url}/api/run-jobs`, {
      method: "POST",
      headers,
      body: bodies[malformed % bodies.length],
    });
    await reply.body?.cancel();
    if (reply.status !== 400) {
      lose(`a malformed body got ${reply.status}`);
    }
    malformed++;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const samples: [number, number][] = [];
async function submit(): Promise<void> {
  while (acknowledged.size < total) {
    const reply = await fetch(`${url}/api/run-jobs`, {
      method: "POST",
      headers,
      body: JSON.stringify({ recipe: recipe(acknowledged.size) }),
    });
    if (reply.status !== 202) {
      refused++;
      const text = await reply.text();
      if (reply.status !== 429 && reply.status !== 503) {
        lose(`a job got ${reply.status}: ${text}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 30));
      continue;
    }
    const { job_id } = await reply.json();
    acknowledged.add(job_id);
    if (acknowledged.size % 50 === 0) {
      const canceling = await fetch(`${url}/api/run-jobs/${job_id}/cancel`, { method: "POST", headers, body: "{}" });
      await canceling.body?.cancel();
    }
    if (acknowledged.size % Math.max(1, Math.floor(total / 60)) === 0) {
      samples.push([acknowledged.size, await gauge("svc_resident_memory_bytes")]);
    }
  }
}

const startedAt = performance.now();
const following = follow();
const noise = [vanish(), vanish(), malform()];
await submit();
running = false;
await Promise.all([...noise, following]);
const seconds = (performance.now() - startedAt) / 1000;
for (const kind of ended.values()) if (kind === "job_canceled") canceled++;
for (const [id, kind] of ended) if (kind === "job_failed") lose(`job ${id} failed`);

let listed = 0;
for (let cursor: string | null = "";;) {
  const page: { runs: { run_id: string; status: string }[]; next_cursor: string | null } =
    await (await fetch(`${url}/api/runs?limit=500${cursor ? `&cursor=${cursor}` : ""}`)).json();
  listed += page.runs.length;
  cursor = page.next_cursor;
  if (cursor === null) break;
}
const completed = [...ended.values()].filter((kind) => kind === "job_completed").length;
if (listed < completed) lose(`${completed - listed} runs are not listed`);
// A stream whose client went away is noticed at its next comments, one every 15 s.
for (let wait = 0; wait < 800 && await gauge("svc_event_streams") > 0; wait++) {
  await new Promise((go) => setTimeout(go, 50));
}
const left = await gauge("svc_event_streams");
if (left !== 0) lose(`${left} streams are still open`);

server.kill("SIGTERM");
const { code } = await server.status;
if (code !== 0) lose(`the server ended with ${code}`);

const tail = samples.slice(Math.floor(samples.length / 3));
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const [jobs, memory] = [tail.map(([count]) => count), tail.map(([, rss]) => rss)];
const slope = mean(tail.map(([count, rss]) => (count - mean(jobs)) * (rss - mean(memory)))) /
  mean(jobs.map((count) => (count - mean(jobs)) ** 2));
const growth = slope * (jobs.at(-1)! - jobs[0]) / mean(memory);
const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
console.log(
  `${acknowledged.size} jobs in ${seconds.toFixed(0)} s, ${completed} completed, ${canceled} canceled, ${listed} runs`,
);
console.log(
  `${reconnects} reconnects, ${refused} refusals (429, 503), ${vanished} clients vanished, ${malformed} malformed bodies`,
);
console.log(`resident set ${samples.map(([, rss]) => mib(rss)).filter((_, i) => i % 10 === 0).join(", ")}`);
console.log(`growth over the last two thirds: ${(100 * growth).toFixed(1)} % (${(slope / 1024).toFixed(2)} KiB a job)`);
console.log(`lost: ${lost}`);
if (Deno.args[1] === undefined) await Deno.remove(folder, { recursive: true });
Deno.exit(lost === 0 && growth < 0.15 ? 0 : 1);

/** The address in the JSON value that the server prints first. */
async function listening(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const chunk of output.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("}")) return JSON.parse(text).url;
  }
  throw new Error("The server ended before it listened");
}

/** A number of `/metrics`. */
async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

function lose(what: string): void {
  lost++;
  console.log(what);
}

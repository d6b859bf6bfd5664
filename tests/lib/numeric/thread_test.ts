// Process of its own: it counts the threads of the process.
import assert from "node:assert/strict";
import { Thread } from "../../../lib/numeric/parallel/thread.ts";
import { needs } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { workerThreads } from "../../support/worker_threads.ts";
import type { Order } from "./thread_worker.ts";

const linux = needs("Linux", Deno.build.os === "linux");
const none = () => until("all threads end", () => workerThreads() === 0);

for (const module of ["execute/worker", "http/jobs/worker", "http/threads/worker", "onnx/sandbox"]) {
  Deno.test({
    name: `an idle worker of lib/${module}.ts ends even when the wake of its termination is lost`,
    ...linux,
    async fn() {
      const { terminate } = Worker.prototype;
      Worker.prototype.terminate = () => {};
      try {
        new Thread(new URL(`../../../lib/${module}.ts`, import.meta.url), { name: "svc test" }).end();
        await none();
      } finally {
        Worker.prototype.terminate = terminate;
      }
    },
  });
}

/** A thread of the test, and its messages in turn. */
async function started() {
  const thread = new Thread(new URL("./thread_worker.ts", import.meta.url), { name: "svc test" });
  const messages: unknown[] = [];
  thread.port.onmessage = ({ data }) => void messages.push(data);
  thread.onerror = (message) => void messages.push({ failed: message });
  const next = async () => {
    await until("a message of the thread", () => messages.length > 0);
    return messages.shift();
  };
  assert.equal(await next(), "ready");
  return { next, tell: (order: Order) => thread.port.postMessage(order), end: () => thread.end() };
}

const sharedWord = () => new Int32Array(new SharedArrayBuffer(4));

Deno.test("a thread uses a thread that the first one opened, and both talk at once", async () => {
  const { next, tell, end } = await started();
  const opened: string[] = [], { Worker } = globalThis;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      opened.push(String(url));
    }
  };
  try {
    tell({ type: "start" });
    assert.deepEqual(await next(), { other: "ready" });
  } finally {
    globalThis.Worker = Worker;
  }
  assert.equal(opened.length, 1, "the thread opened the other one itself, which costs a second");
  // A thread that was asked for may ask in turn.
  tell({ type: "pass", order: { type: "start" } });
  assert.deepEqual(await next(), { other: { other: "ready" } });
  tell({ type: "pass", order: { type: "pass", order: { type: "may read" } } });
  assert.deepEqual(await next(), { other: { other: "granted" } });
  end();
});

Deno.test("a thread with fewer permissions has them, and may not ask for others", async () => {
  const { next, tell, end } = await started();
  tell({ type: "start", permissions: "none" });
  assert.deepEqual(await next(), { other: "ready" });
  tell({ type: "pass", order: { type: "may read" } });
  assert.deepEqual(await next(), { other: "prompt" });
  // It starts one itself, with no more than its own permissions.
  tell({ type: "pass", order: { type: "start" } });
  assert.match(JSON.stringify(await next()), /failed/);
  end();
});

Deno.test("a thread learns that one it asked for failed, or did not start", async () => {
  const { next, tell, end } = await started();
  tell({ type: "start" });
  assert.deepEqual(await next(), { other: "ready" });
  tell({ type: "pass", order: { type: "fail" } });
  assert.match(JSON.stringify(await next()), /failed.*as told/);
  tell({ type: "start nothing" });
  assert.match(JSON.stringify(await next()), /failed.*thread_worker_missing/);
  tell({ type: "fail" });
  assert.match(JSON.stringify(await next()), /failed.*as told/);
  end();
});

Deno.test("what code in a thread sends past its starter is left alone", async () => {
  const { next, tell, end } = await started();
  tell({ type: "shout" });
  assert.equal(await next(), "shouted");
  tell({ type: "start" });
  assert.deepEqual(await next(), { other: "ready" });
  end();
});

for (const by of ["its own wish", "the thread that asked for it", "the end of that thread"] as const) {
  Deno.test({
    name: `a thread that was asked for ends by ${by}`,
    ...linux,
    async fn() {
      const { next, tell, end } = await started();
      tell({ type: "start" });
      assert.deepEqual(await next(), { other: "ready" });
      if (by === "its own wish") tell({ type: "pass", order: { type: "close" } });
      if (by === "the thread that asked for it") tell({ type: "end other" });
      if (by !== "the end of that thread") await until("it ends", () => workerThreads() === 1);
      end();
      await none();
    },
  });
}

Deno.test({
  name: "a thread that sleeps wakes by the value that ends it, with the thread that asked for it",
  ...linux,
  async fn() {
    const { next, tell, end } = await started(), words = sharedWord();
    tell({ type: "start", words });
    assert.deepEqual(await next(), { other: "ready" });
    tell({ type: "pass", order: { type: "sleep", words } });
    assert.deepEqual(await next(), { other: "sleeps" });
    end();
    await none();
  },
});

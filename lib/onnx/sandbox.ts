/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The sandbox: a worker without permissions that holds the engine and its sessions. The engine limits the memory of a
 * session; the watchdog of `guard` interrupts a call, because a looping thread survives the termination of its worker.
 */
import { messageOf } from "../contract/error.ts";
import { serveStarter } from "../numeric/parallel/thread.ts";
import { type BoundedEngine, createEngine, type EngineSession, loadPackage } from "./engine.ts";
import { createGuard } from "./guard.ts";
import type { SandboxFailure, SandboxReply, SandboxRequest, SandboxValue } from "./sandbox_protocol.ts";
import { transferOf } from "./tensors.ts";

const guard = createGuard();
/** Loaded while the program compiles the engine. */
const loading = loadPackage();
loading.catch(() => {});
let engine: BoundedEngine;
const sessions = new Map<number, EngineSession>();
let timeoutMs: number;

async function serve(request: SandboxRequest): Promise<[SandboxValue, ArrayBuffer[]?]> {
  switch (request.type) {
    case "start":
      timeoutMs = 1000 * request.limits.call_timeout_s;
      engine = await createEngine(await loading, request.engine, request.limits.memory_mb);
      return [null];
    case "open": {
      const session = await watched(() => engine.open(request.model));
      sessions.set(request.session, session);
      return [{ inputs: session.inputs, outputs: session.outputs }];
    }
    case "run": {
      const outputs = await watched(() => sessions.get(request.session)!.run(request.feeds));
      return [outputs, transferOf(outputs)];
    }
    case "release": {
      const session = sessions.get(request.session);
      sessions.delete(request.session);
      await session?.release();
      return [null];
    }
  }
}

/** Runs a call of the engine within its time limit, in one evaluation that the watchdog covers. */
async function watched<T>(start: () => Promise<T>): Promise<T> {
  let settled = false;
  guard.allow(timeoutMs);
  try {
    const { result } = await guard.enter(() => ({ result: start().finally(() => settled = true) }));
    if (!settled) throw new TypeError("the runtime computed outside its time limit");
    return await result;
  } finally {
    guard.allow(null);
  }
}

function failureOf(error: unknown): SandboxFailure {
  const timedOut = (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
  const exceeded = timedOut ? "call_timeout_s" : engine?.wantedMemory(error) ? "memory_mb" : undefined;
  return { error: messageOf(error), exceeded, broken: error instanceof WebAssembly.RuntimeError };
}

const sendReply = serveStarter<SandboxRequest, SandboxReply>(async (request) => {
  const send = (reply: { value: SandboxValue } | SandboxFailure, transfer: ArrayBuffer[] = []) =>
    sendReply({ ...reply, heldBytes: engine?.heldBytes() ?? 0 }, transfer);
  try {
    const [value, transfer] = await serve(request);
    send({ value }, transfer);
  } catch (error) {
    send(failureOf(error));
  }
});

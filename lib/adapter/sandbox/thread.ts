/**
 * The inner half of a sandbox: confines itself, then loads the adapter's modules and runs the requested calls.
 *
 * The adapter's code shares this thread and can change its behaviour, so the program trusts no message from it. The
 * checks here only make error messages clear and avoid copies.
 */
import { workerData } from "node:worker_threads";
import { getHeapStatistics } from "node:v8";
import type { NdArray } from "../../numeric/ndarray.ts";
import { confine } from "./confine.ts";
import { createInference } from "./inference.ts";
import { createGuard, type Guard } from "../../onnx/guard.ts";
import { createModules, type ModuleTable } from "./modules.ts";
import { type CallRequest, type HostMessage, type SandboxInit, Vital, type WireError } from "./protocol.ts";

const { port, init } = workerData as { port: MessagePort; init: SandboxInit };
const send = port.postMessage.bind(port) as (message: unknown, transfer?: Transferable[]) => void;
const BEAT_MS = 25;
const PROGRESS_MS = 50;

type Callable = (...args: unknown[]) => unknown;

let guard: Guard;
let modules: ModuleTable;
let confinement: ReturnType<typeof confine> | undefined;
try {
  guard = createGuard();
  watch();
  modules = await createModules(init.sources, guard, (specifier) => confinement!.refuseImport(specifier));
  confinement = confine(init, guard);
  port.onmessage = ({ data }: MessageEvent<HostMessage>) => receive(data);
  send({ type: "ready" });
} catch (error) {
  send({ type: "unsupported", message: textOf(error) });
}

/** Running calls; messages of a call after its end are dropped. */
interface Call {
  controller: AbortController;
  lastProgress: number;
}
const calls = new Map<number, Call>();
const inference = createInference(send, init.maxBytes, () => Atomics.store(init.vitals, Vital.heapFull, 1));
const namespaces = new Map<string, Record<string, unknown>>();

/** Reports the state of the thread. V8 raises a heap's limit once, to end the code that filled it. */
function watch(): void {
  const limit = getHeapStatistics().heap_size_limit;
  const { exit } = Deno;
  const beat = () => {
    if (Atomics.load(init.vitals, Vital.givenUp) === 1) exit();
    Atomics.add(init.vitals, Vital.beat, 1);
    if (guard.entered || getHeapStatistics().heap_size_limit > limit) Atomics.store(init.vitals, Vital.heapFull, 1);
    if (confinement !== undefined) Atomics.store(init.vitals, Vital.heldMb, confinement.heldMb());
  };
  setInterval(beat, BEAT_MS);
  // Stops these events: a listener of the adapter's code would run outside the guard.
  for (const name of ["unhandledrejection", "rejectionhandled", "error", "message", "messageerror"]) {
    globalThis.addEventListener(name, (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    });
  }
}

async function receive(message: HostMessage): Promise<void> {
  switch (message.type) {
    case "load":
      return await load(message.modules);
    case "call":
      return await call(message);
    case "cancel":
      return void guard.enter(() => calls.get(message.call)?.controller.abort()).catch(() => {});
    case "inferred":
      return await guard.enter(() => inference.answer(message.id, message.arrays, message.error)).catch(() => {});
  }
}

async function load(wanted: { url: string; callables: string[] }[]): Promise<void> {
  for (const { url, callables } of wanted) {
    let namespace: Record<string, unknown>;
    guard.allow(init.timeoutMs);
    try {
      namespace = await modules.load(url);
    } catch (error) {
      const found = await wireError("import", error);
      return send({ type: "load_failed", error: found });
    }
    namespaces.set(url, namespace);
    for (const name of callables) {
      if (typeof namespace[name] === "function") continue;
      return send({
        type: "load_failed",
        error: {
          origin: "missing",
          name: "",
          message: `${url.split("/").pop()} exports no function ${name}`,
          refused: null,
        },
      });
    }
  }
  send({ type: "loaded" });
}

async function call(request: CallRequest): Promise<void> {
  const id = request.call;
  const state: Call = { controller: new AbortController(), lastProgress: -Infinity };
  calls.set(id, state);
  const context = Object.freeze({
    signal: state.controller.signal,
    seed: request.seed,
    models: Object.freeze(Object.fromEntries(init.models)),
    report_progress(completed: number, total: number, message?: string) {
      const now = performance.now();
      if (!calls.has(id) || (now - state.lastProgress < PROGRESS_MS && completed < total)) return;
      state.lastProgress = now;
      send({
        type: "progress",
        call: id,
        completed: Number(completed),
        total: Number(total),
        message: message === undefined ? null : String(message).slice(0, 500),
      });
    },
    // deno-lint-ignore require-await -- invalid arguments reject the promise
    async infer(model: unknown, feeds: unknown): Promise<Record<string, NdArray>> {
      if (ended) throw new Error("the call has ended");
      return inference.ask(id, model, feeds);
    },
  });
  confinement!.takeRefusal();
  confinement!.takeLog();
  let origin: WireError["origin"] = "throw", ended = false;
  guard.allow(init.timeoutMs);
  try {
    const callable = namespaces.get(request.module)![request.callable] as Callable;
    // Wrapped in an object: a returned `then` must run under the guard.
    const { returned } = await guard.enter(() => ({ returned: Promise.resolve(callable(...request.args, context)) }));
    const value = await returned;
    origin = "result";
    const { log, dropped } = confinement!.takeLog();
    // Copying runs getters and proxies.
    await guard.enter(() => {
      const transfer = transferable(value);
      calls.delete(id);
      send({ type: "result", call: id, value, log, dropped }, transfer);
    });
  } catch (error) {
    calls.delete(id);
    const found = await wireError(origin, error);
    const { log, dropped } = confinement!.takeLog();
    send({ type: "failed", call: id, error: found, log, dropped });
  } finally {
    ended = true;
    inference.drop();
    guard.allow(null);
  }
}

/** The memory of the arrays in a result, which is transferred instead of copied. */
function transferable(value: unknown): Transferable[] {
  const found = new Set<ArrayBuffer>();
  let bytes = 0;
  const models = new Set<ArrayBufferLike>([...init.models.values()].map((model) => model.buffer));
  const note = (array: unknown) => {
    const data = typeof array === "object" && array !== null ? (array as { data?: unknown }).data : undefined;
    if (!ArrayBuffer.isView(data)) return;
    bytes += data.byteLength;
    const { buffer } = data;
    // A view of a part would transfer the whole buffer, which may still be needed.
    if (buffer instanceof ArrayBuffer && data.byteLength === buffer.byteLength && !models.has(buffer)) {
      found.add(buffer);
    }
  };
  note(value);
  if (typeof value === "object" && value !== null) note((value as { array?: unknown }).array);
  if (bytes > init.maxBytes) {
    throw new RangeError(`the array has ${bytes} bytes, and the limit is ${init.maxBytes}`);
  }
  return [...found];
}

async function wireError(origin: WireError["origin"], error: unknown): Promise<WireError> {
  const refused = confinement?.takeRefusal() ?? null;
  try {
    const [name, message] = await guard.enter(() => [nameOf(error), textOf(error)]);
    return { origin, name, message, refused };
  } catch {
    return { origin, name: "", message: "an error without a text form", refused };
  }
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name).slice(0, 100) : "";
  } catch {
    return "";
  }
}

/** The message of any thrown value, also of one whose conversion throws. */
function textOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return String(text).slice(0, 2000);
  } catch {
    return "an error without a text form";
  }
}

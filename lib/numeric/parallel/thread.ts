/**
 * Worker threads that talk with their starter over a message port.
 *
 * A worker that another worker starts waits for a debugger for half a second before its module, and as long before its first
 * message (Deno 2.9). So a thread does not start another one itself: it asks the thread that opened it. The main thread thus opens
 * all threads, and ends them with the thread that asked for them. Threads with fewer permissions than the program may not ask.
 *
 * `Worker.terminate` of Deno sets a flag and wakes the thread's event loop. The wake is lost when it comes between the loop's look
 * at the flag and its sleep, and the thread of an idle worker then never ends, nor what waits for it. A message before it wakes the
 * loop in any case.
 */

/** How a thread is started. */
export interface ThreadOptions {
  name: string;
  /** Fewer permissions than those of the program. */
  permissions?: Deno.PermissionOptions;
  /** Shared words with the values that end a thread which sleeps in `Atomics.wait`: no message and no termination wakes it. */
  ending?: { words: Int32Array<SharedArrayBuffer>; values: readonly (readonly [index: number, value: number])[] };
}

/** What a worker gets first. */
interface Opening {
  port: MessagePort;
  /** Whether it may ask for threads. */
  mayAsk: boolean;
}

/** What a worker sends to the thread that opened it: a wish for a thread, or that it ends by itself. */
type Notice =
  | { type: "start"; url: string; options: ThreadOptions; port: MessagePort; events: MessagePort }
  | { type: "closed" };

const END = "end of thread";

/** The scope of a worker. */
const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<Opening | typeof END>) => void;
  postMessage(notice: Notice, transfer?: Transferable[]): void;
  close(): void;
};

/** Sends a notice to the thread that opened this one; null in the main thread, and where it may not ask. */
let notify: ((notice: Notice, transfer: Transferable[]) => void) | null = null;

/** A thread that this one uses. */
export class Thread {
  /** Messages from and to the thread. */
  readonly port: MessagePort;
  /** Called with the reason when the thread did not start, or ended by an error. */
  onerror: (message: string) => void = () => {};
  readonly #end: () => void;

  constructor(url: URL, options: ThreadOptions) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const fail = (message: string) => this.onerror(message);
    this.#end = notify === null ? open(url.href, options, port2, fail) : ask(notify, url.href, options, port2, fail);
  }

  /** Ends it: at once when it is idle, else within two seconds. */
  end(): void {
    this.#end();
    this.port.close();
  }
}

type Fail = (message: string) => void;

/** Has a thread opened by the one that opened this one. @returns ends it */
function ask(send: NonNullable<typeof notify>, url: string, options: ThreadOptions, port: MessagePort, fail: Fail) {
  const { port1: own, port2: events } = new MessageChannel();
  own.onmessage = ({ data }: MessageEvent<string>) => fail(data);
  send({ type: "start", url, options, port, events }, [port, events]);
  return () => {
    own.postMessage(END);
    own.close();
  };
}

/** Opens a thread. @returns ends it, with those that it asked for */
function open(url: string, options: ThreadOptions, port: MessagePort, fail: Fail, onEnd = () => {}): () => void {
  const { name, permissions, ending } = options, asked = new Set<() => void>();
  let worker: Worker;
  const end = () => {
    for (const [index, value] of ending?.values ?? []) {
      Atomics.store(ending!.words, index, value);
      Atomics.notify(ending!.words, index);
    }
    worker?.postMessage(END);
    worker?.terminate();
    for (const endOther of asked) endOther();
    onEnd();
  };
  try {
    worker = new Worker(url, { type: "module", name, ...permissions === undefined ? {} : { deno: { permissions } } });
  } catch (error) {
    queueMicrotask(() => fail(String(error)));
    return end;
  }
  worker.onerror = (event) => {
    event.preventDefault();
    fail(event.message);
  };
  // Code that runs in the thread may send anything.
  worker.onmessage = ({ data: notice }: MessageEvent<Notice | null>) => {
    if (notice?.type === "closed") return end();
    if (notice?.type !== "start" || permissions !== undefined) return;
    const { events } = notice;
    const endOther = open(notice.url, notice.options, notice.port, (message) => events.postMessage(message), () => {
      asked.delete(endOther);
      events.close();
    });
    asked.add(endOther);
    events.onmessage = endOther;
  };
  worker.postMessage({ port, mayAsk: permissions === undefined } satisfies Opening, [port]);
  return end;
}

/**
 * Serves the starter of this worker.
 * @param receive takes the messages of the starter
 * @returns sends messages to it, also before its first one
 */
export function serveStarter<In, Out>(
  receive: (message: In) => void,
): (message: Out, transfer?: Transferable[]) => void {
  const opened = Promise.withResolvers<MessagePort>();
  let port: MessagePort | undefined;
  scope.onmessage = ({ data }) => {
    if (data === END) return scope.close();
    port = data.port;
    if (data.mayAsk) notify = (notice, transfer) => scope.postMessage(notice, transfer);
    port.onmessage = ({ data }: MessageEvent<In>) => receive(data);
    opened.resolve(port);
  };
  return (message, transfer = []) => {
    if (port !== undefined) port.postMessage(message, transfer);
    else opened.promise.then((port) => port.postMessage(message, transfer));
  };
}

/** Ends this worker by itself. */
export function closeOwnThread(): void {
  scope.postMessage({ type: "closed" });
  scope.close();
}

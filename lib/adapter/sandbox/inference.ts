/**
 * `context.infer`: the thread sends one request at a time. The others wait here as copies in the adapter's own memory,
 * and count against its `memory_mb` before they are copied.
 *
 * The adapter's code can replace every function of the language in this thread, iterators included. So functions for
 * measuring and copying are saved before that code is loaded, lists are read by index, and the state is in variables.
 */
import type { NdArray } from "../../numeric/ndarray.ts";
import type { ThreadMessage, WireArray } from "./protocol.ts";

/** Overhead of a request besides its arrays. */
const REQUEST_BYTES = 4096;
const MAX_FEEDS = 256, MAX_NAME = 1000, MAX_RANK = 8;

const { apply } = Reflect;
const { create, keys } = Object;
const { isArray } = Array;
const prototype = Object.getPrototypeOf(Uint8Array.prototype);
const copyInto = prototype.set;
const getterOf = (name: PropertyKey) => Object.getOwnPropertyDescriptor(prototype, name)!.get!;
const getTag = getterOf(Symbol.toStringTag), getLength = getterOf("length"), getBytes = getterOf("byteLength");
/** Makes a typed array by the name of its class. */
const CLASSES: Record<string, new (length: number) => ArrayBufferView<ArrayBuffer>> = Object.assign(
  Object.create(null),
  {
    Uint8Array,
    Int32Array,
    BigInt64Array,
    Float32Array,
    Float64Array,
  },
);

type Feeds = Record<string, WireArray>;
type Reply = Record<string, NdArray>;

interface Request {
  id: number;
  call: number;
  model: string;
  feeds: Feeds;
  bytes: number;
  resolve(reply: Reply): void;
  reject(error: Error): void;
  next: Request | null;
}

export interface Inference {
  /** Requests a model run; the arrays are copied at once. */
  ask(call: number, model: unknown, feeds: unknown): Promise<Reply>;
  /** Receives the reply to the current request, and sends the next one. */
  answer(id: number, arrays: Reply | undefined, error: string | undefined): void;
  /** Drops the waiting requests: their call has ended. */
  drop(): void;
}

/**
 * @param send posts a message, with memory to transfer
 * @param limitBytes maximum total size of the requests
 * @param exceeded is called when this would be exceeded
 */
export function createInference(
  send: (message: ThreadMessage, transfer: ArrayBuffer[]) => void,
  limitBytes: number,
  exceeded: () => void,
): Inference {
  let held = 0, nextId = 1;
  let sent: Request | null = null, first: Request | null = null, last: Request | null = null;

  const sendNext = () => {
    if (sent !== null || first === null) return;
    sent = first;
    first = first.next;
    if (first === null) last = null;
    const { call, id, model, feeds } = sent;
    const transfer: ArrayBuffer[] = [];
    const names = keys(feeds);
    for (let i = 0; i < names.length; i++) transfer[i] = feeds[names[i]].data.buffer;
    send({ type: "infer", call, id, model, feeds }, transfer);
  };

  return {
    ask(call, model, feeds) {
      const { promise, resolve, reject } = Promise.withResolvers<Reply>();
      if (typeof model !== "string" || model.length > MAX_NAME) {
        throw new TypeError("the model must be given by its id");
      }
      const views = viewsOf(feeds), names = keys(views);
      let bytes = REQUEST_BYTES;
      for (let i = 0; i < names.length; i++) bytes += apply(getBytes, views[names[i]].data, []);
      if (held + bytes > limitBytes) {
        exceeded();
        throw new RangeError("the requests exceed the memory limit of the adapter");
      }
      held += bytes;
      const request: Request = {
        id: nextId++,
        call,
        model,
        feeds: copied(views),
        bytes,
        resolve,
        reject,
        next: null,
      };
      if (last === null) first = request;
      else last.next = request;
      last = request;
      sendNext();
      return promise;
    },
    answer(id, arrays, error) {
      if (sent === null || sent.id !== id) return;
      const request = sent;
      sent = null;
      held -= request.bytes;
      sendNext();
      if (arrays === undefined) request.reject(new Error(error));
      else request.resolve(arrays);
    },
    drop() {
      for (; first !== null; first = first.next) held -= first.bytes;
      last = null;
    },
  };
}

/** The feeds of the adapter's code, each field read once. @throws TypeError for another form */
function viewsOf(feeds: unknown): Feeds {
  if (typeof feeds !== "object" || feeds === null) throw new TypeError("feeds are {input: {dtype, shape, data}}");
  const names = keys(feeds), views: Feeds = create(null);
  if (names.length > MAX_FEEDS) throw new TypeError(`there are more than ${MAX_FEEDS} feeds`);
  for (let i = 0; i < names.length; i++) {
    const name = names[i], value = (feeds as Record<string, unknown>)[name];
    if (name.length > MAX_NAME) throw new TypeError("the name of a feed is too long");
    if (typeof value !== "object" || value === null) {
      throw new TypeError(`the feed ${name} is not {dtype, shape, data}`);
    }
    const { dtype, shape, data } = value as Partial<Record<keyof WireArray, unknown>>;
    if (typeof dtype !== "string" || dtype.length > MAX_NAME) throw new TypeError(`the feed ${name} has no dtype`);
    if (CLASSES[apply(getTag, data, [])] === undefined) {
      throw new TypeError(`the data of the feed ${name} is not a typed array of a known dtype`);
    }
    views[name] = { dtype, shape: sizesOf(shape, name), data: data as WireArray["data"] };
  }
  return views;
}

function sizesOf(shape: unknown, name: string): number[] {
  const rank = isArray(shape) ? shape.length : Infinity;
  if (rank > MAX_RANK) throw new TypeError(`the shape of the feed ${name} is not a list of at most ${MAX_RANK} sizes`);
  const sizes: number[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const size = (shape as unknown[])[axis];
    if (typeof size !== "number") throw new TypeError(`a size of the feed ${name} is not a number`);
    sizes[axis] = size;
  }
  return sizes;
}

/** The same arrays in new memory. */
function copied(views: Feeds): Feeds {
  const feeds: Feeds = create(null);
  const names = keys(views);
  for (let i = 0; i < names.length; i++) {
    const { dtype, shape, data } = views[names[i]];
    const copy = new CLASSES[apply(getTag, data, [])](apply(getLength, data, []));
    apply(copyInto, copy, [data]);
    feeds[names[i]] = { dtype, shape, data: copy };
  }
  return feeds;
}

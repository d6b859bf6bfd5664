/**
 * Frames between the program and the process of an adapter, on two pipes: 8 bytes with the length of the header
 * (little-endian), the header as JSON, then the arrays as NPY (version 1.0, little-endian, one dimension), one after the
 * other. The header is `{arrays: [bytes of each NPY file], message}`.
 *
 * In the message, `{"$": [kind, value]}` stands for a value that JSON does not have: `number` (NaN, an infinity, -0),
 * `integer` (a bigint in decimal digits), `undefined`, `array` (index of the array), `opaque` (an object of the named
 * class, without its content) and `object` (a mapping with a key `$` of its own).
 *
 * Both sides use this module; the guest has no others, so it imports nothing. A reader checks lengths, types and counts
 * before it allocates.
 */

/** Bounds of a received frame. */
export interface FrameLimits {
  /** Bytes of the header. */
  header: number;
  /** Values in the message. */
  values: number;
  /** Bytes of all arrays together. */
  arrays: number;
}

/** Why a frame cannot be read: it is over a limit, or it has another form. */
export class FrameError extends Error {
  readonly reason: "limit" | "form";

  constructor(reason: "limit" | "form", message: string) {
    super(message);
    this.reason = reason;
  }
}

type Typed = Uint8Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

/** The arrays that are sent, by NPY type. */
const CLASSES: readonly [descr: string, itemSize: number, make: new (buffer: ArrayBuffer) => Typed][] = [
  ["|u1", 1, Uint8Array],
  ["<i4", 4, Int32Array],
  ["<i8", 8, BigInt64Array],
  ["<f4", 4, Float32Array],
  ["<f8", 8, Float64Array],
];
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0];
const HEADER_START = MAGIC.length + 2;
const MAX_DEPTH = 100;
const { toString } = Object.prototype;
const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * The bytes of a frame, in pieces.
 * @throws TypeError for a message with functions or symbols, or one that is too deep
 */
export function frameOf(message: unknown): Uint8Array[] {
  const arrays: Uint8Array[] = [], sizes: number[] = [];
  const tag = (kind: string, value: unknown = null) => ({ $: [kind, value] });
  const encoded = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new TypeError("an object that is too deep could not be cloned");
    switch (typeof value) {
      case "undefined":
        return tag("undefined");
      case "bigint":
        return tag("integer", String(value));
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : tag("number", Object.is(value, -0) ? "-0" : String(value));
      case "function":
      case "symbol":
        throw new TypeError(`a ${typeof value} could not be cloned`);
      case "object":
        break;
      default:
        return value;
    }
    if (value === null) return null;
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      for (let i = 0; i < value.length; i++) list.push(encoded(value[i], depth + 1));
      return list;
    }
    const name = toString.call(value).slice(8, -1), known = CLASSES.find(([, , make]) => make.name === name);
    if (known !== undefined && ArrayBuffer.isView(value)) {
      const view = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      // Pipes do not take shared memory.
      const bytes = value.buffer instanceof ArrayBuffer ? view : view.slice();
      const head = npyHeader(known[0], bytes.length / known[1]);
      sizes.push(head.length + bytes.length);
      arrays.push(head, bytes);
      return tag("array", sizes.length - 1);
    }
    // An instance of a class is sent as its own fields, as a structured clone is.
    if (name !== "Object") return tag("opaque", name);
    const object: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(value)) object[key] = encoded((value as Record<string, unknown>)[key], depth + 1);
    return "$" in object ? tag("object", object) : object;
  };
  const content = encoded(message, 0);
  const header = encoder.encode(JSON.stringify({ arrays: sizes, message: content }));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
  return [length, header, ...arrays];
}

/** The next bytes of a stream, in a buffer of their own; undefined where it ends before them. */
export type Take = (bytes: number) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/**
 * Reads a frame.
 * @returns the message, or undefined at the end of the stream
 * @throws FrameError
 */
export async function readFrame(take: Take, limits: FrameLimits): Promise<unknown> {
  const length = await take(8);
  if (length === undefined) return undefined;
  const size = new DataView(length.buffer).getBigUint64(0, true);
  if (Number(size) > limits.header) {
    throw new FrameError("limit", `it has a document of ${size} bytes, and the limit is ${limits.header}`);
  }
  const rest = async (bytes: number): Promise<Uint8Array<ArrayBuffer>> => {
    const taken = bytes === 0 ? new Uint8Array(0) : await take(bytes);
    if (taken === undefined) throw new FrameError("form", "it ends inside a frame");
    return taken;
  };
  const header = await rest(Number(size));
  if (valuesIn(header) > limits.values) throw new FrameError("limit", `it has more than ${limits.values} values`);
  let parsed: { arrays?: unknown; message?: unknown };
  try {
    parsed = JSON.parse(decoder.decode(header));
  } catch {
    throw new FrameError("form", "its header is not JSON");
  }
  const { arrays: sizes, message } = parsed ?? {};
  const isSize = (bytes: unknown) => typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes > HEADER_START;
  if (!Array.isArray(sizes) || !sizes.every(isSize)) throw new FrameError("form", "its header names no arrays");
  const total = sizes.reduce((sum: number, bytes: number) => sum + bytes, 0);
  if (total > limits.arrays) {
    throw new FrameError("limit", `its arrays have ${total} bytes, and the limit is ${limits.arrays}`);
  }
  const arrays: Typed[] = [];
  for (const bytes of sizes) arrays.push(await readArray(rest, bytes));
  return decoded(message, arrays, 0);
}

/** An array of a frame: its type is known and its count is that of its bytes before memory is taken. */
async function readArray(rest: (bytes: number) => Promise<Uint8Array<ArrayBuffer>>, bytes: number): Promise<Typed> {
  const wrong = () => new FrameError("form", "an array is not a one-dimensional NPY file");
  const start = await rest(HEADER_START);
  if (!MAGIC.every((byte, index) => start[index] === byte)) throw wrong();
  const length = start[8] | start[9] << 8, data = bytes - HEADER_START - length;
  if (data < 0) throw wrong();
  const text = String.fromCharCode(...await rest(length));
  const match = /^\{'descr': '([^']{3})', 'fortran_order': False, 'shape': \(([0-9]{1,16}),\), \} *\n$/.exec(text);
  const [, itemSize, make] = CLASSES.find(([descr]) => descr === match?.[1]) ?? [];
  if (match === null || make === undefined || Number(match[2]) * itemSize! !== data) throw wrong();
  return new make((await rest(data)).buffer);
}

function npyHeader(descr: string, count: number): Uint8Array {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${count},), }`;
  const padded = text + " ".repeat(63 - (HEADER_START + text.length) % 64) + "\n";
  const head = new Uint8Array(HEADER_START + padded.length);
  head.set(MAGIC);
  head.set([padded.length & 255, padded.length >> 8], MAGIC.length);
  head.set(encoder.encode(padded), HEADER_START);
  return head;
}

/** At least the number of values in a JSON text: each follows a bracket, a comma or a colon. */
function valuesIn(json: Uint8Array): number {
  let values = 1, text = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (text) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) text = false;
    } else if (byte === 0x22) text = true;
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values++;
  }
  return values;
}

/** The values of a message; it is changed. @throws FrameError */
function decoded(value: unknown, arrays: readonly Typed[], depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > 2 * MAX_DEPTH) throw new FrameError("form", "its message is too deep");
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = decoded(value[i], arrays, depth + 1);
    return value;
  }
  if (Object.hasOwn(value, "$")) return untagged((value as { $: unknown }).$, arrays, depth);
  return entries(value, arrays, depth);
}

function entries(object: object, arrays: readonly Typed[], depth: number): object {
  for (const [key, entry] of Object.entries(object)) {
    if (typeof entry !== "object" || entry === null) continue;
    const value = decoded(entry, arrays, depth + 1);
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

function untagged(tag: unknown, arrays: readonly Typed[], depth: number): unknown {
  const [kind, value] = Array.isArray(tag) ? tag : [];
  if (kind === "undefined") return undefined;
  if (kind === "number" && ["NaN", "Infinity", "-Infinity", "-0"].includes(value)) return Number(value);
  if (kind === "integer" && typeof value === "string" && /^-?[0-9]{1,1000}$/.test(value)) return BigInt(value);
  if (kind === "array" && typeof value === "number" && arrays[value] !== undefined) return arrays[value];
  if (kind === "opaque" && typeof value === "string") {
    return Object.create({ constructor: { name: value.slice(0, 100) } });
  }
  if (kind === "object" && typeof value === "object" && value !== null && !Array.isArray(value)) {
    return entries(value, arrays, depth);
  }
  throw new FrameError("form", "its message has an unknown tag");
}

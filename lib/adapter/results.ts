/**
 * Checks of results from a sandbox: plain data in exactly the declared form. A decoded message has no getters and memory
 * of its own, but its numbers may be anything, and its texts may be long.
 */
import { type ArrayForm, formText, hasForm } from "../artifact/array_form.ts";
import { SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { Float, isNumber, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { type Dtype, DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";

/** Dtypes of an adapter's arrays. */
const ADAPTER_DTYPES: readonly Dtype[] = ["uint8", "int32", "int64", "float32", "float64", "complex64"];
const MAX_METADATA_BYTES = 2 ** 20;
const MAX_DEPTH = 32;
const MAX_NODES = 200_000;
const MAX_RANK = 8;

/** @throws SvcError `adapter_result_invalid` */
export function refuseResult(why: string, hint: string | null = null): never {
  throw new SvcError("adapter_result_invalid", `Cannot use the adapter's result: ${why}`, { hint });
}

const FORM = "Return {dtype, shape, data}, or {array: {dtype, shape, data}, metadata}";

/**
 * The array and the metadata of a coder's result.
 * @param limit maximum number of bytes of the array
 * @param forms allowed dtypes and shapes
 * @param sizes known axis sizes, by name
 * @throws SvcError `adapter_result_invalid`
 */
export function arrayResult(
  value: unknown,
  limit: number,
  forms: readonly ArrayForm[],
  sizes: Readonly<Record<string, number>>,
): { array: NdArray; metadata: JsonObject } {
  if (!isPlain(value)) refuseResult(`it is ${nameOf(value)}`, FORM);
  const { array: given, metadata = {}, ...more } = "array" in value ? value : { array: value };
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) refuseResult(`it has the unknown field ${JSON.stringify(unknown).slice(0, 80)}`, FORM);
  const array = checkedArray(given, "array" in value ? "its array" : "it", limit);
  if (!hasForm(array, forms, sizes)) {
    refuseResult(`it is ${array.dtype} [${array.shape.join(", ")}]`, `Return ${formText(forms, sizes)}`);
  }
  return { array, metadata: plainJson(metadata, "its metadata") };
}

/** An array of a sandbox as NdArray. @throws SvcError `adapter_result_invalid` */
export function checkedArray(value: unknown, what: string, limit: number): NdArray {
  if (!isPlain(value)) return refuseResult(`${what} is ${nameOf(value)}`, FORM);
  const { dtype, shape, data, ...more } = value;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) {
    refuseResult(`${what} has the unknown field ${JSON.stringify(unknown).slice(0, 80)}`, FORM);
  }
  if (typeof dtype !== "string" || !(ADAPTER_DTYPES as readonly string[]).includes(dtype)) {
    refuseResult(`${what} has the dtype ${nameOf(dtype)}`, `Known: ${ADAPTER_DTYPES.join(", ")}`);
  }
  if (
    !Array.isArray(shape) || shape.length > MAX_RANK || !shape.every((size) => Number.isSafeInteger(size) && size >= 0)
  ) {
    refuseResult(`the shape of ${what} is not a list of at most ${MAX_RANK} sizes`);
  }
  if (!ArrayBuffer.isView(data)) refuseResult(`the data of ${what} is ${nameOf(data)}, not a typed array`);
  const info = DTYPES[dtype as Dtype];
  const expected = info.make(new ArrayBuffer(0), 0, 0);
  if (Object.getPrototypeOf(data) !== Object.getPrototypeOf(expected)) {
    refuseResult(
      `${what} has the dtype ${dtype} but contains a ${data.constructor?.name ?? "foreign array"}`,
      `${dtype} needs a ${expected.constructor.name}`,
    );
  }
  const typed = data as NdArray["data"];
  if (typed.byteLength > limit) {
    refuseResult(
      `${what} has ${typed.byteLength} bytes, and the limit is ${limit}`,
      "Raise limits.memory_mb in its manifest",
    );
  }
  const count = elementCount(shape as number[]);
  if (!Number.isSafeInteger(count) || count * info.slots !== typed.length) {
    refuseResult(
      `${what} has ${typed.length / info.slots} elements, but its shape is [${shape.join(", ")}]`,
    );
  }
  return { dtype: dtype as Dtype, shape: [...shape] as number[], data: typed };
}

/**
 * Plain data as strict finite JSON with typed numbers: integral numbers and bigints are integers.
 * @throws SvcError `adapter_result_invalid`
 */
export function plainJson(
  value: unknown,
  what: string,
  maxBytes = MAX_METADATA_BYTES,
  maxNodes = MAX_NODES,
): JsonObject {
  let nodes = 0;
  const copy = (item: unknown, depth: number): Value => {
    if (++nodes > maxNodes || depth > MAX_DEPTH) refuseResult(`${what} is too large or too deep`);
    if (item === null || typeof item === "boolean") return item;
    if (typeof item === "bigint") return item;
    if (typeof item === "number") {
      if (!Number.isFinite(item)) refuseResult(`${what} contains ${item}, which is not a JSON number`);
      return item;
    }
    if (typeof item === "string") {
      if (item.length > maxBytes || !item.isWellFormed()) {
        refuseResult(`${what} contains a text that is too long or not valid Unicode`);
      }
      return item;
    }
    if (Array.isArray(item)) return Array.from(item, (entry) => copy(entry, depth + 1));
    if (!isPlain(item)) return refuseResult(`${what} contains ${nameOf(item)}, which is not a JSON value`);
    const object: JsonObject = {};
    for (const [key, entry] of Object.entries(item)) {
      if (!key.isWellFormed()) refuseResult(`${what} has a key that is not valid Unicode`);
      if (entry === undefined) continue;
      Object.defineProperty(object, key, {
        value: copy(entry, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return object;
  };
  const checked = copy(value, 0);
  if (!isObject(checked)) return refuseResult(`${what} is ${nameOf(value)}, not a mapping`);
  if (canonicalJson(checked).length > maxBytes) refuseResult(`${what} has more than ${maxBytes} bytes`);
  return checked;
}

/** A metric: an integer is a count, any other number is real-valued. */
function metricValue(value: Value, what: string): number | bigint {
  if (!isNumber(value)) return refuseResult(`${what} is not a number`);
  return value instanceof Float ? value.value : value;
}

/** Metrics of a result. The prefix separates them from those of built-in operations. */
export function adapterMetrics(adapter: string, returned: JsonObject): Record<string, number | bigint> {
  return Object.fromEntries(
    Object.entries(returned).map(([name, value]) => {
      if (!/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/.test(name)) {
        refuseResult(`${JSON.stringify(name).slice(0, 80)} is not a metric name`, "Use a name such as task.accuracy");
      }
      return [`external.${adapter.replaceAll("-", "_")}.${name}`, metricValue(value, `the metric ${name}`)];
    }),
  );
}

/** A plain object of a message. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (typeof value === "object") return `a ${Object.getPrototypeOf(value)?.constructor?.name ?? "foreign object"}`;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}

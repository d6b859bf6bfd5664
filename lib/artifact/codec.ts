/**
 * Artifacts as files: encodes outputs of operations and decodes inputs.
 *
 * Kinds with the suffix `numpy` are NPZ files: the main array under the name of the output port (items of several shapes as
 * `item_000000`, … with their `item_shapes`, the first of them as main array), companions under their
 * own names, and `metadata_json`, a 0-d Unicode array of canonical JSON. Kinds with the suffix `bundle` are ZIP files:
 * `bundle.json`, a document as below with the digest of every file, then the files. All others are canonical JSON and
 * one newline, with metadata under the top-level key `metadata` unless empty. The bytes depend on the contents alone.
 */
import { nodeBuffer } from "../contract/node_builtins.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, parseJson } from "../contract/json.ts";
import { type ArtifactKind, formatOfKind, jsonKindName } from "../contract/kinds.ts";
import type { InputArtifact, OutputArtifact } from "../contract/operation.ts";
import { cloneValue, Float, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { type Dtype, DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { holdsItems, itemName, MAXIMUM_ITEMS } from "./array_items.ts";
import { openNpz, writeNpz } from "./npz.ts";
import { openZip } from "./zip_read.ts";
import { writeZip, type ZipSource } from "./zip_write.ts";

/** The NPZ member with the metadata; a reserved name for arrays. */
export const METADATA_MEMBER = "metadata_json";
/** The document of a bundle and its folder of files; the document sorts first. */
const BUNDLE_DOCUMENT = "bundle.json", FILES_FOLDER = "files/";
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;
const BUNDLE_LIMITS = { maxEntries: 100, maxExpandedBytes: 2 ** 31 };
const ARRAY_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,199}$/;

export interface EncodedArtifact {
  /** `<port>.npz`, `<port>.zip` or `<port>.json`. */
  readonly fileName: string;
  /** The file in shared memory, in one allocation. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** Stored metadata; for NPZ with `array`, `dtype` and `shape` of the main array. */
  readonly metadata: JsonObject;
  /** Name of the main array; null without arrays. */
  readonly array: string | null;
  readonly dtype: Dtype | null;
  readonly shape: number[] | null;
}

/** An artifact as an operation reads it, which detects changes. */
export interface DecodedArtifact extends InputArtifact {
  /** The file of the artifact. */
  readonly bytes: Uint8Array;
  /** The changed part, such as `the array bits`; null without changes. */
  modified(): string | null;
}

/**
 * Encodes an output of an operation.
 * @param port name of the output; the main array and the file are named after it
 * @param kind determines the format
 * @param streamed whether arrays have the form that is written in blocks
 * @throws SvcError `output_kind_mismatch` for an output without the form of its kind, `output_metadata_invalid` for
 *   metadata or a document that is not strict finite JSON, `artifact_limit_exceeded` beyond 4 GiB
 */
export function encodeArtifact(
  port: string,
  kind: ArtifactKind,
  output: OutputArtifact,
  streamed = false,
): EncodedArtifact {
  const format = formatOfKind(kind);
  if (format === "npz") return encodeNpz(port, kind, output, streamed);
  return format === "zip" ? encodeBundle(port, kind, output) : encodeJson(port, kind, output);
}

function encodeNpz(port: string, kind: ArtifactKind, output: OutputArtifact, streamed: boolean): EncodedArtifact {
  const { items, companions = {} } = output;
  const mismatch = (why: string) => new SvcError("output_kind_mismatch", `Cannot store ${port} as ${kind}: ${why}`);
  if (items !== undefined && output.array !== undefined) throw mismatch("it has a main array besides its items");
  if (items !== undefined && items.length > MAXIMUM_ITEMS) throw mismatch(`it has more than ${MAXIMUM_ITEMS} items`);
  const main = items === undefined ? port : itemName(0), array = items === undefined ? output.array : items[0];
  if (array === undefined) throw mismatch("it has no array");
  if (output.json !== undefined) throw mismatch("it has a JSON document besides its array");
  if (port === METADATA_MEMBER) throw mismatch(`the name ${METADATA_MEMBER} is reserved`);
  const members: Record<string, NdArray | string> = { [main]: array };
  items?.forEach((item, index) => members[itemName(index)] = item);
  for (const [name, companion] of Object.entries(companions)) {
    if (name === METADATA_MEMBER || name === port || Object.hasOwn(members, name)) {
      throw mismatch(`the companion name ${name} is taken`);
    }
    if (!ARRAY_NAME.test(name)) throw mismatch(`${JSON.stringify(name)} is not a valid array name`);
    members[name] = companion;
  }
  for (const [name, member] of Object.entries(members)) {
    const problem = arrayProblem(member as NdArray);
    if (problem !== null) throw mismatch(`the array ${name} ${problem}`);
  }
  const shape = [...array.shape];
  const shapes: JsonObject = items === undefined ? {} : { item_shapes: items.map((item) => [...item.shape]) };
  const { value: metadata, text } = arrayMetadata(main, array, { ...output.metadata, ...shapes });
  const bytes = writeNpz({ ...members, [METADATA_MEMBER]: text }, streamed);
  return { fileName: `${port}.npz`, bytes, metadata, array: main, dtype: array.dtype, shape };
}

/**
 * The stored metadata of an output with an array, and their text.
 * @throws SvcError `output_metadata_invalid`
 */
export function arrayMetadata(
  port: string,
  { dtype, shape }: Pick<NdArray, "dtype" | "shape">,
  metadata: JsonObject = {},
): { value: JsonObject; text: string } {
  return strictJson({ ...metadata, array: port, dtype, shape: [...shape] }, `the metadata of ${port}`);
}

function encodeJson(port: string, kind: ArtifactKind, output: OutputArtifact): EncodedArtifact {
  const { json } = output;
  const mismatch = (why: string) => new SvcError("output_kind_mismatch", `Cannot store ${port} as ${kind}: ${why}`);
  if (!isObject(json)) throw mismatch("it has no JSON document");
  if (output.array !== undefined || Object.keys(output.companions ?? {}).length > 0) throw mismatch("it has arrays");
  if (json.kind !== jsonKindName(kind)) throw mismatch(`its document has the kind ${canonicalOrUnknown(json.kind)}`);
  const { metadata: inner, ...document } = json;
  const given = output.metadata ?? {};
  if (inner !== undefined && Object.keys(given).length > 0) throw mismatch("it has metadata in two places");
  const { value: metadata } = strictJson(inner ?? given, `the metadata of ${port}`);
  if (Object.keys(metadata).length > 0) document.metadata = metadata;
  const { text } = strictJson(document, `the document of ${port}`);
  const utf8 = new TextEncoder().encode(text + "\n");
  const bytes = new Uint8Array(new SharedArrayBuffer(utf8.length));
  bytes.set(utf8);
  return { fileName: `${port}.json`, bytes, metadata, array: null, dtype: null, shape: null };
}

/** The document of a bundle is a JSON artifact with the digests of the files in `files`. */
function encodeBundle(port: string, kind: ArtifactKind, output: OutputArtifact): EncodedArtifact {
  const mismatch = (why: string) => new SvcError("output_kind_mismatch", `Cannot store ${port} as ${kind}: ${why}`);
  const { json, files = {}, metadata } = output;
  if (!isObject(json)) throw mismatch("it has no JSON document");
  const sources: ZipSource[] = [];
  const digests: JsonObject = {};
  for (const [name, content] of Object.entries(files)) {
    if (!FILE_NAME.test(name)) throw mismatch(`${JSON.stringify(name)} is not a valid file name`);
    digests[name] = { sha256: sha256Hex(content), size_bytes: content.length };
    sources.push({ name: FILES_FOLDER + name, parts: [content] });
  }
  const document = encodeJson(port, kind, { json: { ...json, files: digests }, metadata });
  const bytes = writeZip([{ name: BUNDLE_DOCUMENT, parts: [document.bytes] }, ...sources]);
  return { ...document, fileName: `${port}.zip`, bytes };
}

function canonicalOrUnknown(value: Value | undefined): string {
  return typeof value === "string" ? value : "unknown";
}

/** A copy of an object and its canonical text, verified as strict finite JSON. */
function strictJson(value: Value, what: string): { value: JsonObject; text: string } {
  const invalid = (why: string) => new SvcError("output_metadata_invalid", `Cannot store ${what}: ${why}`);
  if (!isObject(value)) throw invalid("it is not a JSON object");
  try {
    const text = canonicalJson(value);
    refuseForeign(value);
    return { value: cloneValue(dropUndefined(value)), text };
  } catch (error) {
    throw invalid(
      error instanceof RangeError && /call stack/i.test(error.message) ? "it is too deep" : messageOf(error),
    );
  }
}

/** Instances of classes, such as dates and maps, would be written like plain objects. */
function refuseForeign(value: Value): void {
  if (Array.isArray(value)) value.forEach(refuseForeign);
  else if (isObject(value)) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      throw new TypeError(`a ${prototype.constructor?.name ?? "foreign object"} is not a JSON value`);
    }
    Object.values(value).forEach(refuseForeign);
  }
}

/** Removes undefined fields, which canonical JSON omits too. */
function dropUndefined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}

/** Why an array cannot be written, or null. Types guarantee this for built-in operations, not for those of adapters. */
function arrayProblem(array: NdArray): string | null {
  const info = Object.hasOwn(DTYPES, array.dtype) ? DTYPES[array.dtype] : undefined;
  if (info === undefined) return `has the unknown dtype ${String(array.dtype)}`;
  const { shape, data } = array;
  if (!Array.isArray(shape) || shape.length > 32 || !shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    return "has no valid shape";
  }
  if (!ArrayBuffer.isView(data)) return "has no typed data";
  if (data.constructor !== info.make(new ArrayBuffer(0), 0, 0).constructor) {
    // Node's Buffer also holds bytes.
    if (!(data instanceof Uint8Array && info.itemSize === 1 && array.dtype !== "int8")) {
      return `has the dtype ${array.dtype} and data of type ${data.constructor.name}`;
    }
  }
  if (elementCount(shape) * info.slots !== data.length) {
    return `has ${data.length / info.slots} elements, which does not match its shape [${shape.join(", ")}]`;
  }
  if (array.dtype === "bool" && !(data as Uint8Array).every((value) => value <= 1)) {
    return "has boolean values other than 0 and 1";
  }
  return null;
}

/**
 * Opens the file of an artifact for an operation. Arrays are copied into private memory on first use,
 * or checked by their CRC where they are read in place.
 * @param bytes the file; never written
 * @param sole whether the caller alone reads the file, so that arrays may be views of it where the operation allows it
 * @throws SvcError `artifact_json_invalid`, `artifact_archive_invalid` and others for a file that does not match its
 *   kind
 */
export function decodeArtifact(kind: ArtifactKind, bytes: Uint8Array, sole = false): DecodedArtifact {
  const format = formatOfKind(kind);
  if (format === "npz") return decodeNpz(kind, bytes, sole);
  return format === "zip" ? decodeBundle(kind, bytes) : decodeJson(kind, bytes);
}

function decodeBundle(kind: ArtifactKind, bytes: Uint8Array): DecodedArtifact {
  const what = `the ${kind} artifact`,
    invalid = (why: string) => new SvcError("artifact_archive_invalid", `Cannot read ${what}: ${why}`);
  const entries = new Map(openZip(bytes, what, BUNDLE_LIMITS).map((entry) => [entry.name, entry]));
  const document = entries.get(BUNDLE_DOCUMENT);
  if (document === undefined) throw invalid(`it has no ${BUNDLE_DOCUMENT}`);
  const inner = decodeJson(kind, document.read()), stated = inner.json().files;
  const files = new Map<string, Uint8Array>();
  for (const [name, digest] of Object.entries(isObject(stated) ? stated : {})) {
    const content = entries.get(FILES_FOLDER + name)?.read().slice();
    if (content === undefined) throw invalid(`${name} is missing`);
    if (!isObject(digest) || digest.sha256 !== sha256Hex(content)) {
      throw invalid(`${name} does not have the recorded digest`);
    }
    files.set(name, content);
  }
  if (files.size + 1 !== entries.size) throw invalid(`${BUNDLE_DOCUMENT} does not list every file`);
  return {
    ...inner,
    bytes,
    files,
    modified() {
      for (const [name, content] of files) {
        if (nodeBuffer().compare(content, entries.get(FILES_FOLDER + name)!.read()) !== 0) return `the file ${name}`;
      }
      return inner.modified();
    },
  };
}

function decodeNpz(kind: ArtifactKind, bytes: Uint8Array, sole: boolean): DecodedArtifact {
  const what = `the ${kind} artifact`;
  const file = openNpz(bytes, what);
  const metadataText = file.has(METADATA_MEMBER) ? file.text(METADATA_MEMBER) : "{}";
  const metadata = parseObject(metadataText, `the metadata of ${what}`);
  const others = file.names.filter((name) => name !== METADATA_MEMBER);
  const named = metadata.array;
  if (typeof named === "string" && !others.includes(named)) {
    throw new SvcError("artifact_array_missing", `Cannot find the main array ${named} in ${what}`);
  }
  if (others.length === 0) throw new SvcError("artifact_array_missing", `Cannot find any array in ${what}`);
  const main = typeof named === "string" ? named : others[0];
  const arrayNames = [main, ...others.filter((name) => name !== main)];
  const arrays = new Map<string, NdArray>();
  return {
    kind,
    bytes,
    metadata,
    arrayNames,
    array(given, inPlace = false) {
      if (given === undefined && holdsItems([main])) {
        throw new SvcError(
          "boundary_shape_invalid",
          `Cannot read the items of ${what} as one array: their sizes differ`,
          {
            hint: "Set crop_size at the source of images, so that all have one size",
          },
        );
      }
      const name = given ?? main;
      let array = arrays.get(name);
      if (array === undefined) {
        if (name === METADATA_MEMBER) throw new SvcError("artifact_array_missing", `Cannot read ${name} as an array`);
        arrays.set(name, array = file.array(name, sole && inPlace));
      }
      return array;
    },
    json() {
      throw new SvcError("boundary_shape_invalid", `Cannot read ${what} as a JSON document`);
    },
    modified() {
      for (const [name, array] of arrays) if (!file.holds(name, array)) return `the array ${name}`;
      return sameDocument(metadata, metadataText) ? null : "the metadata";
    },
  };
}

function decodeJson(kind: ArtifactKind, bytes: Uint8Array): DecodedArtifact {
  const what = `the ${kind} artifact`;
  let text: string;
  try {
    // The decoder refuses shared memory, so the bytes are copied first.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.slice());
  } catch {
    throw new SvcError("artifact_json_invalid", `Cannot read ${what}: it is not valid UTF-8`);
  }
  const { metadata: inner = {}, ...document } = parseObject(text, what);
  if (!isObject(inner)) throw new SvcError("artifact_json_invalid", `Cannot read the metadata of ${what}`);
  if (document.kind !== jsonKindName(kind)) {
    throw new SvcError("artifact_json_invalid", `Cannot read ${what}: its document has another kind`);
  }
  const metadata: JsonObject = inner;
  return {
    kind,
    bytes,
    metadata,
    arrayNames: [],
    array() {
      throw new SvcError("artifact_array_missing", `Cannot find an array in ${what}`);
    },
    json: () => document,
    modified() {
      const whole = Object.keys(metadata).length > 0 ? { ...document, metadata } : document;
      return sameDocument(whole, text) ? null : "the document";
    },
  };
}

/** Whether a document still has its original canonical form. */
function sameDocument(document: JsonObject, text: string): boolean {
  try {
    const now = canonicalJson(document);
    return now === text || now + "\n" === text || now === canonicalJson(withoutEmptyMetadata(parseJson(text)));
  } catch {
    // A document that cannot be written was changed.
    return false;
  }
}

function withoutEmptyMetadata(value: Value): Value {
  if (!isObject(value) || !isObject(value.metadata) || Object.keys(value.metadata).length > 0) return value;
  const { metadata: _empty, ...rest } = value;
  return rest;
}

function parseObject(text: string, what: string): JsonObject {
  try {
    const value = parseJson(text);
    if (!isObject(value)) throw new TypeError("it is not an object");
    refuseNonFinite(value);
    return value;
  } catch (error) {
    throw new SvcError("artifact_json_invalid", `Cannot read ${what}: ${messageOf(error)}`);
  }
}

/** A number such as 1e999 is JSON, but becomes infinite. */
function refuseNonFinite(value: Value): void {
  if (Array.isArray(value)) value.forEach(refuseNonFinite);
  else if (isObject(value)) Object.values(value).forEach(refuseNonFinite);
  else if (
    value instanceof Float ? !Number.isFinite(value.value) : typeof value === "number" && !Number.isFinite(value)
  ) {
    throw new RangeError("it holds a number that is not finite");
  }
}

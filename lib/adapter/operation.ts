/**
 * An adapter's operation as an ordinary operation: its contract comes from the manifest and the wrapped contract, and
 * `run` calls the sandbox and checks inputs and results.
 *
 * On the link, bits are one uint8 per bit. A callable may use packed bits, eight per byte: an encoder's result is
 * unpacked before the link, and a decoder's input is packed after it, both in the declared order, the last byte padded
 * with zeros. `metadata.bit_count` is the number of valid bits of an encoder.
 */
import { KIND_FORMS } from "../artifact/array_form.ts";
import { checkBits, checkFinite, checkImages } from "../artifact/boundary.ts";
import { imageShapeMetadata, trustedShape } from "../artifact/image_payload.ts";
import {
  bitsArtifact,
  bitsOf,
  emptyImages,
  imageForm,
  imagesArtifact,
  imagesOf,
  itemsOf,
  metadataCounts,
  metadataNumber,
  oneImage,
  pixelsOf,
  reportResult,
  sizeAt,
  sourceItemCounts,
  symbolsArtifact,
  textsArtifact,
  travel,
} from "../artifact/values.ts";
import { defineOperation } from "../contract/define.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import type {
  InputArtifact,
  Metrics,
  Operation,
  OperationDefinition,
  OperationResult,
  OutputArtifact,
  RunContext,
} from "../contract/operation.ts";
import { isInteger, isObject, type JsonObject, toNumber, toPlain, type Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { packBits, unpackBits } from "../numeric/array/bit_packing.ts";
import { elementCount, type NdArray, ndarray } from "../numeric/array/ndarray.ts";
import type { AdapterBinding } from "./binding.ts";
import { customArguments, customContract, customResult } from "./custom.ts";
import { adapterMetrics, arrayResult, plainJson, refuseResult } from "./results.ts";
import { type AdapterAnswer, callAdapter } from "./runtime.ts";
import { sideInformation } from "./side_information.ts";
import type { AdapterOperation } from "./types.ts";
import type { BitOrder, PermissionSet } from "./manifest_schema.ts";
import { isTaskWrap, WRAP_CONTRACTS, type WrapContract } from "./wraps.ts";

const MIB = 2 ** 20;
const MAX_EXAMPLES = 1_000_000;
const MAX_DOCUMENT_BYTES = 64 * MIB;

type Context = RunContext<Record<string, readonly string[]>, Record<never, never>, z.ZodObject>;

/** The adapter in the contract of its operation. */
export interface AdapterFace {
  name: string;
  version: string;
  permissions_requested: PermissionSet;
}

/**
 * The operation of a manifest.
 * @param face name, version and requests of the adapter
 * @param binding of a step that runs it; without a binding the operation can only be planned
 */
export function adapterOperation(operation: AdapterOperation, face: AdapterFace, binding?: AdapterBinding): Operation {
  const { id, name, description, wraps, adapter, params_schema } = operation;
  const { inputs, outputs, guarantees } = contractOf(operation);
  const definition = {
    id,
    name,
    ...(description === undefined ? {} : { description }),
    inputs,
    outputs,
    params: z.object({}),
    paramsSchema: params_schema,
    outputMetadataGuarantees: guarantees,
    differentiability: { framework: "blackbox", gradient: "none", trainable_params: false, exportable: false },
    backends: { benchmark_run: ["external"], dataset_capture: ["external"] },
    materializations: (["benchmark_run", "dataset_capture"] as const).map((runner) => ({
      runner,
      backend: "external",
      implementation: "external_adapter",
    })),
    ...declared(operation),
    // Its process may take all of memory_mb: adapters run one at a time.
    threadSafe: false,
    externalAdapter: {
      name: face.name,
      version: face.version,
      wraps,
      call_style: adapter.call_style,
      permissions_requested: { ...face.permissions_requested },
    },
    run: (context: Context) => {
      if (binding === undefined) throw new TypeError(`${id} runs only as a step`);
      return run(operation, binding, context);
    },
  };
  return defineOperation(definition as OperationDefinition);
}

function contractOf(operation: AdapterOperation): WrapContract {
  return operation.wraps === "custom" ? customContract(operation) : WRAP_CONTRACTS[operation.wraps];
}

/** Fields of a manifest's operation that replace defaults. */
function declared({ differentiability, backends, equivalence, formats, materializations }: AdapterOperation) {
  const given = { differentiability, backends, equivalence, formats, materializations };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined).map((
      [key, value],
    ) => [key, toPlain(value as Value)]),
  );
}

function run(operation: AdapterOperation, binding: AdapterBinding, context: Context): Promise<OperationResult> {
  const { wraps } = operation;
  const task = new Task(operation, binding, context);
  if (wraps === "source.external_classification_dataset") return task.dataset();
  if (wraps === "source.external_texts") return task.texts();
  if (isTaskWrap(wraps)) return task.metric();
  if (wraps === "custom") return new Custom(operation, binding, context).run();
  const { inputs, outputs } = WRAP_CONTRACTS[wraps], coder = new Coder(operation, binding, context);
  if (wraps === "model.external_read_texts") return coder.read();
  const [coded] = Object.keys("images" in inputs ? outputs : inputs) as CodedPort[];
  return "images" in inputs ? coder.encode(coded) : coder.decode(coded);
}

/** The port of a coder other than its images. */
type CodedPort = "bits" | "indices" | "latents" | "symbols";

class Step {
  protected readonly params: Record<string, unknown>;

  constructor(
    protected readonly operation: AdapterOperation,
    protected readonly binding: AdapterBinding,
    protected readonly context: Context,
  ) {
    this.params = { ...toPlain(operation.fixed_params) as Record<string, unknown>, ...context.params };
  }

  protected async call(args: unknown[]): Promise<AdapterAnswer> {
    const { seed } = this.context.params as { seed?: number | bigint | null };
    const { progress, cancellation } = this.context;
    return await callAdapter(this.binding, {
      args,
      floats: realParameters(this.operation.params_schema),
      seed: seed ?? null,
      cancellation,
      progress: (completed, total, phase) => progress(completed, total, phase === null ? {} : { phase }),
    });
  }

  /** Metrics and facts of every step of an adapter. */
  protected evidence(answer: AdapterAnswer): { metrics: Metrics; metadata: JsonObject } {
    const { timing } = contractOf(this.operation);
    const { log, dropped, seconds } = answer;
    return {
      metrics: timing === undefined ? {} : { [timing]: seconds },
      metadata: log.length === 0 ? {} : { adapter_output: { lines: log, dropped_lines: dropped } },
    };
  }

  /** Reports failed checks of our contracts as errors of the adapter's result. */
  protected checked<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      if (error instanceof SvcError && error.code !== "adapter_result_invalid") {
        refuseResult(messageOf(error), error.hint);
      }
      throw error;
    }
  }
}

/** Names of the parameters that a schema declares as real numbers. */
function realParameters({ properties }: JsonObject): string[] {
  return Object.entries(isObject(properties) ? properties : {})
    .flatMap(([name, schema]) => isObject(schema) && schema.type === "number" ? [name] : []);
}

/** An operation with the ports of its manifest. */
class Custom extends Step {
  async run(): Promise<OperationResult> {
    const { inputs } = this.context;
    const answer = await this.call(customArguments(this.operation, inputs, this.params));
    const { name, limits } = this.binding, { metadata } = this.evidence(answer);
    const how = { name, limit: limits.memory_mb * MIB };
    const { warnings, ...result } = this.checked(() => customResult(this.operation, inputs, answer.value, how));
    return { ...result, metadata: { ...metadata, ...(warnings.length === 0 ? {} : { warnings }) } };
  }
}

class Coder extends Step {
  /** Calls with the array in the declared style; its process gets a copy. */
  async #callWith({ dtype, shape, data }: NdArray, metadata: JsonObject): Promise<AdapterAnswer> {
    const value = { dtype, shape: [...shape], data };
    const style = this.operation.adapter.call_style;
    const args = style === "array"
      ? [value]
      : style === "array_params"
      ? [value, this.params]
      : [{ array: value, metadata: toPlain(metadata), params: this.params }];
    return await this.call(args);
  }

  /** Calls with the array, and checks the returned array. */
  async #withArray(
    array: NdArray,
    metadata: JsonObject,
    sizes: Record<string, number> = {},
  ): Promise<AdapterAnswer & ReturnType<typeof arrayResult>> {
    const answer = await this.#callWith(array, metadata);
    const { outputs, returns = KIND_FORMS[Object.values(outputs)[0]] } = contractOf(this.operation);
    return { ...answer, ...arrayResult(answer.value, this.binding.limits.memory_mb * MIB, returns, sizes) };
  }

  async encode(port: CodedPort): Promise<OperationResult> {
    const input = this.context.inputs.images, batch = this.checked(() => imagesOf(input)), { count } = batch;
    const whole = batch.sizes === undefined, answers: Coded[] = [];
    if (whole) answers.push(await this.#withArray(input.array(), input.metadata, { images: count }));
    else {
      for (let index = 0; index < count; index++) {
        const image = imagesArtifact(oneImage(batch, index), itemMetadata(input.metadata, index, count));
        answers.push(await this.#withArray(image.array!, image.metadata, { images: 1 }));
      }
    }
    const parts = answers.map((answer) => this.#coded(port, answer, whole ? count : 1));
    const { array, counts, more } = whole ? parts[0] : joinParts(parts);
    const stated = whole ? answers[0].metadata : statedByItem(answers);
    const about: JsonObject = {
      ...imageShapeMetadata(batch),
      image_dtype: batch.dtype,
      ...(Object.keys(stated).length === 0 ? {} : { adapter_metadata: stated }),
      ...more,
    };
    const beside = sideInformation(stated, count), { warnings } = beside;
    const { metrics: timing, metadata: printed } = this.evidence(together(answers));
    const facts: JsonObject = { ...printed, ...(warnings.length === 0 ? {} : { warnings }) };
    const metadata = travel(input.metadata, { ...about, ...(counts === null ? {} : { source_item_counts: counts }) }, [
      ...DELIVERY,
      ...(counts === null ? ["source_item_counts"] : []),
    ]);
    const elements = elementCount(array.shape), number = `codec.${CODED_UNITS[port]}_count`;
    const rate: Metrics = port === "bits"
      ? { "rate.payload_bpp": elements / pixelsOf(batch) }
      : port === "symbols"
      ? { "channel.uses_per_pixel": elements / pixelsOf(batch) }
      : {};
    const output = port === "bits"
      ? bitsArtifact(array.data as Uint8Array, metadata, "payload.bits")
      : port === "symbols"
      ? symbolsArtifact(array.data as Float32Array, metadata)
      : { array, metadata };
    return {
      outputs: { [port]: output },
      metrics: { ...timing, ...beside.metrics, [number]: BigInt(elements), ...rate },
      metadata: facts,
    };
  }

  /** What a call of an encoder returned, in the form of the link. */
  #coded(port: CodedPort, answer: Coded, images: number): CodedPart {
    switch (port) {
      case "bits": {
        const array = ndarray("uint8", this.checked(() => receivedBits(answer, this.operation)));
        return { array, counts: itemCounts(answer, array.data.length, images), more: {} };
      }
      case "indices": {
        const { array, codebookSize } = checkIndices(answer);
        return { array, counts: itemCounts(answer, array.data.length, images), more: { codebook_size: codebookSize } };
      }
      case "latents": {
        const array = this.checked(() => finiteLatents(answer.array));
        return { array, counts: itemCounts(answer, array.data.length, images), more: {} };
      }
      case "symbols": {
        const { symbols, shape } = this.checked(() => complexSymbols(answer.array));
        const counts = itemCounts({ ...answer, array: { ...answer.array, shape } }, symbols.length / 2, images);
        return { array: ndarray("complex64", symbols), counts, more: { symbol_shape: shape } };
      }
    }
  }

  async decode(port: CodedPort): Promise<OperationResult> {
    const input = this.context.inputs[port], parts = receivedParts(input, port), answers: Coded[] = [];
    for (const part of parts) {
      answers.push(await this.#withArray(this.#received(part, port), this.#receivedMetadata(part, port)));
    }
    const images = answers.map((answer) => this.checked(() => checkImages(answer.array)));
    const [{ dtype, shape: [, , , channels] }] = images;
    if (images.some((each) => each.dtype !== dtype || each.shape[3] !== channels)) {
      refuseResult("its images have several types or numbers of channels", "Return all images in one form");
    }
    const sizes = images.flatMap(({ shape: [count, height, width] }) => Array(count).fill({ height, width }));
    const batch = emptyImages(imageForm(sizes, { channels, dtype: dtype as "uint8" }));
    images.reduce((at, { data }) => (batch.data.set(data as Uint8Array, at), at + data.length), 0);
    const expected = metadataNumber(input.metadata, "image_count");
    if (expected !== undefined && expected !== batch.count) {
      refuseResult(
        `it has ${batch.count} images instead of ${expected}`,
        "Return one image for each encoded image",
      );
    }
    const stated = parts.length === 1 ? answers[0].metadata : statedByItem(answers);
    const more: JsonObject = Object.keys(stated).length === 0 ? {} : { adapter_metadata: stated };
    const kept = travel(input.metadata, more, [
      ...CODED,
      ...(expected === undefined ? ["source_item_counts"] : []),
    ]);
    const { metrics, metadata } = this.evidence(together(answers));
    return { outputs: { images: imagesArtifact(batch, kept) }, metrics, metadata };
  }

  /** One text for each image, with its id. */
  async read(): Promise<OperationResult> {
    const input = this.context.inputs.images, batch = this.checked(() => imagesOf(input)), { count } = batch;
    const { image_ids } = input.metadata;
    const ids = Array.isArray(image_ids) && image_ids.length === count
      ? image_ids.map(String)
      : Array.from({ length: count }, (_, index) => `image_${index}`);
    const answers: AdapterAnswer[] = [], texts: string[] = [], stated: JsonObject[] = [];
    const read = async (images: NdArray, metadata: JsonObject, own: readonly string[]) => {
      const answer = await this.#callWith(images, metadata);
      const given = plainJson(answer.value, "it", MAX_DOCUMENT_BYTES, MAX_EXAMPLES);
      const { texts: rows, metadata: about = {}, ...more } = given;
      refuseMore(more, "Return {texts: [text, …], metadata}");
      if (!Array.isArray(rows) || rows.length !== own.length) {
        return refuseResult(`it does not have ${own.length} texts`, "Return one text for each image");
      }
      rows.forEach((text, index) => texts.push(checkedText(text, own[index])));
      if (!isObject(about)) return refuseResult("its metadata is not a mapping");
      answers.push(answer);
      stated.push(about);
    };
    if (batch.sizes === undefined) await read(input.array(), input.metadata, ids);
    else {
      for (let index = 0; index < count; index++) {
        const image = imagesArtifact(oneImage(batch, index), itemMetadata(input.metadata, index, count));
        await read(image.array!, image.metadata, [ids[index]]);
      }
    }
    const about = batch.sizes === undefined ? stated[0] : statedByItem(stated.map((metadata) => ({ metadata })));
    const rows = texts.map((text, index) => ({ id: ids[index], text }));
    const shared: JsonObject = Object.keys(about).length === 0 ? {} : { adapter_metadata: about };
    const artifact = textsArtifact(rows, { text_ids: ids, ...shared });
    return { outputs: { texts: artifact }, ...this.evidence(together(answers)) };
  }

  #received(input: InputArtifact, port: string): NdArray {
    if (port === "bits") {
      const bits = bitsOf(input);
      const { bit_storage, bit_order } = this.operation.adapter;
      return bit_storage === "unpacked_bits" ? input.array() : ndarray("uint8", packedBits(bits, bit_order));
    }
    const array = input.array();
    if (port !== "symbols") return array;
    const { symbol_shape: shape } = input.metadata;
    const sizes = Array.isArray(shape) ? shape.map((size) => isInteger(size) ? Number(size) : NaN) : [];
    return sizes.length > 0 && elementCount(sizes) === elementCount(array.shape) ? { ...array, shape: sizes } : array;
  }

  #receivedMetadata(input: InputArtifact, port: string): JsonObject {
    return port === "bits" ? { ...input.metadata, bit_count: bitsOf(input).length } : input.metadata;
  }
}

/** An answer with its checked array. */
type Coded = AdapterAnswer & ReturnType<typeof arrayResult>;
/** An array of the link, the elements of each image where they are known, and metadata for the decoder. */
interface CodedPart {
  array: NdArray;
  counts: number[] | null;
  more: JsonObject;
}
const CODED_UNITS = { bits: "bit", indices: "index", latents: "latent", symbols: "symbol" } as const;

/** The metadata of one image: lists with an entry for each image have its entry only. */
function itemMetadata(metadata: JsonObject, index: number, count: number): JsonObject {
  return Object.fromEntries(
    Object.entries(metadata).filter(([key]) => key !== "item_shapes").map(([key, value]) =>
      Array.isArray(value) && value.length === count ? [key, [value[index]]] : [key, value]
    ),
  );
}

/** Metadata of the calls for single images, as one mapping. */
function statedByItem(answers: readonly { metadata: JsonObject }[]): JsonObject {
  return answers.some(({ metadata }) => Object.keys(metadata).length > 0)
    ? { items: answers.map(({ metadata }) => metadata) }
    : {};
}

/** Log and time of several calls. */
function together(answers: readonly AdapterAnswer[]): AdapterAnswer {
  const sum = (of: (answer: AdapterAnswer) => number) => answers.reduce((total, answer) => total + of(answer), 0);
  return {
    ...answers[0],
    log: answers.flatMap(({ log }) => log),
    dropped: sum(({ dropped }) => dropped),
    seconds: sum(({ seconds }) => seconds),
  };
}

/** Arrays of single images one after the other; `coded_shapes` has the shape of each. */
function joinParts(parts: readonly CodedPart[]): CodedPart {
  const [{ array: { dtype, data: first }, more }] = parts;
  if (parts.some((part) => part.array.dtype !== dtype || part.more.codebook_size !== more.codebook_size)) {
    refuseResult("its results for the images have several types or codebooks", "Return one form for every image");
  }
  const Data = first.constructor as Float32ArrayConstructor;
  const data = new Data(parts.reduce((sum, { array }) => sum + array.data.length, 0));
  parts.reduce((at, { array }) => (data.set(array.data as Float32Array, at), at + array.data.length), 0);
  return {
    array: ndarray(dtype, data),
    counts: parts.map(({ array }) => elementCount(array.shape)),
    more: {
      ...more,
      ...(more.symbol_shape === undefined
        ? {}
        : { symbol_shape: [parts.reduce((sum, { array }) => sum + elementCount(array.shape), 0)] }),
      coded_shapes: parts.map(({ array, more }) => more.symbol_shape ?? [...array.shape]),
    },
  };
}

/** What a decoder receives: everything at once, or image by image where their sizes differ. */
function receivedParts(input: InputArtifact, port: CodedPort): InputArtifact[] {
  const { metadata } = input, shapes = trustedShape(metadata);
  if (shapes?.sizes === undefined) return [input];
  const array = port === "bits" ? ndarray("uint8", bitsOf(input)) : input.array();
  const counts = sourceItemCounts(metadata, elementCount(array.shape)), stated = metadata.coded_shapes;
  if (counts?.length !== shapes.count || !Array.isArray(stated) || stated.length !== shapes.count) {
    throw new SvcError("boundary_count_mismatch", `Cannot find the ${shapes.count} images in the ${port}`, {
      hint: "Wire the output of the encoder of this adapter, without padding",
    });
  }
  const slots = array.data.length / elementCount(array.shape), own = metadata.adapter_metadata;
  const items = isObject(own) && Array.isArray(own.items) ? own.items : undefined;
  let at = 0;
  return counts.map((count, index): InputArtifact => {
    const data = array.data.slice(at, at += count * slots), shape = metadataCounts({ shape: stated[index] }, "shape")!;
    const piece = ndarray(array.dtype, data, port === "symbols" ? undefined : shape);
    const about: JsonObject = {
      ...itemMetadata(metadata, index, shapes.count),
      ...imageShapeMetadata({ ...shapes, ...sizeAt(shapes, index), count: 1, sizes: undefined }),
      ...(port === "symbols" ? { symbol_shape: shape } : {}),
      ...(items === undefined ? {} : { adapter_metadata: items[index] }),
    };
    for (const key of ["image_sizes", "coded_shapes"]) delete about[key];
    return { ...input, metadata: about, array: () => piece };
  });
}

/** Keys about earlier transmissions, which do not apply to a newly encoded artifact. */
const DELIVERY = ["delivered", "failed_item_indices", "on_error"];
/** Keys of the coded form, which end at the decoder. */
const CODED = [
  "symbol_shape",
  "codebook_size",
  "image_height",
  "image_width",
  "image_channels",
  "image_dtype",
  "image_sizes",
  "coded_shapes",
  "source_item_counts",
  "adapter_metadata",
];

/** Packs bits into bytes in the given order; the last byte is padded with zeros. */
function packedBits(bits: Uint8Array, order: BitOrder): Uint8Array {
  const bytes = packBits(bits);
  return order === "big" ? bytes : bytes.map(reversed);
}

/** The first `count` bits of bytes. */
function unpackedBits(bytes: Uint8Array, order: BitOrder, count: number): Uint8Array {
  return unpackBits(order === "big" ? bytes : bytes.map(reversed), count);
}

function reversed(byte: number): number {
  let mirror = 0;
  for (let bit = 0; bit < 8; bit++) mirror |= (byte >> bit & 1) << (7 - bit);
  return mirror;
}

function receivedBits(
  { array, metadata }: { array: NdArray; metadata: JsonObject },
  operation: AdapterOperation,
): Uint8Array {
  const { bit_storage, bit_order } = operation.adapter;
  const data = array.data as Uint8Array;
  const most = bit_storage === "packed_bytes" ? 8 * data.length : data.length;
  const { bit_count = most } = metadata;
  if (!isInteger(bit_count) || bit_count < 0 || bit_count > most) {
    return refuseResult(`metadata.bit_count is not an integer from 0 to ${most}`);
  }
  const count = Number(bit_count);
  if (bit_storage === "packed_bytes") return unpackedBits(data, bit_order, count);
  return checkBits(array).slice(0, count);
}

/** Elements per image, from the adapter's metadata or from the first axis. */
function itemCounts(
  { array, metadata }: { array: NdArray; metadata: JsonObject },
  length: number,
  images: number,
): number[] | null {
  const declared = metadata.source_item_counts;
  if (declared !== undefined) {
    const counts = Array.isArray(declared) ? declared.map((value) => (isInteger(value) ? Number(value) : NaN)) : [NaN];
    const total = counts.reduce((sum, value) => sum + value, 0);
    if (counts.length !== images || !counts.every((value) => value >= 0) || total !== length) {
      refuseResult(`metadata.source_item_counts are not ${images} counts with the sum ${length}`);
    }
    return counts;
  }
  const { shape } = array;
  if (images === 1) return [length];
  if (shape.length > 1 && shape[0] === images && length % images === 0) return Array(images).fill(length / images);
  return null;
}

function checkIndices(
  { array, metadata }: { array: NdArray; metadata: JsonObject },
): { array: NdArray; codebookSize: number } {
  const { codebook_size } = metadata;
  if (!isInteger(codebook_size) || codebook_size < 1 || codebook_size > 2 ** 31) {
    return refuseResult("it does not give the size of its codebook", "Return {array, metadata: {codebook_size}}");
  }
  const size = Number(codebook_size);
  const indices = array.dtype === "int64"
    ? Int32Array.from(array.data as BigInt64Array, (index) => index >= 0n && index < BigInt(size) ? Number(index) : -1)
    : array.data as Uint8Array | Int32Array;
  const wrong = indices.findIndex((index) => index < 0 || index >= size);
  if (wrong >= 0) refuseResult(`the index ${wrong} is ${array.data[wrong]}, outside a codebook of ${size}`);
  return { array: { dtype: "int32", shape: array.shape, data: Int32Array.from(indices) }, codebookSize: size };
}

function finiteLatents(array: NdArray): NdArray {
  const data = array.dtype === "float32" ? array.data as Float32Array : Float32Array.from(array.data as Float64Array);
  checkFinite(data, "the latents");
  return { dtype: "float32", shape: array.shape, data };
}

/**
 * Symbols as interleaved values with their shape: complex64, or float32 [images, 2 channels, …] with the real parts in
 * the first half of the channels and the imaginary parts in the second half.
 */
function complexSymbols({ dtype, shape, data }: NdArray): { symbols: Float32Array; shape: number[] } {
  if (dtype === "complex64") {
    checkFinite(data as Float32Array, "the symbols");
    return { symbols: data as Float32Array, shape: [...shape] };
  }
  if (shape[1] % 2 !== 0) {
    refuseResult(
      `${shape[1]} real channels cannot form complex channels`,
      "Return all real channels, then all imaginary ones",
    );
  }
  const values = data as Float32Array;
  checkFinite(values, "the symbols");
  const [batch, both, ...rest] = shape;
  const half = (both / 2) * elementCount(rest);
  const symbols = new Float32Array(values.length);
  for (let item = 0, to = 0; item < batch; item++) {
    const real = item * 2 * half, imaginary = real + half;
    for (let i = 0; i < half; i++) {
      symbols[to++] = values[real + i];
      symbols[to++] = values[imaginary + i];
    }
  }
  return { symbols, shape: [batch, both / 2, ...rest] };
}

class Task extends Step {
  /** The rows of a dataset, in a list with unique ids, and the metadata of their artifacts. */
  async #rows<Row>(list: "examples" | "texts", form: string, read: (row: JsonObject, id: string) => Row) {
    const style = this.operation.adapter.call_style;
    const answer = await this.call(
      style === "none" ? [] : style === "params" ? [this.params] : [{ params: this.params }],
    );
    const { [list]: given, metadata: about = {}, ...more } = plainJson(
      answer.value,
      "it",
      MAX_DOCUMENT_BYTES,
      MAX_EXAMPLES * 8,
    );
    refuseMore(more, `Return {${list}: [${form}], metadata}`);
    if (!Array.isArray(given) || given.length === 0) {
      return refuseResult(`it has no ${list}`, `Return {${list}: [${form}]}`);
    }
    const what = list.slice(0, -1), seen = new Set<string>();
    const rows = given.map((row, index) => {
      if (!isObject(row)) return refuseResult(`the ${what} ${index} is not a mapping`);
      const { id } = row;
      if (typeof id !== "string" || id === "") return refuseResult(`the ${what} ${index} has no id`);
      if (seen.has(id)) refuseResult(`two ${list} have the id ${JSON.stringify(id)}`);
      seen.add(id);
      return { id, ...read(row, id) };
    });
    if (!isObject(about)) return refuseResult("its metadata is not a mapping");
    const shared: JsonObject = Object.keys(about).length === 0 ? {} : { adapter_metadata: about };
    return { rows, shared, evidence: this.evidence(answer) };
  }

  async texts(): Promise<OperationResult> {
    const { rows, shared, evidence } = await this.#rows(
      "texts",
      "{id, text}",
      ({ text }, id) => ({ text: checkedText(text, id) }),
    );
    const metadata = { text_ids: rows.map(({ id }) => id), ...shared };
    return { outputs: { texts: textsArtifact(rows, metadata) }, ...evidence };
  }

  async dataset(): Promise<OperationResult> {
    const form = "{id, label, prediction}";
    const { rows, shared: about, evidence } = await this.#rows("examples", form, (row, id) => ({
      label: labelText(row.label, `the label of ${id}`),
      prediction: labelText(row.prediction, `the prediction of ${id}`),
      more: (isObject(row.probabilities) ? { probabilities: row.probabilities } : {}) as JsonObject,
    }));
    const shared: JsonObject = { example_count: rows.length, ...about };
    const document = (kind: string, pick: (row: typeof rows[number]) => JsonObject): OutputArtifact => ({
      json: { kind, schema_version: 1, items: rows.map((row): JsonObject => ({ id: row.id, ...pick(row) })) },
      metadata: shared,
    });
    return {
      outputs: {
        candidate: document("task.predictions", ({ prediction, more }) => ({ label: prediction, ...more })),
        reference: document("task.labels", ({ label }) => ({ label })),
      },
      ...evidence,
    };
  }

  async metric(): Promise<OperationResult> {
    const { candidate, reference } = this.context.inputs;
    const data = { reference: toPlain(itemsOf(reference)), candidate: toPlain(itemsOf(candidate)) };
    const style = this.operation.adapter.call_style;
    const args = style === "none"
      ? [data]
      : style === "params"
      ? [data, this.params]
      : [{ ...data, params: this.params }];
    const answer = await this.call(args);
    const { metrics: returned, per_example: rows = [], ...more } = plainJson(
      answer.value,
      "it",
      MAX_DOCUMENT_BYTES,
      MAX_EXAMPLES * 8,
    );
    refuseMore(more, "Return {metrics: {name: number}, per_example: [{id, …}]}");
    if (!isObject(returned) || Object.keys(returned).length === 0) {
      return refuseResult("it has no metrics", "Return {metrics: {name: number}}");
    }
    const measured: Metrics = adapterMetrics(this.binding.name, returned);
    if (!Array.isArray(rows) || !rows.every(isObject)) return refuseResult("per_example is not a list of mappings");
    const { metrics, metadata } = this.evidence(answer);
    const report = reportResult(this.operation.id, measured, { items: rows });
    return { outputs: report.outputs, metrics: { ...measured, ...metrics }, metadata };
  }
}

function checkedText(text: Value | undefined, id: string): string {
  if (typeof text !== "string") return refuseResult(`the text of ${id} is not a text`);
  if (new TextEncoder().encode(text).length > MIB) return refuseResult(`the text of ${id} is longer than 1 MiB`);
  return text;
}

function refuseMore(more: JsonObject, hint: string): void {
  const [name] = Object.keys(more);
  if (name !== undefined) refuseResult(`it has the unknown field ${JSON.stringify(name).slice(0, 80)}`, hint);
}

function labelText(value: Value | undefined, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  if (isInteger(value)) return String(toNumber(value));
  return refuseResult(`${what} is neither a text nor an integer`);
}

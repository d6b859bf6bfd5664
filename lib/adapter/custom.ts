/**
 * Operations of a manifest with ports of their own (`wraps: custom`): the arguments of the callable, and its result as
 * artifacts.
 *
 * The callable gets every input by its port, an array or a JSON document, and returns `{outputs, metrics, per_example}`; an
 * output alone may stand for itself. A report is made of the metrics. Metadata travel from an input to the outputs: from
 * the first one of the same kind, else from the first one.
 */
import { formText, hasForm, KIND_FORMS } from "../artifact/array_form.ts";
import { checkBits, checkFinite, checkImages, checkSymbols } from "../artifact/boundary.ts";
import {
  BIT_METADATA,
  bitsArtifact,
  companionsOf,
  IMAGE_METADATA,
  imagesArtifact,
  reportResult,
  SYMBOL_METADATA,
  symbolsArtifact,
  travel,
} from "../artifact/values.ts";
import * as kinds from "../contract/kinds.ts";
import type {
  InputArtifact,
  MetadataGuarantee,
  Metrics,
  OperationResult,
  OutputArtifact,
} from "../contract/operation.ts";
import { isObject, type JsonObject, toPlain, type Value } from "../contract/value.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { adapterMetrics, checkedArray, isPlain, plainJson, refuseResult } from "./results.ts";
import { isSent, sideInformation } from "./side_information.ts";
import type { AdapterOperation } from "./types.ts";
import type { WrapContract } from "./wraps.ts";

const BIT_KINDS: readonly string[] = [...kinds.BITS_ANY, kinds.FRAMED_BITS];
const SYMBOL_KINDS: readonly string[] = kinds.SYMBOLS_ANY;
const MAX_DOCUMENT_BYTES = 64 * 2 ** 20, MAX_DOCUMENT_VALUES = 8_000_000;

/** The contract of an operation with the ports of its manifest. */
export function customContract({ inputs = {}, outputs = {} }: AdapterOperation): WrapContract {
  const guarantees = Object.entries(outputs).flatMap(([port, kind]): [string, MetadataGuarantee][] => {
    const declared = BIT_KINDS.includes(kind)
      ? BIT_METADATA
      : SYMBOL_KINDS.includes(kind)
      ? SYMBOL_METADATA
      : kind === kinds.IMAGES
      ? IMAGE_METADATA
      : {};
    const from = origin(kind, inputs), keys = Object.keys(declared);
    if (kinds.formatOfKind(kind) !== "npz") return [];
    return [[port, { ...(from === undefined ? {} : { from }), ...(keys.length === 0 ? {} : { keys }) }]];
  });
  return { inputs, outputs, guarantees: Object.fromEntries(guarantees) };
}

/** The input whose metadata an output of a kind takes over. */
function origin(kind: string, inputs: Readonly<Record<string, readonly string[]>>): string | undefined {
  const ports = Object.keys(inputs).filter((port) => kinds.formatOfKind(inputs[port][0]) === "npz");
  return ports.find((port) => inputs[port].includes(kind)) ?? ports[0];
}

type Inputs = Readonly<Record<string, InputArtifact>>;

/** The arguments of the callable in its declared style. */
export function customArguments({ adapter, inputs = {} }: AdapterOperation, given: Inputs, params: unknown): unknown[] {
  const each = <T>(value: (input: InputArtifact) => T) =>
    Object.fromEntries(Object.keys(inputs).map((port) => [port, value(given[port])]));
  const sent = ({ dtype, shape, data }: NdArray) => ({ dtype, shape: [...shape], data });
  const values = each((input) =>
    kinds.formatOfKind(input.kind) === "npz" ? sent(input.array()) : toPlain(input.json())
  );
  if (adapter.call_style === "array_params") return [values, params];
  const metadata = each((input) => toPlain(input.metadata));
  const companions = each((input) =>
    Object.fromEntries(Object.entries(companionsOf(input)).map(([name, array]) => [name, sent(array)]))
  );
  return [{ inputs: values, metadata, companions, params }];
}

/**
 * The result of the callable as artifacts and metrics.
 * @param name of the adapter, for metrics
 * @param limit maximum number of bytes of an array
 * @throws SvcError `adapter_result_invalid`, and the codes of boundary checks
 */
export function customResult(
  { id, inputs = {}, outputs = {} }: AdapterOperation,
  given: Inputs,
  value: unknown,
  { name, limit }: { name: string; limit: number },
): OperationResult & { warnings: JsonObject[] } {
  const form = `Return {outputs: {${Object.keys(outputs).join(", ")}}, metrics: {name: number}}`;
  const made = Object.keys(outputs).filter((port) => outputs[port] !== kinds.REPORT);
  const parts = isPlain(value) && ("outputs" in value || "metrics" in value)
    ? value
    : made.length === 1
    ? { outputs: { [made[0]]: value } }
    : refuseResult("it has neither outputs nor metrics", form);
  const { outputs: returned = {}, metrics = {}, per_example: rows, ...more } = parts as Record<string, unknown>;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) refuseResult(`it has the unknown field ${JSON.stringify(unknown).slice(0, 80)}`, form);
  if (!isPlain(returned)) return refuseResult("its outputs are not a mapping", form);
  const missing = made.filter((port) => !(port in returned));
  if (missing.length > 0) refuseResult(`it does not have the output ${missing.join(", ")}`, form);
  const [extra] = Object.keys(returned).filter((port) => !made.includes(port));
  if (extra !== undefined) refuseResult(`it has the undeclared output ${JSON.stringify(extra).slice(0, 80)}`, form);
  const measured: Metrics = adapterMetrics(name, plainJson(metrics, "its metrics"));
  const examples = rows === undefined
    ? undefined
    : plainJson({ rows }, "per_example", MAX_DOCUMENT_BYTES, MAX_DOCUMENT_VALUES).rows as Value[];
  if (examples !== undefined && (!Array.isArray(examples) || !examples.every(isObject))) {
    return refuseResult("per_example is not a list of mappings");
  }
  const artifacts = Object.entries(outputs).map(([port, kind]): [string, OutputArtifact] => {
    if (kind === kinds.REPORT) {
      if (Object.keys(measured).length === 0) refuseResult("it has no metrics for its report", form);
      return [port, reportResult(id, measured, { items: examples }).outputs.report];
    }
    const source = given[origin(kind, inputs) ?? ""];
    return [
      port,
      kinds.formatOfKind(kind) === "npz"
        ? arrayOutput(port, kind, returned[port], { source, limit })
        : documentOutput(port, kind, returned[port]),
    ];
  });
  const beside = sideInformationOf(artifacts, outputs);
  return {
    outputs: Object.fromEntries(artifacts),
    metrics: { ...measured, ...beside.metrics },
    warnings: beside.warnings,
  };
}

/** What the outputs in front of a channel have beside their arrays; nothing for other operations. */
function sideInformationOf(
  artifacts: readonly [string, OutputArtifact][],
  outputs: Readonly<Record<string, string>>,
): { metrics: Metrics; warnings: JsonObject[] } {
  const sent = artifacts.filter(([port]) => isSent(outputs[port]));
  if (sent.length === 0) return { metrics: {}, warnings: [] };
  const added: JsonObject = {};
  let items = 1;
  for (const [port, { metadata = {} }] of sent) {
    const { adapter_metadata: own, source_item_counts: counts } = metadata;
    if (own !== undefined) added[port] = own;
    if (Array.isArray(counts)) items = Math.max(items, counts.length);
  }
  return sideInformation(added, items);
}

function arrayOutput(
  port: string,
  kind: string,
  value: unknown,
  { source, limit }: { source: InputArtifact | undefined; limit: number },
): OutputArtifact {
  const { array: given, metadata: about = {}, ...more } = isPlain(value) && "array" in value ? value : { array: value };
  if (Object.keys(more).length > 0) refuseResult(`the output ${port} has unknown fields`, "Return {array, metadata}");
  const forms = KIND_FORMS[kind], array = narrowed(checkedArray(given, `the output ${port}`, limit), kind);
  if (forms !== undefined && !hasForm(array, forms)) {
    refuseResult(`the output ${port} is ${array.dtype} [${array.shape.join(", ")}]`, `Return ${formText(forms)}`);
  }
  if (array.dtype.startsWith("float") || array.dtype === "complex64") {
    checkFinite(array.data as Float32Array, `the output ${port}`);
  }
  const added = plainJson(about, `the metadata of ${port}`), length = source?.array().shape[0];
  const changes: JsonObject = Object.keys(added).length === 0 ? {} : { adapter_metadata: added };
  // The items of a source end where the elements are others.
  const metadata = source === undefined
    ? changes
    : travel(source.metadata, changes, length === array.shape[0] ? [] : ["source_item_counts"]);
  if (BIT_KINDS.includes(kind)) {
    return bitsArtifact(checkBits(array), metadata, kind === kinds.PAYLOAD_BITS ? "payload.bits" : "channel.bits");
  }
  if (SYMBOL_KINDS.includes(kind)) {
    // Arrays beside the symbols, such as gains, belong to the same symbols.
    const companions = source !== undefined && length === array.shape[0] ? companionsOf(source) : {};
    return symbolsArtifact(checkSymbols(array), metadata, companions);
  }
  if (kind === kinds.IMAGES) {
    const images = checkImages(array), [count, height, width, channels] = images.shape;
    const dtype = images.dtype as "uint8" | "float32", data = images.data as Uint8Array;
    return imagesArtifact({ count, height, width, channels, dtype, data }, metadata);
  }
  return { array, metadata };
}

/** float64 as the float32 that the kind stores. */
function narrowed(array: NdArray, kind: string): NdArray {
  const forms = KIND_FORMS[kind];
  if (array.dtype !== "float64" || forms === undefined || hasForm(array, forms)) return array;
  return { ...array, dtype: "float32", data: Float32Array.from(array.data as Float64Array) };
}

function documentOutput(port: string, kind: string, value: unknown): OutputArtifact {
  const rows = Array.isArray(value) ? { items: value } : value;
  const document = plainJson(rows, `the output ${port}`, MAX_DOCUMENT_BYTES, MAX_DOCUMENT_VALUES);
  const ids = Array.isArray(document.items) ? document.items.map((row) => isObject(row) ? row.id : undefined) : [];
  if (ids.some((id) => typeof id !== "string" || id === "") || new Set(ids).size !== ids.length) {
    refuseResult(`the items of ${port} do not have unique texts as ids`, "Return a list of {id, …}");
  }
  const metadata: JsonObject = kind === kinds.TEXTS ? { text_ids: ids as string[] } : {};
  return { json: { kind: kinds.jsonKindName(kind), schema_version: 1, ...document }, metadata };
}

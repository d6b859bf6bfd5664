/**
 * Entropy tables of a learned codec: `tables.json`, with one format for the bundled codec, fetched ones, and a user's
 * folder.
 *
 *     kind              "svc.image_codec_tables", schema_version 1
 *     model, metric     its name, and its training metric
 *     latent_channels, latent_reduction       channels, and pixels per latent along a side
 *     hyper_channels, hyper_reduction         the same of the hyper latents; image sides are multiples of the latter
 *     steps             quality (or scale index of a variable-rate model) -> quantisation step, an input of the networks
 *     scales            {smallest, largest, count}: standard deviations of the latents' tables, evenly spaced in logarithm
 *     hyper_tables      per channel of the hyper latents {smallest, counts}, counts of 2^16, the escape last
 *
 * The tables of the latents are computed here, those of the hyper latents are part of the model; the digest of all of
 * them and of the networks is the state of a model, which a recipe can pin.
 */
import { Float, isObject, type JsonObject, parseJson, sha256Hex, sha256Json, SvcError, type Value } from "../api.ts";
import { normalTable } from "../../lib/numeric/coding/frequency_table.ts";
import type { FrequencyTable } from "../../lib/numeric/coding/range_kernel.ts";
import { PROBABILITY_BITS } from "../../lib/numeric/coding/range_coder.ts";

export const TABLES = "tables.json";
export const NETWORKS = ["analysis.onnx", "hyper_analysis.onnx", "hyper_synthesis.onnx", "synthesis.onnx"] as const;
export type Network = typeof NETWORKS[number];

/** Reads the tables of a codec. @throws SvcError `artifact_manifest_invalid` */
export function readTables(bytes: Uint8Array): CodecTables {
  const sha256 = sha256Hex(bytes);
  const earlier = known.get(sha256);
  if (earlier !== undefined) return earlier;
  let tables: CodecTables;
  try {
    tables = tablesOf(parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SvcError("artifact_manifest_invalid", `Cannot use the tables of the codec: ${why}`);
  }
  if (known.size >= 4) known.clear();
  known.set(sha256, tables);
  return tables;
}

/** A cache: computing the tables of the latents takes longer than coding a small image. */
const known = new Map<string, CodecTables>();

function tablesOf(document: Value) {
  if (!isObject(document) || document.kind !== "svc.image_codec_tables" || document.schema_version !== 1) {
    throw new TypeError("the document is not of the kind svc.image_codec_tables, version 1");
  }
  const { scales, steps, hyper_tables } = document;
  if (!isObject(scales) || !isObject(steps) || !Array.isArray(hyper_tables)) {
    throw new TypeError("it lacks scales, steps or hyper_tables");
  }
  const smallest = positive(scales, "smallest"), largest = positive(scales, "largest"), count = size(scales, "count");
  const origin = Math.log(smallest), spacing = Math.log(largest / smallest) / (count - 1);
  if (!(spacing > 0) || count > 256) throw new RangeError("scales must be 2 to 256 increasing values");
  const latent = Array.from({ length: count }, (_, index) => normalTable(Math.exp(origin + index * spacing)));
  const hyper = hyper_tables.map(tableOf);
  const hyperChannels = size(document, "hyper_channels"), hyperReduction = size(document, "hyper_reduction");
  if (hyper.length !== hyperChannels) throw new RangeError("hyper_tables does not have one table per channel");
  return {
    model: text(document, "model"),
    metric: text(document, "metric"),
    latentChannels: size(document, "latent_channels"),
    latentReduction: size(document, "latent_reduction"),
    hyperChannels,
    hyperReduction,
    steps: new Map(Object.keys(steps).map((name) => [name, positive(steps, name)])),
    /** One per scale. */
    latent,
    /** One per channel. */
    hyper,
    /** Index of the table of a latent: the nearest in the logarithm of the standard deviation. */
    scaleIndex: (logScale: number) => Math.min(count - 1, Math.max(0, Math.round((logScale - origin) / spacing))),
    /** Digest over every table. */
    sha256: sha256Json([...latent, ...hyper].map(({ smallest, cumulative }) => [smallest, ...cumulative])),
  };
}

export type CodecTables = ReturnType<typeof tablesOf>;

function tableOf(table: Value): FrequencyTable {
  const counts = isObject(table) && Array.isArray(table.counts) ? table.counts : [];
  const smallest = isObject(table) ? table.smallest : undefined;
  if (!Number.isSafeInteger(smallest) || !counts.every((each) => Number.isSafeInteger(each) && (each as number) > 0)) {
    throw new TypeError("a table of the hyper latents is not {smallest, counts}");
  }
  const cumulative = new Uint32Array(counts.length + 1);
  counts.forEach((each, index) => cumulative[index + 1] = cumulative[index] + (each as number));
  if (cumulative.at(-1) !== 1 << PROBABILITY_BITS) throw new RangeError("counts of a table do not add up to 65536");
  return { smallest: smallest as number, cumulative };
}

function positive(object: JsonObject, key: string): number {
  const value = object[key], plain = value instanceof Float ? value.value : value;
  if (typeof plain === "number" && plain > 0 && Number.isFinite(plain)) return plain;
  throw new TypeError(`${key} is not a positive number`);
}

function size(object: JsonObject, key: string): number {
  const value = object[key];
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  throw new TypeError(`${key} is not a positive integer`);
}

function text(object: JsonObject, key: string): string {
  const value = object[key];
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${key} is not a text`);
}

/**
 * What a data file holds, without its values: recordings, NPY files and files of arrays. Only headers are read, besides the digest;
 * of channels of at most 2^24 gains, by the names of `source.channel_dataset`, also the power-delay profile of the first sample.
 */
import { createHash } from "node:crypto";
import { extname } from "node:path";
import { SvcError } from "../contract/error.ts";
import { float, type JsonObject } from "../contract/value.ts";
import { ARRAY_SUFFIXES, openArrays } from "./array_file.ts";
import type { ByteSource } from "./byte_source.ts";
import { previewData, previewDocument } from "./data_preview.ts";
import { elementCount } from "../numeric/array/ndarray.ts";
import { METADATA_MEMBER } from "./codec.ts";
import { npyForm } from "./npy.ts";
import { MAX_NPY_HEADER_BYTES } from "./npy_header.ts";
import {
  MAX_META_BYTES,
  META_SUFFIX,
  parseSigmf,
  RAW_SUFFIXES,
  rawForm,
  recordedCount,
  recordingFiles,
} from "./sigmf.ts";

/** Suffixes of the files that {@link inspectData} describes. */
const KNOWN = [META_SUFFIX, ...Object.keys(RAW_SUFFIXES), ...ARRAY_SUFFIXES, ".npy"];
/** Units of the arrays of channels. */
const UNITS: Readonly<Record<string, string>> = {
  h: "linear amplitude",
  a: "linear amplitude",
  tau: "s",
  phi_r: "rad",
  theta_r: "rad",
};
/** Gains that are read for a power-delay profile. */
const MAX_GAINS = 2 ** 24;
/** Of a block that is hashed. */
const BLOCK_BYTES = 2 ** 20;

/**
 * Describes a file.
 * @param open opens a file; the caller closes it
 * @throws SvcError `usage_invalid` for another suffix, and those of the format
 */
export async function inspectData(path: string, open: (path: string) => ByteSource): Promise<JsonObject> {
  const files = recordingFiles(path), suffix = extname(path);
  if (files.length === 1 && !KNOWN.includes(suffix)) {
    throw new SvcError("usage_invalid", `Cannot inspect ${path}: it is no recording and no file of arrays`, {
      hint: `Known suffixes: ${KNOWN.join(", ")}. For images, texts and bits: svc data make-manifest`,
    });
  }
  const sources = files.map(open), [first] = sources, described = await describe();
  // Last: a file that is refused is not hashed.
  return { path, sha256: digestOf(sources), ...described };

  async function describe(): Promise<JsonObject> {
    if (ARRAY_SUFFIXES.includes(suffix)) {
      using file = await openArrays(first, path, []);
      const names = file.names.filter((name) => name !== METADATA_MEMBER);
      const gains = file.has("h") ? "h" : file.has("a") && file.has("tau") ? "a" : null;
      const known = gains !== null && elementCount(file.form(gains).shape) <= MAX_GAINS;
      const preview = known ? await previewData(path, () => first) : null;
      return {
        format: suffix === ".h5" ? "hdf5" : suffix.slice(1),
        arrays: names.map((name) => arrayRow(name, file.form(name))),
        ...(gains === null ? {} : {
          units: Object.fromEntries(names.flatMap((name) => Object.hasOwn(UNITS, name) ? [[name, UNITS[name]]] : [])),
        }),
        ...(preview === null ? {} : { delay_profile: previewDocument(preview) }),
      };
    }
    if (suffix === ".npy") {
      const form = npyForm(first.at(0, MAX_NPY_HEADER_BYTES), first.size, path);
      return { format: "npy", arrays: [arrayRow("", form)] };
    }
    const pair = files.length === 2;
    // One byte more than the limit, to detect a longer document.
    const form = pair ? parseSigmf(first.at(0, MAX_META_BYTES + 1), path) : rawForm(RAW_SUFFIXES[suffix]);
    return {
      format: pair ? "sigmf" : "raw",
      datatype: form.datatype,
      channel_count: form.channels,
      sample_count: recordedCount(sources.at(-1)!.size, form, path),
      sample_rate_hz: form.sampleRateHz === null ? null : float(form.sampleRateHz),
      capture_count: form.captures.length,
      labels: [...new Set(form.annotations.flatMap(({ label }) => label ?? []))].sort(),
    };
  }
}

const arrayRow = (name: string, { dtype, shape }: { dtype: string; shape: readonly number[] }): JsonObject => ({
  name,
  dtype,
  shape: [...shape],
});

/** SHA-256 of files, one after another. */
function digestOf(sources: readonly ByteSource[]): string {
  const hash = createHash("sha256");
  for (const source of sources) {
    for (let at = 0; at < source.size; at += BLOCK_BYTES) hash.update(source.at(at, BLOCK_BYTES));
  }
  return hash.digest("hex");
}

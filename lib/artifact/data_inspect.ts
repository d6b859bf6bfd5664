/** What a data file holds, without its values: recordings, NPZ and NPY files. */
import { extname } from "node:path";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { float, type JsonObject } from "../contract/value.ts";
import { joinBytes } from "./join_bytes.ts";
import { METADATA_MEMBER } from "./codec.ts";
import { readNpy } from "./npy.ts";
import { openNpz } from "./npz.ts";
import { META_SUFFIX, parseSigmf, RAW_SUFFIXES, rawForm, recordingFiles, sampleBytes } from "./sigmf.ts";

/** Suffixes of the files that {@link inspectData} describes. */
const KNOWN = [META_SUFFIX, ...Object.keys(RAW_SUFFIXES), ".npz", ".npy"];

/**
 * Describes a file.
 * @param read reads a file as a whole
 * @throws SvcError `usage_invalid` for another suffix, and those of the format
 */
export async function inspectData(path: string, read: (path: string) => Promise<Uint8Array>): Promise<JsonObject> {
  const files = recordingFiles(path), suffix = extname(path);
  if (files.length === 1 && !KNOWN.includes(suffix)) {
    throw new SvcError("usage_invalid", `Cannot inspect ${path}`, { hint: `Known suffixes: ${KNOWN.join(", ")}` });
  }
  const contents = await Promise.all(files.map(read));
  const head = { path, sha256: sha256Hex(files.length === 1 ? contents[0] : joinBytes(contents)) };
  if (suffix === ".npz") {
    const file = openNpz(contents[0], path);
    const arrays = file.names.filter((name) => name !== METADATA_MEMBER).map((name): JsonObject => {
      const { dtype, shape } = file.array(name);
      return { name, dtype, shape: [...shape] };
    });
    return { ...head, format: "npz", arrays };
  }
  if (suffix === ".npy") {
    const { dtype, shape } = readNpy(contents[0], path);
    return { ...head, format: "npy", arrays: [{ name: "", dtype, shape: [...shape] }] };
  }
  const pair = files.length === 2, form = pair ? parseSigmf(contents[0], path) : rawForm(RAW_SUFFIXES[suffix]);
  return {
    ...head,
    format: pair ? "sigmf" : "raw",
    datatype: form.datatype,
    channel_count: form.channels,
    sample_count: contents.at(-1)!.length / sampleBytes(form),
    sample_rate_hz: form.sampleRateHz === null ? null : float(form.sampleRateHz),
    capture_count: form.captures.length,
    labels: [...new Set(form.annotations.flatMap(({ label }) => label ?? []))].sort(),
  };
}

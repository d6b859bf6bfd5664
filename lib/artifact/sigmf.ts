/**
 * Recordings of complex baseband samples: SigMF metadata, and the samples of a data file.
 *
 * Integers are scaled to -1 … 1: signed v / 2^(bits - 1), unsigned (v - 2^(bits - 1)) / 2^(bits - 1). Sample indices of a
 * document count from core:offset, those of results from the first sample of the file. Channels are interleaved sample by
 * sample.
 *
 * Source: Signal Metadata Format Specification 1.2.0, sigmf.org.
 */
import { type Code, messageOf, SvcError } from "../contract/error.ts";
import { sha512Hex } from "../contract/hash.ts";
import { parseJson } from "../contract/json.ts";
import { toPlain, type Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";

/** Complex types that are read: bytes of a component, and its reader as a value of -1 … 1. */
const COMPONENTS = {
  f32: { bytes: 4, read: (view: DataView, at: number, little: boolean) => view.getFloat32(at, little) },
  i16: { bytes: 2, read: (view: DataView, at: number, little: boolean) => view.getInt16(at, little) / 32768 },
  i8: { bytes: 1, read: (view: DataView, at: number) => view.getInt8(at) / 128 },
  u8: { bytes: 1, read: (view: DataView, at: number) => (view.getUint8(at) - 128) / 128 },
} as const;

/** Datatypes of SigMF that are read; one byte has no order. */
export const DATATYPES = ["cf32_le", "cf32_be", "ci16_le", "ci16_be", "ci8", "cu8"] as const;
export type Datatype = typeof DATATYPES[number];

export const META_SUFFIX = ".sigmf-meta", DATA_SUFFIX = ".sigmf-data";
/** Datatype by the suffix of a raw file. */
export const RAW_SUFFIXES: Readonly<Record<string, Datatype>> = {
  ".cf32": "cf32_le",
  ".ci16": "ci16_le",
  ".ci8": "ci8",
  ".cu8": "cu8",
};

/** The files of a recording: metadata and data of a SigMF pair, which either of them names, else the file itself. */
export function recordingFiles(path: string): string[] {
  if (!path.endsWith(META_SUFFIX) && !path.endsWith(DATA_SUFFIX)) return [path];
  const stem = path.slice(0, -META_SUFFIX.length);
  return [stem + META_SUFFIX, stem + DATA_SUFFIX];
}

/** Bytes of a sample of all channels. */
export const sampleBytes = ({ datatype, channels }: Pick<RecordingForm, "datatype" | "channels">) =>
  2 * COMPONENTS[datatype.slice(1).split("_")[0] as keyof typeof COMPONENTS].bytes * channels;

/** Of a metadata file. */
export const MAX_META_BYTES = 2 ** 24;
/** Of its lists. */
const MAX_CAPTURES = 65536, MAX_ANNOTATIONS = 1_000_000;
/** Samples of a result, 2 GiB as complex64. */
const MAX_SAMPLES = 2 ** 28;

const count = z.int().nonnegative();
const documentSchema = z.object({
  global: z.object({
    "core:datatype": z.string(),
    "core:version": z.string(),
    "core:sample_rate": z.number().positive().optional(),
    "core:num_channels": z.int().min(1).max(64).default(1),
    "core:offset": count.default(0),
    "core:sha512": z.string().regex(/^[0-9a-fA-F]{128}$/).optional(),
    "core:dataset": z.string().optional(),
    "core:trailing_bytes": count.default(0),
    "core:metadata_only": z.boolean().default(false),
  }),
  captures: z.array(z.object({
    "core:sample_start": count,
    "core:frequency": z.number().optional(),
    "core:datetime": z.string().max(100).optional(),
    "core:header_bytes": count.default(0),
  })).max(MAX_CAPTURES).default([]),
  annotations: z.array(z.object({
    "core:sample_start": count,
    "core:sample_count": count.optional(),
    "core:freq_lower_edge": z.number().optional(),
    "core:freq_upper_edge": z.number().optional(),
    "core:label": z.string().max(1000).optional(),
    "core:uuid": z.string().max(100).optional(),
  })).max(MAX_ANNOTATIONS).default([]),
});

export interface RecordingForm {
  datatype: Datatype;
  channels: number;
  /** Null where the file does not state it. */
  sampleRateHz: number | null;
  sha512: string | null;
  captures: { start: number; frequencyHz: number | null; datetime: string | null }[];
  annotations: {
    start: number;
    /** Null: up to the end. */
    count: number | null;
    lowerHz: number | null;
    upperHz: number | null;
    label: string | null;
    id: string | null;
  }[];
}

const refuse = (code: Code, name: string, why: string, hint?: string): never => {
  throw new SvcError(code, `Cannot read the recording ${name}: ${why}`, { hint });
};

/** The form of a raw file. */
export const rawForm = (datatype: Datatype): RecordingForm => ({
  datatype,
  channels: 1,
  sampleRateHz: null,
  sha512: null,
  captures: [],
  annotations: [],
});

/**
 * Reads a metadata file.
 * @throws SvcError `recording_invalid`; `recording_unsupported` for other datatypes, headers between samples and metadata
 *   without data
 */
export function parseSigmf(bytes: Uint8Array, name: string): RecordingForm {
  if (bytes.length > MAX_META_BYTES) refuse("recording_invalid", name, `its metadata exceed ${MAX_META_BYTES} bytes`);
  let value: Value;
  try {
    value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice()));
  } catch (error) {
    return refuse("recording_invalid", name, messageOf(error));
  }
  const checked = documentSchema.safeParse(toPlain(value));
  if (!checked.success) {
    const [{ path, message }] = checked.error.issues;
    return refuse("recording_invalid", name, `${path.map(String).join(".") || "the document"}: ${message}`);
  }
  const { global, captures, annotations } = checked.data, offset = global["core:offset"];
  const datatype = DATATYPES.find((known) => known === global["core:datatype"]);
  if (!/^1\./.test(global["core:version"])) {
    refuse("recording_unsupported", name, `its version is ${global["core:version"]}`, "SigMF 1.x is read");
  }
  if (datatype === undefined) {
    const found = global["core:datatype"].slice(0, 40);
    return refuse("recording_unsupported", name, `its datatype is ${found}`, `Known: ${DATATYPES.join(", ")}`);
  }
  if (global["core:metadata_only"]) refuse("recording_unsupported", name, "it is metadata without data");
  const foreign = global["core:dataset"] !== undefined || global["core:trailing_bytes"] > 0 ||
    captures.some((capture) => capture["core:header_bytes"] > 0);
  if (foreign) {
    refuse(
      "recording_unsupported",
      name,
      "its data file has other contents besides samples",
      "Convert it to .sigmf-data",
    );
  }
  const indices = [...captures, ...annotations].map((entry) => entry["core:sample_start"]);
  if (indices.some((start) => start < offset)) {
    refuse("recording_invalid", name, "a sample index lies before core:offset");
  }
  const starts = captures.map((capture) => capture["core:sample_start"]);
  if (starts.some((start, at) => at > 0 && start < starts[at - 1])) {
    refuse("recording_invalid", name, "its captures are not in order");
  }
  return {
    datatype,
    channels: global["core:num_channels"],
    sampleRateHz: global["core:sample_rate"] ?? null,
    sha512: global["core:sha512"]?.toLowerCase() ?? null,
    captures: captures.map((capture) => ({
      start: capture["core:sample_start"] - offset,
      frequencyHz: capture["core:frequency"] ?? null,
      datetime: capture["core:datetime"] ?? null,
    })),
    annotations: annotations.map((annotation) => ({
      start: annotation["core:sample_start"] - offset,
      count: annotation["core:sample_count"] ?? null,
      lowerHz: annotation["core:freq_lower_edge"] ?? null,
      upperHz: annotation["core:freq_upper_edge"] ?? null,
      label: annotation["core:label"] ?? null,
      id: annotation["core:uuid"] ?? null,
    })),
  };
}

/**
 * Number of samples in a data file of `size` bytes.
 * @throws SvcError `recording_invalid` for a part of a sample
 */
export function recordedCount(size: number, form: Pick<RecordingForm, "datatype" | "channels">, name: string): number {
  const step = sampleBytes(form);
  if (size % step !== 0) refuse("recording_invalid", name, "its data end within a sample");
  return size / step;
}

/**
 * Samples of one channel of a data file, interleaved (real, imaginary).
 * @param window first sample and number of samples; 0 samples are all to the end
 * @throws SvcError `recording_invalid` for another digest than core:sha512, a part of a sample, or a window beyond the end;
 *   `boundary_non_finite`, `artifact_limit_exceeded`
 */
export function recordedSamples(
  bytes: Uint8Array,
  { datatype, channels, sha512 }: RecordingForm,
  { name, channel = 0, first = 0, count = 0 }: { name: string; channel?: number; first?: number; count?: number },
): Float32Array {
  if (sha512 !== null && sha512Hex(bytes) !== sha512) {
    refuse("recording_invalid", name, "its data do not have the digest core:sha512", "Fetch or copy the files again");
  }
  if (channel >= channels) refuse("recording_invalid", name, `it has ${channels} channel${channels === 1 ? "" : "s"}`);
  const [kind, order = "le"] = datatype.slice(1).split("_") as [keyof typeof COMPONENTS, string?];
  const component = COMPONENTS[kind], little = order === "le", step = sampleBytes({ datatype, channels });
  const available = recordedCount(bytes.length, { datatype, channels }, name),
    wanted = count === 0 ? available - first : count;
  if (wanted <= 0 || first + wanted > available) {
    refuse("recording_invalid", name, `it has ${available} samples`, "Set first_sample and sample_count");
  }
  if (wanted > MAX_SAMPLES) {
    throw new SvcError("artifact_limit_exceeded", `Cannot read ${wanted} samples of ${name}`, {
      hint: `The limit is ${MAX_SAMPLES}: set sample_count`,
    });
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), samples = new Float32Array(2 * wanted);
  for (let n = 0; n < wanted; n++) {
    const at = (first + n) * step + 2 * component.bytes * channel;
    samples[2 * n] = component.read(view, at, little);
    samples[2 * n + 1] = component.read(view, at + component.bytes, little);
  }
  const wrong = samples.findIndex((value) => !Number.isFinite(value));
  if (wrong < 0) return samples;
  throw new SvcError(
    "boundary_non_finite",
    `Cannot read the recording ${name}: sample ${first + (wrong >> 1)} is not finite`,
  );
}

/**
 * A recording of complex baseband samples, and its labels.
 *
 * Files: a SigMF pair NAME.sigmf-meta and NAME.sigmf-data, or raw samples (.cf32, .ci16, .ci8, .cu8, little-endian, or the
 * type of `datatype`). lib/artifact/sigmf.ts has scaling and checks. recording_sha256 is the SHA-256 of the file, of a SigMF
 * pair that of both, metadata first: cat NAME.sigmf-meta NAME.sigmf-data | sha256sum.
 *
 * The window of first_sample and sample_count is cut first, then multiplied by exp(-j2π·f·n/fs) for frequency_shift_hz f, so
 * that f moves to zero (n counts from the start of the file), then resampled by the reduced ratio of target_sample_rate_hz
 * to fs with the low pass of lib/numeric/link/resample.ts.
 *
 * Shapes: waveform complex64 [n]. Labels are the annotations with a label that meet the window: first sample and number of
 * samples count in the waveform, frequency edges are as recorded, in Hz.
 *
 * Source: Signal Metadata Format Specification 1.2.0, sigmf.org.
 */
import { artifactKind, LABELS, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type JsonObject, type ParameterProblem, sha256Hex, SvcError, z } from "../api.ts";
import { joinBytes } from "../../lib/artifact/join_bytes.ts";
import {
  DATATYPES,
  META_SUFFIX,
  parseSigmf,
  RAW_SUFFIXES,
  rawForm,
  recordedSamples,
  recordingFiles,
  type RecordingForm,
} from "../../lib/artifact/sigmf.ts";
import { SYMBOL_METADATA, symbolsArtifact } from "../../lib/artifact/values.ts";
import { resampled, shifted } from "../../lib/numeric/link/resample.ts";

/** Of the filter of a resampler. */
const MAX_RATIO = 20_000;

const suffixOf = (path: string) => path.slice(path.lastIndexOf("."));

export default defineOperation({
  id: "source.iq_recording",
  name: "Recorded samples",
  description: "Reads a recording of complex baseband samples, SigMF or raw, with its labels",
  outputs: { waveform: artifactKind(RX_SYMBOLS, SYMBOL_METADATA), labels: LABELS },
  params: z.strictObject({
    recording_path: z.string().min(1).describe("SigMF metadata, or raw samples, relative to the project"),
    recording_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("")
      .describe("SHA-256 of the raw file, or of SigMF metadata and data one after the other"),
    datatype: z.enum(["auto", ...DATATYPES]).default("auto").describe("type of raw samples; auto: by the suffix"),
    sample_rate_hz: z.number().nonnegative().default(0).describe("sample rate of raw samples in Hz; 0: unknown"),
    channel: z.int().min(0).max(63).default(0).describe("channel of a recording with several, from 0"),
    first_sample: z.int().nonnegative().default(0).describe("first sample, from 0"),
    sample_count: z.int().nonnegative().default(0).describe("number of samples; 0: all to the end"),
    frequency_shift_hz: z.number().default(0).describe("frequency in Hz that is moved to zero"),
    target_sample_rate_hz: z.number().nonnegative().default(0).describe(
      "sample rate of the waveform in Hz; 0: as recorded",
    ),
  }),
  outputMetadataGuarantees: { waveform: { keys: ["recording"] }, labels: { keys: ["recording"] } },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  estimate: () => ({ waveform: null }),
  check({ recording_path, datatype, sample_rate_hz }): ParameterProblem[] {
    const pair = recordingFiles(recording_path).length === 2;
    if (pair && (datatype !== "auto" || sample_rate_hz !== 0)) {
      const place = datatype === "auto" ? "sample_rate_hz" : "datatype";
      return [{
        place: [place],
        message: `Cannot set ${place} of a SigMF recording: its metadata state it`,
        hint: "Leave it out",
      }];
    }
    if (pair || datatype !== "auto" || Object.hasOwn(RAW_SUFFIXES, suffixOf(recording_path))) return [];
    return [{
      place: ["recording_path"],
      message: `Cannot tell the type of the samples in ${recording_path}`,
      hint: `Name a ${META_SUFFIX} file, set datatype, or use the suffix ${Object.keys(RAW_SUFFIXES).join(", ")}`,
    }];
  },
  requires: ({ recording_path: path }) => recordingFiles(path).map((id) => ({ kind: "file" as const, id })),
  async run({ params, files, progress }) {
    const { recording_path: path, channel, first_sample: first } = params;
    const read = await Promise.all(recordingFiles(path).map((each) => files.read(each)));
    const sha256 = sha256Hex(read.length === 1 ? read[0] : joinBytes(read));
    if (params.recording_sha256 !== "" && params.recording_sha256 !== sha256) {
      throw new SvcError("boundary_hash_mismatch", `Cannot use the recording ${path}: it is not the pinned one`, {
        hint: `Its SHA-256 is ${sha256}`,
      });
    }
    const raw = params.datatype === "auto" ? RAW_SUFFIXES[suffixOf(path)] : params.datatype;
    const form = read.length === 2 ? parseSigmf(read[0], path) : rawForm(raw);
    const samples = recordedSamples(read.at(-1)!, form, { name: path, channel, first, count: params.sample_count });
    progress(1, 2, { phase: "reading", unit: "stages" });
    const rate = read.length === 2 ? form.sampleRateHz : params.sample_rate_hz || null;
    const { up, down } = ratioOf(params.target_sample_rate_hz, rate), count = samples.length / 2;
    const moved = params.frequency_shift_hz === 0
      ? samples
      : shifted(samples, -params.frequency_shift_hz / known(rate, "frequency_shift_hz"), first);
    const waveform = resampled(moved, up, down), range = { first, count, up, down };
    const recording: JsonObject = {
      path,
      sha256,
      datatype: form.datatype,
      channel,
      first_sample: first,
      sample_count: count,
      recorded_sample_rate_hz: rate === null ? null : float(rate),
      sample_rate_hz: rate === null ? null : float(rate * up / down),
      frequency_shift_hz: float(params.frequency_shift_hz),
      resampling: [up, down],
      captures: capturesOf(form, range, params.frequency_shift_hz),
    };
    const metadata = { dataset: { id: "iq_recording", version: sha256.slice(0, 12) }, recording };
    return {
      outputs: {
        waveform: symbolsArtifact(waveform, metadata),
        labels: { json: { kind: "task.labels", schema_version: 1, items: labelsOf(form, range) }, metadata },
      },
    };
  },
});

function known(rate: number | null, parameter: string): number {
  if (rate !== null) return rate;
  throw new SvcError("params_conflict", `Cannot use ${parameter}: the sample rate of the recording is unknown`, {
    hint: "Set sample_rate_hz of raw samples, or core:sample_rate of SigMF metadata",
  });
}

/** The reduced ratio of two rates, exact to a millihertz. */
function ratioOf(target: number, recorded: number | null): { up: number; down: number } {
  if (target === 0) return { up: 1, down: 1 };
  const [to, from] = [target, known(recorded, "target_sample_rate_hz")].map((rate) => Math.round(1000 * rate));
  let [divisor, rest] = [to, from];
  while (rest > 0) [divisor, rest] = [rest, divisor % rest];
  const up = to / divisor, down = from / divisor;
  if (to > 0 && Math.max(up, down) <= MAX_RATIO) return { up, down };
  throw new SvcError(
    "params_conflict",
    `Cannot resample from ${recorded} Hz to ${target} Hz: the ratio is ${up}/${down}`,
    {
      hint: `Numerator and denominator are at most ${MAX_RATIO}: choose a rate with a simpler ratio`,
    },
  );
}

interface Range {
  first: number;
  count: number;
  up: number;
  down: number;
}

/** The captures that meet the window, in samples of the waveform; frequencies are those of its zero. */
function capturesOf({ captures }: RecordingForm, { first, count, up, down }: Range, shiftHz: number): JsonObject[] {
  return captures.flatMap(({ start, frequencyHz, datetime }, index) => {
    const end = captures[index + 1]?.start ?? Infinity;
    if (end <= first || start >= first + count) return [];
    return [{
      sample_start: Math.round(Math.max(0, start - first) * up / down),
      frequency_hz: frequencyHz === null ? null : float(frequencyHz + shiftHz),
      datetime,
    }];
  });
}

function labelsOf({ annotations }: RecordingForm, { first, count, up, down }: Range): JsonObject[] {
  const place = (sample: number) => Math.round((Math.min(Math.max(sample, first), first + count) - first) * up / down);
  const used = new Set<string>();
  return annotations.flatMap((annotation, index) => {
    const { start, label, lowerHz, upperHz } = annotation, end = start + (annotation.count ?? Infinity);
    if (label === null || label === "" || start >= first + count || end <= first) return [];
    const id = annotation.id !== null && !used.has(annotation.id) ? annotation.id : `annotation_${index}`;
    used.add(id);
    const edges = { lower_hz: lowerHz, upper_hz: upperHz };
    return [{
      id,
      label,
      sample_start: place(start),
      sample_count: place(end) - place(start),
      ...Object.fromEntries(Object.entries(edges).flatMap(([key, hz]) => hz === null ? [] : [[key, float(hz)]])),
    }];
  });
}

/**
 * The complex baseband signals of a run as SigMF recordings: `<step>.<output>.sigmf-meta` and `.sigmf-data` (cf32_le) for
 * each output of transmitted or received symbols, of waveforms and of frames. Frames follow each other, antennas are channels.
 * Annotations are the labels beside a recording, and the modulations of frames, where one output of the run names them.
 *
 * Source: Signal Metadata Format Specification 1.2.0, sigmf.org.
 */
import { resolve } from "node:path";
import { decodeArtifact } from "../artifact/codec.ts";
import { inside, makeUserFolder, readFile, writeFile } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { DATA_SUFFIX, META_SUFFIX } from "../artifact/sigmf.ts";
import { itemsOf } from "../artifact/values.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex, sha512Hex } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import { LABELS, RX_SYMBOLS, SYMBOLS } from "../contract/kinds.ts";
import type { InputArtifact } from "../contract/operation.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { bytesOf } from "../numeric/array/ndarray.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import type { WrittenCrate } from "./ro_crate.ts";
import type { ShownRun } from "./store.ts";
import { version } from "./version.ts";
import type { Workspace } from "./workspace.ts";

/** Frames of modulation recognition, and their classes. */
const FRAMES = /^ai_phy\.modulation_(iq_)?frames\.numpy$/, CLASSES = "ai_phy.modulation_labels.numpy";
/** The last axis is that of antennas. */
const ANTENNAS = "channel.mimo_rx_grid.numpy";
const KINDS: readonly string[] = [
  SYMBOLS,
  RX_SYMBOLS,
  "channel.waveform.complex_numpy",
  ANTENNAS,
  "ai_phy.modulation_frames.numpy",
  "ai_phy.modulation_iq_frames.numpy",
];
type Output = ShownRun["summary"]["steps"][number]["outputs"][string];
/** Of an artifact that is read whole. */
const MAX_SIGNAL_BYTES = 2 ** 31;

/**
 * Writes the recordings of a finished run.
 * @param out a new or empty folder
 * @throws SvcError `run_not_found`, `run_still_executing`, `usage_invalid` for an occupied folder, `signals_missing` for a
 *   run without signals, `run_pruned`, `artifact_hash_mismatch`
 */
export function exportSigmf(
  workspace: Workspace,
  wanted: string,
  { out, licence, paths }: ByPath & { out: string; licence?: string },
): WrittenCrate {
  const { run_id, directory, summary } = openRun(workspace, wanted, { paths }), target = resolve(out);
  if (summary.status === "running") {
    throw new SvcError("run_still_executing", `Cannot export ${run_id}: it has not ended`, {
      hint: "Wait for its end",
    });
  }
  if (exists(target) && !Deno.readDirSync(target)[Symbol.iterator]().next().done) {
    throw new SvcError("usage_invalid", `Cannot write recordings to ${out}: the folder is not empty`, {
      hint: "Name a new folder with --out",
    });
  }
  const read = ({ kind, path, sha256 }: Output) => {
    const file = inside(directory, path);
    if (!exists(file)) {
      throw new SvcError("run_pruned", `Cannot read ${path}: the artifacts of this run were removed`, {
        hint: `svc runs restore ${run_id}`,
      });
    }
    const bytes = readFile(file, MAX_SIGNAL_BYTES);
    if (sha256Hex(bytes) === sha256) return decodeArtifact(kind, bytes);
    throw new SvcError("artifact_hash_mismatch", `Cannot use ${path}: it differs from the recorded file`, {
      hint: "svc runs verify names every file that changed",
    });
  };
  const all = summary.steps.flatMap(({ outputs }) => Object.values(outputs));
  /** Annotations of the labels that one output of the run has for a signal. */
  const annotationsOf = (step: readonly Output[], { kind, metadata }: Output, shape: readonly number[]) => {
    if (FRAMES.test(kind)) {
      const named = all.filter((other) => other.kind === CLASSES && Number(other.metadata.frame_count) === shape[0]);
      return named.length === 1 ? frameAnnotations(read(named[0]), shape[1]) : [];
    }
    const labels = step.find((other) => other.kind === LABELS && isObject(other.metadata.recording));
    return labels === undefined || !isObject(metadata.recording) ? [] : labelAnnotations(itemsOf(read(labels)));
  };
  const files: string[] = [];
  for (const { id, op, outputs } of summary.steps) {
    for (const [port, output] of Object.entries(outputs)) {
      const { kind, metadata } = output;
      if (!KINDS.includes(kind)) continue;
      const array = read(output).array();
      // Real channels of a learned coder are no baseband signal.
      if (array.dtype !== "complex64") continue;
      if (files.length === 0) makeUserFolder(target);
      const data = bytesOf(array), name = `${id}.${port}`;
      const about = {
        description: `Output ${port} of the step ${id} (${op}) of the run ${run_id}`,
        licence,
        channels: kind === ANTENNAS ? array.shape.at(-1)! : 1,
        annotations: annotationsOf(Object.values(outputs), output, array.shape),
      };
      writeFile(inside(target, name + DATA_SUFFIX), data);
      writeFile(inside(target, name + META_SUFFIX), prettyJson(documentOf(data, metadata, about)));
      files.push(name + DATA_SUFFIX, name + META_SUFFIX);
    }
  }
  if (files.length > 0) return { run_id, directory: target, files: files.sort() };
  throw new SvcError("signals_missing", `Cannot find complex signals in the run ${run_id}`, {
    hint: `Outputs of the kinds ${KINDS.join(", ")} are signals; svc runs show ${run_id} lists the steps`,
  });
}

function documentOf(
  data: Uint8Array,
  metadata: JsonObject,
  { description, licence, channels, annotations }: {
    description: string;
    licence?: string;
    channels: number;
    annotations: JsonObject[];
  },
): JsonObject {
  const { recording } = metadata, known: JsonObject = isObject(recording) ? recording : {};
  const rate: Value = known.sample_rate_hz ?? null;
  const captures = Array.isArray(known.captures) ? known.captures.filter(isObject) : [];
  return {
    global: {
      "core:datatype": "cf32_le",
      "core:version": "1.2.0",
      "core:sha512": sha512Hex(data),
      "core:recorder": `svc ${version}`,
      "core:description": description,
      ...(channels === 1 ? {} : { "core:num_channels": BigInt(channels) }),
      ...(rate === null ? {} : { "core:sample_rate": rate }),
      ...(licence === undefined ? {} : { "core:license": licence }),
    },
    captures: captures.length === 0 ? [{ "core:sample_start": 0 }] : captures.map((capture) => ({
      "core:sample_start": capture.sample_start,
      ...(capture.frequency_hz === null ? {} : { "core:frequency": capture.frequency_hz }),
      ...(capture.datetime === null ? {} : { "core:datetime": capture.datetime }),
    })),
    annotations,
  };
}

/** Annotations of frames by their modulation. */
function frameAnnotations(classes: InputArtifact, length: number): JsonObject[] {
  const { class_names: names } = classes.metadata;
  if (!Array.isArray(names)) return [];
  return Array.from(classes.array().data as BigInt64Array, (label, frame) => ({
    "core:sample_start": BigInt(frame * length),
    "core:sample_count": BigInt(length),
    "core:label": names[Number(label)],
  }));
}

/** Annotations of the labels of a recording. */
const labelAnnotations = (items: readonly JsonObject[]): JsonObject[] =>
  items.map(({ label, sample_start, sample_count, lower_hz, upper_hz }) => ({
    "core:sample_start": sample_start,
    "core:sample_count": sample_count,
    "core:label": label,
    ...(lower_hz === undefined ? {} : { "core:freq_lower_edge": lower_hz }),
    ...(upper_hz === undefined ? {} : { "core:freq_upper_edge": upper_hz }),
  }));

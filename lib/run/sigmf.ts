/**
 * The complex baseband signals of a run as SigMF recordings: `<step>.<output>.sigmf-meta` and `.sigmf-data` (cf32_le) for
 * each output of transmitted or received symbols and of waveforms.
 *
 * Source: Signal Metadata Format Specification 1.2.0, sigmf.org.
 */
import { resolve } from "node:path";
import { decodeArtifact } from "../artifact/codec.ts";
import { inside, makeUserFolder, readFile, writeFile } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { DATA_SUFFIX, META_SUFFIX } from "../artifact/sigmf.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex, sha512Hex } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import { RX_SYMBOLS, SYMBOLS } from "../contract/kinds.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { bytesOf } from "../numeric/array/ndarray.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import type { WrittenCrate } from "./ro_crate.ts";
import { version } from "./version.ts";
import type { Workspace } from "./workspace.ts";

const KINDS: readonly string[] = [SYMBOLS, RX_SYMBOLS, "channel.waveform.complex_numpy"];
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
  const files: string[] = [];
  for (const { id, op, outputs } of summary.steps) {
    for (const [port, { kind, path, sha256, metadata }] of Object.entries(outputs)) {
      if (!KINDS.includes(kind)) continue;
      const file = inside(directory, path);
      if (!exists(file)) {
        throw new SvcError("run_pruned", `Cannot read ${path}: the artifacts of this run were removed`, {
          hint: `svc runs restore ${run_id}`,
        });
      }
      const bytes = readFile(file, MAX_SIGNAL_BYTES);
      if (sha256Hex(bytes) !== sha256) {
        throw new SvcError("artifact_hash_mismatch", `Cannot use ${path}: it differs from the recorded file`, {
          hint: "svc runs verify names every file that changed",
        });
      }
      const array = decodeArtifact(kind, bytes).array();
      // Real channels of a learned coder are no baseband signal.
      if (array.dtype !== "complex64") continue;
      if (files.length === 0) makeUserFolder(target);
      const data = bytesOf(array), name = `${id}.${port}`;
      const about = { description: `Output ${port} of the step ${id} (${op}) of the run ${run_id}`, licence };
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
  { description, licence }: { description: string; licence?: string },
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
      ...(rate === null ? {} : { "core:sample_rate": rate }),
      ...(licence === undefined ? {} : { "core:license": licence }),
    },
    captures: captures.length === 0 ? [{ "core:sample_start": 0 }] : captures.map((capture) => ({
      "core:sample_start": capture.sample_start,
      ...(capture.frequency_hz === null ? {} : { "core:frequency": capture.frequency_hz }),
      ...(capture.datetime === null ? {} : { "core:datetime": capture.datetime }),
    })),
    annotations: [],
  };
}

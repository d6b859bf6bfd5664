/** A learned codec as an artifact: its networks and tables in a model.onnx.bundle. */
import {
  type InputArtifact,
  isObject,
  type ModelSession,
  type NamedModel,
  type OutputArtifact,
  SvcError,
  z,
} from "../api.ts";
import { checkState, type CodecFacts } from "./_codeclib.ts";
import { Codec } from "./_codeclib_codec.ts";
import { NETWORKS, TABLES } from "./_codeclib_tables.ts";

export const PROVIDER = z.enum(["CPUExecutionProvider"]).default("CPUExecutionProvider")
  .describe("execution provider; this release supports the CPU only");

/** The codec's record in `bundle.json`. */
export type BundledCodec = Omit<CodecFacts, "pad_to_multiple"> & {
  opset: number;
  /** Image size of the export; the networks accept any multiple of their reduction. */
  export_height: number;
  export_width: number;
};

/** The files of a selected model, with checked hashes, and the document. */
export async function bundleOf(model: NamedModel, codec: BundledCodec): Promise<OutputArtifact> {
  const files: Record<string, Uint8Array> = {};
  for (const name of [TABLES, ...NETWORKS]) files[name] = await model.read(name);
  return { json: { kind: "model.onnx.bundle", schema_version: 1, codec }, files };
}

/**
 * Opens the codec of a bundle.
 * @param openGraph of the step
 * @throws SvcError `artifact_manifest_invalid` for a bundle without a codec, `artifact_hash_mismatch` for another state
 */
export async function openBundle(
  input: InputArtifact,
  openGraph: (bytes: Uint8Array) => Promise<ModelSession>,
): Promise<{ codec: Codec; quality: number; metric: string }> {
  const { codec: stated, files: digests } = input.json();
  const { model, metric, quality, model_state_sha256 } = isObject(stated) ? stated : {};
  const fileOf = (name: string) => {
    const content = input.files?.get(name);
    if (content !== undefined) return content;
    throw new SvcError("artifact_manifest_invalid", `Cannot use the bundle as a codec: it has no ${name}`, {
      hint: "model.codeclib_export_onnx creates bundles of codecs",
    });
  };
  if (typeof model !== "string" || typeof metric !== "string" || typeof quality !== "number") fileOf("codec");
  const opened = new Map<string, Promise<ModelSession>>();
  const codec = await Codec.open({
    read: (file) => Promise.resolve(fileOf(file)),
    open(file) {
      let session = opened.get(file);
      if (session === undefined) opened.set(file, session = openGraph(fileOf(file)));
      return session;
    },
    sha256(file) {
      const digest = isObject(digests) ? digests[file] : undefined;
      return isObject(digest) ? String(digest.sha256) : "";
    },
  });
  checkState(codec, String(model_state_sha256));
  return { codec, quality: Number(quality), metric: String(metric) };
}

/** @throws SvcError `artifact_hash_mismatch` for an artifact of another model */
export function checkMadeBy(codec: Codec, facts: CodecFacts): void {
  if (facts.model !== codec.tables.model) {
    throw new SvcError("artifact_hash_mismatch", `Cannot use the bundle of ${codec.tables.model} for ${facts.model}`, {
      hint: "Export the codec that the encoder used",
    });
  }
  checkState(codec, facts.model_state_sha256);
}

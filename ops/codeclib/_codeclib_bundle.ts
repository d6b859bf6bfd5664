/** A learned codec as an artifact: its networks and tables in a model.onnx.bundle. */
import {
  type InputArtifact,
  isObject,
  type JsonObject,
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
export interface BundledCodec {
  model: string;
  metric: string;
  /** Quality, or quality level of a variable-rate model. */
  rung: number;
  opset: number;
  /** Image size of the export; the networks accept any multiple of their reduction. */
  height: number;
  width: number;
  stateSha256: string;
}

/** The files of a selected model, with checked hashes, and the document. */
export async function bundleOf(model: NamedModel, codec: BundledCodec): Promise<OutputArtifact> {
  const files: Record<string, Uint8Array> = {};
  for (const name of [TABLES, ...NETWORKS]) files[name] = await model.read(name);
  const { model: name, metric, rung, opset, height, width, stateSha256 } = codec;
  const document: JsonObject = {
    model: name,
    metric,
    quality: rung,
    opset,
    export_height: height,
    export_width: width,
    model_state_sha256: stateSha256,
  };
  return { json: { kind: "model.onnx.bundle", schema_version: 1, codec: document }, files };
}

/**
 * Opens the codec of a bundle.
 * @param openGraph of the step
 * @throws SvcError `artifact_manifest_invalid` for a bundle without a codec, `artifact_hash_mismatch` for another state
 */
export async function openBundle(
  input: InputArtifact,
  openGraph: (bytes: Uint8Array) => Promise<ModelSession>,
): Promise<{ codec: Codec; stated: BundledCodec }> {
  const { codec: stated, files: digests } = input.json();
  const { model, metric, quality, opset, export_height, export_width, model_state_sha256 } = isObject(stated)
    ? stated
    : {};
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
  const facts: BundledCodec = {
    model: model as string,
    metric: metric as string,
    rung: quality as number,
    opset: Number(opset),
    height: Number(export_height),
    width: Number(export_width),
    stateSha256: String(model_state_sha256),
  };
  checkState(codec, facts);
  return { codec, stated: facts };
}

/** @throws SvcError `artifact_hash_mismatch` for an artifact of another model */
export function checkMadeBy(codec: Codec, facts: CodecFacts): void {
  if (facts.model !== codec.tables.model) {
    throw new SvcError("artifact_hash_mismatch", `Cannot use the bundle of ${codec.tables.model} for ${facts.model}`, {
      hint: "Export the codec that the encoder used",
    });
  }
  checkState(codec, facts);
}

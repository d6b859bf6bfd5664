/** Conformance cases of the learned codec, on the bundled model. */
import analysisEncode from "../../../ops/model/codeclib_analysis_encode.ts";
import exportOnnx from "../../../ops/model/codeclib_export_onnx.ts";
import encode from "../../../ops/model/codeclib_encode.ts";
import entropyEncode from "../../../ops/model/codeclib_entropy_encode.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { runOperation } from "../harness.ts";

export const MODEL = "svc_tiny_hyperprior";
const folder = decodeURIComponent(
  new URL("../../../recipes/models/svc-tiny-hyperprior-v1", import.meta.url).pathname,
);
export const models = { [MODEL]: folder };
export const TINY: JsonObject = { model: MODEL, pad_to_multiple: 32 };

/** Two smooth pictures with an edge, whose sides are no multiples of anything. */
export function pictures(channels: 1 | 3 = 3, dtype: "uint8" | "float32" = "uint8") {
  const shape = { count: 2, height: 37, width: 45, channels };
  const samples = Array.from({ length: 2 * 37 * 45 * channels }, (_, at) => {
    const channel = at % channels, pixel = Math.floor(at / channels), x = pixel % 45, y = Math.floor(pixel / 45) % 37;
    return (x > 20 ? 170 : 60) + 40 * Math.sin(y / 6 + channel) + (pixel >= 37 * 45 ? 20 : 0);
  });
  const data = dtype === "uint8" ? Uint8Array.from(samples) : Float32Array.from(samples, (value) => value / 255);
  return { kind: "image.batch.numpy", ...imagesArtifact({ ...shape, dtype, data }) };
}

export const latents = async (params: JsonObject = {}) =>
  (await runOperation(analysisEncode, { inputs: { images: pictures() }, params: { ...TINY, ...params }, models }))
    .outputs;
const payload = async (params: JsonObject) =>
  (await runOperation(encode, { inputs: { images: pictures() }, params: { ...TINY, ...params }, models })).outputs;
const entropyPayload = async () =>
  (await runOperation(entropyEncode, { inputs: await latents(), params: { model: MODEL }, models })).outputs;

/** The bundle of the model. */
export const bundle = async () =>
  (await runOperation(exportOnnx, { inputs: { images: pictures() }, params: TINY, models })).outputs;
const compiled = { skip: "no runtime of this release loads compiled networks" };

export const CODECLIB_FIXTURES: Record<string, ConformanceCase[] | { skip: string }> = {
  "model.codeclib_aoti_encode": compiled,
  "model.codeclib_aoti_decode": compiled,
  "model.codeclib_export_onnx": [{
    inputs: () => ({ images: pictures() }),
    params: { ...TINY, validate_export: false },
    models,
  }],
  "model.codeclib_onnx_encode": [{
    inputs: async () => ({ images: pictures(), ...await bundle() }),
    params: { pad_to_multiple: 32 },
  }],
  "model.codeclib_onnx_decode": [{ inputs: async () => ({ ...await latents(), ...await bundle() }) }],
  "model.codeclib_onnx_entropy_encode": [{ inputs: async () => ({ ...await latents(), ...await bundle() }) }],
  "model.codeclib_onnx_entropy_decode": [{ inputs: async () => ({ ...await entropyPayload(), ...await bundle() }) }],
  "source.kodak_files": [{
    files: () => ({ "kodak/kodim01.png": "one", "kodak/kodim02.png": "two" }),
    params: { dataset_dir: "kodak", limit: 2 },
  }],
  "model.codeclib_analysis_encode": [
    { inputs: () => ({ images: pictures() }), params: TINY, models },
    { inputs: () => ({ images: pictures(1, "float32") }), params: { ...TINY, quantize_latents: true }, models },
  ],
  "model.codeclib_synthesis_decode": [{ inputs: () => latents(), models }],
  "model.codeclib_entropy_encode": [{ inputs: () => latents(), params: { model: MODEL }, models }],
  "model.codeclib_entropy_decode": [{ inputs: entropyPayload, models }],
  "model.codeclib_encode": [
    { inputs: () => ({ images: pictures() }), params: TINY, models },
    {
      inputs: () => ({ images: pictures(1) }),
      params: { ...TINY, wire_format: "compact_binary_v1", quality: 8 },
      models,
    },
  ],
  "model.codeclib_decode": [
    { inputs: () => payload({}), models },
    { inputs: () => payload({ wire_format: "compact_binary_v1" }), models },
  ],
};

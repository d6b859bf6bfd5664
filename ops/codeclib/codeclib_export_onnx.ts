/**
 * The networks and tables of a learned codec as a bundle, for the codeclib_onnx operations and for use elsewhere. The
 * ONNX files of the selected model are copied with checked hashes, not converted. Another opset is refused.
 *
 * The size of export is recorded, 0 means the largest height and width of the padded images; the networks accept every
 * multiple of their reduction, so images of several sizes need one bundle. validate_export runs an image of that size through all four networks of the bundle.
 *
 * Format: ZIP of bundle.json and files/analysis.onnx, hyper_analysis.onnx, hyper_synthesis.onnx, synthesis.onnx, tables.json.
 */
import { IMAGES, ONNX_BUNDLE } from "../../lib/contract/kinds.ts";
import { defineOperation, SvcError, z } from "../api.ts";
import { imageShapeMetadata } from "../../lib/artifact/image_payload.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import {
  DEVICE,
  EXPORT_SIZE,
  MODEL_PARAMS,
  modelProblems,
  namedModel,
  openCodec,
  PAD_TO_MULTIPLE,
  qualityOf,
  VARIABLE_RATE_PARAMS,
} from "./_codeclib.ts";
import { bundleOf } from "./_codeclib_bundle.ts";
import { INFERENCE } from "./_codeclib_steps.ts";
import { NETWORKS } from "./_codeclib_tables.ts";

export default defineOperation({
  id: "model.codeclib_export_onnx",
  name: "Convert codec to ONNX",
  description: "Writes the networks and tables of a learned codec into a bundle",
  inputs: { images: [IMAGES] },
  outputs: { model: ONNX_BUNDLE },
  params: z.strictObject({
    ...MODEL_PARAMS,
    ...VARIABLE_RATE_PARAMS,
    device: DEVICE,
    ...EXPORT_SIZE,
    opset: z.int().min(1).max(30).default(17).describe("required operator set of the networks"),
    pad_to_multiple: PAD_TO_MULTIPLE,
    validate_export: z.boolean().default(true).describe("run an image through the networks of the bundle"),
  }),
  backends: INFERENCE,
  check: modelProblems,
  models: namedModel,
  async run({ inputs, params, model, openGraph }) {
    const named = model(params.model), codec = await openCodec(model, params.model), quality = qualityOf(params);
    for (const network of NETWORKS) {
      const { opset } = await named.open(network);
      if (opset !== params.opset) {
        throw new SvcError("params_invalid", `Cannot export ${params.model} in opset ${params.opset}`, {
          hint: `Its ${network} has opset ${opset}, and networks are not converted`,
        });
      }
    }
    const largest = imageShapeMetadata(imagesOf(inputs.images));
    const height = params.export_height || codec.paddedSize(largest.image_height, params.pad_to_multiple);
    const width = params.export_width || codec.paddedSize(largest.image_width, params.pad_to_multiple);
    const { stateSha256, tables: { model: name, metric, hyperReduction } } = codec;
    if (height % hyperReduction !== 0 || width % hyperReduction !== 0) {
      throw new SvcError("params_invalid", `Cannot export ${name} for images of ${height} x ${width}`, {
        hint: `Sides must be multiples of ${hyperReduction}`,
      });
    }
    codec.step(quality);
    const bundle = await bundleOf(named, {
      model: name,
      metric,
      quality,
      opset: params.opset,
      export_height: height,
      export_width: width,
      model_state_sha256: stateSha256,
    });
    if (params.validate_export) {
      const picture = {
        count: 1,
        height,
        width,
        channels: 3,
        dtype: "float32" as const,
        data: new Float32Array(3 * height * width).fill(0.5),
      };
      const copy = await codec.reopened(bundle.files!, openGraph);
      const options = { quality, pad_to_multiple: hyperReduction };
      const bytes = await copy.encode(await copy.analyse(picture, 0, quality, hyperReduction), quality);
      // The checksums detect a difference between both decodings.
      await copy.synthesise(await codec.decode(bytes, picture, options), quality, picture);
    }
    return { outputs: { model: bundle } };
  },
});

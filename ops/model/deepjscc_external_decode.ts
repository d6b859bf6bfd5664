/**
 * Slot for the decoder of a joint source-channel coder: received complex symbols straight to pictures.
 *
 *     learned_artifact    a trained package: symbols_ri [batch, 2K, h, w] -> reconstruction [batch, 3, height, width]
 *     external_callable   the contract that adapters wrap; by itself it does not run
 *
 * How symbols stand in pictures, and what form these had, comes from the metadata that the encoder left.
 *
 * Shapes: symbols complex64 [N·K·h·w] -> images [N, H, W, C], uint8 or float32 in [0, 1] as they were sent; _deepjscc.ts has
 * the order.
 *
 * Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
 */
import { IMAGES, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import { LEARNED_ARTIFACT, slotAbi } from "../../lib/artifact/learned.ts";
import { imagesArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import type { NdArray } from "../../lib/numeric/ndarray.ts";
import {
  DEEPJSCC_PARAMS,
  deepjsccMaterializations,
  deepjsccProblems,
  parted,
  type PictureForm,
  picturesOf,
  ROWS,
  SYMBOL_SHAPE,
} from "./_deepjscc.ts";

/** What describes the symbols and not the pictures. */
const SYMBOL_KEYS = [
  SYMBOL_SHAPE,
  "symbol_count",
  "channel_use_count",
  "representation",
  "image_dtype",
  "source_item_counts",
];

export default defineOperation({
  id: "model.deepjscc_external_decode",
  name: "JSCC decoder slot",
  description: "Turns received symbols straight into pictures by a trained artifact or an adapter",
  inputs: { symbols: [RX_SYMBOLS, SYMBOLS] },
  outputs: { images: IMAGES },
  params: z.strictObject(DEEPJSCC_PARAMS),
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["external", "torch", "onnxruntime"],
    dataset_capture: ["external", "torch", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral", reason: "Compared by the quality of received pictures" },
  materializations: deepjsccMaterializations("decoder"),
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "decoder",
    component_role: "decoder",
    entrypoint_id: "decoder",
    inputs: { symbols_ri: ["batch", "real_imag_channel", "symbol_height", "symbol_width"] },
    outputs: { reconstruction: ["batch", 3, "height", "width"] },
    required_operation_inputs: ["symbols"],
    binding: { runtime: LEARNED_ARTIFACT },
  }),
  outputMetadataGuarantees: { images: { from: "symbols", keys: ["boundary_contract", "image_count"] } },
  check: deepjsccProblems,
  timingMetric: "decoder.inference",
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  async run(context) {
    const { symbols } = context.inputs;
    const feeds = { symbols_ri: parted(symbolsOf(symbols), symbols.metadata) };
    const { reconstruction } = await context.learned.run(feeds, { rows: ROWS });
    const pictures = picturesOf(reconstruction, formOf(symbols.metadata, reconstruction));
    return { outputs: { images: imagesArtifact(pictures, travel(symbols.metadata, {}, SYMBOL_KEYS)) } };
  },
});

/** The form that the encoder saw; where the metadata do not tell it, what the network gave. */
function formOf(metadata: JsonObject, { shape: [, , rows, columns] }: NdArray): PictureForm {
  const { height, width, channels } = trustedShape(metadata) ?? { height: rows, width: columns, channels: 3 };
  return {
    height,
    width,
    channels: channels === 1 ? 1 : 3,
    dtype: metadata.image_dtype === "uint8" ? "uint8" : "float32",
  };
}

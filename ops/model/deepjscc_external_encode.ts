/**
 * Slot for the encoder of a joint source-channel coder: pictures straight to complex symbols.
 *
 *     learned_artifact    a trained package: images [batch, 3, height, width] -> symbols_ri [batch, 2K, h, w]
 *     external_callable   the contract that adapters wrap; by itself it does not run
 *
 * The symbols leave as the network gives them: their power is set behind it. Which sizes of pictures are possible depends
 * on the network.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> symbols complex64 [N·K·h·w]; _deepjscc.ts has the order.
 *
 * Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
 */
import { IMAGES, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, slotAbi } from "../../lib/artifact/learned.ts";
import { imagesOf, symbolsArtifact, travel } from "../../lib/artifact/values.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import {
  DEEPJSCC_PARAMS,
  deepjsccMaterializations,
  deepjsccProblems,
  joined,
  planesOf,
  ROWS,
  SYMBOL_SHAPE,
} from "./_deepjscc.ts";

export default defineOperation({
  id: "model.deepjscc_external_encode",
  name: "JSCC encoder slot",
  description: "Turns pictures straight into complex symbols by a trained artifact or an adapter",
  inputs: { images: [IMAGES] },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject(DEEPJSCC_PARAMS),
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["external", "torch", "onnxruntime"],
    dataset_capture: ["external", "torch", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral", reason: "Compared by the quality of received pictures" },
  materializations: deepjsccMaterializations("encoder"),
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "encoder",
    component_role: "encoder",
    entrypoint_id: "encoder",
    inputs: { images: ["batch", 3, "height", "width"] },
    outputs: { symbols_ri: ["batch", "real_imag_channel", "symbol_height", "symbol_width"] },
    required_operation_inputs: ["images"],
    binding: { runtime: LEARNED_ARTIFACT },
  }),
  outputMetadataGuarantees: { symbols: { from: "images", keys: ["boundary_contract", "symbol_count"] } },
  check: deepjsccProblems,
  timingMetric: "encoder.inference",
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  async run(context) {
    const { images } = context.inputs;
    const batch = imagesOf(images), { count, height, width, channels, dtype } = batch;
    const { symbols_ri } = await context.learned.run({ images: planesOf(batch) }, { rows: ROWS });
    const symbols = joined(symbols_ri);
    const [, parts, rows, columns] = symbols_ri.shape;
    const shape = [count, parts / 2, rows, columns], perImage = symbols.length / 2 / count;
    const metadata = travel(images.metadata, {
      image_count: count,
      image_height: height,
      image_width: width,
      image_channels: channels,
      image_dtype: dtype,
      [SYMBOL_SHAPE]: shape,
      source_item_counts: Array(count).fill(perImage),
    }, DELIVERY_KEYS);
    return {
      outputs: { symbols: symbolsArtifact(symbols, metadata) },
      metrics: { "channel.uses_per_pixel": perImage / (height * width) },
    };
  },
});

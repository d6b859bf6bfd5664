/**
 * Images to latents by the analysis network of a bundle, at its exported quality.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, h, w], in units of the step.
 *
 * Source: _codeclib_codec.ts.
 */
import { analysisOf } from "./_codeclib_runtimes.ts";

export default analysisOf("onnx");

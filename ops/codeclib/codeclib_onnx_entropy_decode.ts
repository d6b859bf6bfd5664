/**
 * Payload bits to latents with the hyperprior networks of a bundle; a failed image is an error, or zeros that are listed in
 * failed_item_indices.
 *
 * Shapes: bits -> latents float32 [N, channel, h, w].
 *
 * Source: _codeclib_codec.ts.
 */
import { entropyDecoderOf } from "./_codeclib_runtimes.ts";

export default entropyDecoderOf("onnx");

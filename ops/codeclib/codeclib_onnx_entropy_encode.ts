/**
 * Latents to payload bits with the hyperprior networks of a bundle; the container is compact_binary_v1.
 *
 * Shapes: latents float32 [N, channel, h, w] -> bits, eight a byte, most significant bit first.
 *
 * Source: _codeclib_codec.ts.
 */
import { entropyCoderOf } from "./_codeclib_runtimes.ts";

export default entropyCoderOf("onnx");

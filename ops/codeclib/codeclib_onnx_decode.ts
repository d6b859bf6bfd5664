/**
 * Latents to images by the synthesis network of a bundle, which must be that of the codec of the latents.
 *
 * Lost images (failed_item_indices) and latents that are not finite are failures: on_error refuses or blackens them.
 *
 * Shapes: latents float32 [N, channel, h, w] -> images [N, H, W, C] of the size and sample type of the source.
 *
 * Source: _codeclib_codec.ts.
 */
import { synthesisOf } from "./_codeclib_runtimes.ts";

export default synthesisOf("onnx");

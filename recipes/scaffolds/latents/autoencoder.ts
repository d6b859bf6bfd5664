/**
 * Images to latents and back: means of blocks of `block_size` x `block_size` pixels, centred at zero. Replace both
 * functions by your own autoencoder; `await context.infer(...)` runs an ONNX model that the manifest lists.
 *
 * Latents can be disturbed on the way, or be sent as bits in float16 or float32.
 */
import type { ArrayValue, Call, CoderResult, Context } from "../svc_types.ts";

/**
 * Encodes a batch of images.
 * @param images [count, height, width, channels]; uint8, or float32 in [0, 1]
 * @returns float32 latents [count, rows, columns, channels] in [-1, 1]
 */
export function encode(images: ArrayValue, params: { block_size: number }, context: Context): CoderResult {
  const side = params.block_size, [count, height, width, channels] = images.shape;
  const rows = Math.ceil(height / side), columns = Math.ceil(width / side);
  const latents = new Float32Array(count * rows * columns * channels);
  const scale = images.dtype === "uint8" ? 1 / 255 : 1;
  let at = 0;
  for (let image = 0; image < count; image++) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        // Blocks at the right and lower edge may be smaller.
        const bottom = Math.min((row + 1) * side, height), right = Math.min((column + 1) * side, width);
        for (let channel = 0; channel < channels; channel++) {
          let sum = 0, pixels = 0;
          for (let y = row * side; y < bottom; y++) {
            for (let x = column * side; x < right; x++, pixels++) {
              sum += Number(images.data[((image * height + y) * width + x) * channels + channel]);
            }
          }
          latents[at++] = 2 * scale * sum / pixels - 1;
        }
      }
    }
    context.report_progress(image + 1, count);
  }
  return {
    array: { dtype: "float32", shape: [count, rows, columns, channels], data: latents },
    metadata: {
      // For the decoder, which gets it as metadata.adapter_metadata. It is counted as rate beyond 64 bytes an image.
      block_size: side,
      source_item_counts: Array(count).fill(latents.length / count),
    },
  };
}

/** Decodes the received latents, which are as many as were sent. */
export function decode({ array, metadata }: Call, _context: Context): CoderResult {
  const { block_size: side } = metadata.adapter_metadata;
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = metadata;
  const shape = [count, height, width, channels], dtype = metadata.image_dtype;
  const rows = Math.ceil(height / side), columns = Math.ceil(width / side);
  const samples = new Float32Array(count * height * width * channels);
  for (let i = 0; i < samples.length; i++) {
    const channel = i % channels, x = Math.floor(i / channels) % width;
    const y = Math.floor(i / channels / width) % height, image = Math.floor(i / channels / width / height);
    const block = (image * rows + Math.floor(y / side)) * columns + Math.floor(x / side);
    // Noise may move a latent out of its range.
    samples[i] = Math.min(1, Math.max(0, (Number(array.data[block * channels + channel]) + 1) / 2));
  }
  if (dtype === "float32") return { dtype, shape, data: samples };
  return { dtype: "uint8", shape, data: Uint8Array.from(samples, (sample) => Math.round(255 * sample)) };
}

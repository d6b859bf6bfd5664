/**
 * Images to indices and back: every block of `block_size` x `block_size` pixels becomes, channel by channel, the number
 * of the brightness level nearest to its mean. Replace both functions by your own tokenizer.
 *
 * Indices can be disturbed on the way, or be sent as bits; every received index lies in the codebook.
 */
import type { ArrayValue, Call, CoderResult, Context } from "../svc_types.ts";

/**
 * Encodes a batch of images.
 * @param images [count, height, width, channels]; uint8, or float32 in [0, 1]
 * @returns int32 indices [count, rows, columns, channels]
 */
export function encode(
  images: ArrayValue,
  params: { block_size: number; level_count: number },
  context: Context,
): CoderResult {
  const { block_size: side, level_count: levels } = params;
  const [count, height, width, channels] = images.shape;
  const rows = Math.ceil(height / side), columns = Math.ceil(width / side);
  const indices = new Int32Array(count * rows * columns * channels);
  const scale = (levels - 1) / (images.dtype === "uint8" ? 255 : 1);
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
          indices[at++] = Math.round(scale * sum / pixels);
        }
      }
    }
    context.report_progress(image + 1, count);
  }
  return {
    array: { dtype: "int32", shape: [count, rows, columns, channels], data: indices },
    metadata: {
      // Required: it determines the number of bits per index.
      codebook_size: levels,
      // For the decoder, which gets it as metadata.adapter_metadata. It is counted as rate beyond 64 bytes an image.
      block_size: side,
      source_item_counts: Array(count).fill(indices.length / count),
    },
  };
}

/** Decodes the received indices, which are as many as were sent. */
export function decode({ array, metadata }: Call, _context: Context): CoderResult {
  const { block_size: side, codebook_size: levels } = metadata.adapter_metadata;
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = metadata;
  const shape = [count, height, width, channels], dtype = metadata.image_dtype;
  const rows = Math.ceil(height / side), columns = Math.ceil(width / side);
  const samples = new Float32Array(count * height * width * channels);
  for (let i = 0; i < samples.length; i++) {
    const channel = i % channels, x = Math.floor(i / channels) % width;
    const y = Math.floor(i / channels / width) % height, image = Math.floor(i / channels / width / height);
    const block = (image * rows + Math.floor(y / side)) * columns + Math.floor(x / side);
    samples[i] = Number(array.data[block * channels + channel]) / (levels - 1);
  }
  if (dtype === "float32") return { dtype, shape, data: samples };
  return { dtype: "uint8", shape, data: Uint8Array.from(samples, (sample) => Math.round(255 * sample)) };
}

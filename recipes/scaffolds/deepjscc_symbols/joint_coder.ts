/**
 * Images to complex symbols and back, without bits: means of blocks of `block_size` x `block_size` pixels, centred at
 * zero, two of them per symbol (real and imaginary part). Noise on a symbol is noise on two block means. Replace both
 * functions by your own joint source-channel coder; `await context.infer(...)` runs an ONNX model of the manifest.
 *
 * The link normalises the symbols to unit power (step tx_power). The decoder gets their power before that in metadata,
 * because it could not distinguish grey from white otherwise.
 */
import type { ArrayValue, Call, CoderResult, Context } from "../svc_types.ts";

/**
 * Encodes a batch of images.
 * @param images [count, height, width, channels]; uint8, or float32 in [0, 1]
 * @returns complex64 symbols [n], interleaved
 */
export function encode(images: ArrayValue, params: { block_size: number }, context: Context): CoderResult {
  const side = params.block_size, [count, height, width, channels] = images.shape;
  const rows = Math.ceil(height / side), columns = Math.ceil(width / side);
  // Symbols per image; an odd last mean has a symbol of its own.
  const perImage = Math.ceil(rows * columns * channels / 2);
  const parts = new Float32Array(2 * count * perImage);
  const scale = images.dtype === "uint8" ? 1 / 255 : 1;
  for (let image = 0; image < count; image++) {
    let at = 2 * image * perImage;
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
          parts[at++] = 2 * scale * sum / pixels - 1;
        }
      }
    }
    context.report_progress(image + 1, count);
  }
  let energy = 0;
  for (const part of parts) energy += part * part;
  return {
    array: { dtype: "complex64", shape: [count * perImage], data: parts },
    metadata: {
      // For the decoder, which gets it as metadata.adapter_metadata. It is counted as rate beyond 64 bytes an image.
      block_size: side,
      // Mean |x|^2 before the link scales it.
      symbol_power: energy / (count * perImage),
      // Number of symbols of each image, for channels with one fading gain per image.
      source_item_counts: Array(count).fill(perImage),
    },
  };
}

/** Decodes the received symbols, which are as many as were sent, at unit power and with noise. */
export function decode({ array, metadata }: Call, _context: Context): CoderResult {
  const { block_size: side, symbol_power: power } = metadata.adapter_metadata;
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = metadata;
  const shape = [count, height, width, channels], dtype = metadata.image_dtype;
  const rows = Math.ceil(height / side), columns = Math.ceil(width / side);
  const perImage = Math.ceil(rows * columns * channels / 2);
  const parts = array.data as Float32Array, gain = Math.sqrt(power);
  const samples = new Float32Array(count * height * width * channels);
  for (let i = 0; i < samples.length; i++) {
    const channel = i % channels, x = Math.floor(i / channels) % width;
    const y = Math.floor(i / channels / width) % height, image = Math.floor(i / channels / width / height);
    const block = Math.floor(y / side) * columns + Math.floor(x / side);
    const mean = gain * parts[2 * image * perImage + block * channels + channel];
    samples[i] = Math.min(1, Math.max(0, (mean + 1) / 2));
  }
  if (dtype === "float32") return { dtype, shape, data: samples };
  return { dtype: "uint8", shape, data: Uint8Array.from(samples, (sample) => Math.round(255 * sample)) };
}

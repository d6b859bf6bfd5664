/**
 * Images to bits and back: the encoder keeps the `bits_per_sample` most significant bits of every sample, the decoder
 * uses the middle of each quantisation interval. This is a complete codec: replace both functions by your own.
 *
 * On the link, an array element holds one bit, 0 or 1; some bits may arrive wrong.
 */
import type { ArrayValue, Call, CoderResult, Context } from "../svc_types.ts";

/**
 * Encodes a batch of images.
 * @param images [count, height, width, channels]; uint8, or float32 in [0, 1]
 * @param params as declared in params_schema of the manifest
 */
export function encode(images: ArrayValue, params: { bits_per_sample: number }, context: Context): CoderResult {
  const depth = params.bits_per_sample, samples = toBytes(images);
  const bits = new Uint8Array(samples.length * depth);
  for (let i = 0; i < samples.length; i++) {
    for (let b = 0; b < depth; b++) bits[i * depth + b] = samples[i] >> (7 - b) & 1;
  }
  const count = images.shape[0];
  context.report_progress(count, count);
  return {
    array: { dtype: "uint8", shape: [bits.length], data: bits },
    metadata: {
      // For the decoder, which gets it as metadata.adapter_metadata. It is counted as rate beyond 64 bytes an image.
      sample_depth: depth,
      // Number of bits of each image, for packets and for channels with one fading gain per image.
      source_item_counts: Array(count).fill(bits.length / count),
    },
  };
}

/** Decodes the received bits, which are as many as were sent. */
export function decode({ array, metadata }: Call, _context: Context): CoderResult {
  const { sample_depth: depth } = metadata.adapter_metadata;
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = metadata;
  const shape = [count, height, width, channels], dtype = metadata.image_dtype;
  const bits = array.data as Uint8Array, samples = new Uint8Array(bits.length / depth);
  for (let i = 0; i < samples.length; i++) {
    let sample = 0;
    for (let b = 0; b < depth; b++) sample = sample << 1 | bits[i * depth + b];
    // The middle of the 2^(8 - depth) values that share these bits.
    samples[i] = (sample << (8 - depth)) + (256 >> depth >> 1);
  }
  if (dtype === "float32") return { dtype, shape, data: Float32Array.from(samples, (sample) => sample / 255) };
  return { dtype: "uint8", shape, data: samples };
}

function toBytes({ dtype, data }: ArrayValue): Uint8Array {
  return dtype === "uint8" ? data : Uint8Array.from(data as Float32Array, (sample) => Math.round(255 * sample));
}

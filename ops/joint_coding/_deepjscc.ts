/**
 * Shared by encoder and decoder of a joint source-channel coder: runtimes, parameters, and conversions between images,
 * the real channels of the networks, and complex symbols.
 *
 * The encoder's real_imag_channel = 2·symbol_channels real channels are all real parts, then all imaginary parts;
 * complex symbols are in C order [image, channel, height, width]. Grey images are repeated to three channels.
 */
import { artifactParameters, type JsonObject, SvcError, z } from "../api.ts";
import { type ImageBatch, metadataCounts, oneImage, type UniformImages } from "../../lib/artifact/values.ts";
import { elementCount, type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { CODER_PARAMS } from "../_external.ts";

/** Images per call of a network. */
export const ROWS = 4;
/** Metadata of the symbols for a decoder. */
export const SYMBOL_SHAPE = "symbol_shape";

/** Common declarations of encoder and decoder. */
export const DEEPJSCC_SLOT = {
  params: {
    ...artifactParameters("", "runtime"),
    symbol_channels: z.int().positive().default(16).describe("complex channels, for learned_checkpoint"),
    checkpoint_path: z.string().default("").describe("NPZ file of the network; empty without one"),
    checkpoint_sha256: z.string().default("").describe("lower-case SHA-256 of that file"),
    checkpoint_format: z.enum(["svc_deepjscc_reference_cnn_npz_v1"]).default("svc_deepjscc_reference_cnn_npz_v1")
      .describe("format of that file"),
    checkpoint_strict: z.boolean().default(true).describe("refuse members that the format does not name"),
    checkpoint_max_bytes: z.int().positive().default(67108864).describe("a larger file is refused, in bytes"),
    ...CODER_PARAMS,
  },
  equivalence: { type: "behavioral", reason: "Compared by the quality of received images" },
  gradient: "full",
  mode: {
    parameter: "runtime",
    default: "training_interface",
    description: "training_interface is for exported training code and does not run",
  },
  // An adapter may share state between calls, so its steps never overlap with others.
  threadSafe: false,
  modes: {
    training_interface: {},
    external_callable: {
      implementation: "external_callable_runtime",
      backend: "external",
      planned: "Runs only in adapters: svc adapter scaffold deepjscc_symbols writes an example",
    },
    learned_checkpoint: {
      implementation: "safe_npz_reference_cnn_runtime",
      backend: "torch",
      planned:
        "The reference network of this checkpoint format is not part of this release; package ONNX files instead",
    },
  },
} as const;

/** A number for every image, float32 [N]. */
export function each(count: number, value: number): NdArray {
  return ndarray("float32", new Float32Array(count).fill(value), [count]);
}

/** The batches of a package: all images of one size in one, else each image in one of its own. */
export function callsOf(batch: ImageBatch): UniformImages[] {
  if (batch.sizes === undefined) return [batch];
  return Array.from({ length: batch.count }, (_, index) => oneImage(batch, index));
}

/** Images as planes float32 [N, 3, H, W] in [0, 1]. */
export function planesOf({ count, height, width, channels, dtype, data }: UniformImages): NdArray {
  if (channels !== 1 && channels !== 3) {
    throw new SvcError("boundary_shape_invalid", `Cannot encode images of ${channels} channels: 1 or 3 are supported`);
  }
  const plane = height * width, planes = new Float32Array(count * 3 * plane), scale = dtype === "uint8" ? 255 : 1;
  for (let image = 0, at = 0; image < count; image++) {
    for (let channel = 0; channel < 3; channel++) {
      const from = image * plane * channels + Math.min(channel, channels - 1);
      for (let i = 0; i < plane; i++) planes[at++] = data[from + i * channels] / scale;
    }
  }
  return ndarray("float32", planes, [count, 3, height, width]);
}

/** The form of the encoded images. */
export interface PictureForm {
  height: number;
  width: number;
  channels: number;
  dtype: "uint8" | "float32";
}

/**
 * Planes float32 [N, 3, H, W] in [0, 1] as images of a form: the upper left part of larger planes, the mean of the
 * planes for grey, rounded for uint8. Values outside [0, 1] are clipped.
 * @throws SvcError `artifact_output_invalid` for fewer rows or columns
 */
export function picturesOf(
  { shape: [count, , rows, columns], data: planes }: NdArray,
  form: PictureForm,
): UniformImages {
  const { height, width, channels, dtype } = form;
  if (rows < height || columns < width) {
    throw new SvcError(
      "artifact_output_invalid",
      `Cannot crop ${height} x ${width} pixels from a reconstruction of ${rows} x ${columns}`,
    );
  }
  const plane = rows * columns, samples = count * height * width * channels;
  const data = dtype === "uint8" ? new Uint8Array(samples) : new Float32Array(samples);
  const put = (at: number, value: number) => {
    const limited = Math.min(1, Math.max(0, value));
    data[at] = dtype === "uint8" ? Math.round(255 * limited) : limited;
  };
  for (let image = 0, at = 0; image < count; image++) {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const from = image * 3 * plane + y * columns + x;
        const [red, green, blue] = [0, 1, 2].map((channel) => Number(planes[from + channel * plane]));
        if (channels === 1) put(at++, (red + green + blue) / 3);
        else for (const value of [red, green, blue]) put(at++, value);
      }
    }
  }
  return { count, height, width, channels, dtype, data };
}

/** Complex symbols [N·K·h·w], interleaved, of real channels [N, 2K, h, w]. */
export function joined({ shape: [count, parts, height, width], data }: NdArray): Float32Array {
  if (parts % 2 !== 0) {
    throw new SvcError("artifact_output_invalid", `Cannot form complex symbols from ${parts} real channels`);
  }
  const half = parts / 2 * height * width, symbols = new Float32Array(count * 2 * half);
  for (let image = 0, at = 0; image < count; image++) {
    for (let i = 0; i < half; i++) {
      symbols[at++] = Number(data[image * 2 * half + i]);
      symbols[at++] = Number(data[image * 2 * half + half + i]);
    }
  }
  return symbols;
}

/**
 * Real channels [N, 2K, h, w] of complex symbols, one array a call of the encoder. Their metadata have the shape
 * [N, K, h, w], or a list of such shapes.
 */
export function parted(symbols: Float32Array, metadata: JsonObject): NdArray[] {
  const stated = metadata[SYMBOL_SHAPE], several = Array.isArray(stated) && stated.some(Array.isArray);
  const shapes = (several ? stated : [stated ?? []]).map((shape) => metadataCounts({ shape }, "shape")!);
  if (shapes.some((shape) => shape.length !== 4 || shape.includes(0))) {
    throw new SvcError("boundary_value_invalid", "Cannot find the shape of the symbols in the metadata", {
      hint: "Wire symbols of model.deepjscc_external_encode",
    });
  }
  const total = shapes.reduce((sum, shape) => sum + elementCount(shape), 0);
  if (symbols.length !== 2 * total) {
    const text = several ? String(total) : shapes[0].join(" x ");
    throw new SvcError("boundary_count_mismatch", `Cannot fill ${text} symbols with ${symbols.length / 2}`);
  }
  let at = 0;
  return shapes.map((shape) => partedCall(symbols.subarray(at, at += 2 * elementCount(shape)), shape));
}

function partedCall(symbols: Float32Array, [count, channels, height, width]: readonly number[]): NdArray {
  const half = channels * height * width;
  const data = new Float32Array(symbols.length);
  for (let image = 0, from = 0; image < count; image++) {
    for (let i = 0; i < half; i++) {
      data[image * 2 * half + i] = symbols[from++];
      data[image * 2 * half + half + i] = symbols[from++];
    }
  }
  return ndarray("float32", data, [count, 2 * channels, height, width]);
}

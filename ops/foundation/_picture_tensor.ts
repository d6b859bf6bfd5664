/**
 * Images as input tensors of published vision models, by their preprocessor_config.json: resized bit-exactly as in
 * Pillow, cropped, scaled and normalised per channel. float32 [1, 3, height, width].
 *
 *     x = (sample·rescale_factor - mean) / std
 *
 * CLIP: the shorter side to `size`, centre crop. ViLT: the shorter side to `size`, the longer at most 1333/800 of it, both
 * rounded down to multiples of `size_divisor`; no crop.
 */
import { isObject, type JsonObject, SvcError } from "../api.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { type ByteRaster, PILLOW_FILTERS, resizeLikePillow } from "../../lib/numeric/image/pillow_resize.ts";
import type { RgbRaster } from "../../lib/numeric/image/plain_scene.ts";

type Size = { width: number; height: number };

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** The preprocessing settings of an image. */
export interface Preprocessor {
  config: JsonObject;
}

/** Reads preprocessor_config.json. @throws SvcError `model_unavailable` for another value than a JSON object */
export function readPreprocessor(bytes: Uint8Array): Preprocessor {
  let config: unknown;
  try {
    config = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Reported below.
  }
  if (!isObject(config)) throw new SvcError("model_unavailable", "Cannot read preprocessor_config.json of the model");
  return { config };
}

/** An image as a tensor. @throws SvcError `model_unavailable` for unsupported settings */
export function pictureTensor(picture: RgbRaster & { data: Uint8Array }, { config }: Preprocessor): NdArray {
  let image: ByteRaster = { ...picture, channels: 3 };
  if (config.do_resize !== false) {
    const { width, height } = targetSize(image, config);
    const filter = PILLOW_FILTERS[isNumber(config.resample) ? config.resample : 3];
    if (filter === undefined) throw unknownSetting("resample", config.resample);
    image = resizeLikePillow(image, width, height, filter);
  }
  if (config.do_center_crop === true) image = cropCentre(image, fixedSize(config.crop_size, "crop_size"));
  const scale = config.do_rescale === false ? 1 : isNumber(config.rescale_factor) ? config.rescale_factor : 1 / 255;
  const normalise = config.do_normalize !== false;
  const means = normalise ? channelValues(config, "image_mean") : [0, 0, 0];
  const deviations = normalise ? channelValues(config, "image_std") : [1, 1, 1];
  const pixels = image.width * image.height, tensor = new Float32Array(3 * pixels);
  for (let channel = 0; channel < 3; channel++) {
    for (let i = 0; i < pixels; i++) {
      tensor[channel * pixels + i] = (image.data[3 * i + channel] * scale - means[channel]) / deviations[channel];
    }
  }
  return ndarray("float32", tensor, [1, 3, image.height, image.width]);
}

function targetSize(image: Size, config: JsonObject): Size {
  const { size } = config;
  const shorter = isNumber(size)
    ? size
    : isObject(size) && isNumber(size.shortest_edge)
    ? size.shortest_edge
    : undefined;
  if (shorter === undefined) return fixedSize(size, "size");
  const least = Math.min(image.width, image.height);
  if (isNumber(config.size_divisor)) return boundedSize(image, shorter, config.size_divisor);
  const along = (side: number) => side === least ? shorter : Math.trunc(shorter * side / least);
  return { width: along(image.width), height: along(image.height) };
}

/** The sizes of ViLT. */
function boundedSize({ width, height }: Size, shorter: number, divisor: number): Size {
  const longest = Math.trunc(1333 / 800 * shorter);
  let scale = shorter / Math.min(width, height);
  scale *= Math.min(1, longest / (scale * Math.max(width, height)));
  const side = (length: number) => Math.max(divisor, Math.floor(Math.trunc(length * scale + 0.5) / divisor) * divisor);
  return { width: side(width), height: side(height) };
}

function fixedSize(size: unknown, setting: string): Size {
  if (isNumber(size)) return { width: size, height: size };
  if (isObject(size) && isNumber(size.width) && isNumber(size.height)) {
    return { width: size.width, height: size.height };
  }
  throw unknownSetting(setting, size);
}

/** The centre of an image; a smaller image gets a black border. */
function cropCentre(image: ByteRaster, { width, height }: Size): ByteRaster {
  const data = new Uint8Array(3 * width * height);
  const left = Math.floor((image.width - width) / 2), top = Math.floor((image.height - height) / 2);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const column = left + x, row = top + y;
      if (column < 0 || row < 0 || column >= image.width || row >= image.height) continue;
      const from = 3 * (row * image.width + column);
      data.set(image.data.subarray(from, from + 3), 3 * (y * width + x));
    }
  }
  return { width, height, channels: 3, data };
}

function channelValues(config: JsonObject, setting: string): number[] {
  const values = config[setting];
  if (Array.isArray(values) && values.length === 3 && values.every(isNumber)) return values;
  throw unknownSetting(setting, values);
}

function unknownSetting(setting: string, value: unknown): SvcError {
  return new SvcError(
    "model_unavailable",
    `Cannot preprocess images for the model: ${setting} ${JSON.stringify(value) ?? "is missing"} is not supported`,
  );
}

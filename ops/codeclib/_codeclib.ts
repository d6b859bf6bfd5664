/**
 * Shared by the learned-codec operations: the selectable models, their parameters, and metadata of latents and payloads
 * that identify the model for a decoder.
 *
 * `svc_tiny_hyperprior` and `svc_tiny_hyperprior_high` are part of the program; the published names need `svc models fetch`,
 * or a folder of that name in the project with the networks and tables described in _codeclib_tables.ts.
 */
import {
  type InputArtifact,
  isObject,
  type ModelRequest,
  type NamedModel,
  type ParameterProblem,
  SvcError,
  z,
} from "../api.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import { type ImageForm, metadataCounts, sizeAt } from "../../lib/artifact/values.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import published from "../../lib/model/codecs.json" with { type: "json" };
import { Codec, type Latents } from "./_codeclib_codec.ts";
import { NETWORKS, TABLES } from "./_codeclib_tables.ts";
import { checkDevice } from "../foundation/_pretrained.ts";

/** Packages of the bundled codecs: up to 0.9 bit per pixel, and above. */
const BUNDLED = {
  svc_tiny_hyperprior: "svc-tiny-hyperprior-v1",
  svc_tiny_hyperprior_high: "svc-tiny-hyperprior-high-v1",
};
const packageOf = (name: string): string | undefined => Object.entries(BUNDLED).find(([own]) => own === name)?.[1];
const BUNDLED_NAMES = Object.keys(BUNDLED) as (keyof typeof BUNDLED)[];

export const CODECLIB_ENTROPY = {
  algorithm: "range coding / ANS backend",
  coder: "codeclib entropy bottleneck + GaussianConditional",
  fact: "transforms may run on several runtimes; entropy coding always uses the codec library bitstream",
};

export const DEVICE = z.string().min(1).default("cpu").describe("models run on the processor: cpu");

export const MODEL_PARAMS = {
  model: z.enum([...published, ...BUNDLED_NAMES]).default("bmshj2018_hyperprior")
    .describe(`${BUNDLED_NAMES.join(" and ")} are part of the program; the others need svc models fetch`),
  metric: z.enum(["mse", "ms-ssim"]).default("mse").describe("training metric of the model"),
  pretrained: z.boolean().default(true).describe("must be true: models with random weights are not available"),
  quality: z.int().min(1).max(8).default(3).describe("quality level; 1 is the lowest rate"),
};

export const PAD_TO_MULTIPLE = z.int().min(1).max(4096).default(64)
  .describe("sides are padded to a multiple of this, a multiple of the model's, with the last row and column");

export const EXPORT_SIZE = {
  export_height: z.int().min(0).max(16384).default(0).describe(
    "rows of the images; 0 uses the most of the padded images",
  ),
  export_width: z.int().min(0).max(16384).default(0)
    .describe("columns of the images; 0 uses the most of the padded images"),
};

export const VARIABLE_RATE_PARAMS = {
  vbr_scale_index: z.int().min(0).max(63).default(1).describe("level of a _vbr model in stage 2; higher is finer"),
  vbr_stage: z.int().min(1).max(2).default(2).describe("stage of a _vbr model: 2 the variable path, 1 the base path"),
};

interface ModelChoice {
  model: string;
  metric: string;
  pretrained: boolean;
  quality: number;
}

export function modelProblems(
  { model, metric, pretrained, device }: ModelChoice & { device?: string },
): ParameterProblem[] {
  const problems = checkDevice({ device });
  if (!pretrained) {
    problems.push({
      place: ["pretrained"],
      message: "Cannot run an untrained codec",
      hint: "Set pretrained to true",
    });
  }
  if (packageOf(model) !== undefined && metric !== "mse") {
    problems.push({
      place: ["metric"],
      message: `Cannot run ${model} for ${metric}: it was trained for mse`,
      hint: "Set metric: mse",
    });
  }
  return problems;
}

/** The quality level of a model for given parameters. */
export function qualityOf(
  { model, quality, vbr_scale_index, vbr_stage }: ModelChoice & { vbr_scale_index?: number; vbr_stage?: number },
): number {
  return model.endsWith("_vbr") && vbr_stage === 2 ? vbr_scale_index ?? quality : quality;
}

const FILES = [TABLES, ...NETWORKS];
const request = (name: string): Pick<ModelRequest, "id" | "files"> => ({
  id: packageOf(name) ?? name,
  files: FILES,
});

/** The model of an encoder. */
export const namedModel = ({ model }: { model: string }): ModelRequest[] => [
  { role: model, ...request(model), parameter: "model" },
];

/** The models that a decoder may need; metadata of its input select one. */
export const anyModel = (): ModelRequest[] =>
  [...BUNDLED_NAMES, ...published].map((name) => ({
    role: name,
    ...request(name),
    optional: true,
  }));

/** Opens a codec. @throws SvcError `model_unavailable`, `artifact_manifest_invalid` for tables of another model */
export async function openCodec(find: (role: string) => NamedModel, name: string): Promise<Codec> {
  const model = find(name);
  if (!model.has(TABLES)) {
    throw new SvcError("model_unavailable", `Cannot decode with the model ${name}: it is not on this machine`, {
      hint: `Run svc models fetch ${name}, or list the models with svc models list`,
    });
  }
  const digests = isObject(model.record.files) ? model.record.files : {};
  const codec = await Codec.open({
    read: (file) => model.read(file),
    open: (file) => model.open(file),
    sha256: (file) => isObject(digests[file]) ? String(digests[file].sha256) : "",
  });
  if (codec.tables.model === name) return codec;
  throw new SvcError("artifact_manifest_invalid", `Cannot use the tables of ${codec.tables.model} as those of ${name}`);
}

/** Metadata for a decoder. */
export interface CodecFacts {
  model: string;
  metric: string;
  /** Quality, or the level of a variable-rate model. */
  quality: number;
  pad_to_multiple: number;
  model_state_sha256: string;
}

export const FACTS = "codeclib";

/** @throws SvcError `input_metadata_missing` for an artifact without the metadata of a learned codec */
export function factsOf({ metadata }: InputArtifact): CodecFacts {
  const found = metadata[FACTS];
  const { model, metric, quality, pad_to_multiple, model_state_sha256 } = isObject(found) ? found : {};
  if (
    typeof model !== "string" || typeof metric !== "string" || !Number.isSafeInteger(quality) ||
    !Number.isSafeInteger(pad_to_multiple) || typeof model_state_sha256 !== "string"
  ) {
    throw new SvcError("input_metadata_missing", `Cannot find the codec in the metadata ${FACTS}`, {
      hint: "Wire the output of a learned codec of svc",
    });
  }
  return { model, metric, quality: Number(quality), pad_to_multiple: Number(pad_to_multiple), model_state_sha256 };
}

/** @throws SvcError `artifact_hash_mismatch` for an artifact of another state of the model */
export function checkState(codec: Codec, required: string): void {
  if (codec.stateSha256 === required) return;
  throw new SvcError("artifact_hash_mismatch", `Cannot use ${codec.tables.model}: its state is not the required one`, {
    hint: `Its state is ${codec.stateSha256}, required is ${required}`,
  });
}

/** Form of the source images of latents or a payload. */
export function formOf({ metadata }: InputArtifact): ImageForm {
  const shape = trustedShape(metadata);
  if (shape === undefined) {
    throw new SvcError("input_metadata_missing", "Cannot find the image size in the metadata", {
      hint: "Latents and payloads need the metadata image_count, image_height, image_width and image_channels",
    });
  }
  return { ...shape, dtype: metadata.image_dtype === "float32" ? "float32" : "uint8" };
}

/** Latents of a batch float32 [N, C, H, W]; of images of several sizes [n], one image after the other. */
export function joinLatents(items: readonly Latents[], channels: number, { sizes }: Pick<ImageForm, "sizes">): NdArray {
  const data = new Float32Array(items.reduce((sum, item) => sum + item.data.length, 0));
  let at = 0;
  for (const item of items) {
    data.set(item.data, at);
    at += item.data.length;
  }
  const [{ rows, columns }] = items;
  return ndarray("float32", data, sizes === undefined ? [items.length, channels, rows, columns] : [data.length]);
}

/**
 * The latents of each image.
 * @throws SvcError `boundary_shape_invalid` for arrays of another form than {@link joinLatents} gives
 */
export function latentsOf(input: InputArtifact, codec: Codec): Latents[] {
  const { data, shape, dtype } = input.array(), channels = codec.tables.latentChannels, form = formOf(input);
  const { count, sizes } = form, { pad_to_multiple } = factsOf(input);
  const grids = Array.from({ length: count }, (_, index) => {
    if (sizes === undefined) return { rows: shape[2], columns: shape[3] };
    const { rows, columns } = codec.shapes(sizeAt(form, index), pad_to_multiple);
    return { rows, columns };
  });
  const total = grids.reduce((sum, { rows, columns }) => sum + channels * rows * columns, 0);
  const fits = sizes === undefined
    ? shape.length === 4 && shape[0] === count && shape[1] === channels
    : shape.length === 1 && shape[0] === total;
  if (!fits || (dtype !== "float32" && dtype !== "float64")) {
    throw new SvcError(
      "boundary_shape_invalid",
      `Cannot use ${dtype} latents [${shape.join(", ")}] as those of ${count} images with ${channels} channels each`,
    );
  }
  const all = Float32Array.from(data as Float32Array);
  let at = 0;
  return grids.map(({ rows, columns }) => {
    return { data: all.subarray(at, at += channels * rows * columns), rows, columns };
  });
}

/** Lost images, from the metadata of an earlier decoder. */
export const lostItems = ({ metadata }: InputArtifact): Set<number> =>
  new Set(metadataCounts(metadata, "failed_item_indices"));

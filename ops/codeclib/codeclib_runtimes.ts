/**
 * The operations on the networks of a codec in a bundle, for every runtime:
 *
 *     encode           images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, h, w], in units of the
 *                      step, at the exported quality; images of several sizes -> latents [n], one image after the other
 *     decode           latents -> images of the size and sample type of the source; the bundle must be that of the codec of the
 *                      latents. Lost images (failed_item_indices) and latents that are not finite are failures
 *     entropy_encode   latents -> bits, eight a byte, most significant bit first; the container is compact_binary_v1
 *     entropy_decode   bits -> latents; a failed image is an error, or zeros that are listed in failed_item_indices
 *
 * Runtimes differ in their parameters, and some cannot run here. Source: _codeclib_codec.ts.
 */
import { checkDevice } from "../foundation/_pretrained.ts";
import {
  dataPlaneParameter,
  defineOperation,
  type InputArtifact,
  type Materialization,
  type ModelSession,
  type Operation,
  type RunContext,
  SvcError,
  z,
} from "../api.ts";
import {
  AOT_BUNDLE,
  type ArtifactKind,
  IMAGES,
  LATENTS,
  ONNX_BUNDLE,
  PAYLOAD_BITS,
  PAYLOAD_OR_BITS,
} from "../../lib/contract/kinds.ts";
import { executed } from "../_backends.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";
import {
  CODECLIB_ENTROPY,
  DEVICE,
  EXPORT_SIZE,
  factsOf,
  MODEL_PARAMS,
  modelProblems,
  PAD_TO_MULTIPLE,
  VARIABLE_RATE_PARAMS,
} from "./_codeclib.ts";
import { checkMadeBy, openBundle, PROVIDER } from "./_codeclib_bundle.ts";
import {
  analyseBatch,
  entropyDecodeBatch,
  entropyEncodeBatch,
  FAIL_OR_ZEROS,
  INFERENCE,
  PAYLOAD_GUARANTEE,
  synthesiseBatch,
} from "./_codeclib_steps.ts";

type Parameters = Record<string, z.ZodType>;
// deno-lint-ignore no-explicit-any -- the parameters and ports differ from step to step
type Context = RunContext<any, Record<never, never>, any>;

interface CodecRuntime {
  /** Part of the ids. */
  readonly id: string;
  /** Start of the names. */
  readonly title: string;
  readonly bundle: ArtifactKind;
  readonly params: Parameters;
  /** Further ones of the entropy coders. */
  readonly entropyParams: Parameters;
  /** The reason why svc cannot run it. */
  readonly planned?: string;
  /** Opens a graph of the bundle; default the sandbox. */
  open?(context: Context): (bytes: Uint8Array) => Promise<ModelSession>;
}

const ONNX: CodecRuntime = {
  id: "onnx",
  title: "ONNX",
  bundle: ONNX_BUNDLE,
  params: { provider: PROVIDER },
  entropyParams: { device: DEVICE },
};

/**
 * ONNX Runtime as the native library of the optional npm package onnxruntime-node, without a sandbox. Results differ from those
 * of the sandbox in the last digits of binary32; planning refuses the step where the runtime is missing.
 */
const ONNX_CPP: CodecRuntime = {
  id: "onnx_cpp",
  title: "ONNX C++",
  bundle: ONNX_BUNDLE,
  params: {
    intra_op_num_threads: z.int().min(0).max(256).default(0)
      .describe("threads of a network; 0 and 1: one. More change the last digits"),
    library_path: z.enum([""]).default("").describe("only the library of the package onnxruntime-node is loaded"),
    provider: PROVIDER,
  },
  entropyParams: { device: DEVICE },
  open: ({ openGraph, params }) => (bytes) =>
    openGraph(bytes, { accelerator: "onnxruntime-node", threads: Math.max(1, params.intra_op_num_threads) }),
};

const OPENVINO: CodecRuntime = {
  id: "openvino",
  title: "OpenVINO",
  bundle: ONNX_BUNDLE,
  params: { device: z.string().min(1).default("CPU").describe("device of the networks") },
  entropyParams: { torch_device: z.enum(["cpu"]).default("cpu").describe("device of the entropy coder") },
  planned: "The package openvino-node contains no runtime: its installation script downloads one, and svc runs no " +
    "installation scripts; model.codeclib_onnx_* run the same networks",
};

/**
 * Networks compiled ahead of time: a shared library for one machine and one version of its framework. Running foreign machine
 * code would need every permission, so planning refuses the step.
 */
const AOTI: CodecRuntime = {
  id: "aoti",
  title: "Compiled",
  bundle: AOT_BUNDLE,
  params: { device: DEVICE },
  entropyParams: {},
  planned: "A compiled bundle is machine code for one framework and machine, which svc does not load; " +
    "model.codeclib_onnx_* run the same networks from ONNX",
};

const RUNTIMES = { onnx: ONNX, onnx_cpp: ONNX_CPP, openvino: OPENVINO, aoti: AOTI };
type RuntimeName = keyof typeof RUNTIMES;

/** Contract and refusal of an operation that cannot run here. */
function plannedFor(runtime: RuntimeName, id: string) {
  const { title, planned } = RUNTIMES[runtime];
  const materializations: Materialization[] = executed("python", "default", {}, { status: "planned", notes: planned });
  return {
    materializations,
    run(): never {
      const message = `Cannot run ${id}: networks of the runtime ${title} are not part of this release`;
      throw new SvcError("materialization_unavailable", message, { hint: planned });
    },
  };
}

/** Materialisations, requirements and work of an operation. */
function executionOf<T>(runtime: RuntimeName, id: string, work: (context: Context) => Promise<T>) {
  const { planned, open } = RUNTIMES[runtime];
  if (planned !== undefined) return plannedFor(runtime, id) as { run(context: Context): Promise<T> };
  return {
    backends: INFERENCE,
    check: checkDevice,
    ...(open === undefined ? {} : { requires: () => [{ kind: "runtime" as const, id: "onnxruntime-node" }] }),
    run: work,
  };
}

const idOf = (runtime: RuntimeName, role: string) => `model.codeclib_${RUNTIMES[runtime].id}_${role}`;

/** The codec of the bundle. @param made an artifact that it must have made */
async function codecOf(runtime: RuntimeName, context: Context, made?: InputArtifact) {
  const opened = await openBundle(context.inputs.model, RUNTIMES[runtime].open?.(context) ?? context.openGraph);
  if (made !== undefined) checkMadeBy(opened.codec, factsOf(made));
  return opened;
}

const ADDENDUM = { onnx: "", onnx_cpp: " on the native runtime", openvino: " on OpenVINO", aoti: ", compiled" };
const described = (runtime: RuntimeName, text: string) => {
  const release = RUNTIMES[runtime].planned === undefined ? "" : "; not part of this release";
  return `${text}${ADDENDUM[runtime]}${release}`;
};

function analysisOf(runtime: RuntimeName): Operation {
  const { title, bundle, params } = RUNTIMES[runtime], id = idOf(runtime, "encode");
  return defineOperation({
    id,
    name: `${title} codec analysis`,
    description: described(runtime, "Turns images into latents by the networks of a bundle"),
    inputs: { images: [IMAGES], model: [bundle] },
    outputs: { latents: LATENTS },
    params: z.strictObject({
      ...params,
      pad_to_multiple: PAD_TO_MULTIPLE,
      quantize_latents: z.boolean().default(false).describe("round the latents to integers"),
      data_plane_backend: dataPlaneParameter(),
    }),
    outputMetadataGuarantees: { latents: { from: "images", keys: ["codeclib", "image_count"] } },
    timingMetric: "encoder.inference",
    ...executionOf(runtime, id, async (context) => {
      const { inputs: { images }, params } = context;
      const { codec, quality, metric } = await codecOf(runtime, context);
      const options = { quality, metric, pad_to_multiple: params.pad_to_multiple, quantize: params.quantize_latents };
      return await analyseBatch(codec, images, options, context);
    }),
  });
}

function synthesisOf(runtime: RuntimeName): Operation {
  const { title, bundle, params } = RUNTIMES[runtime], id = idOf(runtime, "decode");
  return defineOperation({
    id,
    name: `${title} codec synthesis`,
    description: described(runtime, "Turns latents back into images by the networks of a bundle"),
    inputs: { latents: [LATENTS], model: [bundle] },
    outputs: { images: DELIVERED_IMAGES },
    params: z.strictObject({ ...params, on_error: FAIL_OR_ZEROS, data_plane_backend: dataPlaneParameter() }),
    inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
    outputMetadataGuarantees: { images: { from: "latents" } },
    timingMetric: "decoder.inference",
    ...executionOf(runtime, id, async (context) => {
      const { inputs: { latents }, params } = context;
      const { codec } = await codecOf(runtime, context, latents);
      return await synthesiseBatch(codec, latents, params.on_error, context);
    }),
  });
}

function entropyCoderOf(runtime: RuntimeName): Operation {
  const { title, bundle, params, entropyParams } = RUNTIMES[runtime], id = idOf(runtime, "entropy_encode");
  return defineOperation({
    id,
    name: `${title} codec entropy encode`,
    description: described(runtime, "Codes latents as payload bits with the networks of a bundle"),
    inputs: { latents: [LATENTS], model: [bundle] },
    outputs: { bits: PAYLOAD_BITS },
    params: z.strictObject({ ...params, ...entropyParams, data_plane_backend: dataPlaneParameter() }),
    entropyInfo: CODECLIB_ENTROPY,
    inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
    outputMetadataGuarantees: { bits: { from: "latents", keys: PAYLOAD_GUARANTEE } },
    timingMetric: "encoder.payload_encode",
    ...executionOf(runtime, id, async (context) => {
      const { latents } = context.inputs;
      const { codec } = await codecOf(runtime, context, latents);
      return await entropyEncodeBatch(codec, latents, context);
    }),
  });
}

function entropyDecoderOf(runtime: RuntimeName): Operation {
  const { title, bundle, params, entropyParams } = RUNTIMES[runtime], id = idOf(runtime, "entropy_decode");
  return defineOperation({
    id,
    name: `${title} codec entropy decode`,
    description: described(runtime, "Reads latents from payload bits with the networks of a bundle"),
    inputs: { bits: PAYLOAD_OR_BITS, model: [bundle] },
    outputs: { latents: LATENTS },
    params: z.strictObject({
      ...params,
      ...entropyParams,
      on_error: FAIL_OR_ZEROS,
      data_plane_backend: dataPlaneParameter(),
    }),
    entropyInfo: CODECLIB_ENTROPY,
    inputMetadataRequirements: { bits: { all_of: ["codeclib"] } },
    outputMetadataGuarantees: { latents: { from: "bits", keys: ["codeclib", "image_count", "failed_item_indices"] } },
    timingMetric: "decoder.payload_decode",
    ...executionOf(runtime, id, async (context) => {
      const { inputs: { bits }, params } = context;
      const { codec } = await codecOf(runtime, context, bits);
      return await entropyDecodeBatch(codec, bits, params.on_error, context);
    }),
  });
}

const compileCodec = defineOperation({
  id: "model.codeclib_export_aoti",
  name: "Ahead-of-time compile codec",
  description: "Compiles the networks of a learned codec for one machine; not part of this release",
  inputs: { images: [IMAGES] },
  outputs: { model: AOT_BUNDLE },
  params: z.strictObject({
    ...MODEL_PARAMS,
    ...VARIABLE_RATE_PARAMS,
    ...EXPORT_SIZE,
    device: DEVICE,
    dynamic_shapes: z.boolean().default(false).describe("networks for images of any size"),
    pad_to_multiple: PAD_TO_MULTIPLE,
    validate_export: z.boolean().default(true).describe("run an image through the networks of the bundle"),
  }),
  check: modelProblems,
  ...plannedFor("aoti", "model.codeclib_export_aoti"),
});

const compiledAnalysis = defineOperation({
  id: "model.codeclib_aoti_encode",
  name: "Compiled codec analysis",
  description: "Turns images into latents by a network compiled ahead of time; not part of this release",
  inputs: { images: [IMAGES], model: [AOT_BUNDLE] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    device: DEVICE,
    pad_to_multiple: PAD_TO_MULTIPLE,
    quantize_latents: z.boolean().default(false).describe("round the latents to integers"),
    data_plane_backend: dataPlaneParameter(),
  }),
  ...plannedFor("aoti", "model.codeclib_aoti_encode"),
});

const compiledSynthesis = defineOperation({
  id: "model.codeclib_aoti_decode",
  name: "Compiled codec synthesis",
  description: "Turns latents back into images by a network compiled ahead of time; not part of this release",
  inputs: { latents: [LATENTS], model: [AOT_BUNDLE] },
  outputs: { images: IMAGES },
  params: z.strictObject({ device: DEVICE, on_error: FAIL_OR_ZEROS }),
  ...plannedFor("aoti", "model.codeclib_aoti_decode"),
});

const RUN = ["onnx", "onnx_cpp", "openvino"] as const;

export default [
  ...RUN.map(analysisOf),
  ...RUN.map(synthesisOf),
  ...[...RUN, "aoti" as const].map(entropyCoderOf),
  ...[...RUN, "aoti" as const].map(entropyDecoderOf),
  compiledAnalysis,
  compiledSynthesis,
  compileCodec,
];

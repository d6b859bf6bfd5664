/**
 * Text-to-image diffusion from a folder in the layout of the diffusers ONNX export:
 *
 *     tokenizer/tokenizer.json, or vocab.json and merges.txt there
 *     text_encoder/model.onnx          input_ids -> last_hidden_state
 *     unet/model.onnx                  sample, timestep, encoder_hidden_states -> out_sample
 *     vae_decoder/model.onnx           latent_sample -> sample, 8 pixels a latent; vae_decoder/config.json: scaling_factor
 *     scheduler/scheduler_config.json  the sampler (lib/numeric/image/diffusion_schedulers.ts)
 *     safety_checker/model.onnx        clip_input, images -> has_nsfw_concepts; feature_extractor/preprocessor_config.json
 *
 * Classifier-free guidance: e = e(negative prompt) + guidance·(e(prompt) - e(negative prompt)); with guidance of 1 or
 * less the negative prompt is not used. An image flagged by the safety checker becomes black.
 *
 * Sources: Rombach et al., CVPR 2022 (latent diffusion); Ho and Salimans, arXiv 2207.12598 (guidance).
 */
import { type Cancellation, messageOf, type ModelSession, type NamedModel, type Progress, SvcError } from "../api.ts";
import type { TextTokenizer } from "../../lib/artifact/tokenizer.ts";
import { diffusionScheduler, type SchedulerConfig } from "../../lib/numeric/image/diffusion_schedulers.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { asInput, feedsOf, outputOf, realValues } from "./_named_tensors.ts";
import { pictureTensor, readPreprocessor } from "./_picture_tensor.ts";

export const DIFFUSION_FILES = {
  required: [
    "unet/model.onnx",
    "text_encoder/model.onnx",
    "vae_decoder/model.onnx",
    "scheduler/scheduler_config.json",
  ],
  optional: [
    "tokenizer/tokenizer.json",
    "tokenizer/vocab.json",
    "tokenizer/merges.txt",
    "tokenizer/tokenizer_config.json",
    "vae_decoder/config.json",
  ],
  /** Needed unless the checker is disabled. */
  checker: ["safety_checker/model.onnx", "feature_extractor/preprocessor_config.json"],
};
const CHECKER = "safety_checker/model.onnx", EXTRACTOR = "feature_extractor/preprocessor_config.json";
/** Tokens of a prompt in CLIP text encoders. */
const CONTEXT = 77;
/** Pixels per latent along a side. */
export const LATENT_PIXELS = 8;
const LATENT_CHANNELS = 4;

export interface DiffusionSettings {
  width: number;
  height: number;
  steps: number;
  guidance: number;
  negativePrompt: string;
  checkSafety: boolean;
}

interface Tools {
  generator: Generator;
  progress: Progress;
  cancellation: Cancellation;
}

/** An image, RGB with samples in 0 … 255. */
export interface DrawnPicture {
  data: Uint8Array;
  flagged: boolean;
}

/**
 * Draws an image for every prompt.
 *
 * Draws of the generator: per prompt standard normals of its latents, float64, [4, height/8, width/8] in C order.
 * @throws SvcError `model_unavailable` for a folder that cannot be used
 */
export async function drawPictures(
  prompts: readonly string[],
  model: NamedModel,
  settings: DiffusionSettings,
  tools: Tools,
): Promise<DrawnPicture[]> {
  const config = await schedulerConfig(model);
  const tokenizer = await openPromptTokenizer(model);
  const encoder = await model.open("text_encoder/model.onnx");
  const unet = await model.open("unet/model.onnx");
  const decoder = await model.open("vae_decoder/model.onnx");
  const scaling = await scalingFactor(model);
  const guided = settings.guidance > 1;
  const negative = guided ? await encodePrompt(settings.negativePrompt, encoder, tokenizer) : undefined;
  const check = settings.checkSafety ? await openSafetyChecker(model) : () => Promise.resolve(false);
  const shape = [1, LATENT_CHANNELS, settings.height / LATENT_PIXELS, settings.width / LATENT_PIXELS];
  const pictures: DrawnPicture[] = [];
  for (const prompt of prompts) {
    const positive = await encodePrompt(prompt, encoder, tokenizer);
    const scheduler = diffusionScheduler(config, settings.steps), calls = scheduler.timesteps.length;
    const noise = tools.generator.standardNormal(shape.reduce((product, side) => product * side, 1));
    let latents = Float32Array.from(noise, (value) => value * scheduler.initialScale);
    for (const [step, t] of scheduler.timesteps.entries()) {
      tools.cancellation.throwIfCancelled();
      tools.progress(pictures.length * calls + step, prompts.length * calls, { phase: "denoising", unit: "steps" });
      const sample = ndarray("float32", scheduler.scaleInput(latents, step), shape);
      const predict = (states: NdArray) => predictNoise(unet, sample, t, states);
      const towards = await predict(positive);
      const predicted = negative === undefined ? towards : guide(await predict(negative), towards, settings.guidance);
      latents = Float32Array.from(scheduler.step(predicted, step, latents));
    }
    const data = await decode(decoder, ndarray("float32", latents.map((value) => value / scaling), shape), settings);
    const flagged = await check(data, settings);
    pictures.push({ data: flagged ? new Uint8Array(data.length) : data, flagged });
  }
  return pictures;
}

async function readJson(model: NamedModel, file: string): Promise<Record<string, unknown>> {
  try {
    const value = JSON.parse(new TextDecoder().decode(await model.read(file)));
    if (typeof value === "object" && value !== null) return value;
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError("model_unavailable", `Cannot read ${file} of the model: ${messageOf(error)}`);
  }
  throw new SvcError("model_unavailable", `Cannot read ${file} of the model: it is not a JSON object`);
}

/** Samplers by their class names, with their default settings. */
const SAMPLERS: Readonly<Record<string, Pick<SchedulerConfig, "sampler" | "spacing">>> = {
  DDIMScheduler: { sampler: "ddim", spacing: "leading" },
  PNDMScheduler: { sampler: "pndm", spacing: "leading" },
  EulerDiscreteScheduler: { sampler: "euler", spacing: "linspace" },
  DPMSolverMultistepScheduler: { sampler: "dpm++", spacing: "linspace" },
};

/** Settings that change the results, with the only supported value of each. */
const FIXED: Readonly<Record<string, readonly unknown[]>> = {
  trained_betas: [null],
  thresholding: [false],
  rescale_betas_zero_snr: [false],
  use_karras_sigmas: [false, null],
  use_exponential_sigmas: [false, null],
  use_beta_sigmas: [false, null],
  use_lu_lambdas: [false, null],
  use_flow_sigmas: [false],
  interpolation_type: ["linear"],
  timestep_type: ["discrete"],
  algorithm_type: ["dpmsolver++"],
  solver_type: ["midpoint"],
  solver_order: [2],
  lower_order_final: [true],
  euler_at_final: [false],
  final_sigmas_type: ["zero"],
};

/** Reads scheduler_config.json. @throws SvcError `model_unavailable` with all unsupported settings */
async function schedulerConfig(model: NamedModel): Promise<SchedulerConfig> {
  const file = "scheduler/scheduler_config.json", config = await readJson(model, file);
  const unknown: string[] = [];
  const choose = <T extends string>(key: string, values: readonly T[], fallback: T): T => {
    const value = config[key] ?? fallback;
    if (!values.includes(value as T)) unknown.push(`${key} ${JSON.stringify(value)}`);
    return value as T;
  };
  const number = (key: string, fallback: number) => typeof config[key] === "number" ? config[key] : fallback;
  const name = String(config._class_name);
  const known = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (known === undefined) unknown.push(`_class_name ${JSON.stringify(config._class_name ?? null)}`);
  for (const [key, values] of Object.entries(FIXED)) {
    if (config[key] !== undefined && !values.includes(config[key])) {
      unknown.push(`${key} ${JSON.stringify(config[key])}`);
    }
  }
  if (name === "PNDMScheduler" && config.skip_prk_steps !== true) unknown.push("skip_prk_steps false");
  const clips = name === "DDIMScheduler" && config.clip_sample !== false;
  const result: SchedulerConfig = {
    sampler: known?.sampler ?? "ddim",
    trainTimesteps: number("num_train_timesteps", 1000),
    betaSchedule: choose("beta_schedule", ["linear", "scaled_linear", "squaredcos_cap_v2"], "linear"),
    betaStart: number("beta_start", 0.0001),
    betaEnd: number("beta_end", 0.02),
    prediction: choose("prediction_type", ["epsilon", "sample", "v_prediction"], "epsilon"),
    spacing: choose("timestep_spacing", ["leading", "linspace", "trailing"], known?.spacing ?? "leading"),
    stepsOffset: number("steps_offset", 0),
    setAlphaToOne: name === "DDIMScheduler" ? config.set_alpha_to_one !== false : config.set_alpha_to_one === true,
    clipSample: clips ? number("clip_sample_range", 1) : null,
  };
  if (unknown.length === 0) return result;
  throw new SvcError("model_unavailable", `Cannot sample by ${file}: ${unknown.join(", ")}`, {
    hint: `Supported samplers are ${Object.keys(SAMPLERS).join(", ")}, with default settings`,
  });
}

async function scalingFactor(model: NamedModel): Promise<number> {
  const config = model.has("vae_decoder/config.json") ? await readJson(model, "vae_decoder/config.json") : {};
  return typeof config.scaling_factor === "number" ? config.scaling_factor : 0.18215;
}

async function openPromptTokenizer(model: NamedModel): Promise<TextTokenizer> {
  const { clipTokenizer, openTokenizer } = await import("../../lib/artifact/tokenizer.ts");
  const [whole, vocab, merges, config] = ["tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json"]
    .map((name) => `tokenizer/${name}`);
  const settings = model.has(config) ? await model.read(config) : undefined;
  if (model.has(whole)) return openTokenizer(await model.read(whole), settings);
  if (!model.has(vocab) || !model.has(merges)) {
    throw new SvcError(
      "model_unavailable",
      `Cannot read prompts for the model: it lacks ${whole}, or ${vocab} and ${merges}`,
    );
  }
  return openTokenizer(clipTokenizer(await model.read(vocab), await model.read(merges)), settings);
}

/** A prompt, cut or padded to the context of the encoder with the configured padding token, or with the last token. */
async function encodePrompt(prompt: string, encoder: ModelSession, tokenizer: TextTokenizer): Promise<NdArray> {
  const { ids } = tokenizer.encode(prompt), end = ids[ids.length - 1] ?? 0;
  const padding = tokenizer.idOf(tokenizer.named("pad_token") ?? "") ?? end;
  const whole = ids.length > CONTEXT
    ? [...ids.slice(0, CONTEXT - 1), end]
    : [...ids, ...Array<number>(CONTEXT - ids.length).fill(padding)];
  const shape = [1, CONTEXT];
  const results = await encoder.run(feedsOf(encoder, {
    input_ids: () => asInput(encoder, "input_ids", whole, shape),
    attention_mask: () => asInput(encoder, "attention_mask", whole.map(() => 1), shape),
  }));
  return outputOf(results, ["last_hidden_state"]);
}

async function predictNoise(unet: ModelSession, sample: NdArray, t: number, states: NdArray): Promise<Float32Array> {
  const timeShape = unet.inputs.find(({ name }) => name === "timestep")?.shape.length === 0 ? [] : [1];
  const results = await unet.run(feedsOf(unet, {
    sample: () => sample,
    timestep: () => asInput(unet, "timestep", [t], timeShape),
    encoder_hidden_states: () => states,
  }));
  return realValues(outputOf(results, ["out_sample"]));
}

function guide(without: Float32Array, towards: Float32Array, guidance: number): Float32Array {
  return without.map((value, i) => value + guidance * (towards[i] - value));
}

/** Latents to pixels: samples in -1 … 1 become 0 … 255, halves to even. */
async function decode(
  decoder: ModelSession,
  latents: NdArray,
  { width, height }: DiffusionSettings,
): Promise<Uint8Array> {
  const results = await decoder.run(feedsOf(decoder, { latent_sample: () => latents }));
  const output = outputOf(results, ["sample"]), samples = realValues(output), pixels = width * height;
  if (output.shape.join() !== [1, 3, height, width].join()) {
    throw new SvcError(
      "model_unavailable",
      `Cannot use images of shape [${output.shape.join(", ")}] from the decoder`,
      {
        hint: `[1, 3, ${height}, ${width}] was expected: ${LATENT_PIXELS} pixels per latent`,
      },
    );
  }
  if (!samples.every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", "Cannot use an image that is not finite");
  }
  return new Uint8Array(
    Uint8ClampedArray.from(
      { length: 3 * pixels },
      (_, i) => (samples[(i % 3) * pixels + Math.floor(i / 3)] / 2 + 0.5) * 255,
    )
      .buffer,
  );
}

async function openSafetyChecker(
  model: NamedModel,
): Promise<(data: Uint8Array, size: { width: number; height: number }) => Promise<boolean>> {
  const checker = await model.open(CHECKER), preprocessor = readPreprocessor(await model.read(EXTRACTOR));
  return async (data, { width, height }) => {
    const pixels = pictureTensor({ width, height, data }, preprocessor);
    const images = () => ndarray("float32", Float32Array.from(data, (sample) => sample / 255), [1, height, width, 3]);
    const results = await checker.run(feedsOf(checker, { clip_input: () => pixels, images }));
    return Number(outputOf(results, ["has_nsfw_concepts"]).data[0]) !== 0;
  };
}

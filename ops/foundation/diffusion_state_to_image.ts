/**
 * Images from semantic states by a pretrained text-to-image diffusion model: uint8 [state, height, width, RGB]. The
 * prompt is the source sentence of a state if it has one, else its facts, else its entities and concepts, inserted into
 * `prompt_template`. Model folder, samplers and guidance: `_diffusion.ts`.
 *
 * Draws per state: standard normals of its latents.
 */
import { defineOperation, seedParameter, SvcError, z } from "../api.ts";
import { IMAGES, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { imagesArtifact, travel } from "../../lib/artifact/values.ts";
import { phraseOf, type SemanticState, statesOf } from "../_semantic_state.ts";
import { DIFFUSION_FILES, drawPictures, LATENT_PIXELS } from "./_diffusion.ts";
import { checkDevice, pretrainedParams } from "./_pretrained.ts";

const side = (of: string) => z.int().min(8).max(2048).default(512).describe(`${of} in pixels, a multiple of 8`);

export default defineOperation({
  id: "foundation.diffusion_state_to_image",
  name: "Render images from semantic state",
  description: "Draws an image for each state by text-to-image diffusion",
  inputs: { state: [SEMANTIC_STATE] },
  outputs: { images: IMAGES },
  params: z.strictObject({
    backend: z.enum(["diffusers"]).default("diffusers").describe("folder in the layout of the diffusers ONNX export"),
    ...pretrainedParams("segmind/tiny-sd"),
    prompt_template: z.string().default("A realistic photograph: {prompt}").describe(
      "{prompt} is replaced by the state's text",
    ),
    negative_prompt: z.string().default("low quality, blurry, abstract, distorted, text, watermark").describe(
      "text from which guidance leads away",
    ),
    num_inference_steps: z.int().min(1).max(1000).default(20).describe("denoising steps, 1 to 1000"),
    guidance_scale: z.number().nonnegative().default(7.5).describe("1 or less disables classifier-free guidance"),
    height: side("height"),
    width: side("width"),
    disable_safety_checker: z.boolean().default(false).describe("no check; otherwise flagged images become black"),
    use_safetensors: z.boolean().nullable().default(null).describe("accepted without effect; weights are in ONNX"),
    seed: seedParameter(0),
  }),
  outputMetadataGuarantees: { images: { from: "state", keys: ["boundary_contract", "image_ids", "model", "prompts"] } },
  timingMetric: "decoder.inference",
  check: (params) => [
    ...checkDevice(params),
    ...(["height", "width"] as const).filter((name) => params[name] % LATENT_PIXELS !== 0).map((name) => ({
      message: `Cannot draw images of ${name} ${params[name]}`,
      place: [name],
      hint: `Choose a multiple of ${LATENT_PIXELS}`,
    })),
  ],
  models: ({ model_id, model_revision, disable_safety_checker }) => [{
    role: "diffusion",
    id: model_id,
    revision: model_revision,
    // A missing safety checker is an error of the plan.
    files: [...DIFFUSION_FILES.required, ...(disable_safety_checker ? [] : DIFFUSION_FILES.checker)],
    optionalFiles: DIFFUSION_FILES.optional,
  }],
  async run({ inputs, params, model, generator, progress, cancellation }) {
    const states = statesOf(inputs.state), diffusion = model("diffusion");
    if (states.length === 0) throw new SvcError("boundary_empty", "Cannot draw images without a state");
    const prompts = states.map((state) => params.prompt_template.replaceAll("{prompt}", () => promptOf(state)));
    const settings = {
      width: params.width,
      height: params.height,
      steps: params.num_inference_steps,
      guidance: params.guidance_scale,
      negativePrompt: params.negative_prompt,
      checkSafety: !params.disable_safety_checker,
    };
    const pictures = await drawPictures(prompts, diffusion, settings, { generator, progress, cancellation });
    const { width, height } = params, size = width * height * 3;
    const data = new Uint8Array(pictures.length * size);
    pictures.forEach((picture, index) => data.set(picture.data, index * size));
    const metadata = travel(inputs.state.metadata, {
      image_ids: states.map(({ id }) => id),
      prompts,
      model: diffusion.record,
      flagged: pictures.map(({ flagged }) => flagged),
    });
    const batch = { count: pictures.length, height, width, channels: 3, dtype: "uint8", data } as const;
    return { outputs: { images: imagesArtifact(batch, metadata) }, metadata: { model: diffusion.record } };
  },
});

function promptOf({ source_text, facts, entities, concepts }: SemanticState): string {
  if (source_text !== undefined) return source_text;
  return facts.length > 0 ? facts.map(phraseOf).join(", ") : [...entities, ...concepts].join(", ");
}

/** Model folders of a few kilobytes, in the layouts of published exports, whose answers are known by hand. */
import { npyHeader } from "../../lib/artifact/npy_header.ts";
import { bytesOf, onnxModel, type TestNode, type TestTensor, type TestValue } from "./onnx_writer.ts";

const INT64 = 7, BOOL = 9;
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const table = (name: string, rows: readonly (readonly number[])[]): TestTensor => ({
  name,
  data: Float32Array.from(rows.flat()),
  shape: [rows.length, rows[0].length],
});

/** Special tokens 0 to 4, then the words. */
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/** tokenizer.json of lower-case words: [CLS] words [SEP]. */
export function wordTokenizer(words: readonly string[]): Uint8Array {
  const vocab = Object.fromEntries([...SPECIAL, ...words].map((token, id) => [token, id]));
  const added = SPECIAL.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  return json({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [special("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, special("[SEP]")],
      pair: [special("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, special("[SEP]")],
      special_tokens: {
        "[CLS]": { id: "[CLS]", ids: [2], tokens: ["[CLS]"] },
        "[SEP]": { id: "[SEP]", ids: [3], tokens: ["[SEP]"] },
      },
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab,
    },
  });
}

/** preprocessor_config.json of CLIP for pictures of `size` pixels, without normalising. */
export const preprocessor = (size: number, more: Record<string, unknown> = {}) =>
  json({
    do_resize: true,
    size: { shortest_edge: size },
    resample: 3,
    do_center_crop: true,
    crop_size: { height: size, width: size },
    do_normalize: true,
    image_mean: [0, 0, 0],
    image_std: [1, 1, 1],
    ...more,
  });

const tokens: TestValue = { name: "input_ids", type: INT64, shape: [1, "n"] };
const gather = (name: string, output: string): TestNode => ({
  op: "Gather",
  inputs: [name, "input_ids"],
  outputs: [output],
});
const meanOver = (axes: number[], input: string, output: string, keepdims = 0): TestNode => ({
  op: "ReduceMean",
  inputs: [input],
  outputs: [output],
  attributes: { axes, keepdims },
});

/** CLIP: a text is the mean of its words' colours, a picture its mean colour. */
export function tinyClip(): Record<string, Uint8Array> {
  const words = { red: [1, 0, 0], green: [0, 1, 0], blue: [0, 0, 1] };
  const rows = [...SPECIAL.map(() => [0, 0, 0]), ...Object.values(words)];
  return {
    "tokenizer.json": wordTokenizer(Object.keys(words)),
    "preprocessor_config.json": preprocessor(8),
    "onnx/text_model.onnx": onnxModel({
      nodes: [gather("table", "rows"), meanOver([1], "rows", "text_embeds")],
      inputs: [tokens],
      outputs: [{ name: "text_embeds", shape: [1, 3] }],
      initializers: [table("table", rows)],
    }),
    "onnx/vision_model.onnx": onnxModel({
      nodes: [meanOver([2, 3], "pixel_values", "image_embeds")],
      inputs: [{ name: "pixel_values", shape: [1, 3, "h", "w"] }],
      outputs: [{ name: "image_embeds", shape: [1, 3] }],
    }),
  };
}

/** Features of two layers: the normalised picture, and its two sums of colours. */
export function tinyFeatures(layers: Record<string, unknown>, measure = "lpips"): Record<string, Uint8Array> {
  const mixing = Float32Array.of(1, 1, 0, 0, 1, 1);
  return {
    "perceptual.json": json({ measure, layers }),
    "model.onnx": onnxModel({
      nodes: [
        { op: "Identity", inputs: ["x"], outputs: ["colours"] },
        { op: "Conv", inputs: ["x", "mixing"], outputs: ["sums"], attributes: { kernel_shape: [1, 1] } },
      ],
      inputs: [{ name: "x", shape: [1, 3, "h", "w"] }],
      outputs: [{ name: "colours", shape: [1, 3, "h", "w"] }, { name: "sums", shape: [1, 2, "h", "w"] }],
      initializers: [{ name: "mixing", data: mixing, shape: [2, 3, 1, 1] }],
    }),
  };
}

/** Token embeddings that are the same in every context. */
export function tinyEmbedder(words: Record<string, readonly number[]>): Record<string, Uint8Array> {
  const rows = [...SPECIAL.map((token) => token === "[UNK]" ? [1, 1] : [0, 0]), ...Object.values(words)];
  return {
    "tokenizer.json": wordTokenizer(Object.keys(words)),
    "model.onnx": onnxModel({
      nodes: [gather("table", "last_hidden_state")],
      inputs: [tokens],
      outputs: [{ name: "last_hidden_state", shape: [1, "n", 2] }],
      initializers: [table("table", rows)],
    }),
  };
}

/** A classifier of four features: its logits are the first, the sum of the second and the third, and the fourth. */
export function tinyClassifier(labels: readonly string[] = ["a", "b", "c"]): Record<string, Uint8Array> {
  return {
    "config.json": json({ id2label: Object.fromEntries(labels.map((label, id) => [id, label])) }),
    "decoder_model.onnx": onnxModel({
      nodes: [{ op: "MatMul", inputs: ["features", "table"], outputs: ["logits"] }],
      inputs: [{ name: "features", shape: ["n", 4] }],
      outputs: [{ name: "logits", shape: ["n", 3] }],
      initializers: [table("table", [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])],
    }),
  };
}

/** A detector whose head of two classes and two cells is its twelve features. */
export function tinyDetector(labels: readonly string[] = ["a", "b"]): Record<string, Uint8Array> {
  return {
    "config.json": json({ id2label: Object.fromEntries(labels.map((label, id) => [id, label])) }),
    "decoder_model.onnx": onnxModel({
      nodes: [{ op: "Reshape", inputs: ["features", "form"], outputs: ["output0"] }],
      inputs: [{ name: "features", shape: ["n", 12] }],
      outputs: [{ name: "output0", shape: ["n", 6, 2] }],
      initializers: [{ name: "form", data: BigInt64Array.of(-1n, 6n, 2n), shape: [3] }],
    }),
  };
}

/** A language model that knows which word follows from which words of a text: "rain" and "sun" make "wet" and "dry". */
export function tinyMaskedLm(): Record<string, Uint8Array> {
  const words = ["wet", "dry", "rain", "sun", "##ing", "."];
  const count = SPECIAL.length + words.length;
  const says = (scores: Record<string, number>) => [...SPECIAL, ...words].map((token) => scores[token] ?? 0);
  const rows = [...SPECIAL, ...words].map((token) => {
    if (token === "rain") return says({ wet: 40, "##ing": 60, ".": 50 });
    if (token === "sun") return says({ dry: 40, "[SEP]": 90 });
    return says(token === "wet" ? { rain: 80 } : {});
  });
  return {
    "tokenizer.json": wordTokenizer(words),
    "tokenizer_config.json": json({ mask_token: "[MASK]", pad_token: "[PAD]" }),
    "model.onnx": onnxModel({
      nodes: [
        gather("table", "rows"),
        meanOver([1], "rows", "context", 1),
        { op: "Add", inputs: ["rows", "context"], outputs: ["logits"] },
      ],
      inputs: [tokens],
      outputs: [{ name: "logits", shape: [1, "n", count] }],
      initializers: [table("table", rows)],
    }),
  };
}

/** An answerer that says the strongest colour of a picture, and "yes" whenever it is asked "is". */
export function tinyAnswerer(): Record<string, Uint8Array> {
  const words = ["is", "what", "colour"];
  const rows = [...SPECIAL, ...words].map((token) => [0, 0, 0, token === "is" ? 100 : 0]);
  return {
    "tokenizer.json": wordTokenizer(words),
    "config.json": json({ id2label: { 0: "red", 1: "green", 2: "blue", 3: "yes" } }),
    "preprocessor_config.json": preprocessor(16, {
      do_center_crop: false,
      size_divisor: 4,
      image_std: [0.5, 0.5, 0.5],
    }),
    "onnx/model.onnx": onnxModel({
      nodes: [
        gather("table", "rows"),
        meanOver([1], "rows", "text"),
        meanOver([2, 3], "pixel_values", "mean"),
        { op: "MatMul", inputs: ["mean", "classes"], outputs: ["colours"] },
        { op: "Cast", inputs: ["pixel_mask"], outputs: ["mask"], attributes: { to: 1 } },
        meanOver([1, 2], "mask", "seen", 0),
        { op: "Add", inputs: ["text", "colours"], outputs: ["sum"] },
        { op: "Mul", inputs: ["sum", "seen"], outputs: ["logits"] },
      ],
      inputs: [
        tokens,
        { name: "pixel_values", shape: [1, 3, "h", "w"] },
        { name: "pixel_mask", type: INT64, shape: [1, "h", "w"] },
      ],
      outputs: [{ name: "logits", shape: [1, 4] }],
      initializers: [table("table", rows), table("classes", [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])],
    }),
  };
}

/** Latent values that each word of a prompt leads to. */
const COLOUR_LATENTS = { red: [1, -1, -1, 0], blue: [-1, -1, 1, 0], grey: [0, 0, 0, 0] };

/**
 * A diffusion model that has learned one thing: x_0 is the colour of the prompt, everywhere. Its prediction is of the kind
 * "sample", so that every sampler ends at it.
 */
export function tinyDiffusion(scheduler: Record<string, unknown> = {}, flag = 2): Record<string, Uint8Array> {
  const context = 77;
  // The mean over the context holds a word's share 1/77.
  const rows = [
    ...SPECIAL.map(() => [0, 0, 0, 0]),
    ...Object.values(COLOUR_LATENTS).map((row) => row.map((value) => value * context)),
  ];
  const paint = Array.from({ length: 4 * 3 * 64 }, (_, i) => Number(Math.floor(i / 192) === Math.floor(i / 64) % 3));
  return {
    "tokenizer/tokenizer.json": wordTokenizer(Object.keys(COLOUR_LATENTS)),
    "scheduler/scheduler_config.json": json({
      _class_name: "DDIMScheduler",
      num_train_timesteps: 100,
      beta_schedule: "scaled_linear",
      beta_start: 0.00085,
      beta_end: 0.012,
      prediction_type: "sample",
      clip_sample: false,
      set_alpha_to_one: true,
      ...scheduler,
    }),
    "vae_decoder/config.json": json({ scaling_factor: 1 }),
    "text_encoder/model.onnx": onnxModel({
      nodes: [gather("table", "last_hidden_state")],
      inputs: [tokens],
      outputs: [{ name: "last_hidden_state", shape: [1, "n", 4] }],
      initializers: [table("table", rows)],
    }),
    "unet/model.onnx": onnxModel({
      nodes: [
        meanOver([1], "encoder_hidden_states", "colour"),
        { op: "Unsqueeze", inputs: ["colour", "axes"], outputs: ["wide"] },
        { op: "Cast", inputs: ["timestep"], outputs: ["time"], attributes: { to: 1 } },
        { op: "Mul", inputs: ["time", "zero"], outputs: ["nothing"] },
        { op: "Mul", inputs: ["sample", "zero"], outputs: ["blank"] },
        { op: "Add", inputs: ["blank", "nothing"], outputs: ["still"] },
        { op: "Add", inputs: ["still", "wide"], outputs: ["out_sample"] },
      ],
      inputs: [
        { name: "sample", shape: [1, 4, "h", "w"] },
        { name: "timestep", type: INT64, shape: [1] },
        { name: "encoder_hidden_states", shape: [1, "n", 4] },
      ],
      outputs: [{ name: "out_sample", shape: [1, 4, "h", "w"] }],
      initializers: [
        { name: "zero", data: Float32Array.of(0), shape: [] },
        { name: "axes", data: BigInt64Array.of(2n, 3n), shape: [2] },
      ],
    }),
    "vae_decoder/model.onnx": onnxModel({
      nodes: [{
        op: "ConvTranspose",
        inputs: ["latent_sample", "paint"],
        outputs: ["sample"],
        attributes: { strides: [8, 8], kernel_shape: [8, 8] },
      }],
      inputs: [{ name: "latent_sample", shape: [1, 4, "h", "w"] }],
      outputs: [{ name: "sample", shape: [1, 3, "y", "x"] }],
      initializers: [{ name: "paint", data: Float32Array.from(paint), shape: [4, 3, 8, 8] }],
    }),
    "feature_extractor/preprocessor_config.json": preprocessor(8),
    // Flags pictures whose mean exceeds `flag`; none does by default.
    "safety_checker/model.onnx": onnxModel({
      nodes: [
        meanOver([1, 2, 3], "clip_input", "mean"),
        meanOver([1, 2, 3], "images", "other"),
        { op: "Max", inputs: ["mean", "other"], outputs: ["most"] },
        { op: "Greater", inputs: ["most", "limit"], outputs: ["has_nsfw_concepts"] },
      ],
      inputs: [{ name: "clip_input", shape: [1, 3, "h", "w"] }, { name: "images", shape: [1, "y", "x", 3] }],
      outputs: [{ name: "has_nsfw_concepts", type: BOOL, shape: [1] }],
      initializers: [{ name: "limit", data: Float32Array.of(flag), shape: [] }],
    }),
  };
}

/**
 * An autoencoder of 4 by 4 pixels: the three latents of a block are its mean colour, with standard deviation e^-1, and the
 * decoder paints blocks. `codebook.npy` has the corners of the colour cube, and its centre.
 */
export function tinyAutoencoder(): Record<string, Uint8Array> {
  const own = (a: number, b: number) => Number(a === b);
  const mean = Array.from({ length: 6 * 3 * 16 }, (_, i) => own(Math.floor(i / 48), Math.floor(i / 16) % 3) / 16);
  const paint = Array.from({ length: 3 * 3 * 16 }, (_, i) => own(Math.floor(i / 48), Math.floor(i / 16) % 3));
  const block = { strides: [4, 4], kernel_shape: [4, 4] };
  const corners = Array.from({ length: 8 }, (_, i) => [4, 2, 1].map((bit) => (i & bit) === 0 ? -1 : 1));
  return {
    "vae_encoder/model.onnx": onnxModel({
      nodes: [{
        op: "Conv",
        inputs: ["sample", "mean", "bias"],
        outputs: ["latent_parameters"],
        attributes: block,
      }],
      inputs: [{ name: "sample", shape: [1, 3, "y", "x"] }],
      outputs: [{ name: "latent_parameters", shape: [1, 6, "h", "w"] }],
      initializers: [
        { name: "mean", data: Float32Array.from(mean), shape: [6, 3, 4, 4] },
        { name: "bias", data: Float32Array.of(0, 0, 0, -2, -2, -2), shape: [6] },
      ],
    }),
    "vae_decoder/model.onnx": onnxModel({
      nodes: [{ op: "ConvTranspose", inputs: ["latent_sample", "paint"], outputs: ["sample"], attributes: block }],
      inputs: [{ name: "latent_sample", shape: [1, 3, "h", "w"] }],
      outputs: [{ name: "sample", shape: [1, 3, "y", "x"] }],
      initializers: [{ name: "paint", data: Float32Array.from(paint), shape: [3, 3, 4, 4] }],
    }),
    "codebook.npy": bytesOf(
      npyHeader("float32", [9, 3]),
      new Uint8Array(Float32Array.from([...corners, [0, 0, 0]].flat()).buffer),
    ),
  };
}

/**
 * An encoder and decoder of text. The features of a token are a one-hot code of its word, then one of its place; the decoder
 * reads the word of the place that it is at: the n-th token of its own input asks for the n-th token of the text.
 */
export function tinyTextCoder(): Record<string, Uint8Array> {
  const words = ["red", "green", "blue", "disc", "square", "left", "right", "of"];
  // 13 tokens and 7 places fill 20 features; the first token of a text is never asked for.
  const vocabulary = SPECIAL.length + words.length, places = 7, features = vocabulary + places;
  const oneHot = (at: number, width: number) => Array.from({ length: width }, (_, i) => Number(i === at));
  const rows = Array.from({ length: vocabulary }, (_, token) => oneHot(token, features));
  // The place of the special first token has no code, so that places 0 to 6 are those of tokens 1 to 7.
  const positions = Array.from({ length: 64 }, (_, at) => oneHot(at === 0 ? -1 : vocabulary + at - 1, features));
  const count = (name: string, source: string): TestNode[] => [
    { op: "Shape", inputs: [source], outputs: [`${name}.shape`] },
    { op: "Gather", inputs: [`${name}.shape`, "one"], outputs: [`${name}.length`] },
    { op: "Slice", inputs: ["positions", "zeros", `${name}.length`, "zeros"], outputs: [name] },
  ];
  const integers = (name: string, values: readonly bigint[]): TestTensor => ({
    name,
    data: BigInt64Array.from(values),
    shape: [values.length],
  });
  const asked = Array.from({ length: 64 }, (_, at) => oneHot(vocabulary + at, features));
  return {
    "tokenizer.json": wordTokenizer(words),
    "config.json": json({ decoder_start_token_id: 3, forced_bos_token_id: null, eos_token_id: 3 }),
    "encoder_model.onnx": onnxModel({
      nodes: [
        gather("table", "words"),
        ...count("places", "input_ids"),
        { op: "Add", inputs: ["words", "places"], outputs: ["last_hidden_state"] },
      ],
      inputs: [tokens, { name: "attention_mask", type: INT64, shape: [1, "n"] }],
      outputs: [{ name: "last_hidden_state", shape: [1, "n", features] }],
      initializers: [
        table("table", rows),
        table("positions", positions),
        integers("one", [1n]),
        integers("zeros", [0n]),
      ],
    }),
    // Attention: query = code of the place, key = features of the text, value = the code of the word.
    "decoder_model.onnx": onnxModel({
      nodes: [
        ...count("query", "input_ids"),
        { op: "Transpose", inputs: ["encoder_hidden_states"], outputs: ["keys"], attributes: { perm: [0, 2, 1] } },
        { op: "MatMul", inputs: ["query", "keys"], outputs: ["match"] },
        { op: "Mul", inputs: ["match", "sharpness"], outputs: ["sharp"] },
        { op: "Softmax", inputs: ["sharp"], outputs: ["attention"], attributes: { axis: -1 } },
        { op: "MatMul", inputs: ["attention", "encoder_hidden_states"], outputs: ["read"] },
        { op: "Slice", inputs: ["read", "zeros", "width", "two"], outputs: ["word"] },
        { op: "Mul", inputs: ["word", "sharpness"], outputs: ["logits"] },
      ],
      inputs: [
        { name: "encoder_attention_mask", type: INT64, shape: ["b", "n"] },
        { name: "input_ids", type: INT64, shape: ["b", "m"] },
        { name: "encoder_hidden_states", shape: ["b", "n", features] },
      ],
      outputs: [{ name: "logits", shape: ["b", "m", vocabulary] }],
      initializers: [
        { ...table("positions", asked), name: "positions" },
        integers("one", [1n]),
        integers("zeros", [0n]),
        integers("two", [2n]),
        integers("width", [BigInt(vocabulary)]),
        { name: "sharpness", data: Float32Array.of(20), shape: [] },
      ],
    }),
  };
}

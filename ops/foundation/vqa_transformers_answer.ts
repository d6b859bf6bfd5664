/**
 * Answers questions about images with a pretrained classifier over answers in the layout of ViLT: model.onnx or
 * onnx/model.onnx with input_ids, attention_mask, token_type_ids, pixel_values and pixel_mask, logits [1, answer]; the
 * answers are id2label of config.json. Other files: tokenizer.json, preprocessor_config.json.
 *
 * Confidence is the softmax of the logits with problem_type single_label_classification in the configuration, and their
 * logistic function otherwise, as published VQA models are trained. The report of a question contains `top_k` answers;
 * the likeliest is the answer; equal logits are in the order of the classes.
 *
 * Source: Kim, Son, Kim, "ViLT: vision-and-language transformer without convolution or region supervision", ICML 2021.
 */
import {
  defineOperation,
  float,
  type JsonObject,
  type ModelRequest,
  type ModelSession,
  type NamedModel,
  SvcError,
  z,
} from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesOf, travel } from "../../lib/artifact/values.ts";
import type { TextTokenizer } from "../../lib/artifact/tokenizer.ts";
import type { NdArray } from "../../lib/numeric/array/ndarray.ts";
import { ANSWERS, QUESTIONS, questionsOf } from "../_vqa.ts";
import { asInput, feedsOf, GRAPHS, openGraph, outputOf, realValues, tokenizerOf } from "./_named_tensors.ts";
import { pictureTensor, readPreprocessor } from "./_picture_tensor.ts";
import { checkDevice, pretrainedParams } from "./_pretrained.ts";
import { rgbAt } from "./_rgb_images.ts";
import { picturesOfQuestions } from "./_vqa_pictures.ts";

/** Tokens of a question. */
const CONTEXT = 40;

export default defineOperation({
  id: "foundation.vqa_transformers_answer",
  name: "Pretrained VQA answerer",
  description: "Answers questions directly from images with a pretrained model",
  inputs: { images: [IMAGES], questions: [QUESTIONS] },
  outputs: { answers: ANSWERS },
  params: z.strictObject({
    ...pretrainedParams("dandelin/vilt-b32-finetuned-vqa", { bundled: "svc-tiny-scene-answerer-v1" }),
    top_k: z.int().positive().default(1).describe("number of reported answers; the likeliest counts"),
  }),
  outputMetadataGuarantees: { answers: { from: "questions", keys: ["model"] } },
  timingMetric: "decoder.inference",
  check: checkDevice,
  models: ({ model_id, model_revision }): ModelRequest[] => [{
    role: "answerer",
    id: model_id,
    revision: model_revision,
    files: ["config.json", "tokenizer.json", "preprocessor_config.json"],
    optionalFiles: [...GRAPHS, "tokenizer_config.json"],
  }],
  async run({ inputs, params, model, progress }) {
    const batch = imagesOf(inputs.images), questions = questionsOf(inputs.questions);
    const { ids, indexOf } = picturesOfQuestions(questions, inputs.images.metadata, batch.count);
    const answerer = await openAnswerer(model("answerer"));
    const tensors = new Map<number, NdArray>();
    const items: JsonObject[] = [];
    for (const question of questions) {
      progress(items.length, questions.length, { phase: "answering", unit: "questions" });
      const index = indexOf(question);
      if (!tensors.has(index)) tensors.set(index, pictureTensor(rgbAt(batch, index), answerer.preprocessor));
      const ranked = await answer(answerer, question.question, tensors.get(index)!, params.top_k);
      const [{ answer: best, confidence }] = ranked;
      items.push({
        id: question.id,
        answer: best,
        confidence: float(confidence),
        ...(params.top_k === 1
          ? {}
          : { candidates: ranked.map((row) => ({ ...row, confidence: float(row.confidence) })) }),
      });
    }
    const { record } = model("answerer");
    const metadata = travel(inputs.questions.metadata, { image_count: ids.length, model: record });
    const json = { kind: "vqa.answers", schema_version: 1, items };
    return { outputs: { answers: { json, metadata } }, metadata: { model: record } };
  },
});

interface Answerer {
  session: ModelSession;
  tokenizer: TextTokenizer;
  preprocessor: ReturnType<typeof readPreprocessor>;
  /** Answers by class. */
  labels: Readonly<Record<string, string>>;
  exclusive: boolean;
}

async function openAnswerer(model: NamedModel): Promise<Answerer> {
  const config = JSON.parse(new TextDecoder().decode(await model.read("config.json")));
  if (typeof config?.id2label !== "object" || config.id2label === null) {
    throw new SvcError("model_unavailable", "Cannot answer with the model: its config.json has no answers (id2label)");
  }
  return {
    session: await openGraph(model),
    tokenizer: await tokenizerOf(model),
    preprocessor: readPreprocessor(await model.read("preprocessor_config.json")),
    labels: config.id2label,
    exclusive: config.problem_type === "single_label_classification",
  };
}

async function answer(
  { session, tokenizer, labels, exclusive }: Answerer,
  question: string,
  pixels: NdArray,
  topK: number,
): Promise<{ answer: string; confidence: number }[]> {
  const encoded = tokenizer.encode(question);
  const cut = (all: number[]) => all.length <= CONTEXT ? all : [...all.slice(0, CONTEXT - 1), all[all.length - 1]];
  const ids = cut(encoded.ids), types = cut(encoded.types), shape = [1, ids.length];
  const [, , height, width] = pixels.shape;
  const seen = [1, height, width];
  const results = await session.run(feedsOf(session, {
    input_ids: () => asInput(session, "input_ids", ids, shape),
    attention_mask: () => asInput(session, "attention_mask", ids.map(() => 1), shape),
    token_type_ids: () => asInput(session, "token_type_ids", types, shape),
    pixel_values: () => pixels,
    pixel_mask: () => asInput(session, "pixel_mask", Array<number>(height * width).fill(1), seen),
  }));
  const logits = realValues(outputOf(results, ["logits"]));
  if (logits.length === 0 || !logits.every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", "Cannot use logits that are empty or not finite");
  }
  const greatest = Math.max(...logits);
  const total = logits.reduce((sum, value) => sum + Math.exp(value - greatest), 0);
  const confidence = (value: number) => exclusive ? Math.exp(value - greatest) / total : 1 / (1 + Math.exp(-value));
  return Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b).slice(0, topK)
    .map((id) => ({ answer: labels[id] ?? `class ${id}`, confidence: confidence(logits[id]) }));
}

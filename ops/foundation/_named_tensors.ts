/** Tensors of graphs of different exporters: by the first of several names, token ids in the required type; tokenizers. */
import { type ModelSession, type NamedModel, SvcError } from "../api.ts";
import type { TextTokenizer } from "../../lib/artifact/tokenizer.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";

/** File names that exporters use for a single graph. */
export const GRAPHS = ["model.onnx", "onnx/model.onnx"];

/** Opens the only graph of a model. @throws SvcError `model_unavailable` without a graph */
export function openGraph(model: NamedModel): Promise<ModelSession> {
  const file = GRAPHS.find((name) => model.has(name));
  if (file !== undefined) return model.open(file);
  throw new SvcError("model_unavailable", `Cannot run ${String(model.record.id)}: it lacks ${GRAPHS.join(" and ")}`);
}

/** The tokenizer of a model, from tokenizer.json and, if there, tokenizer_config.json. */
export async function tokenizerOf(model: NamedModel): Promise<TextTokenizer> {
  const { openTokenizer } = await import("../../lib/artifact/tokenizer.ts");
  const config = model.has("tokenizer_config.json") ? await model.read("tokenizer_config.json") : undefined;
  return openTokenizer(await model.read("tokenizer.json"), config);
}

/** Numbers in the declared type of a graph's input. */
export function asInput(session: ModelSession, name: string, values: readonly number[], shape: number[]): NdArray {
  const dtype = session.inputs.find((input) => input.name === name)?.dtype;
  if (dtype === "int64") return ndarray("int64", BigInt64Array.from(values, (value) => BigInt(value)), shape);
  if (dtype === "int32") return ndarray("int32", Int32Array.from(values), shape);
  return ndarray("float32", Float32Array.from(values), shape);
}

/** The feeds that a graph takes. @throws SvcError `model_unavailable` for an unavailable input */
export function feedsOf(session: ModelSession, available: Record<string, () => NdArray>): Record<string, NdArray> {
  const missing = session.inputs.filter(({ name }) => !Object.hasOwn(available, name)).map(({ name }) => name);
  if (missing.length > 0) {
    throw new SvcError("model_unavailable", `Cannot feed the model: it takes ${missing.join(", ")}`, {
      hint: `Export it with the inputs ${Object.keys(available).join(", ")}`,
    });
  }
  return Object.fromEntries(session.inputs.map(({ name }) => [name, available[name]()]));
}

/** The first existing output of a list. @throws SvcError `model_unavailable` */
export function outputOf(results: Record<string, NdArray>, names: readonly string[], why = ""): NdArray {
  const name = names.find((candidate) => Object.hasOwn(results, candidate));
  if (name !== undefined) return results[name];
  throw new SvcError("model_unavailable", `Cannot find ${names.join(" or ")} among the outputs of the model`, {
    hint: `Its outputs are ${Object.keys(results).join(", ")}${why === "" ? "" : `; ${why}`}`,
  });
}

/** Real values of a tensor as float32. */
export function realValues({ data }: NdArray): Float32Array {
  return data instanceof Float32Array ? data : Float32Array.from(data as ArrayLike<number>, Number);
}

/** Conformance cases of the learned codec, on the bundled model; of autoencoders and text coders, on those of tests. */
import exportOnnx from "../../../ops/codeclib/codeclib_export_onnx.ts";
import codeclibFamily from "../../../ops/codeclib/codeclib.ts";
import diffusers from "../../../ops/codec/diffusers.ts";
import textEncode from "../../../ops/joint_coding/text_bart_jscc_encode.ts";
import published from "../../../lib/model/codecs.json" with { type: "json" };
import { NETWORKS, TABLES } from "../../../ops/codeclib/_codeclib_tables.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { tinyAutoencoder, tinyTextCoder } from "../../support/tiny_models.ts";
import { runOperation } from "../harness.ts";
import { textsInput } from "../inputs.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { casesOf } from "./cases.ts";

const [encode, , analysisEncode, , entropyEncode] = codeclibFamily;

const [klEncode, , vqEncode, , vqIndices] = diffusers;

export const MODEL = "svc_tiny_hyperprior";
const shipped = (name: string) =>
  decodeURIComponent(new URL(`../../../recipes/models/${name}`, import.meta.url).pathname);
const folder = shipped("svc-tiny-hyperprior-v1");
export const models = { [MODEL]: folder, [`${MODEL}_high`]: shipped("svc-tiny-hyperprior-high-v1") };

/** The same network under the name of every published model. */
export function publishedModels(): Record<string, Record<string, Uint8Array>> {
  const read = (name: string) => Deno.readFileSync(`${folder}/${name}`);
  const networks = Object.fromEntries(NETWORKS.map((name) => [name, read(name)]));
  const tables = JSON.parse(new TextDecoder().decode(read(TABLES)));
  const renamed = (model: string) => new TextEncoder().encode(JSON.stringify({ ...tables, model }));
  return Object.fromEntries(published.map((name) => [name, { ...networks, [TABLES]: renamed(name) }]));
}
export const TINY: JsonObject = { model: MODEL, pad_to_multiple: 32 };

/** Two smooth pictures with an edge, whose sides are no multiples of anything. */
export function pictures(channels: 1 | 3 = 3, dtype: "uint8" | "float32" = "uint8") {
  const shape = { count: 2, height: 37, width: 45, channels };
  const samples = Array.from({ length: 2 * 37 * 45 * channels }, (_, at) => {
    const channel = at % channels, pixel = Math.floor(at / channels), x = pixel % 45, y = Math.floor(pixel / 45) % 37;
    return (x > 20 ? 170 : 60) + 40 * Math.sin(y / 6 + channel) + (pixel >= 37 * 45 ? 20 : 0);
  });
  const data = dtype === "uint8" ? Uint8Array.from(samples) : Float32Array.from(samples, (value) => value / 255);
  return { kind: "image.batch.numpy", ...imagesArtifact({ ...shape, dtype, data }) };
}

export const latents = async (params: JsonObject = {}, known: ConformanceCase["models"] = models) => {
  const asked = { ...TINY, ...params };
  return (await runOperation(analysisEncode, { inputs: { images: pictures() }, params: asked, models: known })).outputs;
};
const payload = async (params: JsonObject) =>
  (await runOperation(encode, { inputs: { images: pictures() }, params: { ...TINY, ...params }, models })).outputs;
const entropyPayload = async () =>
  (await runOperation(entropyEncode, { inputs: await latents(), params: { model: MODEL }, models })).outputs;

/** The bundle of the model. */
export const bundle = async () =>
  (await runOperation(exportOnnx, { inputs: { images: pictures() }, params: TINY, models })).outputs;

const AUTOENCODER = { model_id: "m" }, autoencoder = { autoencoder: tinyAutoencoder() };
const blocks = (dtype: "uint8" | "float32") => {
  const data = Array.from({ length: 2 * 8 * 12 * 3 }, (_, at) => (at * 37) % 256);
  const samples = dtype === "uint8" ? Uint8Array.from(data) : Float32Array.from(data, (value) => value / 255);
  return {
    kind: "image.batch.numpy",
    ...imagesArtifact({ count: 2, height: 8, width: 12, channels: 3, dtype, data: samples }),
  };
};
const coded = async (operation: typeof klEncode) =>
  (await runOperation(operation, { inputs: { images: blocks("uint8") }, params: AUTOENCODER, models: autoencoder }))
    .outputs;
const TEXT = { model_id: "m" }, text = { text: tinyTextCoder() };
const sentences = () => ({ texts: textsInput({ a: "red disc left", b: "blue" }) });

export const CODECLIB_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    blocks: () => ({ images: blocks("uint8") }),
    "blocks, float32": () => ({ images: blocks("float32") }),
    "KL code": () => coded(klEncode),
    "VQ code": () => coded(vqEncode),
    "VQ indices": async () =>
      (await runOperation(vqIndices, { inputs: await coded(vqEncode), params: AUTOENCODER, models: autoencoder }))
        .outputs,
    sentences,
    "coded sentences": async () =>
      (await runOperation(textEncode, { inputs: sentences(), params: TEXT, models: text })).outputs,
    images: () => ({ images: pictures() }),
    "images and bundle": async () => ({ images: pictures(), ...await bundle() }),
    "latents and bundle": async () => ({ ...await latents(), ...await bundle() }),
    "payload and bundle": async () => ({ ...await entropyPayload(), ...await bundle() }),
    "grey images, float32": () => ({ images: pictures(1, "float32") }),
    latents: () => latents(),
    entropyPayload,
    "grey images": () => ({ images: pictures(1) }),
    payload: () => payload({}),
    "compact payload": () => payload({ wire_format: "compact_binary_v1" }),
  },
  files: {
    kodak: () => ({ "kodak/kodim01.png": "one", "kodak/kodim02.png": "two" }),
  },
  models: {
    autoencoder,
    text,
    codec: models,
  },
});

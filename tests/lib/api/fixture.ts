/** A project whose recipe needs an adapter, an operation of its own and a trained artifact. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { SessionOptions } from "../../../mod.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { fromFileUrl } from "../../support/paths.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Options that each have an effect on {@link RECIPE}. */
export const OPTIONS = {
  adapters: [{ folder: fromFileUrl(new URL("adapters/dct_slices/", ROOT)) }],
  operations: [new URL("../../recipes/operations/indices.ts", import.meta.url)],
  accelerator: "onnxruntime-node",
} as const satisfies SessionOptions;

const QPSK_IQ = await Deno.readTextFile(new URL("recipes/neural_receiver_qpsk_iq_learned.yaml", ROOT));

/** The shipped recipe of a trained receiver, in small, behind a step of the adapter and one of the own operation. */
export const RECIPE = QPSK_IQ
  .replace(/^ {2}matrix:\n(?: {4,}.*\n)+/m, "")
  .replace("{bit_count: 4096, batch_size: 64}", "{bit_count: 512}")
  .replace(
    "steps:\n",
    `steps:
  - id: pictures
    op: source.image_dataset
    params: {dataset: svc_sample_images, image_ids: camera}
  - id: slices
    op: dct_slices.encode
    inputs: {images: pictures.images}
  - id: indices
    op: test.indices
`,
  );

/** The same as a matrix of one point. */
export const MATRIX = RECIPE.replace(
  "steps:\n",
  `  matrix:
    dimensions: {snr_db: [6.0]}
    step_params: {wireless_channel: {snr_db: {matrix: snr_db}}}
steps:
`,
);

const PACK = {
  schema_version: 1,
  id: "own",
  version: "1",
  dataset: { id: "svc_sample_images" },
  task: { id: "neural_receiver_demapping" },
  metrics: ["channel.coded.ber"],
  baselines: [],
  recipes: [{ id: "own", path: "recipes/own.yaml" }],
};

/** A template whose recipe a project may replace by its own. */
export const TEMPLATE = "ai_phy.neural_receiver_demapping.adapter";

export interface Project {
  projectRoot: string;
  stateDir: string;
  pack: string;
}

/** Makes a project with the recipe, a pack of it, and the recipe in place of a template's. */
export async function makeProject(templatePath: string): Promise<Project> {
  const projectRoot = await Deno.makeTempDir({ prefix: "svc-session-" });
  await Deno.mkdir(join(projectRoot, "recipes"));
  for (const path of ["recipes/own.yaml", templatePath]) await Deno.writeTextFile(join(projectRoot, path), RECIPE);
  const pack = join(projectRoot, "pack.json");
  await Deno.writeTextFile(pack, prettyJson(PACK));
  return { projectRoot, stateDir: join(projectRoot, ".svc"), pack };
}

/** The plan has the adapter, the own operation and the accelerator. */
export function holds({ steps }: { steps: JsonObject[] }): void {
  const metadata = (id: string) => steps.find(({ step_id }) => step_id === id)!.implementation_metadata as JsonObject;
  assert.equal((metadata("slices").external_adapter_sdk as JsonObject).name, "dct-slices");
  assert.equal(metadata("indices").source_module, "tests/recipes/operations/indices.ts");
  assert.equal((metadata("demodulator").trained_artifact as JsonObject).accelerator, "onnxruntime-node");
}

/** Without the permission to load libraries the accelerator is refused, and nothing is fetched for it. */
export const PERMISSIONS: Deno.PermissionOptions = {
  ffi: false,
  read: "inherit",
  write: "inherit",
  env: "inherit",
  net: "inherit",
  sys: "inherit",
  run: "inherit",
  import: "inherit",
};

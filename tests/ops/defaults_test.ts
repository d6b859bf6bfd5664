/**
 * Every operation runs with its defaults in a fresh checkout without network, or is listed with the reason: its default
 * model is a published one whose weights are not shipped (other weights never run under its name), its default stands for
 * code in training, or it reads a file or a dataset of the user.
 */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { SvcError } from "../../lib/contract/error.ts";
import { plainParams } from "../../lib/contract/schema.ts";
import { isModel, resolveModel } from "../../lib/model/resolve.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { ofdmState } from "./_fixtures/power.ts";
import { symbolsInput } from "./inputs.ts";
import { materialise, runOperation } from "./harness.ts";
import { bitsInput, someBits } from "./inputs.ts";

/** Operations whose default `model_id` is published, by the name. */
const PUBLISHED: Readonly<Record<string, string>> = {
  "foundation.diffusion_state_to_image": "segmind/tiny-sd",
  "foundation.text_mask_repair": "distilbert/distilbert-base-uncased",
  "foundation.vqa_transformers_answer": "dandelin/vilt-b32-finetuned-vqa",
  "foundation.yolo_detect": "yolo11n.pt",
  "foundation.yolo_segment": "yolo11n-seg.pt",
  "model.codeclib_analysis_encode": "bmshj2018_hyperprior",
  "model.codeclib_encode": "bmshj2018_hyperprior",
  "model.codeclib_entropy_encode": "bmshj2018_hyperprior",
  "model.codeclib_export_onnx": "bmshj2018_hyperprior",
  "model.vq_latents_to_indices": "CompVis/ldm-celebahq-256",
  "model.vq_indices_to_latents": "CompVis/ldm-celebahq-256",
  "model.diffusers_autoencoderkl_decode": "stabilityai/sd-vae-ft-mse",
  "model.diffusers_autoencoderkl_encode": "stabilityai/sd-vae-ft-mse",
  "model.diffusers_vqmodel_decode": "CompVis/ldm-celebahq-256",
  "model.diffusers_vqmodel_encode": "CompVis/ldm-celebahq-256",
  "model.text_bart_jscc_decode": "facebook/bart-base",
  "model.text_bart_jscc_encode": "facebook/bart-base",
};

/** Operations whose defaults do not run for another reason: the code of the refusal, and why. */
const REFUSED: Readonly<Record<string, readonly [code: string, reason: string]>> = {
  "model.csi_feedback_decoder": ["operation_failed", "training_interface is a place for code to be trained"],
  "model.csi_feedback_encoder": ["operation_failed", "training_interface is a place for code to be trained"],
  "model.deepjscc_external_decode": ["operation_failed", "training_interface is a place for code to be trained"],
  "model.deepjscc_external_encode": ["operation_failed", "training_interface is a place for code to be trained"],
  "metrics.bert_score": ["params_invalid", "model_id has no default"],
  "metrics.perceptual_distance": ["params_invalid", "model_id has no default"],
  "source.answer_file": ["params_invalid", "answers_path has no default"],
  "source.bit_manifest": ["params_invalid", "manifest_path has no default"],
  "source.channel_dataset": ["params_invalid", "dataset_path has no default"],
  "source.iq_recording": ["params_invalid", "recording_path has no default"],
  "source.local_npz_images": ["params_invalid", "path has no default"],
  "source.coco128_detection": ["boundary_file_missing", "the dataset is fetched"],
  "source.coco8_segmentation": ["boundary_file_missing", "the dataset is fetched"],
  "source.flickr8k_retrieval": ["dataset_unavailable", "the dataset is fetched"],
  "source.image_dataset": ["boundary_file_missing", "the dataset is fetched"],
  "source.vqa_manifest": ["params_invalid", "manifest_path has no default"],
  "source.vqa_small_hf": ["boundary_file_missing", "the dataset is fetched"],
  "source.kodak_files": ["boundary_file_missing", "the dataset is fetched"],
};

/** Inputs of operations whose fixtures are too small for the defaults. */
const LARGER: typeof FIXTURES = {
  "metrics.age_of_information": [{
    inputs: () => ({ candidate: bitsInput(someBits(512)), reference: bitsInput(someBits(512)) }),
  }],
  "metrics.spectrum": [{ inputs: () => ({ signal: symbolsInput(256, { recording: { sample_rate_hz: 8000 } }) }) }],
  "metrics.nr_adapted_throughput": [{ inputs: () => ({ channel_state: ofdmState([1, 280, 624]) }) }],
  "wireless.modulation_recording_observation": [{
    inputs: () => ({
      waveform: symbolsInput(256),
      labels: {
        kind: "task.labels.json",
        json: {
          kind: "task.labels",
          schema_version: 1,
          items: [{ id: "a", label: "qpsk", sample_start: 0n, sample_count: 256n }],
        },
      },
    }),
  }],
  "wireless.ofdm_delayed_csi": [{ inputs: () => ({ state: ofdmState([1, 32, 4]) }) }],
};

const SHIPPED = {
  programRoot: ROOT_PATH,
  projectRoot: ROOT_PATH,
  recipeDir: ROOT_PATH,
  stateDir: join(ROOT_PATH, "none"),
};

Deno.test("the lists of exceptions name operations", () => {
  for (const id of [...Object.keys(PUBLISHED), ...Object.keys(REFUSED)]) assert.ok(id in FIXTURES, id);
});

for (const { operation } of BUILTIN_OPERATIONS) {
  const { contract, definition, id } = operation, fixture = LARGER[id] ?? FIXTURES[id];
  if ("skip" in fixture) continue;
  Deno.test(`${id} ${id in PUBLISHED || id in REFUSED ? "refuses" : "runs with"} its defaults`, async () => {
    const params = materialise(contract.params_schema, {});
    const requests = id in REFUSED ? [] : definition.models?.(plainParams(params)) ?? [];
    const found = requests.map((request) => ({ request, model: resolveModel(request, SHIPPED) }));
    const lacking = found.filter(({ request, model }) => !isModel(model) && !request.optional);
    assert.deepEqual(lacking.map(({ request }) => request.id), id in PUBLISHED ? [PUBLISHED[id]] : []);
    if (lacking.length > 0) return;
    const models = Object.fromEntries(
      found.flatMap(({ request: { role }, model }) =>
        isModel(model) ? [[role, dirname(Object.values(model.files)[0].path)]] : []
      ),
    );
    const failures: unknown[] = [];
    // The inputs of a case may belong to its parameters.
    for (const { inputs } of fixture) {
      try {
        await runOperation(operation, { inputs: await inputs?.() ?? {}, params: {}, models });
        failures.length = 0;
        break;
      } catch (error) {
        failures.push(error);
      }
    }
    if (!(id in REFUSED)) {
      if (failures.length > 0) throw failures[0];
      return;
    }
    const [failure] = failures;
    assert.ok(failure instanceof SvcError, String(failure ?? "it ran"));
    assert.equal(failure.code, REFUSED[id][0]);
  });
}

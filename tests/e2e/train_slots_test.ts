/**
 * Trainable components from their starter recipes: exported, captured, trained for an epoch by the script of the export,
 * packaged with the parity of their networks, imported, and run in the recipe. Skipped, with a note, without PyTorch.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../mod.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { npyHeader } from "../../lib/artifact/npy_header.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { createRegistry } from "../../ops/registry.ts";
import { inFolder } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { needsTorch, torchPrograms, torchPython } from "../support/torch.ts";

/** Starters with a component, and the steps to train. The receiver is in train_export_test.ts. */
const STARTERS: Record<string, string[]> = {
  aoa_adapter_ula_baseline: ["model.aoa_estimator_adapter"],
  beamforming_adapter_baseline: ["model.beamforming_adapter"],
  channel_estimation_adapter_awgn: ["model.channel_estimator_adapter"],
  csi_feedback_truncated_angular_delay: ["model.csi_feedback_encoder", "model.csi_feedback_decoder"],
  isac_ofdm_joint_allocation: ["model.isac_ofdm_allocator_adapter"],
  leo_ntn_doppler_beam_tracking: ["model.leo_ntn_tracking_adapter"],
  localization_adapter_baseline: ["model.localization_adapter"],
  modulation_recognition_awgn: ["model.modulation_classifier_adapter"],
  near_field_xl_mimo_focusing: ["model.near_field_estimator_adapter"],
  neural_receiver_qpsk_phase_tracking: ["demodulation.phase_tracking_receiver_adapter"],
  resource_delayed_csi_finite_blocklength: ["model.causal_csi_power_allocator"],
  resource_equal_power_baseline: ["model.symbol_power_allocator"],
  // Pairs that are trained together; bits are drawn, pictures come from a folder.
  "../constellation_qam_phase_noise": ["modulation.learned_constellation", "demodulation.constellation_demapper"],
  deepjscc_awgn: ["model.deepjscc_external_encode", "model.deepjscc_external_decode"],
};
/** Starters of a kind of their own: two networks that are trained together, on records, on drawn bits, and on pictures. */
const OWN_KIND = ["csi_feedback_truncated_angular_delay", "../constellation_qam_phase_noise", "deepjscc_awgn"];
/** Those trained here, since the receiver of train_export_test.ts is of the other kind; `deno task soak whole` trains all. */
const TRAINED = Object.entries(STARTERS).filter(([id]) => FULL_SIZE || OWN_KIND.includes(id));
const UNCAPTURED = ["../constellation_qam_phase_noise", "deepjscc_awgn"];
const folderOf = (id: string) => id.replace("../", "");

const documentOf = (id: string) => {
  const text = Deno.readTextFileSync(join(ROOT_PATH, "recipes/recipe_starters", `${id}.yaml`));
  const document = readRecipeText(text, { file: id }).value as {
    metadata: JsonObject;
    steps: { id: string; op: string; params: JsonObject }[];
  };
  // Every record is a run of the recipe, and the items of a batch pass it in the same way.
  for (const { params } of document.steps) if (params?.batch_size === 1024) params.batch_size = 32;
  return document;
};
const python = await torchPython();
const programs = torchPrograms(python ?? "");
Deno.test.afterAll(() => programs.end());
const TRAINING = ["train.py", "--epochs", "1", "--steps", "4", "--batch", "8", "--threads", "1"];

Deno.test("every operation with a trained artifact is listed here, or trained in train_export_test.ts", async () => {
  const registry = await createRegistry();
  const slots = registry.contracts().filter(({ trained_artifact_abi }) => trained_artifact_abi !== undefined);
  const trained = [...Object.values(STARTERS).flat(), "demodulation.neural_receiver_adapter"];
  assert.deepEqual(slots.map(({ id }) => id).sort(), trained.sort());
});

Deno.test({
  name: "components are exported, trained, packaged and bound in their recipes",
  ...needsTorch(python),
  sanitizeOps: false,
  sanitizeResources: false,
  fn: inFolder(async (folder) => {
    const svc = await open({ projectRoot: folder, stateDir: join(folder, "state"), idleMs: 60_000 });
    try {
      for (const [id, operations] of TRAINED) {
        const recipe = documentOf(id);
        const selected_steps = recipe.steps.filter(({ op }) => operations.includes(op)).map((step) => step.id);
        const plan = { framework: "torch", selected_steps };
        await svc.training.export(recipe, { plan, samples: 40, out: join(folder, folderOf(id)) });
        for (const split of UNCAPTURED.includes(id) ? [] : ["train", "validation"] as const) {
          await svc.training.captureProject(join(folder, id), { split });
        }
      }
      await Deno.mkdir(join(folder, "deepjscc_awgn/pictures"));
      for (const name of ["a", "b", "c"]) {
        const samples = Array.from({ length: 20 * 24 * 3 }, (_, i) => i * name.charCodeAt(0) % 256);
        const file = Uint8Array.from([...npyHeader("uint8", [20, 24, 3]), ...samples]);
        await Deno.writeFile(join(folder, `deepjscc_awgn/pictures/${name}.npy`), file);
      }
      for (const [id] of TRAINED) {
        // A project with pictures trains on crops of them.
        const pictures = id === "deepjscc_awgn" ? ["--images", "pictures", "--crop", "16"] : [];
        const { code, stderr } = await programs.run(join(folder, folderOf(id)), [...TRAINING, ...pictures]);
        assert.equal(code, 0, `${id}: ${stderr}`);
      }

      for (const [id, operations] of TRAINED) {
        const made = await svc.artifacts.package(join(folder, folderOf(id), "package"), {
          out: join(folder, `${folderOf(id)}.zip`),
        });
        assert.equal(made.parity.length, operations.length);
        await svc.artifacts.import(made.archive);
        const bound = documentOf(id);
        for (const step of bound.steps) {
          if (!operations.includes(step.op)) continue;
          const abi = (await svc.system.operation(step.op)).trained_artifact_abi!;
          const { artifact_manifest_path: _path, ...binding } = abi.binding_params;
          const artifact = { artifact_manifest_path: "", artifact_package_sha256: made.package_sha256 };
          // The prior of the closed form has no meaning beside a network, and is refused there.
          const { lmmse_assumed_tap_count: _prior, ...kept } = step.params ?? {};
          step.params = { ...kept, ...binding, ...artifact };
        }
        const { matrix: _matrix, ...metadata } = bound.metadata;
        const run = await svc.recipes.run({ ...bound, metadata });
        assert.equal(run.status, "completed", `${id}: ${JSON.stringify(run)}`);
      }
    } finally {
      svc.close();
    }
  }),
});

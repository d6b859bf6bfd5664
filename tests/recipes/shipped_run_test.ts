/** Every shipped recipe and pack that needs nothing but the repository runs to its end: one point, or one replicate. */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { plan, run } from "../../mod.ts";
import { expandMatrix, loadBenchmarkPack, runBenchmark } from "../support/session.ts";
import { listBenchmarkPacks } from "../../lib/benchmark/packs.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { verifyRun } from "../../lib/run/verify.ts";
import { ROOT_PATH } from "../support/paths.ts";

const SHIPPED = ["", "recipe_starters/"].flatMap((folder) => {
  const place = new URL(`../../recipes/${folder}`, import.meta.url);
  return [...Deno.readDirSync(place)].filter(({ name }) => name.endsWith(".yaml")).map(({ name }) =>
    new URL(name, place)
  );
}).sort((a, b) => (a.href < b.href ? -1 : 1));

const lacks = (diagnostics: readonly { code: string }[]) =>
  diagnostics.some(({ code }) => code === "dataset_unavailable" || code === "model_unavailable");

/** Runs something in a workspace of its own. */
async function apart(work: (stateDir: string) => Promise<void>): Promise<void> {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-shipped-" });
  try {
    await work(stateDir);
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
}

/** Recipes that other tests run and look into. */
const ELSEWHERE =
  /^(.*_learned|detection_scenes_(noise|deepjscc|jpeg).*|image_codeclib_tiny|resource_.*|deepjscc_.*|quickstart)$/;

let ran = 0;
for (const url of SHIPPED) {
  if (ELSEWHERE.test(basename(url.pathname, ".yaml"))) continue;
  Deno.test(`recipes/${basename(url.pathname)} runs, and its bundle verifies`, () =>
    apart(async (stateDir) => {
      const text = await Deno.readTextFile(url);
      // The last point of a sweep over SNR is its best, where something arrives.
      const recipe = (await expandMatrix(text)).recipes.at(-1) ?? text;
      const planned = await plan(recipe, { stateDir });
      if (lacks(planned.diagnostics)) return;
      const { status, run_id, summary } = await run(recipe, { stateDir });
      assert.equal(status, "completed", String(summary.error));
      assert.equal((await verifyRun(openWorkspace({ stateDir }), run_id)).status, "valid");
      ran++;
    }));
}

Deno.test("most shipped recipes need nothing that is not here", () => assert.ok(ran >= 40, String(ran)));

/** Packs that other tests run and look into, or that are as others with other methods. */
const LOOKED_INTO = new Set([
  "bit_transport/ber_theory_v1",
  "semantic_comm/image_rate_distortion_v1",
  "semantic_comm/jpeg_channel_coding_awgn_v1",
  "semantic_comm/text_semantic_smoke_v1",
  "semantic_comm/image_generation_scenes_v1",
  "semantic_comm/text_semantic_presets_v1",
  "resource_allocation/power_allocation_v1",
  "neural_receiver_ai_phy/qpsk_phase_tracking_v1",
  "neural_receiver_ai_phy/qpsk_iq_receiver_v1",
  "neural_receiver_ai_phy/qpsk_awgn_receiver_v1",
  "semantic_comm/protected_digital_vs_deepjscc_awgn_v1",
  "localization_sensing/range_localization_v1",
  "localization_sensing/aoa_estimation_v1",
  "beamforming_precoding/beam_selection_v1",
  "isac_near_field_ntn/isac_allocation_v1",
  "isac_near_field_ntn/near_field_v1",
  "isac_near_field_ntn/leo_tracking_v1",
  "semantic_comm/vqa_goal_oriented_smoke_v1",
  "modulation_recognition/blind_carrier_v1",
  "mimo_ofdm/channel_estimation_tdl_c_v1",
  "localization_sensing/nlos_localization_v1",
]);

for (const { name, file } of listBenchmarkPacks(ROOT_PATH)) {
  if (LOOKED_INTO.has(name)) continue;
  Deno.test(`benchmarks/${name} runs`, () =>
    apart(async (stateDir) => {
      const { diagnostics } = await loadBenchmarkPack(file);
      if (lacks(diagnostics)) return;
      const { result } = await runBenchmark(name, { replicates: 1, projectRoot: ROOT_PATH, stateDir });
      assert.equal(result.status, "completed");
      const failed = result.recipes.filter(({ status }) => status !== "completed" && status !== "skipped");
      assert.deepEqual(failed.map(({ id, status }) => [id, status]), []);
    }));
}

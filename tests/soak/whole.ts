/**
 * Tests that the test command runs in part, in whole: shipped recipes, packs and documents at the full sizes that the documents
 * state, every validation card of the quick set, every case of a long series. `deno task soak whole [parts of paths]`; it exits with
 * the code of the tests.
 */
import { join } from "node:path";
import { ROOT_PATH } from "../support/paths.ts";

const FILES = [
  "tests/adapters/recipes_test.ts",
  "tests/adapters/torch_receiver_test.ts",
  "tests/bench_test.ts",
  "tests/benchmarks/ber_theory_test.ts",
  "tests/benchmarks/qam_awgn_test.ts",
  "tests/benchmarks/shipped_packs_test.ts",
  "tests/benchmarks/validation_test.ts",
  "tests/benchmarks/wrong_constants_test.ts",
  "tests/contributing_test.ts",
  "tests/docs/documents_test.ts",
  "tests/docs/notebooks_test.ts",
  "tests/e2e/benchmark_kill_test.ts",
  "tests/e2e/joint_coder_test.ts",
  "tests/e2e/kill_test.ts",
  "tests/e2e/serve_test.ts",
  "tests/e2e/train_slots_test.ts",
  "tests/e2e/workers_test.ts",
  "tests/fuzz_test.ts",
  "tests/lib/adapter/contract_test.ts",
  "tests/lib/adapter/fatal_test.ts",
  "tests/lib/adapter/hostile_test.ts",
  "tests/lib/adapter/infer_test.ts",
  "tests/lib/adapter/python/hostile_test.ts",
  "tests/lib/capture/twins_test.ts",
  "tests/lib/exchange/exchange_test.ts",
  "tests/lib/execute/random_chains_test.ts",
  "tests/lib/http/names_test.ts",
  "tests/lib/http/storage_test.ts",
  "tests/lib/http/validation_test.ts",
  "tests/lib/numeric/build_wasm_test.ts",
  "tests/lib/numeric/coverage_test.ts",
  "tests/lib/onnx/limits_test.ts",
  "tests/lib/recipe/edit_text_test.ts",
  "tests/lib/recipe/format_test.ts",
  "tests/lib/release/packaged_test.ts",
  "tests/lib/release/site_test.ts",
  "tests/lib/research/metric_ids_test.ts",
  "tests/lib/run/mutation_test.ts",
  "tests/lib/study/compatible_seeds_test.ts",
  "tests/lib/study/hostile_documents_test.ts",
  "tests/lib/study/hostile_texts_test.ts",
  "tests/lib/study/mutation_test.ts",
  "tests/lib/study/stored_rows_test.ts",
  "tests/lib/study/study_test.ts",
  "tests/lib/training/try_networks_test.ts",
  "tests/ops/codec/toy_vqvae_test.ts",
  "tests/ops/demodulation/ofdm_estimated_test.ts",
  "tests/ops/estimation/csi_feedback_test.ts",
  "tests/ops/estimation/modulation_classifier_test.ts",
  "tests/ops/idle_params_test.ts",
  "tests/ops/metrics/effective_snr_calibration_test.ts",
  "tests/recipes/mixed_sizes_test.ts",
  "tests/recipes/models_test.ts",
  "tests/recipes/recipes_test.ts",
  "tests/recipes/scenes_test.ts",
  "tests/recipes/shipped_run_test.ts",
  "tests/ui/editor_quality_test.ts",
  "tests/ui/frame_test.ts",
  "tests/ui/journeys_test.ts",
  "tests/ui/layout_test.ts",
  "tests/ui/link_building_test.ts",
];
const [, ...asked] = Deno.args, files = asked.length > 0 ? asked : FILES.map((file) => join(ROOT_PATH, file));

const { code } = await new Deno.Command(Deno.execPath(), {
  // The whole of a file may take an hour beside other work.
  args: ["run", "-A", "--frozen", join(ROOT_PATH, "tests/run.ts"), "--limit", "14400", ...files],
  env: { SVC_TEST_SIZE: "full" },
  stdin: "null",
}).spawn().status;
Deno.exit(code);

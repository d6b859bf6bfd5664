/** The shipped packs: valid, without findings, each in a suite; and what physics says of those that are quick. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { BenchmarkOptions, BenchmarkResult } from "../../mod.ts";
import mcsSelector from "../../ops/resource/nr_mcs_selector.ts";
import { runOperation } from "../ops/harness.ts";
import { sharedSession } from "../support/session.ts";
import { rateDifferences } from "../../lib/study/report/rate_differences.ts";
import { reportTables } from "../../lib/study/report/report_tables.ts";
import { listBenchmarkPacks } from "../../lib/study/pack/packs.ts";
import { listSuites } from "../../lib/study/pack/suites.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { packOfEntries } from "../support/reduced_pack.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";

const PACKS = listBenchmarkPacks(ROOT_PATH);
const { session } = sharedSession({ projectRoot: ROOT_PATH });
/** For packs at a smaller size. */
const folder = Deno.makeTempDirSync({ prefix: "svc-packs-" });
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

Deno.test("there are packs, and every one is in a suite that exists", () => {
  assert.ok(PACKS.length >= 7);
  const suites = listSuites(ROOT_PATH);
  const inSuites = suites.flatMap(({ benchmark_packs }) => benchmark_packs.map(({ path }) => path));
  assert.deepEqual(PACKS.map(({ name }) => name).filter((name) => !inSuites.includes(name)), []);
  assert.equal(new Set(inSuites).size, inSuites.length);
});

for (const { name, file } of PACKS) {
  Deno.test(`${name} is valid, without a finding, and named after its file`, async () => {
    const { diagnostics, pack, valid } = await (await session()).benchmarks.load(file);
    assert.ok(pack !== null, JSON.stringify(diagnostics));
    // What an experimental pack must have fetched first is the only thing it may lack.
    const experimental = pack.metadata?.benchmark_tier === "experimental";
    const lacking = diagnostics.filter(({ code }) => code === "model_unavailable" || code === "dataset_unavailable");
    assert.deepEqual(experimental ? diagnostics.filter((found) => !lacking.includes(found)) : diagnostics, []);
    assert.equal(valid, lacking.length === 0);
    assert.equal(pack.id, name.split("/").at(-1));
  });
}

Deno.test("no rule stops a recipe of a pack before ten replicates", async () => {
  const rules = ["until_errors", "until_halfwidth", "max_bits"];
  for (const { name, file } of PACKS) {
    const { replication } = parseYaml(await Deno.readTextFile(file)) as { replication?: JsonObject };
    if (replication === undefined || !rules.some((rule) => replication[rule] !== undefined)) continue;
    assert.ok(Number(replication.min_replicates ?? 10) >= 10, name);
  }
});

Deno.test("what a pack asks to be drawn is what it measures, over a coordinate that its recipes have", async () => {
  for (const { name, file } of PACKS) {
    // deno-lint-ignore no-explicit-any
    const { metadata, metrics, recipes } = parseYaml(await Deno.readTextFile(file)) as any;
    const asked = metadata.default_plot;
    if (asked?.y === undefined) continue;
    const measured = metrics.map((metric: string | { id: string }) => typeof metric === "string" ? metric : metric.id);
    assert.ok(measured.includes(asked.y), `${name}: ${asked.y} is not among its metrics`);
    if (asked.x === "channel.snr_db") {
      for (const { id, path } of recipes) {
        const { steps } = parseYaml(await Deno.readTextFile(join(file, "..", path))) as { steps: { op: string }[] };
        const channels = steps.filter(({ op }) => op === "wireless.channel" || op === "wireless.mimo_ofdm_channel");
        assert.ok(channels.length <= 1, `${name}: the channels of ${id} all have an Es/N0`);
      }
    }
    // Metrics along x have dots in their names; how a run came by them only a run tells.
    if (asked.x === undefined || asked.x.includes(".")) continue;
    for (const { id, params, matrix } of recipes) {
      assert.ok(asked.x in { ...params?.matrix_selection, ...matrix?.dimensions }, `${name}: ${id} has no ${asked.x}`);
    }
  }
});

async function resultOf(pack: string, options: BenchmarkOptions = {}): Promise<BenchmarkResult> {
  const { benchmarks } = await session();
  const { result } = await benchmarks.run(pack, options);
  assert.equal(result.status, "completed");
  return result;
}

/** The first of the four bundled photographs; `deno task soak whole` takes all. */
const photographs = (count: number): JsonObject =>
  FULL_SIZE ? {} : { image_ids: ["coffee", "chelsea", "camera", "rocket"].slice(0, count).join(",") };

/**
 * A pack with the entries of `ids` alone: every method, at the fewest points that show what the test is about. `deno task soak whole`
 * runs all entries.
 */
const entriesOf = (name: string, ids: RegExp, paramsOf?: Parameters<typeof packOfEntries>[3]) =>
  packOfEntries(folder, name, (id) => FULL_SIZE || ids.test(id), paramsOf);

const meanOf = (result: BenchmarkResult, recipe: string, metric: string) =>
  Number(result.aggregates.find((row) => row.recipe_id === recipe && row.metric === metric)!.mean);

Deno.test("image_rate_distortion_v1: more bits, better pictures", async () => {
  // A codec of blocks and a learned one against JPEG; the others take longer, and have tests in tests/ops.
  const pack = await entriesOf("semantic_comm/image_rate_distortion_v1", /jpeg|webp|hyperprior_q[1357]$/, () => ({
    data: FULL_SIZE ? {} : { ...photographs(2), crop_size: 176 },
  }));
  const result = await resultOf(pack);
  const curve = ["jpeg_q10", "jpeg_q25", "jpeg_q50", "jpeg_q75", "jpeg_q90"].map((id) => ({
    rate: meanOf(result, id, "rate.payload_bpp"),
    psnr: meanOf(result, id, "quality.psnr_db"),
    ssim: meanOf(result, id, "quality.ssim"),
  }));
  for (let i = 1; i < curve.length; i++) {
    for (const key of ["rate", "psnr", "ssim"] as const) assert.ok(curve[i][key] > curve[i - 1][key], `${key} ${i}`);
  }
  // Less rate at equal quality: AVIF than WebP, WebP and the learned codecs than JPEG.
  const { methods } = rateDifferences(result), names = methods.map(({ method }) => method);
  const compared = FULL_SIZE
    ? ["webp", "avif", "svc_tiny_hyperprior", "svc_tiny_hyperprior_high"]
    : ["webp", "svc_tiny_hyperprior"];
  assert.deepEqual(names, compared);
  const of = (method: string, otherwise: number) =>
    methods.find((row) => row.method === method)?.rate.difference ?? otherwise;
  const webp = of("webp", NaN), learned = of("svc_tiny_hyperprior", NaN);
  assert.ok(of("avif", -1) < webp && webp < learned && learned < -0.2, `${names} ${webp} ${learned}`);
  assert.ok(of("svc_tiny_hyperprior_high", -1) < -0.1);
  assert.ok(methods.every(({ quality: { single } }) => single?.over === "items" && single.n === (FULL_SIZE ? 4 : 2)));
  const table = reportTables(result, "unicode").find(({ id }) => id === "rate_differences")!;
  assert.deepEqual(
    table.rows.map(([method, baseline]) => [method, baseline]),
    compared.map((method) => [method, "jpeg"]),
  );
});

Deno.test("jpeg_channel_coding_awgn_v1: each code has its cliff, the ideal one first, and behind it the codec's pictures", async () => {
  // Before and behind the cliff of each code that does not arrive everywhere.
  const beside = /_(0|4|12)db$/;
  const pack = await entriesOf("semantic_comm/jpeg_channel_coding_awgn_v1", beside, () => ({ data: photographs(1) }));
  const result = await resultOf(pack, { replicates: 1 });
  // Rate 1/2 over QPSK is one bit a channel use: the capacity log2(1 + SNR) reaches it at 0 dB.
  const points = ["m4db", "0db", "4db", "8db", "12db"], arrives = { capacity_oracle: 1, nr_ldpc: 2, repetition: 4 };
  for (const [method, first] of Object.entries(arrives)) {
    for (const [index, at] of points.entries()) {
      const id = `${method}_${at}`;
      if (!FULL_SIZE && !beside.test(id)) continue;
      assert.equal(meanOf(result, id, "channel.outage_rate"), index < first ? 1 : 0, id);
    }
  }
  const pictures = ["capacity_oracle_0db", "nr_ldpc_4db", "repetition_12db"].map((id) =>
    meanOf(result, id, "quality.psnr_db")
  );
  assert.ok(pictures[0] > 30 && pictures.every((psnr) => psnr === pictures[0]));
});

Deno.test("text_semantic_smoke_v1: a clean link loses nothing, a perturbed source does", async () => {
  const result = await resultOf("semantic_comm/text_semantic_smoke_v1");
  for (const { id } of result.benchmark.metrics) {
    assert.equal(meanOf(result, "utf8_clean", id), 1);
    assert.ok(meanOf(result, "utf8_source_perturbation", id) < 1);
    assert.equal(result.comparisons.find(({ metric }) => metric === id)!.better, "baseline");
  }
});

Deno.test("image_generation_scenes_v1: states keep their concepts, and JPEG of as many bits nearly does", async () => {
  const result = await resultOf("semantic_comm/image_generation_scenes_v1", { replicates: 1 });
  const of = (id: string, metric: string) => meanOf(result, id, metric);
  const cosines = ["jpeg_0p08", "jpeg_0p16", "jpeg_0p32"].map((id) => of(id, "embedding.cosine_mean"));
  assert.ok(cosines[0] < cosines[1] && cosines[1] < cosines[2] && cosines[2] > 0.95, `${cosines}`);
  assert.ok(of("state", "embedding.cosine_mean") > 0.98);
  // 16 scenes of 96 by 96 pixels.
  assert.ok(of("jpeg_0p32", "codec.bit_count") <= 0.32 * 16 * 96 * 96);
  assert.ok(Math.abs(of("state", "codec.bit_count") / of("jpeg_0p32", "codec.bit_count") - 1) < 0.1);
});

Deno.test("text_semantic_presets_v1: shared knowledge repairs what a template cannot, and a row that waits says why", async () => {
  const result = await resultOf("semantic_comm/text_semantic_presets_v1", { replicates: 2 });
  const likeness = (id: string) => meanOf(result, id, "semantic.lexical_similarity");
  assert.equal(likeness("state_kb_clean"), 1);
  assert.ok(likeness("state_kb_sender_mask") > likeness("utf8_mask_repair"));
  const joint = result.recipes.find(({ id }) => id === "bart_joint_symbols")!;
  assert.equal(joint.status, "skipped");
  assert.match(joint.skip_reason!, /needs a fetched model/);
});

Deno.test("power_allocation_v1: water-filling has the most rate, and no gap to its optimum", async () => {
  const pack = await packOfEntries(folder, "resource_allocation/power_allocation_v1", () => true, () => ({
    data: { batch_size: 128 },
  }));
  const result = await resultOf(pack, { replicates: 1 });
  const rate = "resource.theoretical_shannon_spectral_efficiency_bps_hz";
  for (const budget of ["0p5", "1p0", "2p0"]) {
    assert.ok(meanOf(result, `water_filling_${budget}`, rate) > meanOf(result, `equal_power_${budget}`, rate));
    assert.ok(
      Math.abs(meanOf(result, `water_filling_${budget}`, "resource.water_filling_optimality_gap_bps_hz")) < 1e-9,
    );
  }
});

Deno.test("qpsk_phase_tracking_v1: nobody beats the known phase, and it is QPSK over AWGN to theory", async () => {
  const pack = await entriesOf("neural_receiver_ai_phy/qpsk_phase_tracking_v1", /_6db$/);
  const result = await resultOf(pack, { replicates: 1 });
  const rate = (id: string) =>
    result.aggregates.find(({ recipe_id, metric }) => recipe_id === id && metric === "channel.coded.ber")!;
  const { bitErrorRateAwgn } = await import("../../mod.ts");
  for (const snr of FULL_SIZE ? [2, 6, 10] : [6]) {
    const oracle = rate(`oracle_${snr}db`), theory = bitErrorRateAwgn("qpsk", 10 ** (snr / 10));
    // The interval of 95 % widened by half, for three points.
    const [low, high] = [Number(oracle.ci_low), Number(oracle.ci_high)], slack = (high - low) / 4;
    assert.ok(low - slack <= theory && theory <= high + slack, `${theory} is not within ${low} … ${high}`);
    const estimators = [
      "pilot_smoothing",
      "pilot_interpolation",
      "decision_directed_pll",
      "kalman_smoother",
      "learned_artifact",
    ];
    for (const method of estimators) {
      assert.ok(Number(rate(`${method}_${snr}db`).mean) > Number(oracle.mean), method);
    }
    assert.ok(Number(rate(`uncompensated_${snr}db`).mean) > 0.4);
    // Better than estimators from pilots alone; the Kalman smoother also uses the data, and is better still.
    assert.ok(Number(rate(`learned_artifact_${snr}db`).ci_high) < Number(rate(`pilot_smoothing_${snr}db`).ci_low));
  }
});

Deno.test("protected_digital_vs_deepjscc_awgn_v1: all keep the budget; fixed codes have a cliff, the joint coder a slope below the bound", async () => {
  // The ends, between which the fixed code has its cliff.
  const pack = await entriesOf("semantic_comm/protected_digital_vs_deepjscc_awgn_v1", /_(m4|12)db$/);
  const result = await resultOf(pack, { replicates: 1 });
  const points = FULL_SIZE ? ["m4db", "0db", "4db", "8db", "12db"] : ["m4db", "12db"];
  const arrives = FULL_SIZE ? 2 : 1, steps = 4 / (points.length - 1);
  const psnr = (method: string) => points.map((at) => meanOf(result, `${method}_${at}`, "quality.psnr_db"));
  for (const { id, status, metrics } of result.recipes) {
    assert.equal(status, "completed", id);
    assert.ok(Number(metrics["channel.uses_per_pixel"]) <= 0.5, id);
    assert.equal(Number(metrics["benchmark.resource_budget.admitted"]), 1);
  }
  const [ldpc, joint, oracle] = [psnr("nr_ldpc"), psnr("deepjscc_film"), psnr("capacity_oracle")];
  const uses = result.recipes.map(({ metrics }) => Number(metrics["channel.uses_per_pixel"]));
  assert.ok(Math.min(...uses) > 0.49, "channel uses within two per cent of each other");
  assert.ok(ldpc.every((value, at) => at < arrives ? value < 15 : value > 29), "nothing, then everything");
  assert.equal(new Set(ldpc.slice(arrives)).size, 1, "and then nothing better");
  joint.slice(1).forEach((value, at) =>
    assert.ok(value > joint[at] && value - joint[at] < 4 * steps, "a gentle slope")
  );
  assert.ok(joint[0] > 20 && joint[0] > ldpc[0], "pictures where the fixed code has none");
  // Mean PSNR as measured when the networks were trained: they may become neither worse nor, unnoticed, better.
  [25.1, 27.1, 29.5, 32.0, 34.5].filter((_, at) => at % steps === 0)
    .forEach((known, at) => assert.ok(Math.abs(joint[at] - known) < 0.1, String(joint)));
  oracle.forEach((bound, at) =>
    assert.ok(bound > joint[at] + 0.5 && bound >= ldpc[at], "the bound of separate designs")
  );
  const analog = psnr("linear_analog");
  analog.slice(1).forEach((value, at) => assert.ok(value > analog[at] + 2, "no ceiling"));
  analog.forEach((value, at) => assert.ok(value + 0.5 < joint[at], "training helps at every SNR"));
  oracle.forEach((bound, at) => assert.ok(bound > analog[at] + 1, "linear is not optimal"));
});

Deno.test("qpsk_iq_receiver_v1: the trained receiver is as good as the calibrated one, ignorance is not", async () => {
  const pack = await entriesOf("neural_receiver_ai_phy/qpsk_iq_receiver_v1", /_6db$/);
  const result = await resultOf(pack, { replicates: 2 });
  for (const at of FULL_SIZE ? ["m2db", "2db", "6db", "10db"] : ["6db"]) {
    const ber = (method: string) => meanOf(result, `${method}_${at}`, "channel.coded.ber");
    const [ignorant, learned, oracle] = ["reference_qpsk", "learned_artifact", "oracle_frontend_calibrated"].map(ber);
    const blind = ber("blind_iq_compensation");
    assert.ok(ignorant > 1.1 * oracle, at);
    assert.ok(Math.abs(blind / oracle - 1) < 0.1, `${at}: ${blind} and ${oracle}`);
    assert.ok(Math.abs(learned / oracle - 1) < 0.1, `${at}: ${learned} and ${oracle}`);
  }
});

Deno.test("qpsk_awgn_receiver_v1: on a clean channel the adapter is the hard demapper", async () => {
  const result = await resultOf("neural_receiver_ai_phy/qpsk_awgn_receiver_v1", { replicates: 2 });
  for (const { mean_difference } of result.comparisons) assert.equal(Number(mean_difference), 0);
});

Deno.test("estimators follow the signal: errors fall with the SNR, and no beam of a codebook beats matched transmission", async () => {
  const range = await resultOf("localization_sensing/range_localization_v1", { replicates: 4 });
  const pack = await entriesOf("localization_sensing/aoa_estimation_v1", /^(bartlett|music)_(m10|0|15)db$/);
  const aoa = await resultOf(pack, { replicates: 3 });
  for (const method of ["trilateration", "regularized"]) {
    const [low, middle, high] = [5, 15, 25].map((snr) => meanOf(range, `${method}_${snr}db`, "localization.rmse_m"));
    assert.ok(low > middle && middle > high);
  }
  for (const method of ["bartlett", "music"]) {
    const [low, middle, high] = ["m10db", "0db", "15db"].map((at) => meanOf(aoa, `${method}_${at}`, "aoa.rmse_deg"));
    assert.ok(low > middle && middle > high);
  }
  const beams = await resultOf("beamforming_precoding/beam_selection_v1", { replicates: 3 });
  assert.ok(Math.abs(meanOf(beams, "mrt", "beamforming.normalized_gain") - 1) < 1e-6);
  assert.ok(meanOf(beams, "codebook_sweep", "beamforming.normalized_gain") < 0.99);
});

Deno.test("isac_allocation_v1: a heavier echo costs rate, and no rule or trained policy beats the optimum at any weight", async () => {
  const result = await resultOf("isac_near_field_ntn/isac_allocation_v1", { replicates: 1 });
  const weights = ["0p2", "0p4", "0p6", "0p8"];
  const of = (method: string, metric: string) =>
    weights.map((at) => meanOf(result, `${method}_${at}`, `isac.${metric}`));
  const rates = of("scalarized_reference", "communication_rate_bps_hz");
  const echoes = of("scalarized_reference", "sensing_snr_db");
  for (let i = 1; i < weights.length; i++) assert.ok(rates[i] < rates[i - 1] && echoes[i] > echoes[i - 1], weights[i]);
  const best = of("scalarized_reference", "scalarized_utility");
  for (const method of ["equal_power", "communications_water_filling", "trained_policy"]) {
    of(method, "scalarized_utility").forEach((utility, i) => assert.ok(utility < best[i], `${method} ${weights[i]}`));
  }
});

Deno.test("near_field_v1: where waves are curved, spherical codewords focus better than plane ones, the truth best", async () => {
  const result = await resultOf(await entriesOf("isac_near_field_ntn/near_field_v1", /_15db$/), { replicates: 1 });
  for (const at of FULL_SIZE ? ["5db", "15db", "25db"] : ["15db"]) {
    const [plane, polar, oracle] = ["far_field_steering", "polar_codebook", "oracle_focus"].map((method) =>
      meanOf(result, `${method}_${at}`, "near_field.normalized_focusing_gain")
    );
    assert.ok(plane < polar && polar < oracle && Math.abs(oracle - 1) < 1e-12, `${plane} ${polar} ${oracle}`);
  }
});

Deno.test("leo_tracking_v1: a line needs better looks than holding does, and then wins", async () => {
  const result = await resultOf("isac_near_field_ntn/leo_tracking_v1", { replicates: 1 });
  const rmse = (method: string, at: string) => meanOf(result, `${method}_${at}`, "ntn.doppler_rmse_hz");
  assert.ok(rmse("linear_extrapolation", "15db") > rmse("hold_last", "15db"));
  assert.ok(rmse("linear_extrapolation", "45db") < rmse("hold_last", "45db"));
  assert.equal(rmse("oracle_future", "15db"), 0);
});

Deno.test("vqa_goal_oriented_smoke_v1: labels give every answer, images nearly all at twenty times their bits", async () => {
  const rows = /^(semantic_packet|jpeg_0p(08|32|64))$/;
  const result = await resultOf(await entriesOf("semantic_comm/vqa_goal_oriented_smoke_v1", rows), { replicates: 1 });
  const [labels, pictures, poor] = ["semantic_packet", "jpeg_0p64", "jpeg_0p08"].map((id) => ({
    right: meanOf(result, id, "vqa.single_reference_exact_match"),
    bits: meanOf(result, id, "codec.bit_count"),
  }));
  assert.equal(labels.right, 1);
  assert.ok(pictures.right > 0.98);
  assert.ok(poor.right < 0.8);
  assert.ok(pictures.bits > 15 * labels.bits && poor.bits < 4 * labels.bits);
});

/** Steps of the recipe of an entry with their parameters, those of the pack and of the first point of its matrix included. */
async function stepsOf(file: string, { path, params, matrix }: Entry): Promise<Record<string, JsonObject>> {
  const { steps } = parseYaml(await Deno.readTextFile(join(file, "..", path))) as {
    steps: { id: string; params?: JsonObject }[];
  };
  const bound = (id: string) =>
    Object.fromEntries(
      Object.entries(matrix?.step_params?.[id] ?? {}).map((
        [name, value],
      ) => [name, matrix!.dimensions[value.matrix][0]]),
    );
  return Object.fromEntries(
    steps.map(({ id, params: own }) => [id, { ...own, ...params.step_params?.[id], ...bound(id) }]),
  );
}

type Entry = {
  id: string;
  path: string;
  matrix?: { dimensions: Record<string, Value[]>; step_params?: Record<string, Record<string, { matrix: string }>> };
  params: { step_params?: Record<string, JsonObject> };
};

/** Digital rows of each pack of photographs, whether the sender knows the Es/N0 of the channel, blocks and uses per pixel of an image. */
const DIGITAL = {
  adaptive_digital_vs_semantic_awgn_v1: [15, true, 4, 0.5],
  harq_images_v1: [9, false, 2, 0.25],
  image_tokens_v1: [6, true, 1, 0.1875],
  ofdm_peak_power_images_v1: [8, false, 4, 0.5],
  other_photographs_v1: [4, true, 1, 0.1875],
  slow_fading_images_v1: [15, false, 4, 0.5],
  token_protection_v1: [5, true, 1, 0.1875],
  wrong_snr_images_v1: [3, false, 4, 0.5],
} as const;

for (const [name, [expected, adapted, blocks, uses]] of Object.entries(DIGITAL)) {
  Deno.test(`${name}: the sender's budget is that of the transport blocks chosen for Es/N0`, async () => {
    const file = PACKS.find((pack) => pack.name.endsWith(name))!.file;
    const { recipes } = parseYaml(await Deno.readTextFile(file)) as { recipes: Entry[] };
    let rows = 0;
    for (const entry of recipes) {
      const { id } = entry, { selector, sender, packetizer, wireless_channel } = await stepsOf(file, entry);
      if (selector === undefined) continue;
      if (adapted) assert.deepEqual(selector.snr_db, wireless_channel.snr_db, id);
      const { outputs, metrics } = await runOperation(mcsSelector, { params: selector });
      const { transport_block_size_bits, n_re } = outputs.format.json();
      // Blocks with the header of a packet each; 256 by 256 pixels.
      const bits = Number(transport_block_size_bits) - 128;
      assert.equal(Number(packetizer.packet_payload_bits), bits, id);
      assert.equal(Number(sender.target_bpp) * 65536, blocks * bits, id);
      assert.ok(Math.abs(blocks * Number(n_re) / 65536 - uses) < 0.001);
      assert.ok(Number(metrics!["nr.predicted_bler"]) <= 0.001, id);
      rows++;
    }
    assert.equal(rows, expected);
  });
}

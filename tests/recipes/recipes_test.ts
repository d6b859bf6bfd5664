/** The shipped recipes and those of this folder: all compile strictly and run, and together they use every operation. */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { type Compilation, open, plan } from "../../mod.ts";
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { gaussianTail } from "../../lib/numeric/linalg/error_function.ts";
import { wilsonInterval } from "../../lib/numeric/scores/statistics.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { fromFileUrl } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";

const HERE = new URL("./", import.meta.url), RECIPES = new URL("../../recipes/", import.meta.url);
const OPERATIONS = [
  new URL("./operations/feedback_code.ts", import.meta.url),
  new URL("./operations/indices.ts", import.meta.url),
  new URL("./operations/latents.ts", import.meta.url),
];
const PROJECT = fromFileUrl(new URL("project/", HERE));

const recipesIn = (folder: URL): URL[] =>
  [...Deno.readDirSync(folder)].filter(({ name }) => /(?<!_test)\.yaml$/.test(name))
    .map(({ name }) => new URL(name, folder)).sort((a, b) => (a.href < b.href ? -1 : 1));

const SHIPPED = [...recipesIn(RECIPES), ...recipesIn(new URL("recipe_starters/", RECIPES))];
const OWN = recipesIn(HERE);
const nameOf = (file: URL) => basename(file.pathname, ".yaml");

const shared = sharedSession({ operations: OPERATIONS, projectRoot: PROJECT });

const compilations = new Map<string, Promise<Compilation>>();
function compiled(file: URL): Promise<Compilation> {
  const compile = async () => (await shared.session()).recipes.compile(await Deno.readTextFile(file));
  return compilations.getOrInsertComputed(file.href, compile);
}

type Metric = (id: string) => number;

/** Runs a recipe and returns its metrics as `step/metric`. */
async function metricsOf(file: URL, change: (text: string) => string = (text) => text): Promise<Metric> {
  const { recipes, runs } = await shared.session();
  const { run_id, status, summary } = await recipes.run(change(await Deno.readTextFile(file)));
  assert.equal(status, "completed", String(summary.error));
  await runs.remove({ ids: [run_id] });
  const steps = new Map((summary.steps as JsonObject[]).map((step) => [step.id, step.metrics as JsonObject]));
  return (id) => {
    const [step, metric] = id.split("/");
    const value = steps.get(step)?.[metric];
    assert.ok(isNumber(value), `${id} was not measured`);
    return toNumber(value);
  };
}

const file = (name: string) => [...SHIPPED, ...OWN].find((url) => nameOf(url) === name)!;

/** Whether a closed form lies in the 95 % interval of a measured rate. */
function agrees(rate: number, trials: number, theory: number): void {
  const errors = Math.round(rate * trials);
  assert.ok(errors >= 100, `${errors} errors are too few`);
  const { low, high } = wilsonInterval(errors, trials);
  assert.ok(low <= theory && theory <= high, `${theory} is not within ${low} … ${high}`);
}

/** The matrix of a recipe's text, from its key to the steps. */
const MATRIX = /\n {2}matrix:\n[^]*?(?=\nsteps:)/;

const OUTSIDE_LAYERED = ["channel.unequal_error_protection", "channel.symbol_combine"];

/** Q(sqrt(snr)): bit error rate of uncoded QPSK at symbol SNR. */
const qpskErrorRate = (snrDb: number) => gaussianTail(Math.sqrt(10 ** (snrDb / 10)));

shared.test("every recipe compiles strictly and without a warning, under the name of its file", async () => {
  for (const url of [...SHIPPED, ...OWN]) {
    const { status, diagnostics, effective } = await compiled(url);
    assert.deepEqual(diagnostics, [], url.pathname);
    assert.equal(status, "valid");
    assert.equal(effective!.name, nameOf(url));
  }
});

shared.test("shipped recipes plan from a clean workspace, and those that send bits keep the layered profile", async () => {
  const fetched: string[] = [];
  await using clean = await open({ stateDir: "/nonexistent" });
  for (const url of SHIPPED) {
    const recipe = await Deno.readTextFile(url);
    const { effective } = await compiled(url);
    // Localisation is the one scenario that is published with a master seed of its own.
    assert.equal(effective!.metadata.seed, nameOf(url).startsWith("localization_") ? 23001 : 23, url.pathname);
    const sendsBits = effective!.steps.some(({ op }) => op === "channel.bit_boundary");
    if (effective!.steps.some(({ op }) => op === "wireless.channel" || op.startsWith("channel.jpeg_"))) {
      assert.ok(effective!.metadata.rate_count_fixed_point, url.pathname);
    }
    // The profile has the coders of the specification, none for unequal protection, and one transmission.
    const layered = sendsBits && !effective!.steps.some(({ op }) => OUTSIDE_LAYERED.includes(op));
    assert.equal(effective!.execution_profile.id === "layered_digital", layered, url.pathname);
    if (effective!.metadata.matrix === undefined) {
      const { diagnostics } = await clean.recipes.plan(recipe);
      const lacking = diagnostics.filter(({ code }) => code === "dataset_unavailable" || code === "model_unavailable");
      assert.deepEqual(diagnostics.filter((found) => !lacking.includes(found)), [], url.pathname);
      if (lacking.length > 0) fetched.push(nameOf(url));
    }
  }
  assert.deepEqual(fetched, FETCHED);
});

/** Recipes on data or models that are brought to the machine first; they say what they lack. */
const FETCHED = [
  "coco_detection",
  "coco_segmentation",
  "codeclib_q3_kodak_capacity_oracle_awgn",
  "codeclib_q3_kodak_nr_ldpc_awgn",
  "codeclib_q3_kodak_repetition_awgn",
  "image_autoencoderkl_nr_ldpc_awgn",
  "image_perceptual_distance",
  "image_vqmodel_noise",
  "jpeg_q75_kodak_repetition_awgn",
  "text_bert_score",
  "image_generation_diffusion_awgn",
  "text_bart_jscc_clean",
  "vqa_pretrained",
];

/** Contracts that adapters wrap: no recipe can run them by themselves, and scaffolds run what wraps them. */
const WRAPPED = BUILTIN_OPERATIONS.map(({ operation: { id } }) => id)
  .filter((id) =>
    /^(model\.external_(en|de)code_|model\.external_read_|source\.external_|metrics\.external_)/.test(id)
  );

shared.test("contracts that adapters wrap are refused by themselves, with the way to write an adapter", async () => {
  assert.equal(WRAPPED.length, 11);
  const recipe = (op: string) => ({
    schema_version: 1,
    name: "bare",
    steps: [{ id: "bare", op, params: {}, inputs: {} }],
  });
  for (const op of WRAPPED) {
    const { diagnostics } = await plan(JSON.stringify(recipe(op)), { stateDir: "/nonexistent" });
    const refused = diagnostics.find(({ code }) => code === "runtime_unavailable");
    assert.match(String(refused?.message), new RegExp(`^Cannot run bare without an adapter that wraps ${op}: `));
    assert.match(
      String(refused?.hint),
      /svc adapter scaffold (bits|indices|latents|deepjscc_symbols|(classification|text)_(dataset|metric)|text_reader) </,
    );
  }
});

/** Sources of data that the user brings, in a form of their own; their tests write small folders of it. */
const LOCAL_DATA = [
  "source.flickr8k_retrieval",
  "source.kodak_files",
  "source.vqa_manifest",
  "source.vqa_small_hf",
];
/** Codecs whose runtime is not part of the program: planning is refused with the reason where it is missing. */
const WITHOUT_RUNTIME = BUILTIN_OPERATIONS.map(({ operation: { id } }) => id)
  .filter((id) => /^model\.codeclib_(export_aoti$|aoti_|openvino_|onnx_cpp_)/.test(id));

shared.test("every operation occurs in a recipe that runs", async () => {
  const used = new Set<string>([...WRAPPED, ...LOCAL_DATA, ...WITHOUT_RUNTIME]);
  for (const url of [...SHIPPED, ...OWN]) for (const { op } of (await compiled(url)).effective!.steps) used.add(op);
  assert.deepEqual(BUILTIN_OPERATIONS.map(({ operation }) => operation.id).filter((id) => !used.has(id)), []);
});

shared.test("quickstart: on the cliff some images arrive", async () => {
  const metric = await metricsOf(file("quickstart"));
  agrees(metric("coded_ber/channel.coded.ber"), metric("resources/channel.transmitted_bit_count"), qpskErrorRate(9));
  assert.equal(metric("delivery/channel.outage_rate"), 0.5);
});

shared.test("quickstart: below the cliff the bits follow theory and the images are lost", async () => {
  const metric = await metricsOf(file("quickstart"), (text) => text.replace("snr_db: 9.0", "snr_db: 6.0"));
  const coded = metric("resources/channel.transmitted_bit_count"), p = qpskErrorRate(6);
  agrees(metric("coded_ber/channel.coded.ber"), coded, p);
  // Majority of three: two or three of them wrong.
  agrees(metric("payload_ber/channel.payload.ber"), coded / 3, 3 * p ** 2 - 2 * p ** 3);
  assert.equal(metric("delivery/channel.outage_rate"), 1);
  assert.ok(metric("evaluation/quality.psnr_db") < 15);
});

shared.test("quickstart: above the cliff the images are those of the codec", async () => {
  const metric = await metricsOf(file("quickstart"), (text) => text.replace("snr_db: 9.0", "snr_db: 12.0"));
  assert.equal(metric("payload_ber/channel.payload.ber"), 0);
  assert.equal(metric("delivery/channel.outage_rate"), 0);
  const codec = await metricsOf(file("image_codec_default"));
  for (const id of ["psnr_db", "ssim", "ms_ssim", "mse"]) {
    assert.equal(metric(`evaluation/quality.${id}`), codec(`evaluation/quality.${id}`));
  }
  // Photographs at quality 75 are good pictures of one to two bits a pixel.
  assert.ok(codec("evaluation/quality.psnr_db") > 30 && codec("evaluation/quality.ssim") > 0.9);
  assert.ok(codec("sender/rate.payload_bpp") > 0.5 && codec("sender/rate.payload_bpp") < 2);
});

shared.test("one point of the matrix of image_protected_digital_awgn is the quickstart", async () => {
  const [point, quickstart] = await Promise.all(["image_protected_digital_awgn", "quickstart"].map(async (name) => {
    const { effective } = await compiled(file(name));
    return effective!.steps.map(({ id, op, inputs }) => ({ id, op, inputs }));
  }));
  assert.deepEqual(point, quickstart);
  const { effective } = await compiled(file("image_protected_digital_awgn"));
  const { dimensions } = effective!.metadata.matrix as { dimensions: { snr_db: unknown[] } };
  assert.equal(dimensions.snr_db.length, 11);
});

shared.test("the capacity oracle delivers above its threshold and loses everything below", async () => {
  const oracle = file("image_jpeg_capacity_oracle_awgn");
  const above = await metricsOf(oracle);
  assert.equal(above("payload_ber/channel.payload.ber"), 0);
  assert.equal(above("delivery/channel.outage_rate"), 0);
  // Rate 1/2 on QPSK asks for one bit a channel use, which capacity reaches at 0 dB.
  const below = await metricsOf(oracle, (text) => text.replace("snr_db: 6.0", "snr_db: -0.1"));
  assert.equal(below("delivery/channel.outage_rate"), 1);
});

shared.test("NR LDPC delivers the pictures of the codec 2 dB above noise, and none half a dB above", async () => {
  const metric = await metricsOf(file("image_jpeg_nr_ldpc_awgn"));
  agrees(
    metric("coded_ber/channel.coded.ber"),
    metric("resources/channel.transmitted_bit_count"),
    qpskErrorRate(2),
  );
  assert.equal(metric("payload_ber/channel.payload.ber"), 0);
  assert.equal(metric("channel_decoder/channel.payload_delivery_block_error_rate"), 0);
  assert.equal(metric("delivery/channel.outage_rate"), 0);
  const codec = await metricsOf(file("image_codec_default"));
  assert.equal(metric("evaluation/quality.psnr_db"), codec("evaluation/quality.psnr_db"));
  const below = await metricsOf(file("image_jpeg_nr_ldpc_awgn"), (text) => text.replace("snr_db: 2.0", "snr_db: 0.5"));
  assert.equal(below("channel_decoder/channel.payload_delivery_block_error_rate"), 1);
  assert.equal(below("delivery/channel.outage_rate"), 1);
});

shared.test("capacity-matched JPEG keeps its budget, and fading loses whole pictures", async () => {
  const awgn = await metricsOf(file("jpeg_capacity_matched_awgn"));
  const fading = await metricsOf(file("jpeg_capacity_matched_slow_rayleigh"));
  assert.equal(awgn("delivery/channel.outage_rate"), 0);
  const selected = "jpeg_capacity_oracle/codec.jpeg.selected_quality_mean";
  assert.equal(fading(selected), awgn(selected));
  assert.ok(fading("evaluation/quality.psnr_db") <= awgn("evaluation/quality.psnr_db"));
});

shared.test("codebook indices: the clean link loses what the codebook loses, and noise costs more", async () => {
  const probability = (value: string) => (text: string) =>
    text.replace("mode: random_replace", `mode: random_replace, probability: ${value}`).replace(MATRIX, "");
  const psnr = "evaluation/quality.psnr_db";
  const clean = (await metricsOf(file("image_toy_vqvae_index_noise"), probability("0.0")))(psnr);
  const noisy = (await metricsOf(file("image_toy_vqvae_index_noise"), probability("0.1")))(psnr);
  assert.ok(clean > 22 && clean < 30 && noisy < clean - 3, `${clean} ${noisy}`);

  const snr = (value: string) => (text: string) =>
    text.replace("channel: awgn", `channel: awgn, snr_db: ${value}`).replace(MATRIX, "");
  const high = await metricsOf(file("image_toy_vqvae_awgn"), snr("20.0"));
  assert.equal(high("payload_ber/channel.payload.ber"), 0);
  assert.equal(high(psnr), clean);
  // Four pictures of 32 x 32 patches, eight bits each.
  assert.equal(high("encoder/codec.native_bit_count"), 4 * 32 * 32 * 8);
  assert.equal(high("encoder/rate.native_codec_bpp"), 1 / 8);
  const low = await metricsOf(file("image_toy_vqvae_awgn"), snr("4.0"));
  agrees(low("payload_ber/channel.payload.ber"), 4 * 32 * 32 * 8, qpskErrorRate(4));
  assert.ok(low(psnr) < clean);
});

/** Two of the four photographs; `deno task soak whole` takes all. */
const photographs = (text: string) => FULL_SIZE ? text : text.replace("coffee,chelsea,camera,rocket", "coffee,chelsea");

shared.test("tokens: the first bit costs most, and its lower code rate pays where the equal one fails", async () => {
  const psnrOf = (name: string, from: string, to: string) =>
    metricsOf(file(name), (text) => photographs(text.replace(from, `${from}, ${to}`).replace(MATRIX, "")));
  const psnr = "evaluation/quality.psnr_db", sent = "payload_ber/channel.payload.compare_bit_count";
  const first = await psnrOf("image_vqvae_bit_significance", "probability: 0.1", "bit: 0");
  const fifth = await psnrOf("image_vqvae_bit_significance", "probability: 0.1", "bit: 4");
  assert.ok(fifth(psnr) - first(psnr) > 1.5);
  // Sizes of blocks count, and need all photographs; tests/ops has the protection itself.
  if (!FULL_SIZE) return;
  const equal = await psnrOf("image_vqvae_ldpc_awgn", "channel: awgn", "snr_db: -2.0");
  const unequal = await psnrOf("image_vqvae_unequal_awgn", "channel: awgn", "snr_db: -2.0");
  assert.equal(3 * equal(sent), unequal("channel_encoder/channel.protected_bit_count"));
  assert.ok(unequal(psnr) - equal(psnr) > 1);
});

shared.test("random bits over QPSK meet the closed form", async () => {
  const metric = await metricsOf(file("bit_transport_awgn"));
  agrees(metric("evaluation/channel.ber"), metric("evaluation/channel.compare_bit_count"), qpskErrorRate(6));
});

shared.test("texts arrive unharmed over an ideal link, and masked words cost their share", async () => {
  const clean = await metricsOf(file("text_semantic_utf8_clean"));
  const masked = await metricsOf(file("text_semantic_utf8_source_perturbation"));
  for (const id of ["semantic.lexical_similarity", "text.unigram_bleu_proxy", "text.edit_similarity"]) {
    assert.equal(clean(`evaluation/${id}`), 1);
    assert.ok(masked(`evaluation/${id}`) > 0.5 && masked(`evaluation/${id}`) < 0.95);
  }
  assert.equal(clean("evaluation/text.exact_match"), 1);
});

shared.test("indices and latents pass through bits with noise", async () => {
  const metric = await metricsOf(file("representations_through_bits"));
  assert.ok(metric("evaluation/channel.ber") > 0);
});

shared.test("framed bits of the second contract are accounted for to the bit", async () => {
  const metric = await metricsOf(file("packets_v2_fading"));
  const framed = 12 * Math.ceil(600 / 256) * (96 + 256 + 32);
  assert.equal(metric("resources/channel.payload_bit_count"), 7200);
  assert.equal(metric("resources/channel.transmitted_bit_count"), 3 * framed);
  assert.equal(metric("resources/channel.channel_use_count"), 3 * framed / 4);
  assert.ok(metric("evaluation/channel.payload.bler") < 1);
});

shared.test("interference costs what noise alone does not", async () => {
  const metric = await metricsOf(file("interference"));
  // BPSK without the interferers: 3.9e-6 at 10 dB.
  assert.ok(metric("evaluation/channel.ber") > 1e-3);
});

shared.test("fading of every kind costs errors, and zero forcing those of a Rayleigh channel", async () => {
  const trials = 40_000;
  const mimo = await metricsOf(file("mimo_zero_forcing"));
  // Two antennas share the power, and a QPSK symbol two bits.
  const gamma = 10 / 2 / 2;
  agrees(mimo("evaluation/channel.ber"), trials, (1 - Math.sqrt(gamma / (1 + gamma))) / 2);
  for (const name of ["ofdm_tdl", "ofdm_cdl", "urban_micro"]) {
    const rate = (await metricsOf(file(name)))("evaluation/channel.ber");
    assert.ok(rate > 1e-3 && rate < 0.1, `${name}: ${rate}`);
  }
});

shared.test("explicit states: each symbol meets a Rayleigh gain that the receiver knows, now or later", async () => {
  for (const name of ["explicit_ofdm", "explicit_ofdm_delayed"]) {
    const rate = (await metricsOf(file(name)))("evaluation/channel.ber");
    // Few independent gains, so the closed form for many is met roughly: (1 - sqrt(5/6))/2 = 0.0436.
    assert.ok(rate > 0.02 && rate < 0.09, `${name}: ${rate}`);
  }
});

shared.test("channels of an array go back as a quantised code", async () => {
  const metric = await metricsOf(file("csi_feedback_transport"));
  assert.ok(Math.abs(metric("channel_state/channel.noise_variance") - 0.1) < 1e-12);
});

shared.test("phase tracking: pilots find the carrier that truth would tell", async () => {
  const rate = async (mode: string) => {
    const setting = `demodulation.phase_tracking_receiver_adapter\n    params: {mode: ${mode}}`;
    const change = (text: string) => text.replace("demodulation.phase_tracking_receiver_adapter", setting);
    return (await metricsOf(file("phase_tracking"), change))("evaluation/channel.ber");
  };
  const [none, smoothing, oracle] = [await rate("uncompensated"), await rate("pilot_smoothing"), await rate("oracle")];
  assert.ok(none > 0.4 && smoothing < 0.05 && oracle < smoothing, `${none} ${smoothing} ${oracle}`);
});

shared.test("a learned codec in steps and out of a bundle is one stream of bits, and one picture", async () => {
  const metric = await metricsOf(file("codec_in_steps"));
  assert.equal(metric("same_bits/channel.error_count"), 0);
  assert.equal(metric("same_pictures/quality.mse"), 0);
  assert.ok(metric("evaluation/quality.psnr_db") > 20);
});

shared.test("plain rules describe pictures", async () => {
  const metric = await metricsOf(file("perception"));
  assert.equal(metric("answers/vqa.single_reference_exact_match"), 1);
});

shared.test("the bypass stages change nothing", async () => {
  const metric = await metricsOf(file("symbol_bypass"));
  assert.equal(metric("evaluation/channel.ber"), 0);
  assert.equal(metric("evaluation/channel.compare_bit_count"), 27 + 128);
});

shared.test("pictures of one's own come from an NPZ file and from a pinned manifest", async () => {
  const metric = await metricsOf(file("local_images"));
  assert.equal(metric("delivery/channel.outage_rate"), 0);
  assert.ok(metric("evaluation/quality.psnr_db") > 10 && metric("evaluation/quality.psnr_db") < 30);
});

shared.test("a file that is not there is named before anything runs", async () => {
  const recipe = await Deno.readTextFile(file("local_images"));
  const { diagnostics } = await plan(recipe, { projectRoot: "/nonexistent" });
  assert.deepEqual(diagnostics.map(({ code }) => code), ["dataset_unavailable", "dataset_unavailable"]);
  assert.match(diagnostics[0].message, /the file images\/small\.npz does not exist/);
});

/** The recipes of the example adapters, in their sandboxes: what they measure is what their training recorded. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { svcProcess } from "../support/cli.ts";
import { lint, loadBenchmarkPack } from "../support/session.ts";
import { fromFileUrl, ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { testWhole } from "../support/sample.ts";
import { assertGivesStoredAnswer } from "../support/stored_reference.ts";

const ADAPTERS = new URL("../../adapters/", import.meta.url);

/**
 * Ten times the default work of a WebAssembly function before V8 optimises it: these processes end before a network has gained the
 * processor time of that. Results have the same bits.
 */
const V8_FLAGS = "--wasm-tiering-budget=130000000";

interface Step {
  id: string;
  metrics: Record<string, unknown>;
}

/** A recipe of an adapter, in which nothing is wrong. */
async function linted(adapter: string, file: string): Promise<{ folder: string; recipe: string }> {
  const folder = fromFileUrl(new URL(`${adapter}/`, ADAPTERS)), recipe = join(folder, file);
  const { issues } = await lint(await Deno.readTextFile(recipe), { adapters: [{ folder }] });
  assert.deepEqual(issues.filter(({ severity }) => severity === "error"), []);
  return { folder, recipe };
}

/**
 * Metrics of every chosen point, or of a recipe `without` points, as `step/metric`. Each recipe has a process of its own, because
 * the memory of an adapter is limited by the growth of its process.
 */
async function measured(
  adapter: string,
  points: string[] | "all" | "without" = "all",
  file = "recipe.yaml",
  set: string[] = [],
): Promise<((id: string) => number)[]> {
  const { folder, recipe } = await linted(adapter, file);
  const stateDir = await Deno.makeTempDir();
  try {
    const command = points === "without" ? "run" : "run-matrix";
    const chosen = Array.isArray(points) ? ["--points", points.join(",")] : [];
    const globals = ["--adapter", folder, "--workspace", stateDir];
    const words = ["recipe", command, recipe, ...chosen, ...set.flatMap((setting) => ["--set", setting]), "--json"];
    const { code, json, stderr } = await svcProcess([...globals, ...words], { env: { DENO_V8_FLAGS: V8_FLAGS } });
    assert.equal(code, 0, stderr);
    const rows: Record<string, Record<string, unknown>>[] = points === "without"
      ? [Object.fromEntries(json.summary.steps.map(({ id, metrics }: Step) => [id, metrics]))]
      : json.rows.map(({ metrics }: { metrics: unknown }) => metrics);
    return rows.map((metrics) => (id) => {
      const [step, metric] = id.split("/"), value = metrics[step][metric];
      assert.ok(typeof value === "number", `${id} was not measured`);
      return value;
    });
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
}

/**
 * Every adapter runs one of its recipes in its sandbox each day; `deno task soak whole` runs the others, which set the same operations
 * behind other codes and on other data.
 */
Deno.test("every recipe of an adapter is without an error", async () => {
  for (
    const [adapter, file] of [
      ["word_vectors", "recipe.yaml"],
      ["word_vectors", "transceiver.yaml"],
      ["word_vectors", "arithmetic_polar.yaml"],
      ["ocr_reader", "scenes_joint.yaml"],
      ["ocr_reader", "scenes_jpeg.yaml"],
      ["ocr_reader", "scenes_learned.yaml"],
    ]
  ) await linted(adapter, file);
});

Deno.test("bit errors cost the learned codec quality, not pictures", async () => {
  const [noisy, clean] = await measured("learned_bit_codec", ["snr_db=4.0", "snr_db=13.0"]);
  const quality = "evaluation/quality.psnr_db";
  assert.ok(noisy("payload_ber/channel.payload.ber") > 0.04);
  assert.ok(clean(quality) > 23.3 && noisy(quality) > 21.5 && noisy(quality) < clean(quality));
});

/** The ends of a sweep; `deno task soak whole` runs all its points. */
const ends = (first: string, last: string) => FULL_SIZE ? "all" : [first, last];

Deno.test("quality of the joint coder rises gently with the SNR", async () => {
  const points = await measured("deepjscc_symbols", ends("snr_db=0.0", "snr_db=12.0"));
  const quality = points.map((metric) => metric("evaluation/quality.psnr_db")), [low, mid] = quality;
  const high = quality.at(-1)!;
  assert.ok(low > 24.9 && high > low + 1.2 && high < 29, `${quality} dB`);
  if (FULL_SIZE) assert.ok(mid > low + 1 && high > mid + 0.2, `${quality} dB`);
});

Deno.test("the text classifier loses accuracy with the words", async () => {
  const points = await measured("text_classifier", ends("lost_words=0.0", "lost_words=0.6"));
  const accuracies = points.map((metric) => metric("evaluation/external.text_classifier.accuracy"));
  assert.equal(accuracies.length, FULL_SIZE ? 4 : 2);
  assert.ok(accuracies.every((accuracy, i) => i === 0 || accuracy < accuracies[i - 1]), String(accuracies));
  assert.ok(accuracies[0] > 0.85 && accuracies.at(-1)! > 0.55);
});

const cosine = "meaning/external.word_vectors.embedding_cosine", errors = "corpus_scores/task.wer";

testWhole("similarity of words falls later than the word error rate rises", async () => {
  const [noisy, clean] = await measured("word_vectors", ["snr_db=8.0", "snr_db=12.0"]);
  assert.ok(clean(cosine) > 0.9999 && clean(errors) === 0);
  assert.ok(noisy(errors) > 0.15 && noisy(cosine) > 0.93 && noisy(cosine) < 0.99, `${noisy(errors)}, ${noisy(cosine)}`);
  assert.ok(clean("meaning/external.word_vectors.embedding_cosine_unrelated") < 0.75);
});

Deno.test("sentences of states keep their meaning", async () => {
  const [states] = await measured("word_vectors", "without", "states.yaml");
  // The receiver writes the facts of the source, and those that the base adds.
  const added = { [errors]: 0.431, [cosine]: 0.988, "meaning/external.word_vectors.token_f1": 0.996 };
  for (const [id, value] of Object.entries(added)) {
    assert.ok(Math.abs(states(id) - value) < 1e-3, `${id} ${states(id)}`);
  }
});

testWhole(
  "below the threshold of the polar code the transceiver keeps the meaning of sentences, and the code loses it",
  async () => {
    // The points 0 and 3 are -6 and 6 dB over AWGN.
    const [low, high] = await measured("word_vectors", ["0", "3"], "transceiver.yaml");
    const [lost, arrived] = await measured("word_vectors", ["0", "3"], "arithmetic_polar.yaml");
    assert.ok(low(cosine) > 0.9 && high(cosine) > 0.999, `${low(cosine)}, ${high(cosine)}`);
    assert.deepEqual([lost(cosine), arrived(cosine)], [0, 1]);
  },
);

const SIGNS = Array.from({ length: 12 }, (_, i) => `sign_${String(2 * i + 1).padStart(2, "0")}`).join(",");

/** Points 6 and 7 have quality 5, at 1.25 and 2 dB. Every second sign; `deno task soak whole` has all. */
Deno.test("signs stay readable as strongly compressed JPEG, until the link loses blocks", async () => {
  const [lossy, clean] = await measured(
    "ocr_reader",
    ["6", "7"],
    "recipe.yaml",
    FULL_SIZE ? [] : [`data.image_ids=${SIGNS}`, `texts.text_ids=${SIGNS}`, "texts.split="],
  );
  const errors = "reading/task.cer";
  assert.ok(clean(errors) < 0.05 && lossy(errors) > 0.5, `${clean(errors)}, ${lossy(errors)}`);
  assert.ok(clean("reading/text.channel_uses_per_word") < 7000);
});

Deno.test("the readability pack is valid with its adapter", async () => {
  const folder = fromFileUrl(new URL("ocr_reader/", ADAPTERS));
  const { diagnostics, pack, valid } = await loadBenchmarkPack(`${folder}sign_readability_v1.yaml`, {
    adapters: [{ folder }],
    projectRoot: ROOT_PATH,
  });
  assert.ok(valid);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["research_catalog_warning"],
    "its dataset is the adapter's own",
  );
  assert.equal(pack?.recipes.length, 12);
});

const READ = "reading/text.words_read", USES = "reading/text.channel_uses_per_word_read";

testWhole("words of scenes: few channel uses with joint coding", async () => {
  const [joint] = await measured("ocr_reader", ["snr_db=10.0"], "scenes_joint.yaml");
  assert.ok(joint(READ) > 0.9, String(joint(READ)));
  // An eighth of 256 x 192 pixels for each of 24 scenes, over the words read of 72.
  assert.ok(Math.abs(joint(USES) * joint(READ) * 72 - 24 * 256 * 192 / 8) < 1e-6);
});

testWhole("words of scenes: all with an adapted link, most by the learned codec", async () => {
  const [jpeg] = await measured("ocr_reader", ["snr_db=10.0"], "scenes_jpeg.yaml");
  const bits = jpeg("reading/text.bits_per_word_read");
  assert.ok(jpeg(READ) > 0.95, String(jpeg(READ)));
  assert.ok(bits > 4000 && bits < 6000 && jpeg(USES) < bits, `${bits}, ${jpeg(USES)}`);
  const [learned] = await measured("ocr_reader", ["snr_db=10.0"], "scenes_learned.yaml");
  assert.ok(learned(READ) > 0.88);
  assert.ok(learned("reading/text.bits_per_word_read") < 4500);
});

for (
  const [adapter, half] of ["learned_bit_codec", "deepjscc_symbols"].flatMap((id) => [[id, "encoder"], [id, "decoder"]])
) {
  Deno.test(`the ${half} of ${adapter} gives the stored PyTorch answer`, async () => {
    const folder = new URL(`${adapter}/`, ADAPTERS);
    await assertGivesStoredAnswer(
      new URL(`models/${half}.onnx`, folder),
      new URL(`training/reference.${half}.json`, folder),
    );
  });
}

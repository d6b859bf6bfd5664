/**
 * The pack text_joint_presets_v1, whole, with a text coder of a few kilobytes in place of the published one, which is fetched.
 * Recipes, noise levels, replication and statistics are the pack's.
 */
import assert from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { canonicalJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { closeOnnxSessions } from "../../lib/onnx/session.ts";
import { runBenchmark } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { tinyTextCoder } from "../support/tiny_models.ts";

const PACK = join(ROOT_PATH, "benchmarks/semantic_comm/text_joint_presets_v1.yaml");
const SENTENCES = [
  "red disc left of blue square",
  "green square right of red disc",
  "blue disc",
  "red square left of green disc",
  "blue square right of red square",
  "green disc left",
  "red disc right of green square",
  "blue disc left of red square",
];
const DATASET = "tiny_sentences";

/** Writes model, sentences and the pack that uses them into a project; returns the pack's file. */
async function projectWithPack(root: string): Promise<string> {
  await Deno.mkdir(join(root, "models/text"), { recursive: true });
  for (const [name, bytes] of Object.entries(tinyTextCoder())) {
    await Deno.writeFile(join(root, "models/text", name), bytes);
  }
  const ids = SENTENCES.map((_, index) => `t${index}`);
  const manifest = canonicalJson({
    schema_version: 1,
    kind: "svc.text_dataset_manifest",
    id: DATASET,
    version: "1",
    splits: { test: ids },
    samples: SENTENCES.map((text, index) => ({
      sample_id: ids[index],
      text,
      language: "en",
      sha256: sha256Hex(new TextEncoder().encode(text)),
    })),
  });
  await Deno.writeTextFile(join(root, "texts.json"), manifest);
  const source = {
    dataset: DATASET,
    split: "test",
    manifest_path: "texts.json",
    manifest_sha256: sha256Hex(new TextEncoder().encode(manifest)),
  };
  const pack = parseYaml(await Deno.readTextFile(PACK)) as {
    dataset: JsonObject;
    recipes: { id: string; path: string; params?: { step_params?: { [step: string]: object } } }[];
  };
  pack.dataset = { id: DATASET, modality: "text", version: "1" };
  for (const entry of pack.recipes) {
    const recipe = basename(entry.path);
    await Deno.copyFile(join(dirname(PACK), entry.path), join(root, recipe));
    entry.path = recipe;
    const own = entry.params?.step_params ?? {}, model = { model_id: "models/text" };
    const coder: { [step: string]: object } = entry.id === "utf8_clean" ? {} : { sender: model, receiver: model };
    entry.params = { ...entry.params, step_params: { ...own, data: source, ...coder } };
  }
  const file = join(root, "pack.yaml");
  await Deno.writeTextFile(file, JSON.stringify(pack));
  return file;
}

Deno.test("text_joint_presets_v1: sentences come back without noise, and noise takes them gently", async () => {
  const root = await Deno.makeTempDir();
  try {
    const file = await projectWithPack(root);
    const { result } = await runBenchmark(file, { projectRoot: root, stateDir: join(root, ".svc") });
    assert.equal(result.status, "completed");
    assert.equal(result.replication?.replicates, 8);
    const cell = (recipe: string, metric: string) =>
      result.aggregates.find((row) => row.recipe_id === recipe && row.metric === metric)!;
    const mean = (recipe: string, metric: string) => Number(cell(recipe, metric).mean);
    for (const { id } of result.benchmark.metrics) {
      assert.equal(mean("utf8_clean", id), 1);
      assert.equal(mean("joint_clean", id), 1);
    }
    const falling = ["joint_clean", "joint_12db", "joint_6db", "joint_0db", "joint_m6db"];
    const likeness = falling.map((id) => mean(id, "semantic.lexical_similarity"));
    likeness.slice(1).forEach((value, at) => assert.ok(value <= likeness[at], String(likeness)));
    // One feature of twenty carries the word: its decision fails often at -6 dB, hardly ever at 6 dB.
    assert.ok(likeness[2] > 0.95 && likeness[4] < 0.8, String(likeness));
    assert.ok(mean("joint_m6db", "text.exact_match") < mean("joint_0db", "text.exact_match"));
    const noisy = cell("joint_m6db", "semantic.lexical_similarity");
    assert.ok(Number(noisy.ci_low) < Number(noisy.mean) && Number(noisy.mean) < Number(noisy.ci_high));
  } finally {
    await closeOnnxSessions();
    await Deno.remove(root, { recursive: true });
  }
});

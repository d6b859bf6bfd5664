/** Metadata beside the link is rate: a codec that sends its image there is counted, warned of, and refused by a budget. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { isSent, sideInformation } from "../../../lib/adapter/side_information.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { open } from "../../../mod.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

Deno.test("bits are those of the canonical JSON in UTF-8 beyond 64 bytes an item", () => {
  const bits = (metadata: JsonObject, items: number) =>
    sideInformation(metadata, items).metrics["rate.side_information_bits"];
  assert.equal(bits({}, 1), 0n);
  // {"a":"…"} has 8 bytes beside its text.
  assert.deepEqual([bits({ a: "x".repeat(56) }, 1), bits({ a: "x".repeat(57) }, 1)], [0n, 8n]);
  assert.equal(bits({ a: "é".repeat(60) }, 1), BigInt(8 * (128 - 64)));
  assert.deepEqual([bits({ a: "x".repeat(120) }, 2), bits({ b: 1, a: "x".repeat(121) }, 2)], [0n, BigInt(8 * 7)]);
  const warns = (length: number, items = 1) => sideInformation({ a: "x".repeat(length) }, items).warnings.length;
  assert.deepEqual([warns(56 + 128), warns(56 + 129), warns(56 + 129, 2)], [0, 1, 0]);
  assert.deepEqual([isSent("channel.payload_bits.numpy"), isSent("channel.rx_symbols.complex_numpy")], [true, false]);
});

/** Sends eight bits, and its image in the metadata. */
const CHEAT = DATA.CHEAT;
const RECIPE = DATA.RECIPE;
const PACK = (budget: string) => `
schema_version: 1
id: cheating_v1
version: "1"
name: Cheating
suite: {id: image_reconstruction, name: Images, status: experimental, version: "1"}
dataset: {id: svc_sample_images, modality: image, version: svc_sample_images-v1}
task: {id: image_reconstruction}
metrics: [quality.psnr_db]
replication: {replicates: 1, base_seed: 1}
metadata: {benchmark_tier: smoke${budget}}
recipes: [{id: cheat, label: Cheat, role: candidate, path: ../recipes/cheating.yaml, params: {method_id: cheat}}]
`;

Deno.test("an image in the metadata has 99 dB, its bits beside the rate, a warning, and no row under a budget", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "cheat"), CHEAT);
    writeFolder(project, { "recipes/cheating.yaml": RECIPE });
    await using svc = await open({ projectRoot: project, adapters: [{ folder }] });
    const { summary, status } = await svc.recipes.run(RECIPE);
    assert.equal(status, "completed", String(summary.error));
    const steps = summary.steps as { id: string; metrics: Record<string, number> }[];
    const [sender, evaluation] = ["sender", "evaluation"].map((id) => steps.find((step) => step.id === id)!.metrics);
    assert.equal(Number(evaluation["quality.psnr_db"]), 99);
    const bits = Number(sender["rate.side_information_bits"]);
    assert.ok(bits > 8 * 2 * 256 - 8 * 64 && bits < 8 * 4.5 * 256, String(bits));
    const warnings = summary.warnings as { code: string; path: string }[];
    assert.deepEqual(warnings.filter(({ code }) => code === "side_information_large").map(({ path }) => path), [
      "$.steps[1]",
    ]);

    const statusOf = async (budget: string) => {
      writeFolder(project, { "benchmarks/cheating_v1.yaml": PACK(budget) });
      const { result } = await svc.benchmarks.run(join(project, "benchmarks/cheating_v1.yaml"));
      const [row] = (result as unknown as { recipes: JsonObject[] }).recipes;
      return [row.status, (row.resource_admission as JsonObject | undefined)?.observed_side_information_bits];
    };
    assert.deepEqual((await statusOf(", resource_budget: {side_information_bits: 0}")).map(String), [
      "rejected_resource_budget",
      String(bits),
    ]);
    assert.equal((await statusOf(`, resource_budget: {side_information_bits: ${bits}}`))[0], "completed");
    assert.equal((await statusOf(""))[0], "completed");
    writeFolder(project, { "benchmarks/cheating_v1.yaml": PACK(", resource_budget: {side_information_bits: -1}") });
    await assert.rejects(svc.benchmarks.run(join(project, "benchmarks/cheating_v1.yaml")), { code: "pack_invalid" });
  }));

Deno.test("an operation in front of the channel is counted as well, a receiver is not", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "cheat"), CHEAT);
    await using svc = await open({ projectRoot: project, adapters: [{ folder }] });
    const { summary } = await svc.recipes.run(`
name: operations
metadata: {seed: 1}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 100}}
  - {id: sender, op: cheat.symbols, inputs: {bits: data.bits}}
  - {id: receiver, op: cheat.receive, inputs: {symbols: sender.symbols}}
`);
    const [, sender, receiver] = summary.steps as { metrics: Record<string, number> }[];
    assert.ok(Number(sender.metrics["rate.side_information_bits"]) > 8 * 300, JSON.stringify(summary.error));
    assert.ok(!("rate.side_information_bits" in receiver.metrics));
  }));

/** The scaffolds are run in scaffold_test.ts. */
Deno.test("shipped adapters send nothing beside the link that is counted", () =>
  withFolder(async (stateDir) => {
    for (const name of ["dct_slices", "learned_bit_codec", "deepjscc_symbols"]) {
      const folder = join(ROOT_PATH, "adapters", name);
      await using svc = await open({ projectRoot: ROOT_PATH, stateDir, adapters: [{ folder }] });
      const recipe = (await Deno.readTextFile(join(folder, "recipe.yaml"))).replace(/ {2}matrix:\n(?: {4}.*\n)+/, "");
      const { status, summary } = await svc.recipes.run(recipe);
      assert.equal(status, "completed", String(summary.error));
      const counted = (summary.steps as { metrics: Record<string, number> }[])
        .flatMap(({ metrics }) => metrics["rate.side_information_bits"] ?? []);
      assert.ok(counted.length > 0 && counted.every((bits) => Number(bits) === 0), `${name}: ${counted}`);
    }
  }));

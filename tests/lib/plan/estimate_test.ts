import assert from "node:assert/strict";
import { join } from "node:path";
import { METADATA_MEMBER } from "../../../lib/artifact/codec.ts";
import { openNpz } from "../../../lib/artifact/npz.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { estimateOfRuns } from "../../../lib/plan/estimate.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { run } from "../../../mod.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import { step } from "../../support/step.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

async function planOf(params: JsonObject) {
  const steps = [
    { id: "data", op: "source.random_bits", params },
    { id: "mod", op: "modulation.digital_modulate", params: { modulation: "qpsk" }, inputs: { bits: "data.bits" } },
    { id: "link", op: "wireless.channel", inputs: { symbols: "mod.symbols" } },
  ];
  const compilation = compileRecipe({ name: "estimate", steps }, { mode: "strict", registry });
  const planned = await planRecipe(compilation, { registry, usePlanCache: false });
  assert.equal(planned.status, "planned", JSON.stringify(planned.diagnostics));
  return (planned as Extract<typeof planned, { status: "planned" }>).plan;
}

Deno.test("a plan estimates memory and disk of each step from parameters alone", async () => {
  const { resources } = await planOf({ bit_count: 1000, batch_size: 4 });
  assert.deepEqual(resources, {
    memory_bytes: 2 * (16_000 + 16_000),
    disk_bytes: 4000 + 16_000 + 16_000,
    exact: true,
    per_step: [
      { step_id: "data", memory_bytes: 2 * 4000, disk_bytes: 4000, exact: true },
      { step_id: "mod", memory_bytes: 2 * (4000 + 16_000), disk_bytes: 16_000, exact: true },
      { step_id: "link", memory_bytes: 2 * (16_000 + 16_000), disk_bytes: 16_000, exact: true },
    ],
  });
});

Deno.test("a size that files determine is named as such, not as 0 bytes", async () => {
  const planned = async (source: JsonObject) => {
    const steps = [{ id: "data", op: "source.image_dataset", params: { image_ids: "", crop_size: 64, ...source } }];
    const compilation = compileRecipe({ name: "sizes", steps }, { mode: "strict", registry });
    const outcome = await planRecipe(compilation, { registry, usePlanCache: false });
    assert.equal(outcome.status, "planned", JSON.stringify(outcome.diagnostics));
    return (outcome as Extract<typeof outcome, { status: "planned" }>).plan.resources;
  };
  const bundled = await planned({ dataset: "svc_sample_images", split: "test" });
  assert.equal(bundled.unknown, undefined);
  assert.ok(bundled.disk_bytes > 0 && bundled.disk_bytes % (64 * 64 * 3) === 0);
  const own = await planned({
    dataset: "mine",
    split: "test",
    manifest_path: "manifest.json",
    manifest_sha256: "0".repeat(64),
  });
  assert.equal(own.unknown, true);
  assert.match(
    estimateOfRuns([{ resources: own, count: 3 }]).message,
    /^3 runs need memory and disk space that the files/,
  );
});

Deno.test("the estimate is under the plan hash and the same each time", async () => {
  const [one, again] = [await planOf({ bit_count: 1000 }), await planOf({ bit_count: 1000 })];
  assert.deepEqual(one.resources, again.resources);
  const { sha256, ...rest } = one;
  assert.equal(sha256Json(rest), sha256);
  assert.notEqual(sha256Json({ ...rest, resources: { ...rest.resources, disk_bytes: 1 } }), sha256);
});

Deno.test("sizes beyond exact integers stay integers", async () => {
  const { resources } = await planOf({ bit_count: 2 ** 53, batch_size: 2 ** 53 });
  assert.equal(resources.memory_bytes, Number.MAX_SAFE_INTEGER);
  assert.equal(resources.disk_bytes, Number.MAX_SAFE_INTEGER);
});

Deno.test("estimates of channel presets and of the repetition code equal the bytes that a run writes", async () => {
  const rayleigh = (receiver_processing: string) => ({ channel: "flat_rayleigh", receiver_processing });
  const presets: JsonObject[] = [
    { channel: "awgn" },
    { channel: "interference_awgn" },
    rayleigh("matched"),
    rayleigh("none"),
    { channel: "mimo_flat", tx_antennas: 2, rx_antennas: 2 },
    { channel: "ofdm_tdl" },
    { channel: "ofdm_cdl" },
    { channel: "urban_micro" },
  ];
  const steps: JsonObject[] = [
    { id: "data", op: "source.random_bits", params: { bit_count: 1200 } },
    { id: "encoder", op: "channel.repetition_encoder", params: { factor: 3 }, inputs: { bits: "data.bits" } },
    step("decoder", "channel.repetition_decoder", { coded_bits: "encoder.coded_bits" }, { factor: 3 }),
    step("mod", "modulation.digital_modulate", { bits: "encoder.coded_bits" }, { modulation: "qpsk" }),
    ...presets.map((params, i) => ({
      id: `link_${i}`,
      op: "wireless.channel",
      params,
      inputs: { symbols: "mod.symbols" },
    })),
  ];
  const recipe = { name: "estimate", steps };
  const compilation = compileRecipe(recipe, { mode: "strict", registry });
  const planned = await planRecipe(compilation, { registry, usePlanCache: false });
  assert.ok(planned.status === "planned");
  const stateDir = temporaryFolder();
  const { directory } = await run(recipe, { stateDir });
  for (const { step_id, disk_bytes, exact } of planned.plan.resources.per_step) {
    const folder = join(directory, "artifacts", step_id);
    let bytes = 0;
    for (const { name } of Deno.readDirSync(folder)) {
      if (!name.endsWith(".npz")) continue;
      const file = openNpz(await Deno.readFile(join(folder, name)));
      for (const member of file.names.filter((member) => member !== METADATA_MEMBER)) {
        const { data, shape } = file.array(member);
        if (shape.length > 0) bytes += (data as Float32Array).byteLength;
      }
    }
    assert.deepEqual([step_id, disk_bytes, exact], [step_id, bytes, true]);
  }
});

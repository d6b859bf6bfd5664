import assert from "node:assert/strict";
import { Registry } from "../../../lib/contract/registry.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { explainPlan, planText } from "../../../lib/plan/explain.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

interface Step {
  id: string;
  op: string;
  inputs?: Record<string, string>;
  params?: JsonObject;
}

/** A link from bits to their error rate; `name` begins the ids of its steps. */
function link(bits: number, channel: JsonObject = {}, name = ""): Step[] {
  return [
    { id: `${name}data`, op: "source.random_bits", params: { bit_count: bits } },
    { id: `${name}mod`, op: "modulation.digital_modulate", inputs: { bits: `${name}data.bits` } },
    { id: `${name}air`, op: "wireless.channel", inputs: { symbols: `${name}mod.symbols` }, params: channel },
    { id: `${name}demod`, op: "demodulation.digital_demodulate", inputs: { rx_symbols: `${name}air.rx_symbols` } },
    {
      id: `${name}ber`,
      op: "metrics.bit_error_rate",
      inputs: { reference: `${name}data.bits`, candidate: `${name}demod.bits` },
      params: { label: `${name}ber` },
    },
  ];
}

async function planned(steps: Step[], backend?: string) {
  const compilation = compileRecipe({ name: "chains", steps }, { mode: "strict", registry });
  const outcome = await planRecipe(compilation, { registry, usePlanCache: false, backend });
  assert.equal(outcome.status, "planned", JSON.stringify(outcome.diagnostics));
  return outcome as Extract<typeof outcome, { status: "planned" }>;
}

const chainsOf = async (steps: Step[], backend?: string) =>
  Object.fromEntries(
    (await planned(steps, backend)).plan.resources.per_step.filter(({ chain }) => chain !== undefined)
      .map(({ step_id, chain }) => [step_id, chain]),
  );

const LONG = 100_000_000;

Deno.test("a long link is one chain with constant memory, a short one none", async () => {
  const long = await planned(link(LONG)), { memory_bytes, disk_bytes, per_step } = long.plan.resources;
  assert.deepEqual(per_step.map(({ chain }) => chain), [0, 0, 0, 0, 0]);
  assert.ok(memory_bytes < 2 ** 25 && disk_bytes > 13e8, `${memory_bytes} ${disk_bytes}`);
  assert.match(planText(explainPlan(long, registry)), /^blocks data, mod, air, demod, ber in one pass$/m);
  const short = await planned(link(400_000));
  assert.deepEqual(short.plan.resources.per_step.filter(({ chain }) => chain !== undefined), []);
  assert.doesNotMatch(planText(explainPlan(short, registry)), /^blocks/m);
  assert.ok(short.plan.resources.disk_bytes < 2 ** 23);
});

Deno.test("a chain ends before a step that needs whole arrays, and what follows it is in none", async () => {
  assert.deepEqual(await chainsOf(link(LONG, { channel: "interference_awgn" })), { data: 0, mod: 0 });
  // Native kernels take whole arrays.
  const native = link(LONG);
  native[4].params = { data_plane_backend: "python_numpy" };
  native.push({
    id: "bler",
    op: "metrics.block_error_rate",
    inputs: native[4].inputs,
    params: { data_plane_backend: "cpp_native" },
  });
  assert.deepEqual(await chainsOf(native), { data: 0, mod: 0, air: 0, demod: 0, ber: 0 });
  assert.deepEqual(await chainsOf(native, "cpp"), {}, "the mapper runs on the native extension");
});

Deno.test("checkpoints, bypasses and comparisons stay in the chain of a link", async () => {
  const steps: Step[] = [
    { id: "data", op: "source.random_bits", params: { bit_count: 10_000_000 } },
    { id: "encoder", op: "channel.identity_encoder", inputs: { bits: "data.bits" } },
    { id: "bits", op: "channel.bit_boundary", inputs: { bits: "encoder.coded_bits" } },
    { id: "mod", op: "modulation.digital_modulate", inputs: { bits: "bits.bits" } },
    { id: "symbols", op: "channel.symbol_boundary", inputs: { symbols: "mod.symbols" } },
    { id: "air", op: "wireless.channel", inputs: { symbols: "symbols.symbols" } },
    { id: "demod", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "air.rx_symbols" } },
    { id: "decoder", op: "channel.identity_decoder", inputs: { coded_bits: "demod.bits" } },
    { id: "count", op: "channel.bit_count_match", inputs: { reference: "data.bits", candidate: "decoder.bits" } },
    { id: "bler", op: "metrics.block_error_rate", inputs: { reference: "data.bits", candidate: "decoder.bits" } },
    {
      id: "evm",
      op: "metrics.error_vector_magnitude",
      inputs: { reference: "mod.symbols", candidate: "air.rx_symbols" },
    },
  ];
  const all = Object.fromEntries(steps.map(({ id }) => [id, 0]));
  assert.deepEqual(await chainsOf(steps), all);
  const { bler: _, ...others } = all;
  steps[9].params = { block_size: 2 ** 21 };
  assert.deepEqual(await chainsOf(steps), others, "a block is longer than the memory of a chain");
  steps[2].params = { data_plane_backend: "cpp_native" };
  assert.deepEqual(await chainsOf(steps), { data: 0, encoder: 0 });
});

Deno.test("a receiver of waveforms takes the state of its channel in the chain", async () => {
  const steps: Step[] = [
    ...link(4_000_000).slice(0, 2),
    { id: "ofdm", op: "modulation.ofdm_waveform", inputs: { symbols: "mod.symbols" } },
    { id: "air", op: "wireless.multipath_waveform", inputs: { waveform: "ofdm.waveform" } },
    {
      id: "receiver",
      op: "demodulation.ofdm_receive",
      inputs: { waveform: "air.waveform", state: "air.state" },
      params: { equalize: "zf" },
    },
  ];
  const all = Object.fromEntries(steps.map(({ id }) => [id, 0])), { air: _, receiver: __, ...before } = all;
  assert.deepEqual(await chainsOf(steps), all);
  steps[3].params = { timing_offset_samples: -1 };
  assert.deepEqual(await chainsOf(steps), before);
});

Deno.test("links without a common step are chains of their own, and one step is no chain", async () => {
  const two = await chainsOf([...link(LONG), ...link(LONG, {}, "b_")]);
  assert.deepEqual([two.ber, two.b_data, two.b_ber], [0, 1, 1]);
  assert.deepEqual(await chainsOf(link(4 * LONG).slice(0, 1)), {});
  // An array beyond 4 GiB has no file.
  assert.deepEqual(await chainsOf(link(11 * LONG)), {});
  const compared = [...link(LONG).slice(0, 1), ...link(LONG, {}, "b_").slice(0, 1), {
    id: "ber",
    op: "metrics.bit_error_rate",
    inputs: { reference: "data.bits", candidate: "b_data.bits" },
  }];
  compared.slice(0, 2).forEach((step) => step.params = { bit_count: 2 ** 21 });
  // Their outputs are smaller than a chain's.
  assert.deepEqual(await chainsOf(compared), {});
  compared.slice(0, 2).forEach((step) => step.params = { bit_count: 2 ** 23 });
  assert.deepEqual(await chainsOf(compared), { data: 0, b_data: 0, ber: 0 });
});

Deno.test("a step that reads the bits of a decoder is in no chain with it", async () => {
  const coded: Step[] = [
    { id: "data", op: "source.random_bits", params: { bit_count: 4_000_000 } },
    { id: "encoder", op: "channel.nr_ldpc_encoder", inputs: { bits: "data.bits" } },
    { id: "mod", op: "modulation.digital_modulate", inputs: { bits: "encoder.coded_bits" } },
    { id: "demod", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "mod.symbols" } },
    { id: "decoder", op: "channel.nr_ldpc_decoder", inputs: { llr: "demod.llr" } },
    { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "decoder.bits" } },
  ];
  const chain = { data: 0, encoder: 0, mod: 0, demod: 0, decoder: 0 };
  assert.deepEqual(await chainsOf(coded), chain);
  const second = { id: "second", op: "channel.nr_ldpc_decoder", inputs: { llr: "demod.llr" } };
  assert.deepEqual(await chainsOf([...coded, second]), chain, "a second decoder runs beside the chain");
  coded[4].params = { schedule: "flooding" };
  coded[0].params = { bit_count: 900_000 };
  assert.deepEqual(await chainsOf(coded), {}, "shorter than chains over codes");
  coded.push(...link(1_000_000, {}, "b_"), {
    id: "both",
    op: "channel.nr_ldpc_encoder",
    inputs: { bits: "b_data.bits" },
  });
  assert.deepEqual(
    await chainsOf(coded),
    { b_data: 0, b_mod: 0, b_air: 0, b_demod: 0, b_ber: 0 },
    "without the encoder",
  );
  coded.splice(6);
  coded[0].params = { bit_count: 4_000_000 };
  const { decoder: _, ...others } = chain;
  assert.deepEqual(await chainsOf(coded), others, "this decoder gains from threads");
});

/** A link over a code, and the errors of its decoded bits. */
const codedLink = (code: string, bits: number, params: JsonObject = {}): Step[] => [
  { id: "data", op: "source.random_bits", params: { bit_count: bits } },
  { id: "encoder", op: `channel.${code}_encoder`, inputs: { bits: "data.bits" }, params },
  { id: "mod", op: "modulation.digital_modulate", inputs: { bits: "encoder.coded_bits" } },
  { id: "demod", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "mod.symbols" } },
  { id: "decoder", op: `channel.${code}_decoder`, inputs: { llr: "demod.llr" } },
  { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "decoder.bits" } },
];

Deno.test("bits of a decoder stay in its chain where their metadata do not depend on them", async () => {
  const { ber: _, ...coded } = await chainsOf(codedLink("bch", 4_000_000));
  assert.deepEqual(coded, { data: 0, encoder: 0, mod: 0, demod: 0, decoder: 0 });
  assert.deepEqual(await chainsOf(codedLink("convolutional", 4_000_000)), { ...coded, ber: 0 });
  assert.deepEqual(await chainsOf(codedLink("convolutional", 400_000)), {}, "shorter than chains over codes");
  const concatenated = codedLink("convolutional", 4_000_000);
  concatenated.splice(1, 0, { id: "outer", op: "channel.reed_solomon_encoder", inputs: { bits: "data.bits" } });
  concatenated[2].inputs = { bits: "outer.coded_bits" };
  concatenated.pop();
  assert.deepEqual(await chainsOf(concatenated), { ...coded, outer: 0 });
  const packets = codedLink("repetition", 4_000_000);
  packets[4].inputs = { coded_bits: "demod.bits" };
  packets[5].inputs!.candidate = "check.bits";
  packets.splice(5, 0, { id: "check", op: "channel.crc32_check", inputs: { bits: "decoder.bits" } });
  packets[1].inputs = { bits: "packets.bits" };
  packets.splice(1, 0, { id: "packets", op: "channel.packetize_crc32", inputs: { bits: "data.bits" } });
  assert.deepEqual(await chainsOf(packets), { ...coded, packets: 0, check: 0 });
});

Deno.test("the memory of a chain has the bits that a decoder gives at its end", async () => {
  const memoryOf = async (code: string) =>
    (await planned(codedLink(code, 40_000_000))).plan.resources.per_step.find(({ step_id }) => step_id === "decoder")!
      .memory_bytes;
  assert.ok(await memoryOf("bch") > 2 * 40_000_000);
  assert.ok(await memoryOf("convolutional") < 2 ** 25);
});

Deno.test("the guide names the operations that work in blocks", () => {
  const guide = Deno.readTextFileSync(new URL("../../../docs/guides/tune_speed.md", import.meta.url));
  const section = /^## Long links\n([\s\S]*?)^## /m.exec(guide)![1];
  const named = [...section.matchAll(/`([a-z]+\.[a-z0-9_.]+)`/g)].map(([, id]) => id).sort();
  const declared = BUILTIN_OPERATIONS.filter(({ operation }) => operation.definition.streaming !== undefined);
  assert.deepEqual(named, declared.map(({ operation }) => operation.id).sort());
});

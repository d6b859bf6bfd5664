/** A stored result stands for its card and its recipe as they are now, and `resume` takes it in place of a run. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sharedSession } from "../../../support/session.ts";

const RECIPE = `schema_version: 1
name: link
execution_profile: {id: custom}
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 2000}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: channel, op: wireless.channel, params: {snr_db: 0.0}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: channel.rx_symbols}}
  - {id: evaluation, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demodulator.bits}}
`;
const CARD = `id: own
title: QPSK
operations: [wireless.channel]
reference: {kind: closed_form, citation: none, location: none, access: none}
recipe: ../../recipes/link.yaml
points: [{at: {}, metric: channel.ber, expected: 0.159}]
tolerance: {absolute: 0.05}
replication: {replicates: 2}
quick: {replication: {replicates: 1}}
`;

const projectRoot = Deno.makeTempDirSync({ prefix: "svc-cards-" });
const shared = sharedSession({ projectRoot });
Deno.test.afterAll(() => Deno.remove(projectRoot, { recursive: true }));

shared.test("resume takes the result of an unchanged card and recipe", async ({ validation }) => {
  await Deno.mkdir(join(projectRoot, "benchmarks/validation"), { recursive: true });
  await Deno.mkdir(join(projectRoot, "recipes"));
  await Deno.writeTextFile(join(projectRoot, "recipes/link.yaml"), RECIPE);
  await Deno.writeTextFile(join(projectRoot, "benchmarks/validation/own.yaml"), CARD);
  const run = async (options: { quick?: boolean; resume?: boolean }) => (await validation.run(["own"], options))[0];
  const quick = await run({ quick: true });
  assert.equal((await run({ quick: true, resume: true })).result_id, quick.result_id);
  const full = await run({ resume: true });
  assert.notEqual(full.result_id, quick.result_id, "a quick result is no full one");
  assert.equal((await run({ resume: true })).result_id, full.result_id);
  assert.equal((await run({ quick: true, resume: true })).result_id, full.result_id);
  assert.notEqual((await run({})).result_id, full.result_id);

  await Deno.writeTextFile(join(projectRoot, "recipes/link.yaml"), RECIPE.replace("snr_db: 0.0", "snr_db: 1.0"));
  assert.equal((await validation.show("own")).latest, null, "the recipe is another one");
  const other = await run({ resume: true });
  assert.notEqual(other.points[0].measured, full.points[0].measured);
  assert.equal((await validation.show("own")).latest?.result_id, other.result_id);
});

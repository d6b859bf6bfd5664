/**
 * Channels in motion in whole runs: the same bytes for any number of workers, and slots of one stream that continue each other from step
 * to step and from run to run.
 */
import assert from "node:assert/strict";
import { openArrays } from "../../lib/artifact/array_file.ts";
import type { Session } from "../../mod.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";

const SLOT_S = 0.001, SLOTS = 4;

/** A link with the channels of slots, each of so many grids of 14 OFDM symbols and 12 subcarriers, over one stream. */
function recipe(slots: { first: number; grids: number }[]): string {
  const steps = slots.flatMap(({ first, grids }, i) => [
    `  - {id: data_${i}, op: source.random_bits, params: {bit_count: ${2 * 168 * grids}}}`,
    `  - {id: modulator_${i}, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: data_${i}.bits}}`,
    ...[
      ["siso", "wireless.channel", "channel: ofdm_tdl, receiver_processing: none"],
      ["mimo", "wireless.mimo_ofdm_channel", "tx_antennas: 1, rx_antennas: 2"],
    ].map(([name, op, own]) =>
      `  - {id: ${name}_${i}, op: ${op}, inputs: {symbols: modulator_${i}.symbols}, params: {${own}, tdl_model: TDLC300, ` +
      `time_variation: doppler, stream: uplink, mobility_kmh: 300.0, start_time_s: ${(first * SLOT_S).toFixed(3)}, ` +
      `ofdm_fft_size: 12, num_ofdm_symbols: 14, snr_db: 20.0}}`
    ),
  ]);
  return [
    "schema_version: 1",
    "name: moving_slots",
    "execution_profile: {id: custom}",
    "metadata: {seed: 23, rate_count_fixed_point: data_0.bits}",
    "steps:",
    ...steps,
    "",
  ].join("\n");
}

/** The gains of each channel, and the digests of all artifacts. */
async function ran(svc: Session, slots: { first: number; grids: number }[], parallelWorkers: number) {
  const { status, directory } = await svc.recipes.run(recipe(slots), { parallelWorkers, lint: false });
  assert.equal(status, "completed");
  const gains = { siso: [] as number[], mimo: [] as number[] };
  for (let i = 0; i < slots.length; i++) {
    const read = async (step: string, output: string, array: string) => {
      using file = await openArrays(
        await Deno.readFile(`${directory}/artifacts/${step}_${i}/${output}.npz`),
        "a.npz",
        [],
      );
      return file.array(array).data as Float32Array;
    };
    gains.siso.push(...await read("siso", "rx_symbols", "channel_gain"));
    gains.mimo.push(...await read("mimo", "state", "state"));
  }
  const sums = await Deno.readTextFile(`${directory}/SHA256SUMS`);
  return { gains, digests: sums.split("\n").filter((line) => line.includes("artifacts/")).sort() };
}

const shared = sharedSession({ projectRoot: ROOT_PATH });
const APART = Array.from({ length: SLOTS }, (_, first) => ({ first, grids: 1 }));

shared.test("slots in motion have the same bytes on 1, 2 and 4 workers", async (svc) => {
  const [one, two, four] = [await ran(svc, APART, 1), await ran(svc, APART, 2), await ran(svc, APART, 4)];
  assert.ok(one.digests.length > 4 * SLOTS);
  assert.deepEqual(two.digests, one.digests);
  assert.deepEqual(four.digests, one.digests);
});

shared.test("gains of one stream do not depend on the slots of a step or of a run", async (svc) => {
  const { gains: apart } = await ran(svc, APART, 4);
  const { gains: whole } = await ran(svc, [{ first: 0, grids: SLOTS }], 1);
  const { gains: chunks } = await ran(svc, [{ first: 0, grids: 1 }, { first: 1, grids: 3 }], 2);
  const { gains: later } = await ran(svc, [{ first: 3, grids: 1 }], 1);
  for (const name of ["siso", "mimo"] as const) {
    const all = whole[name], last = all.slice(-all.length / SLOTS);
    for (const [found, expected] of [[apart[name], all], [chunks[name], all], [later[name], last]]) {
      assert.equal(found.length, expected.length);
      found.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-6, `${name} ${i}`));
    }
    assert.ok(last.some((value, i) => Math.abs(value - all[i]) > 0.1));
  }
});

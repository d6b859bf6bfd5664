/** Every channel decoder in whole runs: the same bytes for any number of workers, and the same bits when it stops early. */
import assert from "node:assert/strict";
import { openArrays } from "../../lib/artifact/array_file.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { Session } from "../../mod.ts";
import { createRegistry } from "../../ops/registry.ts";
import { runOperation } from "../ops/harness.ts";
import { FIXTURES } from "../ops/_fixtures/index.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";

/** Links: encoder, its parameters, Es/N0 at which some blocks are lost, and the decoder with its parameters. */
const LINKS: readonly (readonly [string, string, number, string, string])[] = [
  ["channel.repetition_encoder", "", -3, "channel.repetition_decoder", ""],
  ["channel.convolutional_encoder", "block_bits: 200", 1, "channel.convolutional_decoder", ""],
  ["channel.convolutional_encoder", "block_bits: 200", 1, "channel.convolutional_decoder", "algorithm: bcjr"],
  ["channel.turbo_encoder", "block_bits: 320", -1, "channel.turbo_decoder", ""],
  ["channel.turbo_encoder", "block_bits: 320", -1, "channel.turbo_decoder", "algorithm: max_log_map"],
  ["channel.reed_solomon_encoder", "", 6, "channel.reed_solomon_decoder", "on_failure: zero_fill"],
  ["channel.bch_encoder", "correctable_errors: 5", 5, "channel.bch_decoder", "on_failure: zero_fill"],
  ...["min_sum", "normalized_min_sum", "offset_min_sum", "sum_product"].flatMap((rule) =>
    ["layered", "flooding"].map((schedule) =>
      [
        ...["channel.ldpc_encoder", "", 1, "channel.ldpc_decoder"],
        `check_rule: ${rule}, schedule: ${schedule}, iterations: 20`,
      ] as [string, string, number, string, string]
    )
  ),
  ["channel.nr_ldpc_encoder", "transport_block_size_bits: 320", 1, "channel.nr_ldpc_decoder", ""],
  [
    ...["channel.nr_ldpc_encoder", "transport_block_size_bits: 320", 1, "channel.nr_ldpc_decoder"],
    "check_rule: sum_product",
  ] as [string, string, number, string, string],
  ["channel.nr_polar_encoder", "", -3, "channel.nr_polar_decoder", ""],
  ["channel.nr_polar_encoder", "", -3, "channel.nr_polar_decoder", "check_node: exact"],
  ["channel.nr_small_block_encoder", "", -2, "channel.nr_small_block_decoder", ""],
  ["modulation.distribution_match", "", 8, "demodulation.distribution_dematch", ""],
];

/** Decoders without a decision of their own, and those with fixtures of their own. */
const PLAIN = ["channel.identity_decoder", "channel.payload_passthrough_decoder"];
const HARD = "channel.repetition_decoder", UNEQUAL = "channel.unequal_error_protection_decoder";

function recipe(links: typeof LINKS): string {
  const step = (id: string, op: string, inputs: string, params: string) =>
    `  - {id: ${id}, op: ${op}, inputs: {${inputs}}, params: {${params}}}`;
  return [
    "schema_version: 1",
    "name: all_decoders",
    "execution_profile: {id: custom}",
    "metadata: {seed: 23, rate_count_fixed_point: data.bits}",
    "steps:",
    "  - {id: data, op: source.random_bits, params: {bit_count: 12000}}",
    ...links.flatMap(([encoder, own, snrDb, decoder, choices], i) => [
      step(`encoder_${i}`, encoder, "bits: data.bits", own),
      step(`modulator_${i}`, "modulation.digital_modulate", `bits: encoder_${i}.coded_bits`, "modulation: bpsk"),
      step(`channel_${i}`, "wireless.channel", `symbols: modulator_${i}.symbols`, `snr_db: ${snrDb.toFixed(1)}`),
      step(`demodulator_${i}`, "demodulation.digital_demodulate", `rx_symbols: channel_${i}.rx_symbols`, ""),
      step(
        `decoder_${i}`,
        decoder,
        decoder === HARD ? `coded_bits: demodulator_${i}.bits` : `llr: demodulator_${i}.llr`,
        choices,
      ),
    ]),
    "",
  ].join("\n");
}

async function ran(svc: Session, links: typeof LINKS, parallelWorkers: number) {
  const { status, directory } = await svc.recipes.run(recipe(links), { parallelWorkers, lint: false });
  assert.equal(status, "completed");
  const sums = (await Deno.readTextFile(`${directory}/SHA256SUMS`)).split("\n");
  return { directory, digests: sums.filter((line) => line.includes("artifacts/decoder_")).sort() };
}

const shared = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("the links have every channel decoder", async () => {
  const ids = (await createRegistry()).ids().filter((id) => /^channel\..*_decoder$|_dematch$/.test(id));
  const tested = new Set<string>([...LINKS.map(([, , , decoder]) => decoder), ...PLAIN, UNEQUAL]);
  assert.deepEqual(ids, [...tested].sort());
});

shared.test("every decoder has the same bytes on 1, 2 and 4 workers", async (svc) => {
  const one = await ran(svc, LINKS, 1);
  assert.ok(one.digests.length >= 2 * LINKS.length, String(one.digests.length));
  for (const workers of [2, 4]) assert.deepEqual((await ran(svc, LINKS, workers)).digests, one.digests);
});

Deno.test("unequal protection decodes the same on 1, 2 and 4 threads", async () => {
  const { operation } = (await createRegistry()).get(UNEQUAL);
  const cases = FIXTURES[UNEQUAL];
  assert.ok(!("skip" in cases) && cases.length > 0);
  for (const { name, params, inputs } of cases) {
    const options = { inputs: await inputs?.(), params: params as JsonObject ?? {} };
    const decoded = async (threads: number) => (await runOperation(operation, { ...options, threads })).bytes;
    const one = await decoded(1);
    for (const threads of [2, 4]) assert.deepEqual(await decoded(threads), one, name);
  }
});

shared.test("iterative decoders that stop early deliver the bits of those that do not, in fewer iterations", async (svc) => {
  const links = LINKS.flatMap(([encoder, own, , decoder, choices]) =>
    ["channel.turbo_decoder", "channel.ldpc_decoder", "channel.nr_ldpc_decoder"].includes(decoder)
      ? [true, false].map((stop) =>
        [encoder, own, 4, decoder, [choices, `early_stop: ${stop}`].filter(Boolean).join(", ")] as const
      )
      : []
  );
  const { directory } = await ran(svc, links, 2);
  const of = async (i: number) => {
    const folder = `${directory}/artifacts/decoder_${i}`;
    const report = JSON.parse(await Deno.readTextFile(`${folder}/report.json`));
    using file = await openArrays(await Deno.readFile(`${folder}/bits.npz`), "bits.npz", []);
    return { iterations: report.iterations_in_all ?? report.mean_iteration_count, bits: file.array("bits").data };
  };
  for (let i = 0; i < links.length; i += 2) {
    const [early, late] = [await of(i), await of(i + 1)], name = `${links[i][3]} ${links[i][4]}`;
    assert.deepEqual(early.bits, late.bits, name);
    assert.ok(early.iterations < 0.7 * late.iterations, `${name}: ${early.iterations}, ${late.iterations}`);
  }
});

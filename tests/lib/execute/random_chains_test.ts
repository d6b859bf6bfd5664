/**
 * Links of random operations, parameters and lengths have in blocks the rows and bytes of their steps one after another. Every
 * day a fixed few; `deno task soak whole` makes many.
 */
import assert from "node:assert/strict";
import { plainParams } from "../../../lib/contract/schema.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { WorkerPool } from "../../../lib/execute/pool.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import { sizeOf } from "../../support/sample.ts";
import { apart, outcomeOf, withDefaults } from "./chains.ts";
import { execute, type StepSpec } from "./execution.ts";

const pool = new WorkerPool();
Deno.test.afterAll(() => pool.close());

const operations = new Map(BUILTIN_OPERATIONS.map(({ operation }) => [operation.id, operation]));

/** Chooses numbers and entries of lists. */
class Choice {
  readonly #generator: Generator;

  constructor(seed: number) {
    this.#generator = Generator.seeded(seed);
  }

  upTo(most: number): number {
    return Number(this.#generator.integers(0, most + 1, 1)[0]);
  }

  of<T>(list: readonly T[]): T {
    return list[this.upTo(list.length - 1)];
  }
}

/** An operation with a choice of parameters, and what undoes it on log-likelihood ratios. */
interface Part {
  op: string;
  params?(choice: Choice): JsonObject;
  undo?: string;
}

const KINDS = ["block", "random", "shaped"], PUNCTURING = ["none", "ieee80211_2_3", "dvb_7_8"];
const ON_BITS: readonly Part[] = [
  { op: "channel.bit_boundary" },
  { op: "channel.identity_encoder" },
  { op: "channel.identity_link" },
  { op: "channel.payload_passthrough_encoder" },
  { op: "channel.packetize_crc32", params: (choice) => ({ packet_payload_bits: 8 * (1 + choice.upTo(600)) }) },
  { op: "channel.repetition_encoder", params: (choice) => ({ factor: 1 + choice.upTo(4) }) },
  {
    op: "channel.scrambler",
    params: (choice) => ({ kind: choice.of(["ieee80211", "nr_gold"]), seed_state: 1 + choice.upTo(126) }),
    undo: "channel.descrambler",
  },
  {
    op: "channel.block_interleaver",
    params: (choice) => ({
      kind: choice.of(KINDS),
      block_bits: 32 * (1 + choice.upTo(60)),
      columns: 2 + choice.upTo(30),
    }),
    undo: "channel.block_deinterleaver",
  },
  {
    op: "channel.convolutional_encoder",
    params: (choice) => ({
      termination: choice.of(["zero_tail", "tail_biting", "truncated"]),
      block_bits: 70 + choice.upTo(1000),
      puncturing: choice.of(PUNCTURING),
    }),
    undo: "channel.convolutional_decoder",
  },
  {
    op: "channel.nr_small_block_encoder",
    params: (choice) => ({ message_bits: 3 + choice.upTo(8), coded_bits: 24 + 2 * choice.upTo(10) }),
    undo: "channel.nr_small_block_decoder",
  },
  {
    op: "channel.bch_encoder",
    params: (choice) => ({ correctable_errors: 1 + choice.upTo(2), shortened_bits: choice.upTo(10) }),
    undo: "channel.bch_decoder",
  },
  { op: "channel.reed_solomon_encoder", undo: "channel.reed_solomon_decoder" },
  {
    op: "channel.ldpc_encoder",
    params: (choice) => ({ code: choice.of(["ieee80211n_648_1_2", "ieee80211n_1296_5_6"]) }),
    undo: "channel.ldpc_decoder",
  },
];
const ON_SYMBOLS: readonly Part[] = [
  { op: "channel.symbol_boundary" },
  { op: "channel.identity_symbol_link" },
  { op: "channel.symbol_power_identity" },
  { op: "hardware.quantizer", params: (choice) => ({ bits: 2 + choice.upTo(8) }) },
];
const ON_RECEIVED: readonly Part[] = [
  { op: "hardware.receiver_iq_imbalance" },
  {
    op: "wireless.carrier_phase_impairment",
    params: (choice) => ({ phase_scope: choice.of(["source_item", "source_item", "symbol"]), seed: choice.upTo(99) }),
  },
];
const MODULATIONS = ["bpsk", "qpsk", "qam16", "qam64", "apsk16"];
/** Shorter than a block of a chain, one block, a bit more, and several. */
const LENGTHS = [1001, 98_304, 98_305, 150_001, 230_000];

/** A link, and its steps that are in one chain. */
function randomLink(seed: number): { steps: StepSpec[]; chains: Record<string, number> } {
  const choice = new Choice(seed), steps: StepSpec[] = [];
  let stream = "", kind = "";
  const add = (op: string, inputs: Record<string, string>, params: JsonObject, output: string) => {
    const id = `s${steps.length}`, kinds = operations.get(op)!.contract.output_kinds;
    steps.push([id, op, inputs, params]);
    [stream, kind] = [`${id}.${output}`, kinds[output]];
  };
  const put = ({ op, params }: Part) => {
    const { input_kinds: inputs, output_kinds: outputs } = operations.get(op)!.contract;
    const [[port, kinds]] = Object.entries(inputs) as [string, string[]][];
    if (!kinds.includes(kind)) return false;
    add(op, { [port]: stream }, params?.(choice) ?? {}, Object.keys(outputs)[0]);
    return true;
  };
  const count = choice.of(LENGTHS);
  add("source.random_bits", {}, { bit_count: count, batch_size: 1 + choice.upTo(2), seed }, "bits");
  const data = stream, undo: string[] = [];
  for (let left = choice.upTo(3); left > 0; left--) {
    const part = choice.of(ON_BITS);
    if (put(part)) undo.unshift(part.undo ?? "");
  }
  const sent = stream;
  if (!put({ op: "modulation.digital_modulate", params: (choice) => ({ modulation: choice.of(MODULATIONS) }) })) {
    throw new Error(`Bits of ${kind} have no mapper`);
  }
  for (let left = choice.upTo(2); left > 0; left--) put(choice.of(ON_SYMBOLS));
  const symbols = stream, channel = choice.of(["awgn", "awgn", "flat_rayleigh"]);
  const fading = { channel, fading_scope: choice.of(["symbol", "source_item"]) };
  add("wireless.channel", { symbols }, { ...fading, snr_db: choice.upTo(20) - 2.5, seed: seed + 1 }, "rx_symbols");
  if (choice.upTo(3) === 0) put(choice.of(ON_RECEIVED));
  const received = stream;
  add("demodulation.digital_demodulate", { rx_symbols: received }, {}, "llr");
  const demodulator = stream.split(".")[0];
  for (const op of undo) {
    if (op === "") break;
    const outputs = Object.keys(operations.get(op)!.contract.output_kinds);
    add(op, { llr: stream }, {}, ["llr", "payload_llr", "bits"].find((port) => outputs.includes(port))!);
    if (stream.endsWith(".bits")) break;
  }
  const candidate = `${demodulator}.bits`, compared = { reference: sent, candidate };
  add("metrics.bit_error_rate", compared, {}, "report");
  add("metrics.block_error_rate", compared, { block_size: 1 + choice.upTo(5000) }, "report");
  // Streams of unequal lengths are compared as a whole.
  if (undo.length === 0) add("metrics.bit_error_rate", { reference: data, candidate }, { label: "raw.ber" }, "report");
  const all = withDefaults(steps);
  return { steps: all, chains: chainOf(all) };
}

/** The steps that work in blocks and read only from such steps what is there block by block. */
function chainOf(steps: readonly StepSpec[]): Record<string, number> {
  const chains: Record<string, number> = {}, late = new Set<string>();
  for (const [id, op, inputs = {}, params = {}] of steps) {
    const { streaming } = operations.get(op)!.definition, sources = Object.values(inputs);
    if (streaming === undefined || !(streaming.allows?.(plainParams(params)) ?? true)) continue;
    if (sources.some((source) => late.has(source) || !(source.split(".")[0] in chains))) continue;
    chains[id] = 0;
    for (const port of streaming.late ?? []) late.add(`${id}.${port}`);
  }
  return chains;
}

const COUNT = sizeOf(4, 200);

Deno.test({
  name: `${COUNT} random links have in blocks the rows and bytes of their steps one after another, kept or not`,
  // The threads of the pool stay.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    let inBlocks = 0;
    for (let seed = 0; seed < COUNT; seed++) {
      const { steps, chains } = randomLink(seed), shown = `link ${seed}: ${JSON.stringify(steps)}`;
      const whole = await apart(steps, chains, { pool }), blocks = await execute(steps, { chains, pool });
      if (whole.failure?.step_id !== undefined && !(whole.failure.step_id in chains)) {
        // The steps of a chain run before one outside it that fails.
        assert.deepEqual(blocks.failure, whole.failure, shown);
        continue;
      }
      assert.deepEqual(outcomeOf(blocks), outcomeOf(whole), shown);
      const dropped = await execute(steps, { chains, pool, isKept: () => false });
      assert.deepEqual(outcomeOf(dropped).rows, outcomeOf(whole).rows, shown);
      const first = blocks.events.findIndex(({ kind }) => kind === "step_completed");
      if (blocks.status === "completed" && first >= Object.keys(chains).length) inBlocks++;
    }
    // Where a part needs whole arrays, or refuses its input, the steps run one after another.
    assert.ok(inBlocks > COUNT / 2, `${inBlocks} of ${COUNT} links ran in blocks`);
  },
});

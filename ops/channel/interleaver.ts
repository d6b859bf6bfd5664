/** Interleavers and scramblers between a code and its modulation; the receiver reads their records in the metadata. */
import {
  defineOperation,
  isNumber,
  isObject,
  type JsonObject,
  type ParameterProblem,
  SvcError,
  toNumber,
  z,
} from "../api.ts";
import { bitMetadata, travel } from "../../lib/artifact/values.ts";
import { BITS, CODED_BITS, FRAMED_BITS, LLR, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import {
  type Interleaver,
  INTERLEAVERS,
  permutationOf,
  permuteBlocks,
  type Scrambler,
  SCRAMBLERS,
  scramblingBits,
} from "../../lib/numeric/coding/interleaving.ts";
import { notExported } from "../_backends.ts";
import { blockwise } from "./_blockwise.ts";

const LARGEST = 65_536;
const INPUTS = [CODED_BITS, PAYLOAD_BITS, FRAMED_BITS, BITS] as const;
const LINEAR = notExported("torch", "full", "A fixed order or sign of soft values");

const INTERLEAVING = z.strictObject({
  kind: z.enum(INTERLEAVERS).default("block").describe(
    "rows and columns, a drawn permutation, a quadratic polynomial, or amplitudes and then their signs as symbols",
  ),
  block_bits: z.int().min(2).max(LARGEST).default(1024).describe(
    "bits that are permuted together; the last block is shorter",
  ),
  columns: z.int().min(1).max(LARGEST).default(32).meta({
    "x-svc-effective-when": { kind: ["block", "shaped"] },
  })
    .describe("bits are written row by row and read column by column; shaped: bits per symbol"),
  permutation_seed: z.int().min(0).max(2 ** 31 - 1).default(1).meta({ "x-svc-effective-when": { kind: "random" } })
    .describe("seed of the permutation, the same for every run"),
  f1: z.int().min(0).max(LARGEST).default(31).meta({ "x-svc-effective-when": { kind: "qpp" } })
    .describe("linear coefficient; default of TS 36.212 for 1024 bits"),
  f2: z.int().min(0).max(LARGEST).default(64).meta({ "x-svc-effective-when": { kind: "qpp" } })
    .describe("quadratic coefficient; default of TS 36.212 for 1024 bits"),
});

function interleaverOf(params: z.output<typeof INTERLEAVING>): Interleaver {
  const { kind, block_bits: size, columns, permutation_seed: seed, f1, f2 } = params;
  return kind === "block" || kind === "shaped"
    ? { kind, size, columns }
    : kind === "random"
    ? { kind, size, seed }
    : { kind, size, f1, f2 };
}

/** A record of numbers and a kind in the metadata. @throws SvcError for one that is missing or unreadable */
function recordOf<Kind extends string>(
  metadata: JsonObject,
  key: string,
  kinds: readonly Kind[],
): { kind: Kind } & Record<string, number> {
  const record = metadata[key];
  if (!isObject(record)) {
    throw new SvcError("input_metadata_missing", `Cannot undo a channel.${key}: the metadata ${key} is missing`, {
      hint: `Put a channel.${key} step before the channel`,
    });
  }
  const { kind, ...rest } = record;
  const valid = Object.values(rest).every((value) => isNumber(value) && Number.isSafeInteger(toNumber(value)));
  const sound = ["size", "columns"].every((name) => rest[name] === undefined || toNumber(rest[name] as never) > 0);
  if (!valid || !sound || !kinds.includes(kind as Kind)) {
    throw new SvcError("boundary_value_invalid", `Cannot undo a channel.${key}: its record is invalid`);
  }
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, toNumber(value as never)])),
    kind,
  } as { kind: Kind } & Record<string, number>;
}

/** The permutation of a record. @throws SvcError `boundary_value_invalid` */
function recordedPermutation(metadata: JsonObject): Int32Array {
  const record = recordOf(metadata, "block_interleaver", INTERLEAVERS);
  try {
    if (!(record.size <= LARGEST)) throw new RangeError("Cannot undo an interleaver of that size");
    return permutationOf(record as unknown as Interleaver);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", error.message);
  }
}

const blockInterleaver = defineOperation({
  id: "channel.block_interleaver",
  name: "Interleave",
  description: "Permutes the bits of each block, so that errors of a burst fall far apart",
  inputs: { bits: INPUTS },
  outputs: { coded_bits: CODED_BITS },
  params: INTERLEAVING,
  differentiability: LINEAR,
  outputMetadataGuarantees: {
    coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", "block_interleaver"] },
  },
  check(params) {
    try {
      permutationOf(interleaverOf(params));
      return [];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return params.kind === "shaped"
        ? [{ place: ["block_bits"], message: error.message, hint: "Set block_bits to the bits of a code word" }]
        : [{ place: ["f2"], message: error.message, hint: "Take a pair of TS 36.212, table 5.1.3-3" }];
    }
  },
  estimate: (_params, { bits: { bytes, shape = [bytes] } }) => ({ coded_bits: [["uint8", shape[0]]] }),
  ...blockwise("bits", "coded_bits", "uint8", {
    begin({ metadata, length }, params: z.output<typeof INTERLEAVING>) {
      const interleaver = interleaverOf(params), places = permutationOf(interleaver);
      return {
        length,
        unit: places.length,
        metadata: bitMetadata(length, travel(metadata, { block_interleaver: { ...interleaver } })),
        next: (bits, memory) => permuteBlocks(bits, places, memory(bits.length)),
      };
    },
  }),
});

const blockDeinterleaver = defineOperation({
  id: "channel.block_deinterleaver",
  name: "Deinterleave",
  description: "Puts soft values back into the order before channel.block_interleaver",
  inputs: { llr: [LLR] },
  outputs: { llr: LLR },
  params: z.strictObject({}),
  differentiability: LINEAR,
  inputMetadataRequirements: { llr: { all_of: ["block_interleaver"] } },
  outputMetadataGuarantees: { llr: { from: "llr" } },
  estimate: (_params, { llr }) => ({ llr: llr.bytes }),
  ...blockwise("llr", "llr", "float32", {
    begin({ metadata, length }) {
      const places = recordedPermutation(metadata);
      return {
        length,
        unit: places.length,
        metadata: travel(metadata, {}, ["block_interleaver"]),
        next: (llr, memory) => permuteBlocks(llr, places, memory(llr.length), { back: true }),
      };
    },
  }),
});

const scrambler = defineOperation({
  id: "channel.scrambler",
  name: "Scramble",
  description: "Adds a pseudo-random sequence to the bits",
  inputs: { bits: INPUTS },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({
    kind: z.enum(SCRAMBLERS).default("ieee80211").describe(
      "x⁷ + x⁴ + 1 of IEEE 802.11, or the Gold sequence of TS 38.211",
    ),
    seed_state: z.int().min(0).max(2 ** 31 - 1).default(93).describe(
      "initial state, 1 to 127 of ieee80211, or c_init of nr_gold",
    ),
  }),
  differentiability: LINEAR,
  outputMetadataGuarantees: { coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", "scrambler"] } },
  check({ kind, seed_state: state }): ParameterProblem[] {
    if (kind === "nr_gold" || (state >= 1 && state <= 127)) return [];
    const message = `Cannot start the scrambler of IEEE 802.11 in the state ${state}`;
    return [{ place: ["seed_state"], message, hint: "Set seed_state to 1 to 127" }];
  },
  estimate: (_params, { bits: { bytes, shape = [bytes] } }) => ({ coded_bits: [["uint8", shape[0]]] }),
  ...blockwise("bits", "coded_bits", "uint8", {
    begin({ metadata, length }, { kind, seed_state: state }: { kind: Scrambler; seed_state: number }) {
      const sequence = scramblingBits(kind, state);
      return {
        length,
        metadata: bitMetadata(length, travel(metadata, { scrambler: { kind, state } })),
        next(bits) {
          const scrambled = sequence(bits.length);
          for (let i = 0; i < bits.length; i++) scrambled[i] ^= bits[i];
          return scrambled;
        },
      };
    },
  }),
});

const descrambler = defineOperation({
  id: "channel.descrambler",
  name: "Descramble",
  description: "Turns the signs of soft values that channel.scrambler changed",
  inputs: { llr: [LLR] },
  outputs: { llr: LLR },
  params: z.strictObject({}),
  differentiability: LINEAR,
  inputMetadataRequirements: { llr: { all_of: ["scrambler"] } },
  outputMetadataGuarantees: { llr: { from: "llr" } },
  estimate: (_params, { llr }) => ({ llr: llr.bytes }),
  ...blockwise("llr", "llr", "float32", {
    begin({ metadata, length }) {
      const { kind, state } = recordOf(metadata, "scrambler", SCRAMBLERS);
      if (!(state >= 0 && state < 2 ** 31)) {
        throw new SvcError("boundary_value_invalid", "Cannot undo a channel.scrambler: its record is invalid");
      }
      const sequence = scramblingBits(kind, state);
      return {
        length,
        metadata: travel(metadata, {}, ["scrambler"]),
        next(llr, memory) {
          const signs = sequence(llr.length), turned = memory(llr.length);
          for (let i = 0; i < llr.length; i++) turned[i] = signs[i] === 1 ? -llr[i] : llr[i];
          return turned;
        },
      };
    },
  }),
});

export default [blockInterleaver, blockDeinterleaver, scrambler, descrambler];

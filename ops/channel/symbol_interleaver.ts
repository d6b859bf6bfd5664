/**
 * Interleaver of symbols and its inverse. Output i of a source item is its symbol p(i), with p the permutation of NumPy's
 * default_rng(permutation_seed) for the length of the item; symbols without declared items are one item. Joint codes order symbols by
 * their power, and OFDM symbols of strong ones alone saturate an amplifier; in a drawn order all have about the mean power.
 *
 * The inverse also orders arrays of one value a symbol, such as noise_variance.
 *
 * Shapes: symbols complex64 [n] -> symbols complex64 [n]; rx_symbols likewise.
 */
import { RX_SYMBOLS, SYMBOLS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineOperation, type InputArtifact, isObject, SvcError, z } from "../api.ts";
import {
  companionsOf,
  metadataCounts,
  metadataNumber,
  sourceItemCounts,
  symbolsArtifact,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { permutationOf } from "../../lib/numeric/coding/interleaving.ts";
import { notExported } from "../_backends.ts";
import { SYMBOL_KEYS } from "./_relay.ts";

/** Metadata: seed of the permutation, and symbols of each item. */
const KEY = "symbol_interleaver";
const LINEAR = notExported("torch", "full", "A fixed order of symbols");

/** The place from which each symbol of the interleaved stream is taken. */
function placesOf(counts: readonly number[], seed: number): Int32Array {
  const places = new Int32Array(counts.reduce((sum, count) => sum + count, 0));
  const known = new Map<number, Int32Array>();
  let start = 0;
  for (const size of counts) {
    const own = known.get(size) ?? permutationOf({ kind: "random", size, seed });
    known.set(size, own);
    places.set(own.map((place) => start + place), start);
    start += size;
  }
  return places;
}

/** @throws SvcError `boundary_value_invalid`, `boundary_count_mismatch` */
function recordedPlaces({ metadata }: InputArtifact, length: number): Int32Array {
  const record = metadata[KEY], known = isObject(record) ? record : {};
  const seed = metadataNumber(known, "seed"), counts = metadataCounts(known, "item_counts");
  if (seed === undefined || !Number.isSafeInteger(seed) || seed < 0 || counts === undefined) {
    throw new SvcError("boundary_value_invalid", "Cannot undo a channel.symbol_interleaver: its record is invalid");
  }
  if (counts.reduce((sum, count) => sum + count, 0) === length) return placesOf(counts, seed);
  throw new SvcError("boundary_count_mismatch", `Cannot order ${length} symbols as a channel.symbol_interleaver did`);
}

const interleaver = defineOperation({
  id: "channel.symbol_interleaver",
  name: "Interleave symbols",
  description: "Permutes the symbols of each source item",
  inputs: { symbols: [SYMBOLS] },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({
    permutation_seed: z.int().min(0).max(2 ** 31 - 1).default(1)
      .describe("seed of the permutation, the same for every run"),
  }),
  differentiability: LINEAR,
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: [...SYMBOL_KEYS, KEY] } },
  estimate: (_params, { symbols: { bytes } }) => ({ symbols: bytes }),
  run({ inputs: { symbols: input }, params: { permutation_seed: seed } }) {
    const symbols = symbolsOf(input), found = new Float32Array(symbols.length);
    const counts = sourceItemCounts(input.metadata, symbols.length / 2) ?? [symbols.length / 2];
    placesOf(counts, seed).forEach((place, i) => {
      found[2 * i] = symbols[2 * place];
      found[2 * i + 1] = symbols[2 * place + 1];
    });
    return {
      outputs: { symbols: symbolsArtifact(found, travel(input.metadata, { [KEY]: { seed, item_counts: counts } })) },
    };
  },
});

const deinterleaver = defineOperation({
  id: "channel.symbol_deinterleaver",
  name: "Deinterleave symbols",
  description: "Puts received symbols back into the order before channel.symbol_interleaver",
  inputs: { rx_symbols: SYMBOLS_ANY },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({}),
  differentiability: LINEAR,
  inputMetadataRequirements: { rx_symbols: { all_of: [KEY] } },
  outputMetadataGuarantees: { rx_symbols: { from: "rx_symbols", keys: SYMBOL_KEYS } },
  estimate: (_params, { rx_symbols: { bytes } }) => ({ rx_symbols: bytes }),
  run({ inputs: { rx_symbols: input } }) {
    const symbols = symbolsOf(input), length = symbols.length / 2, places = recordedPlaces(input, length);
    const found = new Float32Array(symbols.length), companions = companionsOf(input);
    places.forEach((place, i) => {
      found[2 * place] = symbols[2 * i];
      found[2 * place + 1] = symbols[2 * i + 1];
    });
    for (const [name, { dtype, shape, data }] of Object.entries(companions)) {
      if (dtype !== "float32" || shape.length !== 1 || shape[0] !== length) {
        throw new SvcError("boundary_shape_invalid", `Cannot order ${name} of shape [${shape.join(", ")}] by symbols`, {
          hint: "Equalise the symbols before channel.symbol_deinterleaver",
        });
      }
      const ordered = new Float32Array(length);
      places.forEach((place, i) => ordered[place] = Number(data[i]));
      companions[name] = ndarray("float32", ordered);
    }
    return { outputs: { rx_symbols: symbolsArtifact(found, travel(input.metadata, {}, [KEY]), companions) } };
  },
});

export default [interleaver, deinterleaver];

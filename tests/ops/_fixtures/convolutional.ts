/** Conformance cases of convolutional, turbo, LDPC and algebraic codes, interleavers and scramblers. */
import algebraic from "../../../ops/channel/algebraic.ts";
import convolutional from "../../../ops/channel/convolutional.ts";
import matching from "../../../ops/channel/distribution_match.ts";
import interleaving from "../../../ops/channel/interleaver.ts";
import ldpc from "../../../ops/channel/ldpc.ts";
import ordering from "../../../ops/channel/symbol_interleaver.ts";
import smallBlock from "../../../ops/channel/small_block.ts";
import turbo from "../../../ops/channel/turbo.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { runOperation } from "../harness.ts";
import { payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const payload = () => ({ bits: payloadInput(someBits(100), { source_item_counts: [60, 40] }) });

const symbols = () => ({ symbols: symbolsInput(20, { source_item_counts: [12, 8] }) });

/** Received symbols of a transmission, with one noise variance or, after a fade, one a symbol. */
const transmission = (index: number, fades = false) => ({
  ...symbolsInput(20, { source_item_counts: [12, 8], noise_variance: float(0.1 + index) }, {
    companions: fades ? { noise_variance: ndarray("float32", Float32Array.from({ length: 20 }, (_, i) => 1 + i)) } : {},
  }),
  kind: "channel.rx_symbols.complex_numpy",
});

/** Soft values of what an operation makes of the payload. */
async function received(operation: Operation, params: JsonObject = {}) {
  const { coded_bits } = (await runOperation(operation, { inputs: payload(), params })).outputs;
  const llr = Float32Array.from(coded_bits.array().data as Uint8Array, (bit, i) => 3 - 6 * bit + (i * 7) % 3);
  return { llr: { kind: "channel.llr.numpy", array: ndarray("float32", llr), metadata: coded_bits.metadata } };
}

export const CONVOLUTIONAL_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    payload,
    received: () => received(convolutional[0], { block_bits: 20, puncturing: "ieee80211_3_4" }),
    "received without a tail": () => received(convolutional[0], { block_bits: 20, termination: "tail_biting" }),
    "received symbols": () => received(algebraic[0], { field_degree: 4, codeword_symbols: 15, message_symbols: 9 }),
    "received BCH": () => received(algebraic[2]),
    "received turbo": () => received(turbo[0], { block_bits: 40 }),
    "received LDPC": () => received(ldpc[0]),
    "received amplitudes": () => received(matching[0], { amplitude_count: 40 }),
    "received small blocks": () => received(smallBlock[0]),
    interleaved: () => received(interleaving[0], { block_bits: 16, columns: 4 }),
    scrambled: () => received(interleaving[2]),
    symbols,
    "two transmissions": () => ({ rx_symbols: transmission(0), rx_symbols_2: transmission(1) }),
    "four transmissions": () => ({
      rx_symbols: transmission(0, true),
      rx_symbols_2: transmission(1),
      rx_symbols_3: transmission(2, true),
      rx_symbols_4: transmission(3),
    }),
    "interleaved symbols": async () => {
      const { symbols: { metadata, ...sent } } = (await runOperation(ordering[0], { inputs: symbols() })).outputs;
      return { rx_symbols: symbolsInput(sent.array().data as Float32Array, metadata) };
    },
  },
});

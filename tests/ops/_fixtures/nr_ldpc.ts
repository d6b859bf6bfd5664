/** Conformance cases of the NR LDPC operations. */
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import { ndarray } from "../../../lib/numeric/ndarray.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const ITEMS = { source_item_counts: [100, 60] };
const SMALL = { transport_block_size_bits: 50 };
const DOWNLINK = {
  channel_type: "PDSCH",
  codeword_index: 1,
  n_id: 1023,
  n_rnti: 65535,
  num_bits_per_symbol: 8,
  num_layers: 3,
  target_coderate: 0.3,
  transport_block_size_bits: 4000,
};

const payload = () => ({ bits: payloadInput(someBits(160), ITEMS) });

/** Log-likelihood ratios of the encoder's bits; of some blocks they say the contrary. */
async function received(params: JsonObject, wrongFrom = Infinity) {
  const { outputs: { coded_bits } } = await runOperation(nrLdpcEncoder, { inputs: payload(), params });
  const bits = coded_bits.array().data as Uint8Array;
  const llr = Float32Array.from(bits, (bit, i) => (i < wrongFrom ? 3 - 6 * bit : (i * 7) % 5 - 2));
  return { llr: { kind: "channel.llr.numpy", array: ndarray("float32", llr), metadata: coded_bits.metadata } };
}

export const NR_LDPC_FIXTURES = {
  "channel.nr_ldpc_encoder": [
    { name: "the default block", inputs: payload },
    { name: "short blocks", inputs: payload, params: SMALL },
    { name: "downlink", inputs: payload, params: DOWNLINK },
  ],
  "channel.nr_ldpc_decoder": [
    { name: "short blocks", inputs: () => received(SMALL) },
    { name: "downlink", inputs: () => received(DOWNLINK) },
    { name: "a lost block", inputs: () => received(SMALL, 220) },
    { name: "an estimate", inputs: () => received(SMALL, 220), params: { on_tb_crc_failure: "keep_estimate" } },
  ],
};

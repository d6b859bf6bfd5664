/** Conformance cases of the NR LDPC operations. */
import nrLdpcDecoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import nrTransportFormat from "../../../ops/source/nr_transport_format.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { outputOf, runOperation } from "../harness.ts";
import { arrayInput, payloadInput, someBits } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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

/** An output of an operation as an input of another. */
async function made(operation: Operation, port: string, params: JsonObject) {
  const { outputs } = await runOperation(operation, { params });
  return { ...outputOf(outputs[port]), kind: outputs[port].kind };
}

async function decodedReport(wrongFrom: number) {
  const { outputs: { report } } = await runOperation(nrLdpcDecoder, { inputs: await received(SMALL, wrongFrom) });
  return { ...outputOf(report), kind: report.kind };
}

const ofdmState = () =>
  arrayInput("channel.ofdm_channel_state.numpy", "complex64", Float32Array.of(1, 0, 0, 2, 0.5, 0.5, -1, 1), [1, 2, 2], {
    noise_variance: float(0.1),
    average_power_budget: float(1),
  });

export const NR_LDPC_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    payload,
    "payload and format": async () => ({
      ...payload(),
      format: await made(nrTransportFormat, "format", { prb_count: 2 }),
    }),
    received: () => received(SMALL),
    "two versions": async () => ({
      ...await received(SMALL),
      llr_2: (await received({ ...SMALL, redundancy_version: 2 })).llr,
    }),
    "received twice": async () => ({
      ...await received(SMALL),
      llr_2: (await received(SMALL)).llr,
    }),
    state: () => ({ state: ofdmState() }),
    reports: async () => ({
      report_1: await decodedReport(200),
      report_2: await decodedReport(Infinity),
    }),
    "received downlink": () => received(DOWNLINK),
    "received version 3": () => received({ ...SMALL, redundancy_version: 3, tbs_lbrm_bits: 100 }),
    "received with a lost block": () => received(SMALL, 220),
  },
});

/** Conformance cases of the NR LDPC operations. */
import nrLdpcDecoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import nrTransportFormat from "../../../ops/source/nr_transport_format.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { outputOf, runOperation } from "../harness.ts";
import { arrayInput, payloadInput, someBits } from "../inputs.ts";

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

export const NR_LDPC_FIXTURES = {
  "channel.nr_ldpc_encoder": [
    { name: "the default block", inputs: payload },
    { name: "short blocks", inputs: payload, params: SMALL },
    { name: "downlink", inputs: payload, params: DOWNLINK },
    { name: "rv 1", inputs: payload, params: { ...SMALL, redundancy_version: 1, coded_bits_per_block: 120 } },
    {
      name: "with a format",
      inputs: async () => ({ ...payload(), format: await made(nrTransportFormat, "format", { prb_count: 2 }) }),
    },
  ],
  "channel.nr_harq_combine": [
    { inputs: () => received(SMALL) },
    {
      name: "two versions",
      inputs: async () => ({
        ...await received(SMALL),
        llr_2: (await received({ ...SMALL, redundancy_version: 2 })).llr,
      }),
    },
    {
      name: "chase",
      inputs: async () => ({ ...await received(SMALL), llr_2: (await received(SMALL)).llr }),
      params: { mode: "chase" },
    },
  ],
  "source.nr_transport_format": [{}, {
    name: "pi/2-BPSK",
    params: { channel_type: "PUSCH", transform_precoding: true, pi2_bpsk: true, mcs_index: 0 },
  }],
  "model.nr_mcs_selector": [
    { params: { snr_db: float(10) } },
    { name: "by CQI", params: { snr_db: float(-20), policy: "cqi_efficiency" } },
    {
      name: "by thresholds of a state",
      inputs: () => ({ state: ofdmState() }),
      params: { policy: "threshold_table", thresholds_db: Array.from({ length: 29 }, (_, i) => float(i - 5)) },
    },
  ],
  "metrics.harq": [{
    inputs: async () => ({
      report_1: await decodedReport(200),
      report_2: await decodedReport(Infinity),
    }),
  }],
  "channel.nr_ldpc_decoder": [
    { name: "short blocks", inputs: () => received(SMALL) },
    { name: "downlink", inputs: () => received(DOWNLINK) },
    { name: "rv 3", inputs: () => received({ ...SMALL, redundancy_version: 3, tbs_lbrm_bits: 100 }) },
    { name: "a lost block", inputs: () => received(SMALL, 220) },
    { name: "an estimate", inputs: () => received(SMALL, 220), params: { on_tb_crc_failure: "keep_estimate" } },
  ],
};

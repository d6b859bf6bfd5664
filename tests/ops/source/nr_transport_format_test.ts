/** Transport formats: what the tables give, what is refused, and what the encoder makes of them. */
import assert from "node:assert/strict";
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import nrMcsSelector from "../../../ops/resource/nr_mcs_selector.ts";
import nrTransportFormat from "../../../ops/source/nr_transport_format.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import stored from "../../data/physical/tbs_mcs.json" with { type: "json" };
import { outputOf, refuses, runOperation } from "../harness.ts";
import { arrayInput, payloadInput, someBits } from "../inputs.ts";

const format = async (params: JsonObject) => {
  const { outputs, metrics } = await runOperation(nrTransportFormat, { params });
  return {
    document: outputs.format.json(),
    metrics,
    input: { ...outputOf(outputs.format), kind: outputs.format.kind },
  };
};

Deno.test("the operation gives the stored block sizes", async () => {
  for (const row of stored.cases) {
    // The smallest blocks have a rate above 0.95 with their CRC.
    if (row.tbs < 100) continue;
    const { mcs_table, mcs_index, prb_count, symbol_count, dmrs_re_per_prb, overhead_re_per_prb, layers } = row;
    const resources = { prb_count, symbol_count, dmrs_re_per_prb, overhead_re_per_prb, layers };
    const params = { mcs_table, mcs_index, ...resources, tb_scaling: float(row.tb_scaling) };
    const { document, metrics } = await format(params);
    assert.equal(document.transport_block_size_bits, row.tbs);
    const elements = 12 * symbol_count - dmrs_re_per_prb - overhead_re_per_prb;
    assert.equal(Number(document.coded_bits), elements * prb_count * row.num_bits_per_symbol * layers);
    assert.ok(Math.abs(Number(metrics["nr.spectral_efficiency"]) - row.tbs / (elements * prb_count)) < 1e-12);
  }
});

Deno.test("reserved rows, blocks without elements and rates above 0.95 are refused", async () => {
  for (
    const params of [
      { mcs_index: 29 },
      { mcs_table: "table_2", mcs_index: 28 },
      { symbol_count: 1, dmrs_re_per_prb: 12 },
      { prb_count: 1, symbol_count: 1, dmrs_re_per_prb: 0, mcs_index: 28 },
      { transform_precoding: true },
      { pi2_bpsk: true },
    ] as JsonObject[]
  ) {
    await refuses("params_conflict", () => format(params));
  }
  await refuses("params_invalid", () => format({ tb_scaling: float(0.75) }));
});

Deno.test("the encoder takes sizes and coded bits from the format, and refuses its own beside it", async () => {
  const { document, input } = await format({ mcs_index: 12, prb_count: 4 });
  const inputs = { bits: payloadInput(someBits(5000)), format: input };
  const { coded_bits } = (await runOperation(nrLdpcEncoder, { inputs })).outputs;
  const record = coded_bits.metadata.nr_ldpc as JsonObject;
  assert.equal(record.transport_block_size_bits, document.transport_block_size_bits);
  assert.equal(record.coded_bits_per_block, document.coded_bits);
  assert.equal(record.num_bits_per_symbol, 4);
  const blocks = Math.ceil(5000 / Number(document.transport_block_size_bits));
  assert.equal(coded_bits.array().data.length, blocks * Number(document.coded_bits));
  await refuses("params_conflict", () => runOperation(nrLdpcEncoder, { inputs, params: { num_layers: 2 } }));
});

const chosen = async (params: JsonObject, inputs = {}) => {
  const { outputs, metrics } = await runOperation(nrMcsSelector, { params, inputs });
  return {
    index: Number(metrics["nr.mcs_index"]),
    bler: Number(metrics["nr.predicted_bler"]),
    report: outputs.report.json(),
    metrics,
  };
};

Deno.test("the selector's efficiency grows with the SNR, keeps the target and says when nothing does", async () => {
  let last = -1;
  for (let snr = -8; snr <= 24; snr += 4) {
    const { index, bler, report } = await chosen({ snr_db: float(snr) });
    assert.ok(index >= last && index !== 17, `${snr} dB: ${index}`);
    assert.equal(report.outage, bler > 0.1);
    last = index;
  }
  assert.equal(last, 28);
  assert.equal((await chosen({ snr_db: float(-20) })).report.outage, true);
  const cqi = await chosen({ snr_db: float(10), policy: "cqi_efficiency" });
  const normal = await chosen({ snr_db: float(10) });
  assert.ok(Math.abs(cqi.index - normal.index) <= 2, `${cqi.index} ${normal.index}`);
  const thresholds_db = Array.from({ length: 29 }, (_, i) => float(i));
  assert.equal((await chosen({ snr_db: float(7.5), policy: "threshold_table", thresholds_db })).index, 7);
  await refuses("params_conflict", () => chosen({}));
  await refuses("params_conflict", () => chosen({ snr_db: float(0), policy: "threshold_table" }));
});

Deno.test("a state with equal gains is its SNR; two layers carry two blocks' worth at the same SNR", async () => {
  const gains = Float32Array.from({ length: 24 }, (_, i) => i % 2 === 0 ? 2 : 0);
  const metadata = { noise_variance: float(0.4), average_power_budget: float(1) };
  const state = arrayInput("channel.ofdm_channel_state.numpy", "complex64", gains, [1, 1, 12], metadata);
  const flat = await chosen({}, { state });
  assert.ok(Math.abs(Number(flat.metrics["nr.effective_snr_db"]) - 10) < 1e-5);
  const known = await chosen({ snr_db: float(10) });
  assert.equal(flat.index, known.index);
  for (const { metrics } of [flat, known]) {
    assert.ok(Math.abs(Number(metrics["nr.capacity_bits_per_symbol"]) - Math.log2(11)) < 1e-9);
  }
  assert.ok(Math.abs((await chosen({ snr_db: float(10), layers: 2 })).index - flat.index) <= 1);
});

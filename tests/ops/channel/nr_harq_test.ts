/** Redundancy versions against stored words, combining against sums, and block error rates against a public decoder. */
import assert from "node:assert/strict";
import nrHarqCombine from "../../../ops/channel/nr_harq_combine.ts";
import nrLdpcDecoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import nrLdpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import harqBler from "../../data/physical/harq_bler.json" with { type: "json" };
import stored from "../../data/physical/ldpc_rv.json" with { type: "json" };
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const unpack = (text: string, count: number) => unpackBits(Uint8Array.fromBase64(text)).subarray(0, count);

async function encode(bits: Uint8Array, params: JsonObject) {
  const { coded_bits } = (await runOperation(nrLdpcEncoder, { inputs: { bits: payloadInput(bits) }, params })).outputs;
  return { coded: coded_bits.array().data as Uint8Array, metadata: coded_bits.metadata };
}
const llrInput = (values: Float32Array, metadata: JsonObject) => ({
  kind: "channel.llr.numpy",
  array: ndarray("float32", values),
  metadata,
});

Deno.test("words of every redundancy version are the stored ones, with and without a limited buffer", async () => {
  for (const row of stored.cases) {
    const payload = unpack(row.payload_b64, row.transport_block_size_bits);
    for (const { rv, coded_scrambled_b64 } of row.words) {
      const { coded } = await encode(payload, {
        transport_block_size_bits: row.transport_block_size_bits,
        target_coderate: float(row.target_coderate),
        num_bits_per_symbol: row.num_bits_per_symbol,
        num_layers: row.num_layers,
        coded_bits_per_block: row.coded_bits,
        tbs_lbrm_bits: row.tbs_lbrm_bits ?? 0,
        redundancy_version: rv,
        n_rnti: row.n_rnti,
        n_id: row.n_id,
      });
      assert.deepEqual(coded, unpack(coded_scrambled_b64, row.coded_bits), `${row.id} rv ${rv}`);
    }
  }
});

Deno.test("every redundancy version alone decodes without noise where it has enough bits", async () => {
  const payload = someBits(1032);
  const base = { transport_block_size_bits: 1032, target_coderate: float(0.4), coded_bits_per_block: 5200 };
  for (const redundancy_version of [0, 1, 2, 3]) {
    for (const tbs_lbrm_bits of [0, 2000]) {
      const { coded, metadata } = await encode(payload, { ...base, redundancy_version, tbs_lbrm_bits });
      const llr = llrInput(Float32Array.from(coded, (bit) => 4 - 8 * bit), metadata);
      const { bits } = (await runOperation(nrLdpcDecoder, { inputs: { llr } })).outputs;
      assert.deepEqual(bits.array().data, payload, `rv ${redundancy_version}, limit ${tbs_lbrm_bits}`);
    }
  }
});

Deno.test("buffers are sums: two equal transmissions double it, inputs commute, and a buffer continues", async () => {
  const payload = someBits(300), params = { transport_block_size_bits: 100, target_coderate: float(0.5) };
  const [a, b] = await Promise.all([0, 2].map(async (redundancy_version, i) => {
    const { coded, metadata } = await encode(payload, { ...params, redundancy_version });
    return llrInput(Float32Array.from(coded, (bit, k) => (1 - 2 * bit) * (1 + ((k * 7 + i) % 5))), metadata);
  }));
  const combine = async (inputs: Parameters<typeof runOperation>[1]) =>
    (await runOperation(nrHarqCombine, inputs)).outputs.buffer;
  const values = (buffer: { array(): { data: unknown } }) => buffer.array().data as Float32Array;
  const once = await combine({ inputs: { llr: a } }), twice = await combine({ inputs: { llr: a, llr_2: a } });
  assert.deepEqual(values(twice), values(once).map((value) => 2 * value));
  const forward = await combine({ inputs: { llr: a, llr_2: b } }),
    backward = await combine({ inputs: { llr: b, llr_2: a } });
  assert.deepEqual(values(forward), values(backward));
  const continued = await combine({ inputs: { llr: b, buffer: once } });
  assert.deepEqual(values(continued), values(forward));
  assert.deepEqual(continued.metadata.rv_sequence, [0, 2]);
  assert.ok(values(once).includes(Infinity), "filler bits are certain");
  await refuses("params_conflict", () => combine({ inputs: { llr: a, llr_2: b }, params: { mode: "chase" } }));
  const other = await encode(someBits(300), { ...params, transport_block_size_bits: 150 });
  const foreign = llrInput(new Float32Array(other.coded.length), other.metadata);
  await refuses("params_conflict", () => combine({ inputs: { llr: a, llr_2: foreign } }));
});

Deno.test("lengths that no symbol fills and buffers below the message are refused", async () => {
  await refuses("params_conflict", () => encode(someBits(100), { coded_bits_per_block: 401 }));
  const params = { transport_block_size_bits: 1032, tbs_lbrm_bits: 300 };
  await refuses("params_conflict", () => encode(someBits(1032), params));
});

Deno.test("block error rates after combining are no worse than those of a public 8-bit decoder", async () => {
  const size = 1032, blocks = 400;
  for (const point of harqBler.points.filter(({ bler }) => bler > 0.04)) {
    const generator = Generator.seeded(17), payload = generator.integers(0, 2, size * blocks, "uint8");
    const noise = 10 ** (-point.snr_db / 10), inputs: Record<string, ReturnType<typeof llrInput>> = {};
    for (const [index, redundancy_version] of point.rv_sequence.entries()) {
      const params = { transport_block_size_bits: size, target_coderate: float(0.8), coded_bits_per_block: 1290 };
      const limit = point.tbs_lbrm_n_ref === null ? 0 : 1032;
      const { coded, metadata } = await encode(payload, { ...params, redundancy_version, tbs_lbrm_bits: limit });
      const drawn = generator.standardNormal(coded.length);
      const llr = Float32Array.from(
        coded,
        (bit, i) => 4 / noise * Math.SQRT1_2 * ((1 - 2 * bit) * Math.SQRT1_2 + Math.sqrt(noise / 2) * drawn[i]),
      );
      inputs[index === 0 ? "llr" : `llr_${index + 1}`] = llrInput(llr, metadata);
    }
    const { buffer } = (await runOperation(nrHarqCombine, { inputs })).outputs;
    const { report } = (await runOperation(nrLdpcDecoder, { inputs: { llr: buffer } })).outputs;
    const errors = blocks - Number(report.json().crc_pass_count), { low } = wilsonInterval(errors, blocks, 0.999);
    const reference = wilsonInterval(point.block_errors, point.blocks, 0.999);
    assert.ok(
      low <= reference.high,
      `${point.rv_sequence} at ${point.snr_db} dB: ${errors}/${blocks} against ${point.bler}`,
    );
    // Far fewer errors would mean another noise: 0.5 dB of LDPC are an order of magnitude.
    assert.ok(errors / blocks > point.bler / 10, `${point.rv_sequence} at ${point.snr_db} dB: ${errors}/${blocks}`);
  }
});

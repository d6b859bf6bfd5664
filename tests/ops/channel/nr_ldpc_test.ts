import assert from "node:assert/strict";
import decoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import encoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import demodulator from "../../../ops/demodulation/digital_demodulate.ts";
import modulator from "../../../ops/modulation/digital_modulate.ts";
import channel from "../../../ops/wireless/channel.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, isObject, type JsonObject } from "../../../lib/contract/value.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { type Dtype, ndarray, type TypedData } from "../../../lib/numeric/array/ndarray.ts";
import { bitsInput, payloadInput, someBits } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

async function encode(bits: Uint8Array, params: JsonObject = {}, metadata: JsonObject = {}): Promise<InputArtifact> {
  return (await runOperation(encoder, { inputs: { bits: payloadInput(bits, metadata) }, params })).outputs.coded_bits;
}

const dataOf = (artifact: InputArtifact) => artifact.array().data as Uint8Array;
const nrLdpcOf = ({ metadata }: InputArtifact) => metadata.nr_ldpc as JsonObject;

/** Log-likelihood ratios as the demodulator hands them over, changed on the way. */
function llrOf(coded: InputArtifact, change: (llr: Float32Array) => void = () => {}) {
  const llr = Float32Array.from(dataOf(coded), (bit) => 3 - 6 * bit);
  change(llr);
  return { kind: "channel.llr.numpy", array: ndarray("float32", llr), metadata: coded.metadata };
}

const decode = (llr: ReturnType<typeof llrOf>, params: JsonObject = {}, threads = 1) =>
  runOperation(decoder, { inputs: { llr }, params, threads });

/** Takes the meaning from all values of a block of G. */
const erase = (block: number, coded: InputArtifact) => (llr: Float32Array) => {
  const size = nrLdpcOf(coded).coded_bits_per_block as number;
  for (let i = block * size; i < (block + 1) * size; i++) llr[i] = (i * 5) % 7 - 3;
};

Deno.test("the stored transport blocks come out of the operation where its code rate gives their length", async () => {
  const file = new URL("../../data/nr_ldpc/transport_blocks.json", import.meta.url);
  let compared = 0;
  for (const block of JSON.parse(Deno.readTextFileSync(file)).cases) {
    const bits = unpackBits(Uint8Array.fromBase64(block.input_b64)).subarray(0, block.tb_size);
    const coded = await encode(bits.slice(), {
      transport_block_size_bits: block.tb_size,
      target_coderate: float(block.target_coderate),
      num_bits_per_symbol: block.num_bits_per_symbol,
      num_layers: block.num_layers,
      n_rnti: block.n_rnti,
      n_id: block.n_id,
      channel_type: block.channel_type,
      codeword_index: block.codeword_index,
    });
    if (coded.metadata.bit_count !== block.num_coded_bits) continue;
    assert.equal(packBits(dataOf(coded)).toBase64(), block.coded_scrambled_b64, block.id);
    compared++;
  }
  // Three of the eight were made with a length of their own.
  assert.equal(compared, 5);
});

Deno.test("the payload is cut into blocks, each padded to the smallest legal size", async () => {
  const coded = await encode(someBits(40_000), {}, { source_item_counts: [16_000, 24_000] });
  const { base_graph, lifting_size, code_blocks_per_block, ...told } = nrLdpcOf(coded);
  assert.deepEqual(told, {
    transport_block_size_bits: 16_000,
    block_bits: 16_136,
    block_count: 3,
    payload_bits: 40_000,
    padding_bits: 3 * 16_136 - 40_000,
    coded_bits_per_block: 32_272,
    target_coderate: float(0.5),
    num_bits_per_symbol: 2,
    num_layers: 1,
    channel_type: "PUSCH",
    n_rnti: 1,
    n_id: 1,
    codeword_index: 0,
    num_bp_iter: 20,
    source_item_counts: [16_000, 24_000],
  });
  assert.deepEqual([base_graph, lifting_size, code_blocks_per_block], [1, 384, 2]);
  assert.equal(coded.metadata.bit_count, 3 * 32_272);
  assert.deepEqual(coded.metadata.source_item_counts, [32_272, 2 * 32_272]);
  const torn = await encode(someBits(40_000), {}, { source_item_counts: [16_001, 23_999] });
  assert.equal(torn.metadata.source_item_counts, undefined);
});

Deno.test("scrambling restarts with every block", async () => {
  const bits = someBits(1000), twice = new Uint8Array(2000);
  twice.set(bits);
  twice.set(bits, 1000);
  const coded = dataOf(await encode(twice, { transport_block_size_bits: 1000 }));
  assert.deepEqual(coded.subarray(0, coded.length / 2), coded.subarray(coded.length / 2));
  const other = dataOf(await encode(bits, { transport_block_size_bits: 1000, n_id: 2 }));
  assert.notDeepEqual(other, coded.subarray(0, coded.length / 2));
});

Deno.test("the round trip restores bits, items and foreign metadata, and reports every block", async () => {
  for (
    const params of [{}, { num_bits_per_symbol: 8, num_layers: 4 }, { target_coderate: float(0.1) }] as JsonObject[]
  ) {
    const sent = someBits(2500), size = { transport_block_size_bits: 600, ...params };
    const coded = await encode(sent, size, { source_item_counts: [1, 2499], packet_total_bits: 136 });
    const { outputs, metrics, metadata } = await decode(llrOf(coded));
    assert.deepEqual(dataOf(outputs.bits), sent);
    assert.deepEqual(outputs.bits.metadata.source_item_counts, [1, 2499]);
    assert.equal(outputs.bits.metadata.packet_total_bits, 136);
    assert.equal(outputs.bits.metadata.nr_ldpc, undefined);
    assert.equal(outputs.bits.metadata.boundary_contract, "payload.bits");
    assert.deepEqual(outputs.bits.metadata.failed_block_indices, []);
    const report = outputs.report.json();
    assert.equal(report.kind, "metrics.report");
    assert.equal(report.block_count, 5);
    assert.equal(report.crc_pass_count, 5);
    assert.deepEqual(report.crc_passed, Array(5).fill(true));
    assert.equal(metrics["channel.payload_delivery_block_error_rate"], 0);
    for (const place of [metadata, outputs.bits.metadata, outputs.report.metadata]) {
      assert.match(place.decoder_implementation as string, /^layered_offset_min_sum_int8/);
    }
  }
});

Deno.test("a block whose CRC fails is zeros, an estimate, or an error", async () => {
  const sent = someBits(2000).fill(1, 600, 1200), coded = await encode(sent, { transport_block_size_bits: 600 });
  const llr = () => llrOf(coded, erase(1, coded));
  const zeros = await decode(llr());
  assert.deepEqual(dataOf(zeros.outputs.bits), sent.slice().fill(0, 600, 1200));
  assert.deepEqual(zeros.outputs.bits.metadata.failed_block_indices, [1]);
  const report = zeros.outputs.report.json();
  assert.deepEqual(report.crc_passed, [true, false, true, true]);
  assert.equal(report.crc_pass_count, 3);
  assert.equal(zeros.metrics["channel.payload_delivery_block_error_rate"], 0.25);

  const { outputs: kept } = await decode(llr(), { on_tb_crc_failure: "keep_estimate" });
  const estimate = dataOf(kept.bits);
  assert.ok(estimate.subarray(600, 1200).includes(1));
  assert.deepEqual(estimate.slice().fill(0, 600, 1200), dataOf(zeros.outputs.bits));
  assert.deepEqual(kept.bits.metadata.failed_block_indices, [1]);

  await refuses("tb_crc_failed", () => decode(llr(), { on_tb_crc_failure: "raise" }));
  await decode(llrOf(coded), { on_tb_crc_failure: "raise" });
});

Deno.test("num_bp_iter reaches the decoder", async () => {
  const sent = someBits(1000);
  const noisy = async (num_bp_iter: number) => {
    const coded = await encode(sent, { transport_block_size_bits: 1000, num_bp_iter });
    const { outputs: { symbols } } = await runOperation(modulator, { inputs: { bits: coded } });
    const { outputs: { rx_symbols } } = await runOperation(channel, {
      inputs: { symbols },
      params: { snr_db: float(2), seed: 5 },
    });
    const { outputs: { llr } } = await runOperation(demodulator, { inputs: { rx_symbols } });
    return await runOperation(decoder, { inputs: { llr }, params: { on_tb_crc_failure: "keep_estimate" } });
  };
  const wrong = ({ outputs }: Awaited<ReturnType<typeof noisy>>) =>
    dataOf(outputs.bits).reduce((count, bit, i) => count + (bit ^ sent[i]), 0);
  const [one, twenty] = [await noisy(1), await noisy(20)];
  assert.ok(wrong(one) > 0);
  assert.equal(wrong(twenty), 0);
  assert.equal(one.outputs.report.json().crc_pass_count, 0);
  assert.equal(twenty.outputs.report.json().crc_pass_count, 1);
});

Deno.test("no bits are no blocks", async () => {
  const coded = await encode(new Uint8Array(0));
  assert.equal(coded.metadata.bit_count, 0);
  const { outputs, metrics } = await decode(llrOf(coded));
  assert.equal(dataOf(outputs.bits).length, 0);
  assert.deepEqual(outputs.report.json().crc_passed, []);
  assert.deepEqual(metrics, {});
});

Deno.test("framed and generic bits are taken as well", async () => {
  for (const kind of ["channel.framed_bits.numpy", "channel.bits.numpy"]) {
    const { outputs } = await runOperation(encoder, { inputs: { bits: bitsInput(someBits(10), {}, kind) } });
    assert.equal(outputs.coded_bits.metadata.bit_count, 32_272);
  }
});

Deno.test("values that do not fit the code are refused", async () => {
  const coded = await encode(someBits(100), { transport_block_size_bits: 100 });
  const whole = llrOf(coded), given = whole.array.data as Float32Array;
  const as = (dtype: Dtype, data: TypedData, shape?: number[]) => ({
    ...whole,
    array: { ...ndarray(dtype, data), ...(shape === undefined ? {} : { shape }) } as typeof whole.array,
  });
  await refuses("boundary_count_mismatch", () => decode(as("float32", given.slice(1))));
  await refuses("boundary_count_mismatch", () => decode(as("float32", given.slice(), [2, given.length / 2])));
  await refuses("boundary_dtype_invalid", () => decode(as("float64", Float64Array.from(given))));
  await refuses("boundary_non_finite", () => decode(llrOf(coded, (llr) => llr[7] = NaN)));
  const { outputs } = await decode(llrOf(coded, (llr) => llr.forEach((value, i) => llr[i] = value * Infinity)));
  assert.deepEqual(dataOf(outputs.bits), someBits(100));
});

Deno.test("metadata that describes no code is refused, key by key", async () => {
  const coded = await encode(someBits(100), { transport_block_size_bits: 100 });
  const changed = (nr_ldpc: JsonObject[string] | undefined) => {
    const { nr_ldpc: _, ...rest } = coded.metadata;
    return { ...llrOf(coded), metadata: nr_ldpc === undefined ? rest : { ...rest, nr_ldpc } };
  };
  await refuses("input_metadata_missing", () => decode(changed(undefined)));
  await refuses("input_metadata_missing", () => decode(changed("none")));
  const told = nrLdpcOf(coded), derived = ["padding_bits", "base_graph", "lifting_size", "code_blocks_per_block"];
  for (const key of Object.keys(told).filter((key) => !derived.includes(key))) {
    for (const value of [null, "x", -1, 0.3, 2 ** 40, isObject(told[key]) ? 1 : {}] as JsonObject[string][]) {
      if (key === "target_coderate" && value === 0.3) continue;
      await assert.rejects(
        () => decode(changed({ ...told, [key]: value })),
        (error: { code?: string }) =>
          error.code === "boundary_value_invalid" || error.code === "boundary_count_mismatch",
        `${key} = ${value}`,
      );
    }
  }
});

Deno.test("parameters outside the standard are refused", async () => {
  const bad: JsonObject[] = [
    { num_bits_per_symbol: 3 },
    { num_layers: 5 },
    { n_rnti: 65536 },
    { n_id: 1024 },
    { codeword_index: 2 },
    { target_coderate: 0 },
    { transport_block_size_bits: 1_277_993 },
    { num_bp_iter: 0 },
  ];
  for (const params of bad) await refuses("params_invalid", () => encode(someBits(8), params));
});

Deno.test("threads never show in what is decoded", async () => {
  const coded = await encode(someBits(60_000), { transport_block_size_bits: 320 });
  const llr = llrOf(coded, (values) => {
    erase(3, coded)(values);
    erase(150, coded)(values);
  });
  const [alone, together] = [await decode(llr), await decode(llr, {}, 3)];
  assert.deepEqual(together.bytes, alone.bytes);
  assert.deepEqual(together.outputs.bits.metadata.failed_block_indices, [3, 150]);
  await refuses("tb_crc_failed", () => decode(llr, { on_tb_crc_failure: "raise" }, 3));
});

Deno.test("another check rule or schedule is named as the implementation, and delivers the same payload", async () => {
  const bits = someBits(3000), coded = await encode(bits, { transport_block_size_bits: 1000 });
  const implementation = async (params: JsonObject) => {
    const { outputs } = await decode(llrOf(coded, erase(1, coded)), params, 2);
    assert.deepEqual(outputs.bits.metadata.failed_block_indices, [1]);
    assert.deepEqual(dataOf(outputs.bits).slice(2000), bits.slice(2000));
    return outputs.bits.metadata.decoder_implementation;
  };
  const kernel = await implementation({});
  assert.equal(
    await implementation({ schedule: "layered", check_rule: "offset_min_sum", min_sum_offset: float(0.5) }),
    kernel,
  );
  assert.equal(await implementation({ early_stop: false }), kernel);
  assert.equal(await implementation({ schedule: "flooding" }), "flooding_offset_min_sum_float32");
  assert.equal(await implementation({ min_sum_offset: float(0.3) }), "layered_offset_min_sum_float32");
  assert.equal(await implementation({ check_rule: "sum_product" }), "layered_sum_product_float32");
});

/** Polar codes of TS 38.212 against stored words, the kernel against the readable decoder, block error rates against stored counts. */
import assert from "node:assert/strict";
import nrPolar from "../../../ops/channel/nr_polar.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { type MessageType, polarCode } from "../../../lib/numeric/coding/polar/code.ts";
import { decodePolar, kernelList } from "../../../lib/numeric/coding/polar/decoder.ts";
import { encodePolar } from "../../../lib/numeric/coding/polar/encoder.ts";
import { decodeList } from "../../../lib/numeric/coding/polar/list_reference.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import bler from "../../data/physical/polar_bler.json" with { type: "json" };
import stored from "../../data/physical/polar_encode.json" with { type: "json" };
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const [nrPolarEncoder, nrPolarDecoder] = nrPolar;

const unpack = (text: string, count: number) => unpackBits(Uint8Array.fromBase64(text)).subarray(0, count);

async function encode(bits: Uint8Array, params: JsonObject) {
  const { coded_bits } = (await runOperation(nrPolarEncoder, { inputs: { bits: payloadInput(bits) }, params })).outputs;
  return { coded: coded_bits.array().data as Uint8Array, metadata: coded_bits.metadata };
}
const llrInput = (values: Float32Array, metadata: JsonObject) => ({
  llr: { kind: "channel.llr.numpy", array: ndarray("float32", values), metadata },
});

/** Log-likelihood ratios of a random message over QPSK and AWGN. */
function transmitted(code: ReturnType<typeof polarCode>, snrDb: number, g: Generator, rnti = 0) {
  const payload = Uint8Array.from(g.standardNormal(code.payloadBits), (value) => value < 0 ? 1 : 0);
  const n0 = 10 ** (-snrDb / 10), noise = g.standardNormal(code.codedBits);
  const llr = Float32Array.from(
    encodePolar(payload, code, rnti),
    (bit, i) => 4 * Math.SQRT1_2 * ((1 - 2 * bit) * Math.SQRT1_2 + noise[i] * Math.sqrt(n0 / 2)) / n0,
  );
  return { payload, llr };
}

Deno.test("words of every message type are the stored ones, and decode without noise with any list", async () => {
  for (const [index, row] of stored.cases.entries()) {
    const { message_type, payload_bits, coded_bits, plan } = row, payload = unpack(row.payload_b64, payload_bits);
    const { coded, metadata } = await encode(payload, { message_type, payload_bits, coded_bits, rnti: row.rnti ?? 0 });
    assert.deepEqual(coded, unpack(row.coded_b64, coded_bits), row.id);
    const record = metadata.nr_polar as JsonObject;
    assert.deepEqual([record.segments, record.crc_bits, record.K, record.N, record.rate_matching], [
      ...[plan.C, plan.L, plan.K, plan.N, plan.rate_matching],
    ]);
    const llr = llrInput(Float32Array.from(coded, (bit) => 4 - 8 * bit), metadata);
    const { bits } = (await runOperation(nrPolarDecoder, { inputs: llr, params: { list_size: [1, 8][index % 2] } }))
      .outputs;
    assert.deepEqual(bits.array().data, payload, row.id);
  }
});

Deno.test("the exact decoder keeps the words of the readable one in their order", () => {
  const g = Generator.seeded(17);
  // Repetition and frozen nodes, parity checks, shortened and punctured words; free and checked nodes that are decided at once.
  const codes: [MessageType, number, number, number, number][] = [
    ...[["dci", 40, 216, -2, 4], ["uci", 12, 40, 0, 4], ["uci", 100, 256, 2, 4], ["uci", 110, 128, 6, 12]],
    ...[["uci", 110, 128, 9, 12], ["uci", 200, 256, 7, 3]],
  ] as [MessageType, number, number, number, number][];
  let ranks = 0;
  for (const [messageType, payloadBits, codedBits, snrDb, blocks] of codes) {
    const code = polarCode(messageType, payloadBits, codedBits);
    for (const listSize of [1, 2, 8, 32]) {
      for (let block = 0; block < blocks; block++) {
        const { llr } = transmitted(code, snrDb, g), options = { listSize, checkNode: "exact" } as const;
        const [found, expected] = [kernelList, decodeList].map((decode) => {
          const lists: Uint8Array[][] = [];
          const result = decodePolar(llr, code, options, (values, own, size) => {
            lists.push(Array.from(decode(values, own, size, "exact"), (word) => word.slice()));
            return lists.at(-1)!;
          });
          return { result, lists };
        });
        assert.deepEqual(
          found,
          expected,
          `${messageType} ${payloadBits}/${codedBits}, list ${listSize}, block ${block}`,
        );
        ranks += found.result.rank;
      }
    }
  }
  assert.ok(ranks > 4 * (3 * 4 + 2 * 12 + 3), "no word but the first passed its CRC");
});

Deno.test("the kernel keeps the words of the readable decoder in their order, with and without ties", () => {
  const g = Generator.seeded(7);
  const codes: [MessageType, number, number, number][] = [
    ...[["dci", 40, 216, -2], ["uci", 12, 40, 0], ["uci", 15, 300, -6], ["uci", 110, 128, 7]],
  ] as [MessageType, number, number, number][];
  for (const [type, payload, sent, snr] of codes) {
    const code = polarCode(type, payload, sent);
    for (const listSize of [1, 2, 8, 32]) {
      for (const steps of [0, 1, 4]) {
        const received = transmitted(code, snr, g).llr;
        const llr = steps === 0 ? received : received.map((value) => Math.round(value * steps) / steps);
        const [words, expected] = [kernelList, decodeList].map((decode) => {
          const lists: Uint8Array[][] = [];
          const result = decodePolar(llr, code, { listSize }, (values, own, size) => {
            lists.push(Array.from(decode(values, own, size, "min_sum"), (word) => word.slice()));
            return lists.at(-1)!;
          });
          return { result, lists };
        });
        assert.deepEqual(words, expected, `${type} ${payload}/${sent}, list ${listSize}, steps ${steps}`);
      }
    }
  }
});

Deno.test("block error rates are those of stored points, within intervals", () => {
  const g = Generator.seeded(11);
  for (const point of bler.points) {
    // The others need more blocks than a test should decode.
    if (point.check_node !== "min_sum" || point.bler < 0.05) continue;
    const code = polarCode(point.message_type as MessageType, point.payload_bits, point.coded_bits);
    const rnti = point.message_type === "dci" ? 0x1234 : 0, options = { listSize: point.list_size, rnti };
    let errors = 0, blocks = 0;
    while (errors < 100) {
      const { payload, llr } = transmitted(code, point.snr_db, g, rnti);
      const { bits, crcPassed } = decodePolar(llr, code, options);
      errors += crcPassed && payload.every((bit, i) => bit === bits[i]) ? 0 : 1;
      blocks++;
    }
    const own = wilsonInterval(errors, blocks, 0.999), other = wilsonInterval(point.block_errors, point.blocks, 0.999);
    const place = `${point.message_type} list ${point.list_size} at ${point.snr_db} dB: ${
      errors / blocks
    }, ${point.bler}`;
    assert.ok(own.low <= other.high && other.low <= own.high, place);
  }
});

Deno.test("a failed message is zeros, its estimate, or an error; the RNTI is part of the CRC", async () => {
  const { coded, metadata } = await encode(someBits(80), { rnti: 9 });
  const values = Float32Array.from(coded, (bit, i) => i < 216 ? 4 - 8 * bit : [3, -2, 1][i % 3]);
  const decode = (params: JsonObject, record = metadata) =>
    runOperation(nrPolarDecoder, { inputs: llrInput(values, record), params });
  const { outputs: { bits, report } } = await decode({});
  assert.deepEqual(bits.array().data, Uint8Array.from([...someBits(80).subarray(0, 40), ...new Uint8Array(40)]));
  assert.deepEqual((report.json() as JsonObject).crc_passed, [true, false]);
  const kept = (await decode({ on_crc_failure: "keep_estimate" })).outputs.bits.array().data as Uint8Array;
  assert.ok(kept.subarray(40).includes(1));
  await refuses("tb_crc_failed", () => decode({ on_crc_failure: "raise" }));
  const other = { ...metadata, nr_polar: { ...(metadata.nr_polar as JsonObject), rnti: 10 } };
  assert.deepEqual(((await decode({}, other)).outputs.report.json() as JsonObject).crc_pass_count, 0);
});

Deno.test("lengths without a code are refused", () => {
  for (
    const [type, payload, sent] of [["dci", 11, 108], ["bch", 141, 864], ["uci", 12, 20], ["uci", 40, 8193]] as const
  ) {
    assert.throws(() => polarCode(type, payload, sent), RangeError, `${type} ${payload} ${sent}`);
  }
});

Deno.test("a block whose CRC fails loses the source items that have bits in it, and no others", async () => {
  const counts = [30, 20, 60, 0, 50, 20], bits = someBits(180);
  const { outputs: { coded_bits } } = await runOperation(nrPolarEncoder, {
    inputs: { bits: payloadInput(bits, { source_item_counts: counts }) },
    params: { message_type: "uci", payload_bits: 40, coded_bits: 216 },
  });
  // Blocks of 40 bits; the second, bits 40 to 79, has noise only.
  const llr = Float32Array.from(
    coded_bits.array().data as Uint8Array,
    (bit, i) => i >= 216 && i < 432 ? (i % 7 - 3) / 3 : 4 - 8 * bit,
  );
  const lost = async (params: JsonObject) => {
    const inputs = llrInput(llr, coded_bits.metadata);
    return (await runOperation(nrPolarDecoder, { inputs, params })).outputs.bits.metadata;
  };
  const metadata = await lost({});
  assert.deepEqual(metadata.failed_block_indices, [1]);
  assert.deepEqual(metadata.failed_item_indices, [1, 2]);
  assert.equal((await lost({ on_crc_failure: "keep_estimate" })).failed_item_indices, undefined);
});

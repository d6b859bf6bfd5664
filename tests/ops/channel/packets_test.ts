import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import packets from "../../../ops/channel/packets.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { packetReader, packetWriter } from "../../../ops/channel/_crc_packets.ts";
import { dataPlane } from "../../../ops/_data_plane.ts";
import { bitsInput, payloadInput, someBits } from "../inputs.ts";
import { outputOf, refuses, runOperation } from "../harness.ts";

const [packetize, packetizeV2, crc32Check] = packets;

const bitsOf = (result: { outputs: Record<string, { array(): { data: unknown } }> }) =>
  result.outputs.bits.array().data as Uint8Array;

Deno.test("a packet has the published layout and the CRC-32 of zlib", async () => {
  // Nine bytes "123456789" behind the header; reference CRC from zlib over header and payload.
  const payload = unpackBits(new TextEncoder().encode("123456789"));
  const result = await runOperation(packetize, {
    inputs: { bits: payloadInput(payload) },
    params: { packet_payload_bits: 72 },
  });
  const bytes = packBits(bitsOf(result));
  assert.equal(bytes.length * 8, 96 + 72 + 32);
  assert.equal(bytes.toHex(), "040100000000000000000048" + "313233343536373839" + "960a90aa");
  const { metadata } = result.outputs.bits;
  assert.equal(metadata.packet_protocol, "svc.source_item_crc32.v4");
  assert.equal(metadata.packet_total_bits, 200);
  assert.deepEqual(metadata.packet_source_item_counts, [1]);
  assert.equal(metadata.packet_crc_reference, "received_crc_only");
  assert.deepEqual(metadata.source_item_counts, [200]);
});

Deno.test("headers count items, offsets and valid lengths; only the last packet of an item is flagged", async () => {
  const result = await runOperation(packetize, {
    inputs: { bits: payloadInput(someBits(21), { source_item_counts: [18, 0, 3] }) },
    params: { packet_payload_bits: 8 },
  });
  const bytes = packBits(bitsOf(result));
  const headers = Array.from({ length: bytes.length / 17 }, (_, i) => {
    const view = new DataView(bytes.buffer, i * 17, 12);
    return [view.getUint8(1), view.getUint32(2), view.getUint32(6), view.getUint16(10)];
  });
  assert.deepEqual(headers, [[0, 0, 0, 8], [0, 0, 8, 8], [1, 0, 16, 2], [1, 1, 0, 0], [1, 2, 0, 3]]);
  assert.deepEqual(result.outputs.bits.metadata.source_item_counts, [408, 136, 136]);
});

Deno.test("packets are the same whatever the parts are in which their bits are given and received", async () => {
  const items = [18, 0, 3, 40, 0],
    bits = someBits(61),
    kernels = await dataPlane({
      params: { data_plane_backend: "python_numpy" },
      backend: "python",
    });
  const framedIn = (size: number) => {
    const write = packetWriter(kernels, items, 16), framed: number[] = [];
    for (let at = 0; at < bits.length; at += size) {
      framed.push(...write(bits.subarray(at, at + size), (length) => new Uint8Array(length).fill(9)));
    }
    return Uint8Array.from(framed);
  };
  const whole = framedIn(bits.length), { items: received, read } = packetReader(kernels, [2, 1, 1, 3, 1], 144);
  for (const size of [1, 5, 17, 60]) assert.deepEqual(framedIn(size), whole);
  for (let at = 0; at < whole.length; at += 288) read(whole.subarray(at, at + 288));
  assert.deepEqual(received.map(({ lost }) => lost), [[0, 0], [0], [0], [0, 0, 0], [0]]);
  assert.deepEqual(received.flatMap(({ bestEffort }) => bestEffort).flatMap((part) => [...part]), [...bits]);
});

Deno.test("framing and checking are inverse for odd sizes, item boundaries and both versions", async () => {
  for (
    const [operation, payloadBits, items] of [
      [packetize, 8, [1, 7, 8, 9, 0]],
      [packetizeV2, 64, [640, 1]],
      [packetize, 4096, [5000]],
    ] as const
  ) {
    const sent = someBits(items.reduce<number>((sum, count) => sum + count, 0));
    const framed = await runOperation(operation, {
      inputs: { bits: payloadInput(sent, { source_item_counts: [...items], text_ids: ["a"] }) },
      params: { packet_payload_bits: payloadBits },
    });
    const back = await runOperation(crc32Check, {
      inputs: { bits: { ...outputOf(framed.outputs.bits), kind: "channel.bits.numpy" } },
    });
    assert.deepEqual(bitsOf(back), sent);
    const { metadata } = back.outputs.bits;
    assert.deepEqual(metadata.item_bit_counts, [...items]);
    assert.deepEqual(metadata.source_item_counts, [...items]);
    assert.deepEqual(metadata.failed_item_indices, []);
    assert.equal(metadata.packet_success_count, metadata.packet_count);
    assert.deepEqual(metadata.text_ids, ["a"]);
    assert.equal(metadata.packet_protocol, undefined);
    assert.equal(back.metrics["channel.packet_success_rate"], 1);
  }
});

async function damaged(flip: number[], policy: string, items = [16, 16], payloadBits = 8) {
  const sent = someBits(items.reduce((sum, count) => sum + count, 0), 5);
  const framed = await runOperation(packetize, {
    inputs: { bits: payloadInput(sent, { source_item_counts: items }) },
    params: { packet_payload_bits: payloadBits },
  });
  const received = bitsOf(framed).slice();
  for (const index of flip) received[index] ^= 1;
  const result = await runOperation(crc32Check, {
    inputs: { bits: bitsInput(received, framed.outputs.bits.metadata) },
    params: { on_decode_failure: policy },
  });
  return { sent, received, bits: bitsOf(result), metadata: result.outputs.bits.metadata, metrics: result.metrics };
}

Deno.test("one failed packet fails its item alone", async () => {
  for (const policy of ["gray_image", "erasure"]) {
    const { sent, bits, metadata, metrics } = await damaged([136 + 100], policy);
    assert.deepEqual(bits, Uint8Array.from([...new Uint8Array(16), ...sent.subarray(16)]));
    assert.deepEqual(metadata.failed_item_indices, [0]);
    assert.equal(metadata.packet_success_count, 3);
    assert.equal(metadata.packet_count, 4);
    assert.equal(metrics["channel.packet_success_rate"], 0.75);
  }
});

Deno.test("every bit of a packet is protected", async () => {
  for (let bit = 0; bit < 136; bit++) {
    const { metadata } = await damaged([bit], "erasure", [8]);
    assert.deepEqual(metadata.failed_item_indices, [0], `bit ${bit}`);
  }
});

Deno.test("report_outage keeps the best effort: full payloads where the CRC fails", async () => {
  const { sent, bits, metadata } = await damaged([136 + 96], "report_outage", [12]);
  // The second packet holds 4 valid bits and 4 of padding, and its first bit arrived flipped.
  const expected = [...sent.subarray(0, 8), sent[8] ^ 1, ...sent.subarray(9, 12), 0, 0, 0, 0];
  assert.deepEqual([...bits], expected);
  assert.deepEqual(metadata.item_bit_counts, [16]);
  assert.deepEqual(metadata.failed_item_indices, [0]);
});

Deno.test("a packet with a valid CRC in another packet's place fails", async () => {
  const sent = someBits(16, 9);
  const framed = await runOperation(packetize, {
    inputs: { bits: payloadInput(sent, { source_item_counts: [8, 8] }) },
    params: { packet_payload_bits: 8 },
  });
  const bits = bitsOf(framed);
  const swapped = Uint8Array.from([...bits.subarray(136), ...bits.subarray(0, 136)]);
  const result = await runOperation(crc32Check, { inputs: { bits: bitsInput(swapped, framed.outputs.bits.metadata) } });
  assert.deepEqual(result.outputs.bits.metadata.failed_item_indices, [0, 1]);
});

Deno.test("a packet fails for a wrong version, item, offset or length, though its CRC holds", async () => {
  const framed = await runOperation(packetize, {
    inputs: { bits: payloadInput(someBits(8)) },
    params: { packet_payload_bits: 8 },
  });
  const changes: [string, (view: DataView) => void][] = [
    ["version", (view) => view.setUint8(0, 5)],
    ["item_index", (view) => view.setUint32(2, 1)],
    ["bit_offset", (view) => view.setUint32(6, 8)],
    ["payload_length", (view) => view.setUint16(10, 9)],
  ];
  for (const [field, change] of changes) {
    const bytes = packBits(bitsOf(framed));
    const view = new DataView(bytes.buffer);
    change(view);
    view.setUint32(13, crc32(bytes.subarray(0, 13)));
    const result = await runOperation(crc32Check, {
      inputs: { bits: bitsInput(unpackBits(bytes), framed.outputs.bits.metadata) },
      params: { on_decode_failure: "report_outage" },
    });
    assert.deepEqual(result.outputs.bits.metadata.failed_item_indices, [0], field);
    assert.equal(bitsOf(result).length, 8);
  }
});

Deno.test("missing layouts, wrong lengths and partial bytes are refused", async () => {
  await refuses(
    "packet_layout_missing",
    () => runOperation(crc32Check, { inputs: { bits: bitsInput(someBits(136)) } }),
  );
  const layout = {
    packet_protocol: "svc.source_item_crc32.v4",
    packet_total_bits: 136,
    packet_source_item_counts: [1],
  };
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(crc32Check, { inputs: { bits: bitsInput(someBits(135), layout) } }),
  );
  await refuses(
    "packet_layout_missing",
    () =>
      runOperation(crc32Check, { inputs: { bits: bitsInput(someBits(136), { ...layout, packet_protocol: "v3" }) } }),
  );
  await refuses(
    "packet_layout_missing",
    () =>
      runOperation(crc32Check, { inputs: { bits: bitsInput(someBits(128), { ...layout, packet_total_bits: 128 }) } }),
  );
  await refuses(
    "params_invalid",
    () => runOperation(packetize, { inputs: { bits: payloadInput(someBits(9)) }, params: { packet_payload_bits: 12 } }),
  );
});

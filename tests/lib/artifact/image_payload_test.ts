import assert from "node:assert/strict";
import {
  type ImagePayloadItem,
  imagePayloadMetadata,
  packImagePayload,
  readImagePayload,
  unpackImagePayload,
} from "../../../lib/artifact/image_payload.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";

const ITEMS: ImagePayloadItem[] = [
  { height: 2, width: 300, channels: 3, data: Uint8Array.of(1, 2, 250) },
  { height: 2, width: 300, channels: 3, data: Uint8Array.of(255) },
];
const SHAPE = { count: 2, height: 2, width: 300, channels: 3 };
const FORMATS = ["safe_json_base64", "compact_binary_v1"] as const;

const isInvalid = (value: unknown) => value instanceof SvcError && value.code === "image_payload_invalid";

Deno.test("the containers have their stated bytes", () => {
  const json = packImagePayload(ITEMS, "jpeg", "safe_json_base64");
  assert.equal(
    new TextDecoder().decode(json.bytes),
    '{"codec":"jpeg","items":[{"channels":3,"data":"AQL6","height":2,"width":300},' +
      '{"channels":3,"data":"/w==","height":2,"width":300}],"kind":"svc.image_payload"}',
  );
  assert.deepEqual(json.itemByteCounts, [json.bytes.length]);
  const compact = packImagePayload(ITEMS, "codeclib", "compact_binary_v1");
  assert.deepEqual([...compact.bytes], [
    ...[0x53, 0x56, 0x43, 0x31, 1, 2, 0, 2],
    ...[0, 2, 1, 44, 3, 0, 0, 0, 3, 1, 2, 250],
    ...[0, 2, 1, 44, 3, 0, 0, 0, 1, 255],
  ]);
  assert.deepEqual(compact.itemByteCounts, [20, 10]);
});

Deno.test("both containers come apart again, by their own headers and by metadata", () => {
  for (const format of FORMATS) {
    const { bytes, itemByteCounts } = packImagePayload(ITEMS, "jpeg", format);
    assert.deepEqual(unpackImagePayload(bytes, { codec: "jpeg" }), ITEMS);
    assert.deepEqual(unpackImagePayload(bytes, { codec: "jpeg", format }), ITEMS);
    const metadata = imagePayloadMetadata(SHAPE, "jpeg", format, itemByteCounts);
    assert.deepEqual(readImagePayload(unpackBits(bytes), metadata, "jpeg"), ITEMS);
    const padded = new Uint8Array(bytes.length * 8 + 13).fill(1);
    padded.set(unpackBits(bytes));
    assert.deepEqual(readImagePayload(padded, metadata, "jpeg"), ITEMS);
  }
  const empty = packImagePayload([], "jpeg", "compact_binary_v1");
  assert.deepEqual([...empty.bytes], [0x53, 0x56, 0x43, 0x31, 1, 1, 0, 0]);
  assert.deepEqual(unpackImagePayload(empty.bytes, { codec: "jpeg" }), []);
});

Deno.test("damaged headers of compact items are not believed", () => {
  const { bytes, itemByteCounts } = packImagePayload(ITEMS, "jpeg", "compact_binary_v1");
  const metadata = imagePayloadMetadata(SHAPE, "jpeg", "compact_binary_v1", itemByteCounts);
  const broken = bytes.slice();
  for (const at of [...Array(17).keys(), ...Array.from({ length: 9 }, (_, k) => 20 + k)]) broken[at] ^= 0xff;
  assert.deepEqual(readImagePayload(unpackBits(broken), metadata, "jpeg"), ITEMS);
});

Deno.test("a failed item costs one compact image or the whole JSON payload", () => {
  const compact = packImagePayload(ITEMS, "jpeg", "compact_binary_v1");
  const layout = imagePayloadMetadata(SHAPE, "jpeg", "compact_binary_v1", compact.itemByteCounts);
  // The link put out more bits for the failed first item than it had.
  const bits = unpackBits(compact.bytes);
  const longer = new Uint8Array(96 + bits.length);
  longer.set(bits.subarray(160), 256);
  const received = readImagePayload(longer, {
    ...layout,
    source_item_counts: [256, 80],
    item_bit_counts: [256, 80],
    failed_item_indices: [0],
  }, "jpeg");
  assert.ok(isInvalid(received[0]));
  assert.deepEqual(received[1], ITEMS[1]);

  const json = packImagePayload(ITEMS, "jpeg", "safe_json_base64");
  const whole = readImagePayload(unpackBits(json.bytes), {
    ...imagePayloadMetadata(SHAPE, "jpeg", "safe_json_base64", json.itemByteCounts),
    failed_item_indices: [0],
  }, "jpeg");
  assert.deepEqual(whole.map(isInvalid), [true, true]);
});

Deno.test("bits that are missing fail the images they belong to", () => {
  const { bytes, itemByteCounts } = packImagePayload(ITEMS, "jpeg", "compact_binary_v1");
  const metadata = imagePayloadMetadata(SHAPE, "jpeg", "compact_binary_v1", itemByteCounts);
  const [first, second] = readImagePayload(unpackBits(bytes).subarray(0, 165), metadata, "jpeg");
  assert.deepEqual(first, ITEMS[0]);
  assert.ok(isInvalid(second));
  assert.deepEqual(readImagePayload(new Uint8Array(0), metadata, "jpeg").map(isInvalid), [true, true]);
  const [kept, cut] = unpackImagePayload(bytes.subarray(0, 25), { codec: "jpeg" });
  assert.deepEqual(kept, ITEMS[0]);
  assert.ok(isInvalid(cut));
});

Deno.test("every damaged byte gives images or coded errors, as many as were sent", () => {
  for (const format of FORMATS) {
    const { bytes, itemByteCounts } = packImagePayload(ITEMS, "jpeg", format);
    const metadata = imagePayloadMetadata(SHAPE, "jpeg", format, itemByteCounts);
    let unreadable = 0;
    for (let at = 0; at < bytes.length; at++) {
      for (const flip of [1, 0x80, 0xff]) {
        const broken = bytes.slice();
        broken[at] ^= flip;
        const received = readImagePayload(unpackBits(broken), metadata, "jpeg");
        assert.equal(received.length, 2);
        for (const item of received) assert.ok(isInvalid(item) || !(item instanceof SvcError));
        try {
          unpackImagePayload(broken, { codec: "jpeg", format });
        } catch (error) {
          assert.ok(isInvalid(error), String(error));
          unreadable++;
        }
      }
    }
    assert.ok(unreadable > 0);
  }
});

Deno.test("another codec, another number of images and impossible sizes are refused", () => {
  const { bytes, itemByteCounts } = packImagePayload(ITEMS, "jpeg", "compact_binary_v1");
  const metadata = imagePayloadMetadata(SHAPE, "jpeg", "compact_binary_v1", itemByteCounts);
  assert.throws(() => readImagePayload(unpackBits(bytes), metadata, "codeclib"), isInvalid);
  assert.throws(() => unpackImagePayload(bytes, { codec: "codeclib" }), isInvalid);
  const three = unpackImagePayload(bytes, { codec: "jpeg", shapes: [SHAPE, SHAPE, SHAPE] });
  assert.deepEqual(three.map(isInvalid), [true, true, true]);
  assert.throws(
    () => readImagePayload(unpackBits(bytes), { ...metadata, image_height: 0 }, "jpeg"),
    (error) => error instanceof SvcError && error.code === "boundary_shape_invalid",
  );
  assert.throws(
    () =>
      packImagePayload(
        [{ height: 65536, width: 1, channels: 1, data: new Uint8Array(1) }],
        "jpeg",
        "compact_binary_v1",
      ),
    (error) => error instanceof SvcError && error.code === "boundary_shape_invalid",
  );
  assert.throws(
    () => packImagePayload(Array(65536).fill(ITEMS[0]), "jpeg", "compact_binary_v1"),
    (error) => error instanceof SvcError && error.code === "boundary_shape_invalid",
  );
});

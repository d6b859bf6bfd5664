import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { byTables, crc32Of } from "../../../lib/artifact/crc32.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

Deno.test("the tables and the native function give one CRC, whole and in parts", () => {
  assert.equal(byTables(new TextEncoder().encode("123456789"), 0), 0xCBF43926);
  const bytes = Generator.seeded(5).integers(0, 256, 5000, "uint8") as Uint8Array<ArrayBuffer>;
  for (const at of [0, 1, 255, 4999, 5000]) {
    const first = bytes.subarray(0, at), rest = bytes.subarray(at);
    assert.equal(byTables(rest, byTables(first, 0)), crc32(bytes), `parts at ${at}`);
    // From some bytes on the native function continues.
    assert.equal(byTables(rest, crc32Of(first)), crc32(bytes));
    assert.equal(crc32Of(rest, crc32Of(first)), crc32(bytes));
  }
  for (let length = 0; length < 40; length++) {
    const part = bytes.subarray(length, 2 * length);
    assert.equal(byTables(part, length), crc32(part, length), `${length} bytes`);
  }
  // A long array loads the native function for all later ones.
  const long = new Uint8Array(100_000).fill(7);
  for (const part of [long, bytes, long]) assert.equal(crc32Of(part), crc32(part));
});

import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { byTable, crc32Of } from "../../../lib/artifact/crc32.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

Deno.test("the table and the native function give one CRC, whole and in parts", () => {
  assert.equal(byTable(new TextEncoder().encode("123456789"), 0), 0xCBF43926);
  const bytes = Generator.seeded(5).integers(0, 256, 5000, "uint8") as Uint8Array<ArrayBuffer>;
  for (const at of [0, 1, 255, 4999, 5000]) {
    const first = bytes.subarray(0, at), rest = bytes.subarray(at);
    assert.equal(byTable(rest, byTable(first, 0)), crc32(bytes), `parts at ${at}`);
    // From some bytes on the native function continues.
    assert.equal(byTable(rest, crc32Of(first)), crc32(bytes));
    assert.equal(crc32Of(rest, crc32Of(first)), crc32(bytes));
  }
  for (let i = 0; i < 100; i++) assert.equal(crc32Of(bytes), crc32(bytes), `call ${i}`);
});

import assert from "node:assert/strict";
import { CORE_ROWS, liftedCode, LIFTING_SIZES } from "../../../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import { LARGEST_BLOCK, legalBlockSize, SMALL_BLOCK_SIZES } from "../../../../lib/numeric/coding/nr_ldpc/block_size.ts";
import {
  chooseBaseGraph,
  codedBitCount,
  codeParameters,
} from "../../../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { CRC16, CRC24A, CRC24B } from "../../../../lib/numeric/coding/nr_ldpc/crc.ts";
import { crcRemainder } from "../../../support/nr_ldpc_reference.ts";
import { goldSequence, scramblingSeed } from "../../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { unpackBits } from "../../../../lib/numeric/array/bit_packing.ts";

Deno.test("51 lifting sizes a · 2^j up to 384", () => {
  const sizes = [2, 3, 5, 7, 9, 11, 13, 15].flatMap((a) => Array.from({ length: 8 }, (_, j) => a * 2 ** j));
  assert.deepEqual([...LIFTING_SIZES], sizes.filter((size) => size <= 384).sort((a, b) => a - b));
  assert.equal(LIFTING_SIZES.length, 51);
  assert.throws(() => liftedCode(1, 17), /Cannot lift a base graph by 17/);
});

Deno.test("base graphs have the shape of TS 38.212: entries, staircase, own parity columns", () => {
  for (const [graph, rows, columns, entries] of [[1, 46, 68, 316], [2, 42, 52, 197]] as const) {
    for (const size of [2, 28, 384, 104]) {
      const code = liftedCode(graph, size);
      assert.deepEqual([code.rows.length, code.columns, code.rows.flat().length], [rows, columns, entries]);
      assert.ok(code.rows.flat().every(({ shift }) => shift >= 0 && shift < size));
      code.rows.slice(CORE_ROWS).forEach((row, i) => {
        assert.deepEqual(row.at(-1), { column: code.informationColumns + CORE_ROWS + i, shift: 0 });
      });
    }
  }
});

/** What TS 38.214 section 5.1.3.2 makes of an amount of information, written as the standard writes it. */
function standardSize(information: number, rate: number): number {
  if (information <= 3824) {
    const n = Math.max(3, Math.floor(Math.log2(information)) - 6);
    const quantised = Math.max(24, 2 ** n * Math.floor(information / 2 ** n));
    return SMALL_BLOCK_SIZES.find((size) => size >= quantised)!;
  }
  const n = Math.floor(Math.log2(information - 24)) - 5;
  const quantised = Math.max(3840, 2 ** n * Math.round((information - 24) / 2 ** n));
  if (rate <= 1 / 4) {
    const blocks = Math.ceil((quantised + 24) / 3816);
    return 8 * blocks * Math.ceil((quantised + 24) / (8 * blocks)) - 24;
  }
  if (quantised > 8424) {
    const blocks = Math.ceil((quantised + 24) / 8424);
    return 8 * blocks * Math.ceil((quantised + 24) / (8 * blocks)) - 24;
  }
  return 8 * Math.ceil((quantised + 24) / 8) - 24;
}

Deno.test("legal block sizes are those the standard forms, and the smallest one not below is chosen", () => {
  assert.equal(SMALL_BLOCK_SIZES.length, 93);
  for (const rate of [0.2, 0.25, 0.2500001, 0.5]) {
    const reach = 140_000;
    const legal = [...new Set(Array.from({ length: reach }, (_, i) => standardSize(i + 1, rate)))].sort((a, b) =>
      a - b
    );
    for (let bits = 1, at = 0; bits < 130_000; bits++) {
      while (legal[at] < bits) at++;
      assert.equal(legalBlockSize(bits, rate), legal[at], `${bits} bits at rate ${rate}`);
    }
  }
  assert.equal(legalBlockSize(16000, 0.5), 16136);
  assert.equal(legalBlockSize(LARGEST_BLOCK, 0.9), LARGEST_BLOCK);
  for (const bits of [0, -1, NaN, LARGEST_BLOCK + 1]) assert.throws(() => legalBlockSize(bits, 0.5), RangeError);
});

Deno.test("every legal size divides into code blocks of whole bytes", () => {
  for (const codeRate of [0.15, 0.5, 0.9]) {
    for (let size = legalBlockSize(1, codeRate); size < 400_000; size = legalBlockSize(size + 1, codeRate)) {
      const parameters = codeParameters({
        blockBits: size,
        codedBits: 4 * size,
        codeRate,
        bitsPerSymbol: 2,
        layers: 1,
      });
      const { codeBlockCount, segmentBits, blockCrc, usedBits, fillerBits, liftingSize, baseGraph } = parameters;
      assert.equal(codeBlockCount * segmentBits, size + blockCrc.bits);
      assert.equal(usedBits + fillerBits, (baseGraph === 1 ? 22 : 10) * liftingSize);
      assert.ok(usedBits <= (baseGraph === 1 ? 8448 : 3840) && fillerBits >= 0);
    }
  }
});

Deno.test("the base graph follows size and rate", () => {
  const cases: [number, number, 1 | 2][] = [
    [292, 0.95, 2],
    [293, 0.68, 1],
    [293, 0.67, 2],
    [3824, 0.67, 2],
    [3825, 0.67, 1],
    [100_000, 0.25, 2],
    [100_000, 0.26, 1],
  ];
  for (const [bits, rate, graph] of cases) assert.equal(chooseBaseGraph(bits, rate), graph, `${bits} at ${rate}`);
});

Deno.test("coded bits are whole symbols on all layers, whatever rounding did to the rate", () => {
  assert.equal(codedBitCount(16136, 0.5, 2, 1), 32272);
  assert.equal(codedBitCount(24, 1 / 3, 2, 1), 72);
  assert.equal(codedBitCount(24, 0.1 + 0.2, 2, 1), 80);
  assert.equal(codedBitCount(25, 0.5, 6, 4), 72);
});

Deno.test("the coded bits of the code blocks differ by one symbol on all layers at most, larger shares last", () => {
  const parameters = codeParameters({
    blockBits: 20496,
    codedBits: 33000,
    codeRate: 0.6214,
    bitsPerSymbol: 6,
    layers: 1,
  });
  assert.deepEqual(parameters.codedBitsOfBlock, [10998, 10998, 11004]);
});

Deno.test("parameters that no transport block has are refused", () => {
  const good = { blockBits: 1032, codedBits: 2064, codeRate: 0.5, bitsPerSymbol: 2, layers: 1 };
  codeParameters(good);
  const bad = [
    { blockBits: 0 },
    { blockBits: 1033 },
    { blockBits: 1.5 },
    { blockBits: 16144 },
    { codedBits: 2065 },
    { codedBits: 0 },
    { codedBits: NaN },
    { codeRate: 0 },
    { codeRate: NaN },
    { codeRate: 1.1 },
    { bitsPerSymbol: 3 },
    { layers: 0 },
    { layers: 5 },
    { blockBits: 1_277_992, codedBits: 2 },
  ];
  for (const change of bad) {
    assert.throws(() => codeParameters({ ...good, ...change }), RangeError, JSON.stringify(change));
  }
});

Deno.test("CRCs give the check values of their catalogue", () => {
  const digits = unpackBits(new TextEncoder().encode("123456789"));
  assert.equal(crcRemainder(digits, CRC24A), 0xcde703);
  assert.equal(crcRemainder(digits, CRC24B), 0x23ef52);
  assert.equal(crcRemainder(digits, CRC16), 0x31c3);
});

Deno.test("the Gold sequence obeys its recursions", () => {
  for (const seed of [0, 1, 229379, 2 ** 31 - 1, 0x55555555]) {
    const length = 500, x1 = [1, ...Array(30).fill(0)], x2 = Array.from({ length: 31 }, (_, i) => seed >>> i & 1);
    for (let n = 0; n < 1600 + length; n++) {
      x1.push(x1[n + 3] ^ x1[n]);
      x2.push(x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n]);
    }
    const expected = Uint8Array.from({ length }, (_, n) => x1[n + 1600] ^ x2[n + 1600]);
    assert.deepEqual(goldSequence(seed, length), expected);
    for (const count of [0, 1, 27, 28, 29]) assert.deepEqual(goldSequence(seed, count), expected.slice(0, count));
  }
});

Deno.test("only the downlink scrambles by codeword", () => {
  assert.equal(scramblingSeed("PUSCH", 7, 3, 1), 229379);
  assert.equal(scramblingSeed("PDSCH", 7, 3, 1), 229379 + 16384);
  assert.equal(scramblingSeed("PDSCH", 65535, 1023, 1), 65535 * 32768 + 16384 + 1023);
});

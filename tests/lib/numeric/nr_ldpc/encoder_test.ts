import assert from "node:assert/strict";
import { liftedCode, LIFTING_SIZES } from "../../../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import { codeParameters } from "../../../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { CRC16, CRC24A, CRC24B } from "../../../../lib/numeric/coding/nr_ldpc/crc.ts";
import { decodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { CRC_KINDS, encodeCodeword, encodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { allocate, bytesAt, kernels } from "../../../../lib/numeric/coding/nr_ldpc/kernel_memory.ts";
import { checksHold, crcRemainder } from "../../../support/nr_ldpc_reference.ts";
import { goldSequence, scramblingSeed } from "../../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { packBits, unpackBits } from "../../../../lib/numeric/array/bit_packing.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import { blockOf, qpskBlock, randomBits } from "./_blocks.ts";

interface StoredBlock {
  id: string;
  tb_size: number;
  num_coded_bits: number;
  target_coderate: number;
  num_bits_per_symbol: number;
  num_layers: number;
  n_rnti: number;
  n_id: number;
  channel_type: "PUSCH" | "PDSCH";
  codeword_index: number;
  c_init: number;
  derived: Record<"base_graph" | "lifting_z" | "tb_crc_length" | "num_cbs" | "cb_size_k" | "k_ldpc", number> & {
    cw_lengths: number[];
  };
  input_b64: string;
  coded_unscrambled_b64: string;
  coded_scrambled_b64: string;
}

const STORED: StoredBlock[] = JSON.parse(
  Deno.readTextFileSync(new URL("../../../data/nr_ldpc/transport_blocks.json", import.meta.url)),
).cases;

for (const block of STORED) {
  Deno.test(`transport block ${block.id} is bit-exact, there and back`, () => {
    const parameters = codeParameters({
      blockBits: block.tb_size,
      codedBits: block.num_coded_bits,
      codeRate: block.target_coderate,
      bitsPerSymbol: block.num_bits_per_symbol,
      layers: block.num_layers,
    });
    const { derived } = block;
    assert.equal(parameters.baseGraph, derived.base_graph);
    assert.equal(parameters.liftingSize, derived.lifting_z);
    assert.equal(parameters.blockCrc.bits, derived.tb_crc_length);
    assert.equal(parameters.codeBlockCount, derived.num_cbs);
    assert.equal(parameters.usedBits, derived.cb_size_k);
    assert.equal(parameters.usedBits + parameters.fillerBits, derived.k_ldpc);
    assert.deepEqual(parameters.codedBitsOfBlock, derived.cw_lengths);

    const seed = scramblingSeed(block.channel_type, block.n_rnti, block.n_id, block.codeword_index);
    assert.equal(seed, block.c_init);
    const scrambling = goldSequence(seed, block.num_coded_bits);
    const bits = unpackBits(Uint8Array.fromBase64(block.input_b64)).subarray(0, block.tb_size);
    const plain = encodeTransportBlock(bits, parameters);
    assert.equal(packBits(plain).toBase64(), block.coded_unscrambled_b64);
    const scrambled = encodeTransportBlock(bits, parameters, scrambling);
    assert.equal(packBits(scrambled).toBase64(), block.coded_scrambled_b64);

    const decoded = decodeTransportBlock(Float32Array.from(scrambled, (bit) => 3 - 6 * bit), parameters, {
      iterations: 20,
      scrambling,
    });
    assert.ok(decoded.crcPassed);
    assert.deepEqual(decoded.bits, bits.slice());
  });
}

Deno.test("H·c = 0 for every lifting size of both base graphs", () => {
  const generator = Generator.seeded(1);
  for (const baseGraph of [1, 2] as const) {
    for (const size of LIFTING_SIZES) {
      const code = liftedCode(baseGraph, size);
      const bits = randomBits(generator, code.informationColumns * size);
      const codeword = encodeCodeword(code, bits);
      assert.deepEqual(codeword.subarray(0, bits.length), bits, "the code is systematic");
      assert.ok(checksHold(code, codeword), `base graph ${baseGraph}, Z = ${size}`);
      codeword[bits.length] ^= 1;
      assert.ok(!checksHold(code, codeword));
    }
  }
});

Deno.test("the kernel's CRC is the long division", () => {
  const generator = Generator.seeded(2);
  for (const crc of [CRC16, CRC24A, CRC24B]) {
    for (const length of [0, 8, 24, 40, 8448, 8456, 30000]) {
      const bits = randomBits(generator, length), [address] = allocate(length);
      bytesAt(address, length).set(bits);
      const register = kernels.crcBits(CRC_KINDS[crc.name], 0, address, length) as number;
      let value = 0;
      for (let i = 0; i < crc.bits; i++) value = value << 1 | (register >>> i & 1);
      assert.equal(value, crcRemainder(bits, crc), `${crc.name} of ${length} bits`);
    }
  }
});

Deno.test("below the mother rate the coded bits repeat the circular buffer", () => {
  const bits = randomBits(Generator.seeded(3), 24);
  // One bit per symbol leaves the order of the buffer as it is.
  const plain = codeParameters({ blockBits: 24, codedBits: 800, codeRate: 0.03, bitsPerSymbol: 1, layers: 1 });
  const coded = encodeTransportBlock(bits, plain);
  const buffer = 50 * plain.liftingSize - plain.fillerBits;
  assert.ok(buffer < 800 / 2);
  for (let i = buffer; i < 800; i++) assert.equal(coded[i], coded[i - buffer]);
  assert.deepEqual(coded.subarray(0, 24 - 2 * plain.liftingSize), bits.subarray(2 * plain.liftingSize));
});

Deno.test("the code is linear and interleaving is by rows of a symbol", () => {
  const generator = Generator.seeded(4);
  for (const bitsPerSymbol of [1, 2, 4, 6, 8]) {
    for (const layers of [1, 2, 3, 4]) {
      const parameters = blockOf(8456, 0.7, bitsPerSymbol, layers);
      const [a, b] = [randomBits(generator, 8456), randomBits(generator, 8456)];
      const sum = encodeTransportBlock(a.map((bit, i) => bit ^ b[i]), parameters);
      const [codedA, codedB] = [a, b].map((bits) => encodeTransportBlock(bits, parameters));
      assert.deepEqual(sum, codedA.map((bit, i) => bit ^ codedB[i]));
      const flat = encodeTransportBlock(a, { ...parameters, bitsPerSymbol: 1 });
      let start = 0;
      for (const count of parameters.codedBitsOfBlock) {
        const length = count / bitsPerSymbol;
        for (let k = 0; k < count; k++) {
          assert.equal(codedA[start + (k % length) * bitsPerSymbol + Math.floor(k / length)], flat[start + k]);
        }
        start += count;
      }
    }
  }
});

Deno.test("arrays of other lengths are refused", () => {
  const parameters = qpskBlock(1032, 0.5);
  assert.throws(() => encodeTransportBlock(new Uint8Array(1031), parameters), /Cannot use 1031 bits: 1032 are needed/);
  assert.throws(() => encodeTransportBlock(new Uint8Array(1032), parameters, new Uint8Array(5)), RangeError);
  assert.throws(() => encodeCodeword(liftedCode(2, 2), new Uint8Array(21)), RangeError);
});

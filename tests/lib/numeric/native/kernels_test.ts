/** Every level of the native kernels against the portable ones: the same bits, not nearly the same. */
import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { differingBits, failedBlocks } from "../../../../lib/numeric/coding/bit_errors.ts";
import { bitsIndex, indexBits, packBits, unpackBits } from "../../../../lib/numeric/array/bit_packing.ts";
import {
  demodulateIdentity,
  demodulateLlr,
  hardBits,
  mapToPoints,
  modulate,
} from "../../../../lib/numeric/link/modulation.ts";
import { MODULATIONS } from "../../../../lib/numeric/link/modulations.ts";
import { type Level, LEVELS, NativeKernels } from "../../../../lib/numeric/native/kernels.ts";
import { majorityBits, repeatBits } from "../../../../lib/numeric/coding/repetition.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import { NATIVE_LIBRARY, needsNative } from "../../../support/native.ts";

/** The levels that this processor has. */
const kernels = NATIVE_LIBRARY === null ? [] : LEVELS.flatMap((level): NativeKernels[] => {
  try {
    return [NativeKernels.open(NATIVE_LIBRARY!, level)];
  } catch (error) {
    assert.ok(error instanceof RangeError && level !== "baseline", String(error));
    return [];
  }
});
const highest = NATIVE_LIBRARY === null ? null : NativeKernels.open(NATIVE_LIBRARY);

function onEveryLevel(name: string, check: (native: NativeKernels) => void): void {
  Deno.test(name, needsNative(), async (t) => {
    for (const native of kernels) await t.step(native.level, () => check(native));
  });
}

/** Equal to the last bit, the sign of zero included. */
function assertSameBits(actual: Float32Array, expected: Float32Array, message = ""): void {
  assert.equal(actual.length, expected.length, message);
  const words = (array: Float32Array) => new Uint32Array(array.buffer, array.byteOffset, array.length);
  const a = words(actual), b = words(expected), at = a.findIndex((word, i) => word !== b[i]);
  assert.equal(at, -1, `${message}: value ${at} is ${actual[at]}, not ${expected[at]}`);
}

/** Around vectors of 16 and 32, and around the tile of the demodulator. */
const LENGTHS = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, 2047, 2048, 2049, 4097, 10007];

Deno.test("the processor's own level is the highest that opens", needsNative(), () => {
  assert.ok(kernels.length > 0);
  assert.deepEqual(kernels.map(({ level }) => level), LEVELS.slice(0, kernels.length));
  assert.equal(highest!.level, kernels.at(-1)!.level satisfies Level);
});

/** Bits that start at an odd address. */
const bitsOfLength = (length: number, seed = length) =>
  Generator.seeded(seed).integers(0, 2, length + 1, "uint8").subarray(1);

onEveryLevel("anything but bits is noticed wherever it stands", (native) => {
  for (const length of LENGTHS) {
    const bits = bitsOfLength(length);
    assert.ok(native.areBits(bits));
    for (const at of [0, length >> 1, length - 1]) {
      if (length === 0) continue;
      for (const value of [2, 128, 255]) assert.ok(!native.areBits(bits.with(at, value)), `${value} at ${at}`);
    }
  }
});

onEveryLevel("bits are repeated, decided, packed and unpacked alike", (native) => {
  for (const length of LENGTHS) {
    const bits = bitsOfLength(length), packed = packBits(bits);
    assert.deepEqual(native.packBits(bits), packed);
    assert.deepEqual(native.packBits(bits.map((bit) => bit | 0xa4)), packBits(bits.map((bit) => bit | 0xa4)));
    assert.deepEqual(native.unpackBits(packed), unpackBits(packed));
    assert.equal(native.crc32(packed), crc32(packed));
    for (const factor of [1, 2, 3, 4, 5, 7, 8, 9, 16]) {
      assert.deepEqual(native.repeatBits(bits, factor), repeatBits(bits, factor), `${length} bits, ${factor} times`);
      const copies = bitsOfLength(length * factor, factor);
      assert.deepEqual(native.majorityBits(copies, factor), majorityBits(copies, factor), `${length} by ${factor}`);
    }
  }
});

onEveryLevel("integers and their bits are the same, those beyond the codebook too", (native) => {
  for (const [width, size] of [[1, 2], [3, 5], [8, 256], [13, 5000], [31, 2 ** 31], [31, 2 ** 30 + 1]]) {
    const bits = bitsOfLength(width * 257, width);
    for (const clamp of [false, true]) {
      const expected = bitsIndex(bits, width, size, clamp);
      assert.deepEqual(native.bitsIndex(bits, width, size, clamp), expected);
      assert.deepEqual(native.indexBits(expected.indices, width), indexBits(expected.indices, width));
    }
  }
});

onEveryLevel("errors are counted alike, missing bits included", (native) => {
  for (const length of LENGTHS) {
    const reference = bitsOfLength(length);
    const wrong = reference.map((bit, at) => at % 37 === 36 ? 1 - bit : bit);
    for (const candidate of [reference, wrong, wrong.subarray(0, length >> 1), bitsOfLength(length + 9)]) {
      assert.deepEqual(native.differingBits(candidate, reference), differingBits(candidate, reference));
      for (const size of [1, 7, 64, 5000]) {
        assert.deepEqual(native.failedBlocks(candidate, reference, size), failedBlocks(candidate, reference, size));
      }
    }
  }
});

onEveryLevel("bits become the same symbols", (native) => {
  for (const length of LENGTHS) {
    const bits = Generator.seeded(length).integers(0, 2, length + 1, "uint8").subarray(1);
    for (const modulation of MODULATIONS) {
      assertSameBits(native.modulate(bits, modulation), modulate(bits, modulation), `${length} bits, ${modulation}`);
    }
    for (const width of [1, 3, 5, 7]) {
      const points = Generator.seeded(width).complexNormal(1 << width, 1);
      assertSameBits(native.mapToPoints(bits, points), mapToPoints(bits, points), `${length} bits, ${width} a symbol`);
    }
  }
});

onEveryLevel("symbols become the same log-likelihood ratios and decisions", (native) => {
  for (const length of LENGTHS) {
    const generator = Generator.seeded(length);
    const symbols = generator.complexNormal(length, 3);
    const variances = Float32Array.from(generator.random(length), (u) => u < 0.05 ? 0 : u * 4);
    for (const variance of [0.25, 1e-13, 0, 7e30, variances]) {
      const identity = native.demodulateIdentity(symbols, variance), expected = demodulateIdentity(symbols, variance);
      assertSameBits(identity.llr, expected.llr);
      assert.deepEqual(identity.bits, expected.bits);
    }
    for (const modulation of MODULATIONS) {
      for (const variance of [0.25, 1e-13, 0, 7e30, variances]) {
        const { llr, bits } = native.demodulate(symbols, modulation, variance);
        const expected = demodulateLlr(symbols, modulation, variance);
        assertSameBits(llr, expected, `${length} symbols, ${modulation}, N0 = ${variance}`);
        assert.deepEqual(bits, hardBits(expected));
      }
    }
  }
});

onEveryLevel("extreme symbols and variances keep their bits", (native) => {
  const parts = [0, -0, 1e-45, -1e-45, 1.17549435e-38, 3.4028235e38, -3.4028235e38, 1, -1, Infinity, -Infinity, NaN];
  const symbols = Float32Array.from(parts.flatMap((re) => parts.flatMap((im) => [re, im])));
  for (const modulation of MODULATIONS) {
    for (const variance of [1, 1e300, 5e-324, NaN, Float32Array.from({ length: symbols.length / 2 }, () => NaN)]) {
      const { llr, bits } = native.demodulate(symbols, modulation, variance);
      const expected = demodulateLlr(symbols, modulation, variance);
      // Which NaN it is may differ.
      assert.deepEqual(llr.findIndex((value, i) => !Object.is(value, expected[i])), -1);
      assert.deepEqual(bits, hardBits(expected));
    }
  }
});

onEveryLevel("one variance per symbol, or none of it", (native) => {
  assert.throws(() => native.demodulate(new Float32Array(6), "qpsk", new Float32Array(2)), RangeError);
  assert.throws(() => native.demodulate(new Float32Array(6), "bpsk", new Float32Array(6)), RangeError);
  assert.throws(() => native.demodulate(new Float32Array(6), "qam16", 1, { method: "exact" }), RangeError);
});

onEveryLevel("shared memory is read as memory of one thread", (native) => {
  const bits = Generator.seeded(5).integers(0, 2, 1027, "uint8");
  const shared = new Uint8Array(new SharedArrayBuffer(bits.length + 5), 5, bits.length);
  shared.set(bits);
  assert.deepEqual(native.repeatBits(shared, 3), repeatBits(bits, 3));
  assertSameBits(native.modulate(shared, "qpsk"), native.modulate(bits, "qpsk"));
});

onEveryLevel("noise is drawn from the same stream, and both implementations may take turns on it", (native) => {
  const ours = Generator.seeded(2024), theirs = Generator.seeded(2024);
  for (const count of [0, 1, 2, 3, 4, 5, 511, 1023, 1024, 1025, 20000]) {
    const symbols = Generator.seeded(count).complexNormal(count, 1);
    assertSameBits(native.addComplexNormal(ours, symbols, 0.37), theirs.addComplexNormal(symbols, 0.37));
    assert.equal(ours.random(), theirs.random(), `the state after ${count} symbols`);
    assertSameBits(ours.complexNormal(count, 2), native.addComplexNormal(theirs, new Float32Array(2 * count), 2));
  }
  // The half of a word that integers keep is not touched.
  ours.integers(0, 2 ** 32, 1, "uint32");
  theirs.integers(0, 2 ** 32, 1, "uint32");
  native.addComplexNormal(ours, new Float32Array(20), 1);
  theirs.addComplexNormal(new Float32Array(20), 1);
  assert.deepEqual(ours.integers(0, 2 ** 32, 3, "uint32"), theirs.integers(0, 2 ** 32, 3, "uint32"));
});

onEveryLevel("random bits are those of the generator, and leave it in the same state", (native) => {
  const ours = Generator.seeded(7), theirs = Generator.seeded(7);
  for (const count of [0, 1, 4, 5, 8, 3, 0, 12, 13, 1000, 8191, 8193, 30001]) {
    assert.deepEqual(native.randomBits(ours, count), theirs.integers(0, 2, count, "uint8"), `${count} bits`);
    if (count % 3 === 0) assert.equal(ours.random(), theirs.random());
    assert.deepEqual(theirs.integers(0, 2, count, "uint8"), native.randomBits(ours, count), `${count} bits again`);
  }
  assert.deepEqual(ours.integers(0, 2 ** 32, 3, "uint32"), theirs.integers(0, 2 ** 32, 3, "uint32"));
});

onEveryLevel("millions of draws agree, the tails of the ziggurat included", (native) => {
  const zero = new Float32Array(3_000_000);
  const noise = native.addComplexNormal(Generator.seeded(77n ** 20n), zero, 2);
  assertSameBits(noise, Generator.seeded(77n ** 20n).addComplexNormal(zero, 2));
  // Beyond the last layer, so that its logarithms were used: at unit variance per part 2.6e-4 of the values lie there.
  const beyond = noise.filter((part) => Math.abs(part) > 3.6541528853610088).length;
  assert.ok(beyond > 600, `${beyond} values from the tail`);
});

onEveryLevel("a variance that is none is refused before anything is drawn", (native) => {
  const generator = Generator.seeded(1);
  for (const variance of [-1, NaN, Infinity]) {
    assert.throws(() => native.addComplexNormal(generator, new Float32Array(2), variance), RangeError);
  }
  assert.equal(generator.random(), Generator.seeded(1).random());
});

/** Parallel calls against the sequential ones: the same values to the bit, the same state of the generator afterwards. */
import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { demodulateLlr, modulate } from "../../../lib/numeric/link/modulation.ts";
import { BITS_PER_SYMBOL, type Modulation } from "../../../lib/numeric/link/modulations.ts";
import {
  addComplexNormalParallel,
  complexNormal64Parallel,
  integersParallel,
} from "../../../lib/numeric/parallel/draws.ts";
import { demodulateLlrParallel, modulateParallel } from "../../../lib/numeric/parallel/modulation.ts";
import { skipOutputs } from "../../../lib/numeric/parallel/normal_segments.ts";
import { Generator, type IntegerDtype } from "../../../lib/numeric/random/random.ts";

const bytesOf = (array: ArrayBufferView) =>
  Uint8Array.from(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));

function stateOf(generator: Generator): Uint8Array {
  let copy = new Uint8Array();
  generator.lend((state) => copy = Uint8Array.from(state));
  return copy;
}

/** Asserts that both calls give the same bytes from equal generators, which they leave in the same state. */
function same(
  seed: number | bigint,
  parallel: (generator: Generator) => ArrayBufferView,
  sequential: (generator: Generator) => ArrayBufferView,
  what: string,
  keptHalf = false,
) {
  const [a, b] = [Generator.seeded(seed), Generator.seeded(seed)];
  if (keptHalf) [a, b].forEach((generator) => generator.integers(0, 9, 3, "int32"));
  const [got, expected] = [parallel(a), sequential(b)];
  assert.equal(got.byteLength, expected.byteLength, what);
  assert.ok(Buffer.compare(bytesOf(got), bytesOf(expected)) === 0, `${what}: other values`);
  assert.deepEqual(stateOf(a), stateOf(b), `${what}: another state`);
}

Deno.test("normal values do not depend on threads", () => {
  for (const threads of [1, 2, 3, 5]) {
    for (const size of [0, 1, 65_535, 65_536, 131_073, 350_001]) {
      same(
        size + threads,
        (generator) => complexNormal64Parallel(generator, size, 1, { threads, least: 1 << 17 }),
        (generator) => generator.complexNormal64(size, 1),
        `${size} on ${threads}`,
        size % 2 === 1,
      );
    }
  }
});

Deno.test("normal values do not depend on where segments begin or what is marked", () => {
  for (const segment of [1, 2, 3, 7, 63, 64, 65, 511, 1000]) {
    for (const marked of [0, 1, 5, 64]) {
      for (let seed = 0; seed < 4; seed++) {
        const size = Math.min(15_000, 750 * segment);
        same(
          seed,
          (generator) => complexNormal64Parallel(generator, size, 1, { threads: 2, segment, marked }),
          (generator) => generator.complexNormal64(size, 1),
          `segments of ${segment}, ${marked} marked, seed ${seed}`,
        );
      }
    }
  }
});

Deno.test("complex noise does not depend on threads", () => {
  const count = 200_003;
  const sent = Generator.seeded(3).complexNormal(count, 1);
  const sharedSent = new Float32Array(new SharedArrayBuffer(sent.byteLength));
  sharedSent.set(sent);
  for (
    const options of [{ threads: 2, least: 1 }, { threads: 3, least: 1 }, { threads: 2, segment: 1009, marked: 7 }]
  ) {
    const what = JSON.stringify(options);
    same(
      11,
      (generator) => complexNormal64Parallel(generator, count, 0.3, options),
      (generator) => generator.complexNormal64(count, 0.3),
      `complex128, ${what}`,
    );
    for (const symbols of [sent, sharedSent]) {
      same(
        13,
        (generator) => addComplexNormalParallel(generator, symbols, 0.1, options),
        (generator) => generator.addComplexNormal(sent, 0.1),
        `sum, ${what}`,
        true,
      );
    }
    assert.deepEqual(sharedSent, sent, "the symbols are left alone");
  }
});

Deno.test("integers do not depend on threads", () => {
  const cases: [IntegerDtype, bigint, bigint, number][] = [
    ["bool", 0n, 2n, 20_000_003],
    ["uint8", 0n, 2n, 3_000_001],
    ["int8", -128n, 128n, 2_500_002],
    ["uint8", 1n, 200n, 2_500_000],
    ["uint16", 5n, 261n, 1_200_003],
    ["int32", -8n, 8n, 700_001],
    ["uint32", 0n, 2n ** 32n, 600_001],
    ["int64", 0n, 4n, 600_001],
    ["int64", 7n, 8n, 600_001],
    ["int64", -(2n ** 40n), 2n ** 40n, 300_001],
    ["uint64", 0n, 2n ** 64n, 300_001],
    ["int64", 0n, 3n * 2n ** 40n, 300_001],
  ];
  for (const [dtype, low, high, size] of cases) {
    for (const keptHalf of [false, true]) {
      same(
        21,
        (generator) => integersParallel(generator, low, high, size, dtype, { threads: 2, least: 1 << 18 }),
        (generator) => generator.integers(low, high, size, dtype),
        `${dtype} ${low} … ${high}, kept half ${keptHalf}`,
        keptHalf,
      );
    }
  }
});

Deno.test("mapping and demapping do not depend on threads", () => {
  const drawn = Generator.seeded(5).integers(0, 2, 1_600_001, "uint8");
  for (const modulation of Object.keys(BITS_PER_SYMBOL) as Modulation[]) {
    const bits = drawn.subarray(0, 265_001 * BITS_PER_SYMBOL[modulation] - 1);
    const symbols = modulate(bits, modulation);
    assert.deepEqual(modulateParallel(bits, modulation, { threads: 2, least: 1 << 18 }), symbols, modulation);
    const variances = Float32Array.from({ length: symbols.length / 2 }, (_, i) => 0.1 + i % 7);
    for (const noise of [0.5, variances]) {
      const llr = demodulateLlr(symbols, modulation, noise);
      assert.deepEqual(
        demodulateLlrParallel(symbols, modulation, noise, { threads: 3, least: 1 << 18 }),
        llr,
        modulation,
      );
    }
  }
});

Deno.test("refused requests draw nothing", () => {
  const generator = Generator.seeded(6), before = stateOf(generator);
  const symbols = new Float32Array(600_000);
  const attempts = [
    () => modulate(new Uint8Array(8), "qpsk", symbols),
    () => generator.addComplexNormal(symbols, 0.2, symbols.subarray(2)),
    () => addComplexNormalParallel(generator, symbols, -1, { threads: 2 }),
    () => demodulateLlr(symbols, "qpsk", 0.2, symbols.subarray(2)),
    () => demodulateLlrParallel(symbols, "qpsk", symbols, { threads: 2 }),
    () => integersParallel(generator, 0, 2, 10, "uint8", { threads: 0 }),
    () => complexNormal64Parallel(generator, 10, 1, { threads: 1.5 }),
  ];
  for (const attempt of attempts) assert.throws(attempt, RangeError, String(attempt));
  assert.deepEqual(stateOf(generator), before);
});

Deno.test("a jump over outputs ends where drawing them ends", () => {
  for (const count of [0, 1, 2, 511, 512, 513, 99_991]) {
    const generator = Generator.seeded(2n ** 90n + 1n);
    const state = stateOf(generator);
    skipOutputs(state, count);
    generator.random(count);
    assert.deepEqual(state, stateOf(generator), String(count));
  }
  // Two jumps and one agree far beyond what can be drawn.
  const [once, twice] = [stateOf(Generator.seeded(1)), stateOf(Generator.seeded(1))];
  skipOutputs(once, 2 ** 52 + 12_345);
  skipOutputs(twice, 2 ** 52);
  skipOutputs(twice, 12_345);
  assert.deepEqual(once, twice);
});

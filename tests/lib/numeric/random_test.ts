import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as kernels from "../../../lib/numeric/kernels/random.wasm";
import { Generator, type IntegerDtype } from "../../../lib/numeric/random/random.ts";
import blocks from "../../data/random/blocks.json" with { type: "json" };
import vectors from "../../data/random/vectors.json" with { type: "json" };

type Call = (string | number | boolean)[];

/** The weights that make_vectors.py uses. */
function probabilities(n: number): number[] {
  const weights = Array.from({ length: n }, (_, i) => (i + 1) % 7);
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / sum);
}

function draw(generator: Generator, [name, ...args]: Call): ArrayBufferView {
  const [a, b, c] = args as number[];
  switch (name) {
    case "integers":
      return generator.integers(BigInt(args[0]), BigInt(args[1]), c, args[3] as IntegerDtype);
    case "random":
      return generator.random(a);
    case "random_float32":
      return generator.randomFloat32(a);
    case "standard_normal":
      return generator.standardNormal(a);
    case "standard_exponential":
      return generator.standardExponential(a);
    case "uniform":
      return generator.uniform(a, b, c);
    case "normal":
      return generator.normal(a, b, c);
    case "permutation":
      return generator.permutation(a);
    case "shuffle": {
      const array = Int32Array.from({ length: a }, (_, i) => i);
      generator.shuffle(array);
      return array;
    }
    case "choice":
      return generator.choice(a, b, { replace: args[2] === true, p: args[3] ? probabilities(a) : undefined });
    case "complex_normal":
      return generator.complexNormal(a, b);
    case "add_complex_normal": {
      const symbols = Float32Array.from(
        { length: 2 * a },
        (_, i) => i % 2 ? 0.1 : ((i / 2) % 3 - 1) * Math.fround(0.7),
      );
      return generator.addComplexNormal(symbols, b);
    }
    default:
      throw new Error(`unknown call ${name}`);
  }
}

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

Deno.test("single calls give NumPy's values to the bit", () => {
  for (const { seed, rows } of vectors.values) {
    for (const { call, hex } of rows) {
      const got = bytesOf(draw(Generator.seeded(BigInt(seed)), call)).toHex();
      assert.equal(got, hex, `seed ${seed}: ${call}`);
    }
  }
});

Deno.test("mixed calls on one generator carry NumPy's buffered half", () => {
  for (const { seed, rows } of vectors.sequences) {
    const generator = Generator.seeded(BigInt(seed));
    rows.forEach(({ call, hex }, i) => {
      assert.equal(bytesOf(draw(generator, call)).toHex(), hex, `seed ${seed}, call ${i}: ${call}`);
    });
  }
});

Deno.test("long draws give NumPy's values to the bit", () => {
  let generator = Generator.seeded(0);
  let last = "";
  for (const { seed, call, sha256 } of vectors.digests) {
    if (seed !== last) generator = Generator.seeded(BigInt(seed));
    last = seed;
    const digest = createHash("sha256").update(bytesOf(draw(generator, call))).digest("hex");
    assert.equal(digest, sha256, `seed ${seed}: ${call}`);
  }
});

Deno.test("the logarithm of the tails is the C library's to the bit", () => {
  const { count, sha256 } = vectors.log1p;
  const u = Array.from(Generator.seeded(4).random(count));
  const scales: ((u: number) => number)[] = [
    (u) => u,
    (u) => u * 2 ** -10,
    (u) => u * 2 ** -40,
    (u) => 1 - u * 2 ** -20,
  ];
  const lattice = scales.flatMap((scale) => u.map((value) => -Math.floor(scale(value) * 2 ** 53) / 2 ** 53));
  const values = Float64Array.from(lattice.filter((x) => x > -1), (x) => kernels.log1p(x));
  assert.equal(createHash("sha256").update(bytesOf(values)).digest("hex"), sha256);
});

Deno.test("known answers", () => {
  assert.equal(Generator.seeded(0).random(), 0.6369616873214543);
  const bits = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1];
  assert.deepEqual(Generator.seeded(23).integers(0, 2, 16, "uint8"), Uint8Array.from(bits));
  assert.deepEqual(Generator.seeded(23).permutation(8), Int32Array.of(2, 3, 6, 5, 7, 0, 1, 4));
  assert.deepEqual(
    Generator.seeded(23001).standardNormal(4),
    Float64Array.of(1.2148141786158844, -0.27246333403552164, 0.3497864916593001, 0.9998148760044827),
  );
});

/** Sizes around the block of raw outputs (512) and the block of results (64 KiB). */
const SIZES = [0, 1, 2, 3, 511, 512, 513, 1025, 8191, 8192, 8193, 16387];

/** First hexadecimal digits of the digest of draws. */
const digestOf = (draws: readonly ArrayBufferView[]) => {
  const hash = createHash("sha256");
  for (const draw of draws) hash.update(bytesOf(draw));
  return hash.digest("hex").slice(0, 32);
};

Deno.test("blocks draw what a one-by-one generator draws", () => {
  for (const { seed, digests } of blocks.streams) {
    const generator = Generator.seeded(BigInt(seed));
    SIZES.forEach((size, index) => {
      const draws = [generator.random(size), generator.randomFloat32(size), Float64Array.of(generator.random())];
      draws.push(generator.standardNormal(size), generator.standardExponential(size));
      assert.equal(digestOf(draws), digests[index], `seed ${seed}, ${size} draws`);
    });
  }
});

Deno.test("integers of every width are those of a one-by-one generator", () => {
  const cases: [IntegerDtype, bigint, bigint][] = [
    ["uint8", 0n, 2n],
    ["uint8", 3n, 200n],
    ["int8", -100n, 29n],
    ["uint16", 0n, 40000n],
    ["int32", -7n, 2n ** 31n - 9n],
    ["int64", -1n, 3n * 2n ** 30n],
    ["int64", -(2n ** 40n), 2n ** 62n],
    ["uint64", 0n, 2n ** 63n + 1n],
  ];
  const generator = Generator.seeded(99);
  cases.forEach(([dtype, low, high], index) => {
    const draws = [...SIZES, 65535, 65537].map((size) => generator.integers(low, high, size, dtype));
    assert.equal(digestOf(draws), blocks.integers[index], `${dtype} from ${low}`);
  });
});

Deno.test("a range of one value draws nothing", () => {
  const generator = Generator.seeded(5);
  assert.deepEqual(generator.integers(7, 8, 3, "int16"), Int16Array.of(7, 7, 7));
  assert.deepEqual(generator.integers(-2, -1, 2, "int64"), BigInt64Array.of(-2n, -2n));
  assert.equal(generator.permutation(0).length, 0);
  assert.deepEqual(generator.permutation(1), Int32Array.of(0));
  assert.equal(generator.random(), Generator.seeded(5).random());
});

Deno.test("shuffle takes lists as well", () => {
  const list = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const order = Generator.seeded(23).permutation(8);
  const shuffled = [...list];
  Generator.seeded(23).shuffle(shuffled);
  assert.deepEqual(shuffled, Array.from(order, (i) => list[i]));
});

Deno.test("generators do not disturb each other", () => {
  const [a, b] = [Generator.seeded(1), Generator.seeded(2)];
  const mixed = [a.integers(0, 9, 3, "uint8"), b.integers(0, 9, 3, "uint8"), a.standardNormal(5), b.standardNormal(5)];
  const [c, d] = [Generator.seeded(1), Generator.seeded(2)];
  assert.deepEqual([mixed[0], mixed[2]], [c.integers(0, 9, 3, "uint8"), c.standardNormal(5)]);
  assert.deepEqual([mixed[1], mixed[3]], [d.integers(0, 9, 3, "uint8"), d.standardNormal(5)]);
});

Deno.test("complex noise: binary64 parts, the sum rounded once", () => {
  const count = 20001;
  const noise = Generator.seeded(8).complexNormal64(count, 0.3);
  const parts = Generator.seeded(8).standardNormal(2 * count);
  const scale = Math.sqrt(0.15);
  assert.ok(noise.every((value, i) => value === scale * parts[i % 2 * count + (i >> 1)]));
  assert.deepEqual(Generator.seeded(8).complexNormal(count, 0.3), Float32Array.from(noise));
  const symbols = Generator.seeded(9).complexNormal(count, 1);
  const kept = symbols.slice();
  const sum = Generator.seeded(8).addComplexNormal(symbols, 0.3);
  assert.deepEqual(sum, Float32Array.from(symbols, (x, i) => x + noise[i]));
  assert.deepEqual(symbols, kept);
  assert.deepEqual(Generator.seeded(8).addComplexNormal(symbols, 0), symbols);
});

Deno.test("impossible requests are refused", () => {
  const generator = Generator.seeded(0);
  const attempts: (() => unknown)[] = [
    () => Generator.seeded(-1),
    () => Generator.seeded(-1n),
    () => Generator.seeded(1.5),
    () => Generator.seeded(2 ** 60),
    () => generator.integers(3, 3, 1),
    () => generator.integers(0, 257, 1, "uint8"),
    () => generator.integers(-1, 2, 1, "uint64"),
    () => generator.integers(-129, 2, 1, "int8"),
    () => generator.integers(0, 2, -1, "uint8"),
    () => generator.random(1.5),
    () => generator.standardNormal(NaN),
    () => generator.complexNormal(1, -1),
    () => generator.complexNormal64(1, NaN),
    () => generator.permutation(-1),
    () => generator.permutation(2 ** 31),
    () => generator.choice(0, 1),
    () => generator.choice(3, 4, { replace: false }),
    () => generator.choice(3, 1, { p: [0.5, 0.5] }),
    () => generator.choice(2, 1, { p: [0.5, 0.6] }),
    () => generator.choice(2, 1, { p: [1.5, -0.5] }),
    () => generator.choice(2, 1, { p: [NaN, 1] }),
    () => generator.choice(3, 3, { replace: false, p: [0.5, 0.5, 0] }),
  ];
  for (const attempt of attempts) assert.throws(attempt, RangeError, String(attempt));
  assert.equal(generator.random(), Generator.seeded(0).random(), "a refused request draws nothing");
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Generator, type IntegerDtype } from "../../../lib/numeric/random.ts";
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

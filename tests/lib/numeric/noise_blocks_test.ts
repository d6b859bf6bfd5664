import assert from "node:assert/strict";
import { NoiseBlocks } from "../../../lib/numeric/random/noise_blocks.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

Deno.test("noise on blocks of symbols is the noise on all symbols, bit for bit", () => {
  const symbols = Generator.seeded(1).complexNormal(20_001, 1);
  const whole = Generator.seeded(7).addComplexNormal(symbols, 0.3);
  for (const size of [1, 2, 333, 4096, 20_001]) {
    const noise = new NoiseBlocks(Generator.seeded(7), 20_001, 0.3), all = new Float32Array(symbols.length);
    for (let at = 0; at < symbols.length; at += 2 * size) {
      const block = symbols.subarray(at, at + 2 * size);
      noise.add(block, all.subarray(at, at + block.length));
    }
    assert.deepEqual(all, whole, `blocks of ${size}`);
  }
  const drawn = Generator.seeded(7), after = new NoiseBlocks(drawn.copy(), 20_001, 0.3).after();
  drawn.complexNormal(20_001, 0.3);
  assert.deepEqual(after.random(3), drawn.random(3));
  assert.throws(() => new NoiseBlocks(Generator.seeded(7), 10, -1), RangeError);
});

Deno.test("values that are skipped leave the generator as if they were drawn", () => {
  const drawn = Generator.seeded(3), skipped = Generator.seeded(3);
  drawn.standardNormal(10_001);
  skipped.skipNormal(10_001);
  assert.deepEqual(skipped.standardNormal(5), drawn.standardNormal(5));
  const copy = skipped.copy();
  assert.deepEqual(copy.random(3), skipped.random(3));
});

Deno.test("complex values block by block are those of one call", () => {
  const count = 20_001, whole = Generator.seeded(7).complexNormal64(count, 0.3);
  const generator = Generator.seeded(7), made = new Float64Array(2 * count);
  let next = 0;
  generator.complexNormalBlocks(count, 0.3, (part, start, values) => {
    assert.equal(part * count + start, next, "in order");
    values.forEach((value, i) => made[2 * (start + i) + part] = value);
    next += values.length;
  });
  assert.deepEqual(made, whole);
});

import assert from "node:assert/strict";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { nearestCodeword, trainCodebook } from "../../../lib/numeric/coding/vector_quantization.ts";

Deno.test("of equally near codewords the first is taken, however long the vectors are", () => {
  for (const dimension of [1, 15, 16, 17, 40]) {
    const data = new Float64Array(4 * dimension);
    data.fill(5, 0, dimension); // far
    data.fill(1, dimension, 2 * dimension); // near
    data.fill(-1, 2 * dimension, 3 * dimension); // as near
    data.fill(1, 3 * dimension);
    const found = nearestCodeword({ dimension, data }, new Float64Array(dimension));
    assert.deepEqual(found, { index: 1, distance: dimension }, `${dimension} components`);
  }
});

Deno.test("clusters that lie apart are found, one codeword in the middle of each", () => {
  const centres = [[0, 0], [100, 0], [0, 100], [100, 100]], offsets = [-2, -1, 0, 1, 2];
  const data = Float64Array.from(centres.flatMap(([x, y]) => offsets.flatMap((d) => [x + d, y - d])));
  for (const seed of [0n, 1n, 2n, 3n]) {
    const codebook = trainCodebook({ dimension: 2, data }, 4, Generator.seeded(seed));
    const words = Array.from({ length: 4 }, (_, i) => `${codebook.data[2 * i]},${codebook.data[2 * i + 1]}`);
    assert.deepEqual(words.sort(), ["0,0", "0,100", "100,0", "100,100"]);
  }
});

Deno.test("no codeword lies idle while vectors differ, and too few vectors are refused", () => {
  const data = Float64Array.of(0, 0, 0, 0, 1, 2);
  const { data: words } = trainCodebook({ dimension: 1, data }, 3, Generator.seeded(1n));
  assert.deepEqual([...words].sort(), [0, 1, 2]);
  assert.throws(() => trainCodebook({ dimension: 1, data }, 7, Generator.seeded(1n)), RangeError);
});

Deno.test("Lloyd's iteration never makes the training distortion worse", () => {
  const generator = Generator.seeded(5n);
  const vectors = { dimension: 3, data: Float64Array.from(generator.random(900)) };
  let last = Infinity;
  for (const iterations of [0, 1, 2, 4, 8, 16]) {
    const codebook = trainCodebook(vectors, 8, Generator.seeded(9n), { iterations });
    let distortion = 0;
    for (let v = 0; v < 300; v++) distortion += nearestCodeword(codebook, vectors.data, 3 * v).distance;
    assert.ok(distortion <= last, `${iterations} iterations: ${distortion} > ${last}`);
    last = distortion;
  }
});

/** The linear analog code: energy, inversion, and the error of the Wiener estimate against its closed form. */
import assert from "node:assert/strict";
import {
  type LinearAnalogCode,
  linearAnalogCode,
  linearAnalogDecode,
  linearAnalogEncode,
  type LinearAnalogSettings,
} from "../../../lib/numeric/coding/linear_analog.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const settings = (more: Partial<LinearAnalogSettings> = {}): LinearAnalogSettings => ({
  height: 32,
  width: 48,
  channels: 3,
  blockSize: 8,
  symbols: 768,
  pilots: 8,
  correlation: 0.95,
  ...more,
});

/** Normal values. */
const normals = (generator: Generator, count: number) => generator.complexNormal64(Math.ceil(count / 2), 2);

/** An image of the prior: the coefficients that are sent, and 0 for all others. */
function priorImage(code: LinearAnalogCode, generator: Generator): Float64Array {
  const draws = normals(generator, code.values);
  const symbols = new Float32Array(2 * code.symbols);
  for (let at = 0; at < code.pilots; at++) symbols[2 * at] = 1;
  for (let at = 0; at < code.values; at++) {
    const rank = Math.floor(at / code.blocks);
    symbols[2 * code.pilots + at] = code.gains[rank] * Math.sqrt(code.variances[rank]) * draws[at];
  }
  return linearAnalogDecode(code, symbols, 0, false);
}

const squared = (a: ArrayLike<number>, b: ArrayLike<number>) => {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] - b[at]) ** 2;
  return sum;
};

for (const channels of [1, 3]) {
  for (const blockSize of [8, 16]) {
    Deno.test(`all coefficients without noise give the image: ${channels} channels, blocks of ${blockSize}, odd sizes`, () => {
      const code = linearAnalogCode(settings({ height: 19, width: 37, channels, blockSize, symbols: 100000 }));
      assert.equal(code.values, code.blocks * channels * blockSize ** 2);
      assert.equal(code.symbols, code.pilots + Math.ceil(code.values / 2));
      const image = normals(Generator.seeded(7), 19 * 37 * channels).map((value) => 0.5 + 0.2 * value);
      const symbols = linearAnalogEncode(code, image);
      // A gain that turns and shrinks all symbols.
      const turned = symbols.map((_, at) => {
        const [re, im] = [symbols[at & ~1], symbols[at | 1]];
        return at % 2 === 0 ? 0.3 * re - 0.4 * im : 0.4 * re + 0.3 * im;
      });
      for (const received of [symbols, turned]) {
        for (const adapt of [false, true]) {
          const error = squared(linearAnalogDecode(code, received, 0, adapt), image) / (19 * 37 * channels);
          assert.ok(error < 1e-11, `${error}`);
        }
      }
    });
  }
}

Deno.test("the transform keeps energy: equal gains send the energy of the image", () => {
  // Without correlation all coefficients of grey pixels have one variance, and one gain.
  const code = linearAnalogCode(settings({ channels: 1, correlation: 0, symbols: 100000 }));
  const image = normals(Generator.seeded(3), 32 * 48);
  const symbols = linearAnalogEncode(code, image).subarray(2 * code.pilots);
  const energy = symbols.reduce((sum, value) => sum + value ** 2, 0);
  const expected = code.gains[0] ** 2 * image.reduce((sum, value) => sum + (value - 0.5) ** 2, 0);
  assert.ok(new Set(code.gains.map((gain) => gain.toFixed(9))).size === 1);
  assert.ok(Math.abs(energy / expected - 1) < 1e-6, `${energy} and ${expected}`);
});

Deno.test("gains follow the prior: power sqrt(λ) per coefficient, mean power 1, decreasing variances, budget kept", () => {
  const code = linearAnalogCode(settings({ symbols: 501 }));
  assert.equal(code.symbols, 501);
  assert.equal(code.values, 2 * (501 - 8));
  assert.equal(code.order.length, Math.ceil(code.values / code.blocks));
  assert.equal(new Set(code.order).size, code.order.length);
  const powers = code.gains.map((gain, rank) => gain ** 2 * code.variances[rank]);
  for (let rank = 1; rank < powers.length; rank++) {
    assert.ok(code.variances[rank] <= code.variances[rank - 1]);
    assert.ok(Math.abs(powers[rank] / powers[0] - Math.sqrt(code.variances[rank] / code.variances[0])) < 1e-9);
  }
  const sent = (rank: number) => Math.min(code.blocks, code.values - rank * code.blocks);
  const energy = powers.reduce((sum, power, rank) => sum + sent(rank) * power, 0);
  assert.ok(Math.abs(energy / (code.symbols - code.pilots) - 1) < 1e-9);
});

Deno.test("the trace of the prior is kept: variances of a block sum to the variance of its pixels", () => {
  const { variances } = linearAnalogCode(settings({ channels: 1, symbols: 100000 }));
  const sum = variances.reduce((all, variance) => all + variance, 0);
  assert.ok(Math.abs(sum / 64 - 0.06) < 1e-12, `${sum / 64}`);
});

for (const snrDb of [0, 10]) {
  Deno.test(`the squared error of the Wiener estimate is Σ λv / (G²λ + v) at ${snrDb} dB, and no other estimate is better`, () => {
    const generator = Generator.seeded(11 + snrDb), images = 200, noiseVariance = 10 ** (-snrDb / 10);
    // One pilot without noise makes the gain known; the closed form has no pilot error.
    const code = linearAnalogCode(settings({ pilots: 1 }));
    let theory = 0;
    for (let at = 0; at < code.values; at++) {
      const rank = Math.floor(at / code.blocks), variance = code.variances[rank], v = noiseVariance / 2;
      theory += variance * v / (code.gains[rank] ** 2 * variance + v);
    }
    const errors = { wiener: [] as number[], wrong: [] as number[], adapted: [] as number[] };
    for (let index = 0; index < images; index++) {
      const image = priorImage(code, generator);
      const received = linearAnalogEncode(code, image);
      const noise = generator.complexNormal64(code.symbols, noiseVariance);
      for (let at = 2; at < received.length; at++) received[at] += noise[at];
      errors.wiener.push(squared(linearAnalogDecode(code, received, noiseVariance, false), image));
      errors.wrong.push(squared(linearAnalogDecode(code, received, 2 * noiseVariance, false), image));
      errors.adapted.push(squared(linearAnalogDecode(code, received, noiseVariance, true), image));
    }
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const measured = mean(errors.wiener);
    const deviation = Math.sqrt(mean(errors.wiener.map((value) => (value - measured) ** 2)) / (images - 1));
    assert.ok(deviation < 0.01 * theory, "the interval is narrow");
    assert.ok(Math.abs(measured - theory) < 2.6 * deviation, `${measured} ± ${deviation}, not ${theory}`);
    assert.ok(mean(errors.wrong) > measured);
    const loss = mean(errors.adapted) / measured;
    assert.ok(loss > 1 && loss < 1.1, `estimated variances cost ${loss}`);
  });
}

Deno.test("a symbol with infinite noise does not count, and pilots of zero give the mean of the prior", () => {
  const code = linearAnalogCode(settings({ channels: 1, symbols: 100000 }));
  const image = normals(Generator.seeded(5), 32 * 48).map((value) => 0.5 + 0.2 * value);
  const received = linearAnalogEncode(code, image), variances = new Float32Array(code.symbols).fill(1e-9);
  variances[code.pilots] = Infinity;
  received[2 * code.pilots] = 1e6;
  for (const adapt of [false, true]) {
    const estimate = linearAnalogDecode(code, received, variances, adapt);
    assert.ok(estimate.every(Number.isFinite));
    // Only the first coefficient of the first two blocks is lost.
    const wrong = estimate.filter((value, at) => Math.abs(value - image[at]) > 1e-3).length;
    assert.ok(wrong > 0 && wrong <= 2 * 64, `${wrong} pixels`);
  }
  received.fill(0, 0, 2 * code.pilots);
  assert.ok(linearAnalogDecode(code, received, 0.1, true).every((value) => value === 0.5));
});

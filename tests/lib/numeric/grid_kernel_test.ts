import assert from "node:assert/strict";
import { detectGrid, mixGrid, respond, separateGrid, spreadGrid } from "../../../lib/numeric/channel/grid_kernel.ts";
import { rowShares } from "../../../lib/numeric/channel/grid_estimation.ts";
import { constellation, linearDetector, maximumLikelihoodDetector } from "../../../lib/numeric/link/mimo_detection.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const generator = Generator.seeded(23n);
const doubles = (count: number) => generator.complexNormal64(count, 1);
const floats = (count: number) => generator.complexNormal(count, 1);
/** Bits of values: a zero with another sign is another value. */
const bits = (values: Float32Array | Float64Array) => [
  ...new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
];

Deno.test("responses have the bits of the sum in the order of the taps, over many blocks of rows", () => {
  for (const [rows, count, subcarriers] of [[1, 1, 1], [3, 5, 7], [40, 24, 1024], [2, 3, 20_000]]) {
    const taps = doubles(rows * count), turns = doubles(count * subcarriers);
    const wanted = new Float64Array(2 * rows * subcarriers);
    for (let row = 0; row < rows; row++) {
      for (let l = 0; l < count; l++) {
        const hr = taps[2 * (row * count + l)], hi = taps[2 * (row * count + l) + 1];
        for (let k = 0; k < subcarriers; k++) {
          const er = turns[2 * (l * subcarriers + k)], ei = turns[2 * (l * subcarriers + k) + 1];
          const to = 2 * (row * subcarriers + k);
          wanted[to] += hr * er - hi * ei;
          wanted[to + 1] += hr * ei + hi * er;
        }
      }
    }
    assert.deepEqual(bits(respond(taps, turns, count, subcarriers)), bits(wanted), `${rows} ${count} ${subcarriers}`);
  }
});

const SIZES = [[1, 1, 1, 1], [3, 5, 4, 4], [2, 12, 3, 2], [14, 6, 2, 1], [2, 3, 16, 16]];

Deno.test("MIMO channels have the bits of noise plus the sum over the layers, missing symbols left out", () => {
  for (const [rows, subcarriers, rx, layers] of SIZES) {
    const elements = rows * subcarriers, gains = doubles(subcarriers * rx * layers), noise = doubles(elements * rx);
    for (const missing of [0, 1, layers]) {
      const symbols = floats(elements * layers - missing), out = new Float32Array(2 * elements * rx);
      const wanted = new Float32Array(2 * elements * rx);
      for (let at = 0; at < elements; at++) {
        for (let r = 0; r < rx; r++) {
          let real = noise[2 * (at * rx + r)], imaginary = noise[2 * (at * rx + r) + 1];
          for (let l = 0; l < layers && 2 * (at * layers + l) < symbols.length; l++) {
            const g = 2 * ((at % subcarriers * rx + r) * layers + l), x = 2 * (at * layers + l);
            real += gains[g] * symbols[x] - gains[g + 1] * symbols[x + 1];
            imaginary += gains[g] * symbols[x + 1] + gains[g + 1] * symbols[x];
          }
          wanted[2 * (at * rx + r)] = real;
          wanted[2 * (at * rx + r) + 1] = imaginary;
        }
      }
      mixGrid({ rows, subcarriers, rx, layers }, { gains, symbols, noise }, out);
      assert.deepEqual(bits(out), bits(wanted), `${rows} ${subcarriers} ${rx} ${layers} ${missing}`);
    }
  }
});

Deno.test("grids are separated with the bits of the detector of single vectors", () => {
  for (const [rows, subcarriers, rx, layers] of SIZES) {
    for (const own of [false, true]) {
      for (const mmse of [false, true]) {
        const elements = rows * subcarriers, size = 2 * rx * layers, matrices = own ? elements : subcarriers;
        const gains = floats(matrices * rx * layers), y = floats(elements * rx);
        // A matrix of zeros is singular.
        gains.fill(0, 0, size);
        const noise = Float64Array.from({ length: own ? elements : 1 }, (_, i) => i === 1 ? 0 : 0.01 * (i + 1));
        // Every third element carries no data, and the last ones are padding.
        const order = new Int32Array(elements).fill(-1);
        let data = 0;
        for (let i = 0; i < elements; i++) if (i % 3 !== 1) order[i] = data++;
        const count = Math.max(data - 2, 1);
        const symbols = new Float32Array(2 * count * layers), variance = new Float32Array(count * layers);
        const wanted = { symbols: symbols.slice(), variance: variance.slice(), llr: new Float32Array(0) };
        const detector = linearDetector(rx, layers, mmse);
        for (let i = 0; i < elements; i++) {
          if (order[i] < 0 || order[i] >= count) continue;
          const from = (own ? i : i % subcarriers) * size;
          detector.prepare(Float64Array.from(gains.subarray(from, from + size)), noise[own ? i : 0]);
          detector.detect(y, 2 * i * rx, wanted, order[i] * layers);
        }
        separateGrid({ rows, subcarriers, rx, layers }, { y, gains, noise, order, own }, {
          symbols,
          variance,
          mmse,
        });
        const what = `${rows} ${subcarriers} ${rx} ${layers} ${own} ${mmse}`;
        assert.deepEqual(bits(variance), bits(wanted.variance), what);
        assert.deepEqual(bits(symbols), bits(wanted.symbols), what);
        assert.ok(variance.some((one) => one > 0), what);
      }
    }
  }
});

Deno.test("maximum likelihood over grids has the bits of the detector of single vectors", () => {
  const cases = [["bpsk", 1, 1], ["bpsk", 2, 3], ["qpsk", 3, 2], ["qam16", 2, 2], ["qpsk", 2, 4], [
    "qam64",
    1,
    2,
  ]] as const;
  for (const [modulation, rx, layers] of cases) {
    for (const own of [false, true]) {
      const rows = 3, subcarriers = 2, elements = rows * subcarriers, points = constellation(modulation);
      const width = Math.log2(points.length / 2), size = 2 * rx * layers;
      const gains = floats((own ? elements : subcarriers) * rx * layers), y = floats(elements * rx);
      // Equal distances: the first vector counts.
      gains.fill(0, 0, size);
      const noise = Float64Array.from({ length: own ? elements : 1 }, (_, i) => 0.1 * i);
      const order = Int32Array.of(0, -1, 1, 2, 3, 4), count = 4;
      const symbols = new Float32Array(2 * count * layers), llr = new Float32Array(count * layers * width);
      const wanted = { symbols: symbols.slice(), variance: new Float32Array(count * layers), llr: llr.slice() };
      const detector = maximumLikelihoodDetector(rx, layers, modulation, false);
      for (let i = 0; i < elements; i++) {
        if (order[i] < 0 || order[i] >= count) continue;
        const from = (own ? i : i % subcarriers) * size;
        detector.prepare(Float64Array.from(gains.subarray(from, from + size)), noise[own ? i : 0]);
        detector.detect(y, 2 * i * rx, wanted, order[i] * layers);
      }
      detectGrid({ rows, subcarriers, rx, layers }, { y, gains, noise, order, own }, { points, symbols, llr });
      const what = `${modulation} ${rx} ${layers} ${own}`;
      assert.deepEqual(bits(symbols), bits(wanted.symbols), what);
      assert.deepEqual(bits(llr), bits(wanted.llr), what);
      assert.ok(llr.some((one) => one !== 0), what);
    }
  }
});

Deno.test("rows of pilots are spread over the OFDM symbols, ports and antennas side by side", () => {
  const subcarriers = 5, symbols = 6;
  const given = [[1, 4], [2], [0, 3, 5]].map((places) => ({
    ...rowShares(places, symbols),
    rows: doubles(places.length * subcarriers),
    places,
  }));
  const out = new Float32Array(2 * symbols * subcarriers * given.length);
  spreadGrid(given, out);
  given.forEach(({ rows, pairs, shares }, i) => {
    for (let s = 0; s < symbols; s++) {
      for (let part = 0; part < 2 * subcarriers; part++) {
        const [a, b] = [pairs[2 * s], pairs[2 * s + 1]].map((row) => rows[row * 2 * subcarriers + part]);
        const to = 2 * ((s * subcarriers + (part >> 1)) * given.length + i) + (part & 1);
        assert.equal(out[to], Math.fround((1 - shares[s]) * a + shares[s] * b));
      }
    }
  });
});

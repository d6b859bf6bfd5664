import assert from "node:assert/strict";
import { demodulateLlr, hardBits, modulate, partLevels } from "../../../lib/numeric/link/modulation.ts";
import { BITS_PER_SYMBOL, type Modulation, MODULATIONS } from "../../../lib/numeric/link/modulations.ts";
import { meanPower } from "../../../lib/numeric/linalg/complex.ts";
import stored from "../../data/physical/modulation_high.json" with { type: "json" };
import { Generator } from "../../../lib/numeric/random/random.ts";

/** Bits of a label, first bit highest. */
const bitsOf = (label: number, count: number) => Array.from({ length: count }, (_, i) => label >> (count - 1 - i) & 1);

/** TS 38.211 section 5.1, written as the standard writes it. */
function standardPoint(modulation: Modulation, b: number[]): [number, number] {
  const s = (i: number) => 1 - 2 * b[i];
  switch (modulation) {
    case "bpsk":
      return [s(0), 0];
    case "qpsk":
      return [s(0) / Math.sqrt(2), s(1) / Math.sqrt(2)];
    case "qam16":
      return [s(0) * (2 - s(2)) / Math.sqrt(10), s(1) * (2 - s(3)) / Math.sqrt(10)];
    case "qam64":
      return [s(0) * (4 - s(2) * (2 - s(4))) / Math.sqrt(42), s(1) * (4 - s(3) * (2 - s(5))) / Math.sqrt(42)];
    case "qam256":
      return [
        s(0) * (8 - s(2) * (4 - s(4) * (2 - s(6)))) / Math.sqrt(170),
        s(1) * (8 - s(3) * (4 - s(5) * (2 - s(7)))) / Math.sqrt(170),
      ];
  }
}

Deno.test("every label maps to its point of the standard", () => {
  for (const modulation of MODULATIONS) {
    const count = BITS_PER_SYMBOL[modulation];
    const labels = Array.from({ length: 2 ** count }, (_, label) => bitsOf(label, count));
    const symbols = modulate(Uint8Array.from(labels.flat()), modulation);
    assert.deepEqual(symbols, Float32Array.from(labels.flatMap((bits) => standardPoint(modulation, bits))), modulation);
    assert.ok(Math.abs(meanPower(symbols) - 1) < 1e-7, `${modulation} has unit mean power`);
  }
});

Deno.test("known points", () => {
  assert.deepEqual(
    modulate(Uint8Array.of(0, 1, 1, 0), "qpsk"),
    Float32Array.from([1, -1, -1, 1], (x) => x / Math.SQRT2),
  );
  assert.deepEqual(modulate(Uint8Array.of(0, 1, 1, 0), "qam16"), Float32Array.from([3, -1], (x) => x / Math.sqrt(10)));
  assert.deepEqual(modulate(Uint8Array.of(0, 1), "bpsk"), Float32Array.of(1, 0, -1, 0));
});

Deno.test("zero bits fill the last symbol", () => {
  for (const modulation of MODULATIONS) {
    const size = BITS_PER_SYMBOL[modulation];
    for (let length = 0; length <= 3 * size; length++) {
      const bits = Uint8Array.from({ length }, () => 1);
      const padded = new Uint8Array(Math.ceil(length / size) * size);
      padded.set(bits);
      assert.deepEqual(modulate(bits, modulation), modulate(padded, modulation), `${modulation} ${length}`);
    }
  }
});

/** LLRs from sums (exact) or minima (max-log) over the whole constellation. */
function bruteForce(modulation: Modulation, symbols: Float32Array, n0: (i: number) => number, exact: boolean) {
  const count = BITS_PER_SYMBOL[modulation];
  const points = Array.from({ length: 2 ** count }, (_, label) => {
    const bits = bitsOf(label, count);
    return { bits, point: standardPoint(modulation, bits) };
  });
  return Array.from({ length: symbols.length / 2 }, (_, i) => {
    const distance = ([re, im]: [number, number]) => (symbols[2 * i] - re) ** 2 + (symbols[2 * i + 1] - im) ** 2;
    return Array.from({ length: count }, (_, bit) => {
      const metric = (value: number) => {
        const distances = points.filter(({ bits }) => bits[bit] === value).map(({ point }) => distance(point) / n0(i));
        const least = Math.min(...distances);
        return exact ? least - Math.log(distances.reduce((sum, d) => sum + Math.exp(least - d), 0)) : least;
      };
      return metric(1) - metric(0);
    });
  }).flat();
}

Deno.test("LLRs equal log-MAP or max-log over the constellation", () => {
  const generator = Generator.seeded(11);
  const symbols = generator.complexNormal(100, 2);
  for (const modulation of MODULATIONS) {
    for (const n0 of [0.01, 0.5, 3]) {
      for (const method of ["exact", "max_log"] as const) {
        const expected = bruteForce(
          modulation,
          symbols,
          () => n0,
          method === "exact" || BITS_PER_SYMBOL[modulation] <= 2,
        );
        demodulateLlr(symbols, modulation, n0, undefined, method).forEach((llr, i) => {
          assert.ok(
            Math.abs(llr - expected[i]) <= 2e-7 * (1 + Math.abs(expected[i])) / n0,
            `${modulation} ${method} ${n0} at ${i}`,
          );
        });
      }
    }
  }
});

Deno.test("a variance per symbol acts symbol by symbol", () => {
  const generator = Generator.seeded(12);
  const symbols = generator.complexNormal(64, 1.5);
  const variances = Float32Array.from(generator.uniform(0.05, 2, 64));
  for (const modulation of MODULATIONS) {
    const size = BITS_PER_SYMBOL[modulation];
    const whole = demodulateLlr(symbols, modulation, variances);
    for (let i = 0; i < 64; i++) {
      const alone = demodulateLlr(symbols.subarray(2 * i, 2 * i + 2), modulation, variances[i]);
      assert.deepEqual(whole.subarray(i * size, (i + 1) * size), alone);
    }
    assert.throws(() => demodulateLlr(symbols, modulation, variances.subarray(1)), RangeError);
  }
});

Deno.test("noise variance is floored at 1e-12", () => {
  const symbols = Float32Array.of(0.5, -0.25);
  for (const modulation of MODULATIONS) {
    assert.deepEqual(demodulateLlr(symbols, modulation, 0), demodulateLlr(symbols, modulation, 1e-12));
    const perSymbol = demodulateLlr(symbols, modulation, Float32Array.of(0));
    assert.deepEqual(perSymbol, demodulateLlr(symbols, modulation, 1e-12));
  }
});

Deno.test("hard bits undo the mapping; a zero LLR gives 0", () => {
  const bits = Generator.seeded(3).integers(0, 2, 24 * 50, "uint8");
  for (const modulation of MODULATIONS) {
    assert.deepEqual(hardBits(demodulateLlr(modulate(bits, modulation), modulation, 0.1)), bits, modulation);
  }
  assert.deepEqual(hardBits(Float32Array.of(0, -0, 1, -1, -1e-45, 1e-45)), Uint8Array.of(0, 0, 0, 1, 1, 0));
  assert.deepEqual(hardBits(Float32Array.of(-Infinity, Infinity, NaN, -NaN)), Uint8Array.of(1, 0, 0, 0));
});

Deno.test("known LLRs", () => {
  const y = Float32Array.of(0.5, -0.25);
  assert.deepEqual(demodulateLlr(y, "bpsk", 0.5), Float32Array.of(4));
  assert.deepEqual(demodulateLlr(y, "qpsk", 0.5), Float32Array.of(2 * Math.SQRT2, -Math.SQRT2));
});

Deno.test("tables and soft demapping equal the stored vectors of two formulas", () => {
  for (const modulation of ["qpsk", "qam16", "qam64", "qam256"] as const) {
    const width = BITS_PER_SYMBOL[modulation];
    const labels = stored.tables[modulation].flatMap((_, label) => bitsOf(label, width));
    assert.deepEqual(
      modulate(Uint8Array.from(labels), modulation),
      Float32Array.from(stored.tables[modulation].flat()),
    );
  }
  for (const row of stored.demap) {
    const y = Float32Array.from(row.y.flat());
    for (const [method, expected] of [["max_log", row.llr_max_log], ["exact", row.llr_exact]] as const) {
      const llr = demodulateLlr(y, row.modulation as Modulation, row.noise_variance, undefined, method);
      expected.forEach((value, i) => {
        assert.ok(Math.abs(llr[i] - value) <= 2e-5 * Math.abs(value) + 2e-5, `${row.modulation} ${method} ${i}`);
      });
    }
  }
});

/** One symbol after another, as the module documentation states the closed forms. */
function referenceLlr(modulation: Modulation, symbols: Float32Array, variances: Float32Array): Float32Array {
  const bits = BITS_PER_SYMBOL[modulation],
    unit = partLevels(modulation).reduce((least, v) => v > 0 ? Math.min(least, v) : least, 1);
  const llr = new Float32Array(symbols.length / 2 * bits);
  for (let i = 0; i < symbols.length / 2; i++) {
    const precision = 1 / Math.max(variances[i], 1e-12);
    if (modulation === "bpsk") llr[i] = 4 * precision * symbols[2 * i];
    for (let part = 0; part < 2 && bits > 1; part++) {
      let v = symbols[2 * i + part];
      for (let bit = 0, half = 2 ** (bits / 2 - 1); bit < bits / 2; bit++, half /= 2) {
        const size = Math.abs(v);
        let beyond = 0;
        for (let k = 1; k < half; k++) beyond += Math.max(size - k * (2 * unit), 0);
        llr[i * bits + 2 * bit + part] = 4 * unit * precision * (v + Math.sign(v) * beyond);
        v = Math.floor(half / 2) * (2 * unit) - size;
      }
    }
  }
  return llr;
}

Deno.test("the kernels equal the reference bit for bit, for any length and any position in a buffer", () => {
  const generator = Generator.seeded(31);
  for (const modulation of MODULATIONS) {
    // The largest count is more than a block of the kernels, for the mapping too.
    for (const count of [1, 3, 5, 17, 4097, 33_001]) {
      const symbols = new Float32Array(2 * count + 1).subarray(1);
      symbols.set(generator.complexNormal(count, 1.5));
      [0, -0, Infinity, -Infinity, NaN, 1e-40].forEach((value, i) => symbols[(7 * i) % symbols.length] = value);
      const variances = Float32Array.from(generator.uniform(0.01, 3, count + 1)).subarray(1);
      variances[count >> 1] = 0;
      assert.deepEqual(
        [...demodulateLlr(symbols, modulation, variances)],
        [...referenceLlr(modulation, symbols, variances)],
        `${modulation} ${count}`,
      );
      for (const variance of [0.3, Infinity]) {
        assert.deepEqual(
          [...demodulateLlr(symbols, modulation, Math.fround(variance))],
          [...referenceLlr(modulation, symbols, new Float32Array(count).fill(variance))],
          `${modulation} ${count} ${variance}`,
        );
      }
      assert.deepEqual(hardBits(symbols), Uint8Array.from(symbols, (value) => value < 0 ? 1 : 0));
      const size = BITS_PER_SYMBOL[modulation];
      const bits = (generator.integers(0, 2, 3 + Math.ceil(count * size / 4), "uint8") as Uint8Array).subarray(3);
      const expected = Array.from(
        { length: Math.ceil(bits.length / size) },
        (_, i) => standardPoint(modulation, Array.from({ length: size }, (_, bit) => bits[i * size + bit] ?? 0)),
      ).flat();
      assert.deepEqual(modulate(bits, modulation), Float32Array.from(expected), `${modulation} ${count}`);
    }
  }
});

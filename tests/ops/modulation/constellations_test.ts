/** Constellations of tables: their geometry and labels, rotated BPSK, error rates against closed forms, and refusals. */
import assert from "node:assert/strict";
import demodulator from "../../../ops/demodulation/digital_demodulate.ts";
import modulator from "../../../ops/modulation/digital_modulate.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { APSK_RATES, TABLE_MODULATIONS, tablePoints } from "../../../lib/numeric/link/constellation.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const floats = (values: number[]) => values.map(float);
const modulate = async (bits: Uint8Array, params: JsonObject) =>
  (await runOperation(modulator, { inputs: { bits: payloadInput(bits) }, params })).outputs.symbols;
const demodulate = async (symbols: InputArtifact, params: JsonObject = {}, changes: JsonObject = {}) => {
  const array = symbols.array(), metadata = { ...symbols.metadata, noise_variance: float(0.01), ...changes };
  const rx_symbols = { kind: "channel.symbols.complex_numpy", array, metadata };
  return (await runOperation(demodulator, { inputs: { rx_symbols }, params })).outputs;
};
const dataOf = (artifact: InputArtifact) => artifact.array().data as Float32Array;

/** Labels of the points by ring and angle. */
function rings(points: Float32Array): number[][] {
  const all = Array.from({ length: points.length / 2 }, (_, label) => {
    const re = points[2 * label], im = points[2 * label + 1];
    return { label, radius: Math.round(1e4 * Math.hypot(re, im)), angle: Math.atan2(im, re) };
  });
  return [...Map.groupBy(all, ({ radius }) => radius)].sort(([a], [b]) => a - b)
    .map(([, ring]) => ring.sort((a, b) => a.angle - b.angle).map(({ label }) => label));
}
const differing = (a: number, b: number) => (a ^ b).toString(2).replaceAll("0", "").length;

Deno.test("tables have unit power, the rings of the standard, and Gray labels around each ring", () => {
  for (const [name, sizes] of [["psk8", [8]], ["psk16", [16]], ["apsk16", [4, 12]], ["apsk32", [4, 12, 16]]] as const) {
    for (const rate of APSK_RATES.filter((rate) => name !== "apsk32" || rate !== "2_3")) {
      const points = tablePoints(name, rate), found = rings(points);
      assert.ok(Math.abs(points.reduce((sum, part) => sum + part * part, 0) / (points.length / 2) - 1) < 1e-6);
      assert.deepEqual(found.map((ring) => ring.length), sizes);
      // The labels of the outer ring of 32APSK are those of quadrants, not Gray.
      for (const ring of found.slice(0, 2)) {
        ring.forEach((label, i) => assert.equal(differing(label, ring[(i + 1) % ring.length]), 1, `${name} ${ring}`));
      }
    }
  }
  const radius = (points: Float32Array, label: number) => Math.hypot(points[2 * label], points[2 * label + 1]);
  const [sixteen, more] = [tablePoints("apsk16", "9_10"), tablePoints("apsk32", "4_5")];
  assert.ok(Math.abs(radius(sixteen, 0) / radius(sixteen, 12) - 2.57) < 1e-5);
  assert.ok(Math.abs(radius(more, 0) / radius(more, 17) - 2.72) < 1e-5);
  assert.ok(Math.abs(radius(more, 24) / radius(more, 17) - 4.87) < 1e-5);
  assert.throws(() => tablePoints("apsk32", "2_3"), /Cannot use apsk32 at the code rate 2\/3/);
});

Deno.test("8PSK has the labels of DVB-S2, and PAM those of a part of QAM", () => {
  const angles = Array.from({ length: 8 }, (_, label) => {
    const points = tablePoints("psk8");
    return (Math.round(Math.atan2(points[2 * label + 1], points[2 * label]) / (Math.PI / 4)) + 8) % 8;
  });
  assert.deepEqual(angles, [1, 0, 4, 5, 2, 7, 3, 6]);
  const levels = (name: "pam4" | "pam8") => [...tablePoints(name)].filter((_, i) => i % 2 === 0);
  const scaled = (values: number[], divisor: number) => values.map((value) => Math.fround(value / Math.sqrt(divisor)));
  levels("pam4").forEach((level, i) => assert.ok(Math.abs(level - scaled([1, 3, -1, -3], 5)[i]) < 1e-6));
  levels("pam8").forEach((level, i) => assert.ok(Math.abs(level - scaled([3, 1, 5, 7, -3, -1, -5, -7], 21)[i]) < 1e-6));
});

Deno.test("rotated BPSK follows TS 38.211", async () => {
  const bits = someBits(7), turned = dataOf(await modulate(bits, { modulation: "bpsk", bpsk_rotation: "ts38211" }));
  const alternating = dataOf(await modulate(bits, { modulation: "pi2_bpsk" }));
  bits.forEach((bit, i) => {
    const d = (1 - 2 * bit) / Math.SQRT2,
      near = (found: Float32Array, re: number, im: number) =>
        assert.ok(Math.hypot(found[2 * i] - re, found[2 * i + 1] - im) < 1e-6);
    near(turned, d, d);
    near(alternating, i % 2 === 0 ? d : -d, d);
  });
});

Deno.test("every table comes back from its metadata, soft values exact or by the nearest point", async () => {
  const bits = someBits(103);
  const choices: JsonObject[] = [
    ...TABLE_MODULATIONS.map((modulation) => ({ modulation })),
    { modulation: "apsk32", apsk_code_rate: "9_10" },
    { modulation: "pi2_bpsk" },
    { modulation: "bpsk", bpsk_rotation: "ts38211" },
    { modulation: "custom", constellation_points: [[3, 0], [0, 0.5], [0, -4], [-1, 0]].map(floats) },
  ];
  for (const params of choices) {
    const symbols = await modulate(bits, params);
    for (const llr_method of ["exact", "max_log"]) {
      const { bits: found, llr } = await demodulate(symbols, { llr_method });
      assert.deepEqual([...found.array().data as Uint8Array], [...bits], JSON.stringify(params));
      assert.equal(found.metadata.constellation_points ?? found.metadata.bpsk_rotation, undefined);
      assert.equal(dataOf(llr).length, bits.length);
    }
  }
});

/** Wrong symbols of 4 · 10^4 at Es/N0, decided by the largest likelihood of each label. */
async function symbolErrors(modulation: string, width: number, esn0: number): Promise<number> {
  const bits = Generator.seeded(4).integers(0, 2, width * 40_000, "uint8") as Uint8Array<ArrayBuffer>;
  const symbols = await modulate(bits, { modulation });
  const noisy = Generator.seeded(5).addComplexNormal(dataOf(symbols).slice(), 1 / esn0);
  const received = { ...symbols, array: () => ({ ...symbols.array(), data: noisy }) } as InputArtifact;
  const decided = (await demodulate(received, {}, { noise_variance: float(1 / esn0) })).bits.array().data as Uint8Array;
  let errors = 0;
  for (let i = 0; i < bits.length; i += width) {
    if (bits.subarray(i, i + width).some((bit, k) => bit !== decided[i + k])) errors++;
  }
  return errors;
}

const mean = (count: number, f: (share: number) => number) =>
  Array.from({ length: count }, (_, i) => f((i + 0.5) / count)).reduce((sum, value) => sum + value, 0) / count;
/** Q(x), by the integral of Craig. */
const upperTail = (x: number) =>
  mean(2000, (share) => Math.exp(-(x ** 2) / (2 * Math.sin(share * Math.PI / 2) ** 2))) / 2;

Deno.test("symbol error rates of PSK and PAM are the closed forms, those of APSK within the union bound", async () => {
  const count = 40_000,
    close = (found: number, expected: number) =>
      assert.ok(expected > 100 && Math.abs(found - expected) < 3.3 * Math.sqrt(expected), `${found} ${expected}`);
  for (const [name, width, esn0] of [["psk8", 3, 12], ["psk16", 4, 40]] as const) {
    const order = 2 ** width, reach = Math.PI * (1 - 1 / order), least = Math.sin(Math.PI / order) ** 2;
    const rate = reach / Math.PI * mean(4000, (share) => Math.exp(-esn0 * least / Math.sin(share * reach) ** 2));
    close(await symbolErrors(name, width, esn0), count * rate);
  }
  for (const [name, width, esn0] of [["pam4", 2, 12], ["pam8", 3, 50]] as const) {
    const order = 2 ** width;
    close(
      await symbolErrors(name, width, esn0),
      count * 2 * (1 - 1 / order) * upperTail(Math.sqrt(6 * esn0 / (order ** 2 - 1))),
    );
  }
  for (const [name, width, esn0] of [["apsk16", 4, 40], ["apsk32", 5, 80]] as const) {
    const points = tablePoints(name);
    let union = 0;
    for (let a = 0; a < points.length; a += 2) {
      for (let b = 0; b < points.length; b += 2) {
        const distance = Math.hypot(points[a] - points[b], points[a + 1] - points[b + 1]);
        if (a !== b) union += upperTail(distance * Math.sqrt(esn0 / 2)) * count / (points.length / 2);
      }
    }
    const errors = await symbolErrors(name, width, esn0), deviation = 3.3 * Math.sqrt(union);
    assert.ok(
      errors >= 100 && errors < union + deviation && errors > 0.7 * union - deviation,
      `${name} ${errors} ${union}`,
    );
  }
});

Deno.test("points without labels, unknown ring ratios and lost tables are refused", async () => {
  const bits = someBits(8),
    custom = (points: number[][]) => modulate(bits, { modulation: "custom", constellation_points: points.map(floats) });
  await refuses("params_conflict", () => custom([[1, 0], [0, 1], [-1, 0]]));
  await refuses("params_conflict", () => custom([[0, 0], [0, 0]]));
  await refuses("params_conflict", () => modulate(bits, { modulation: "custom" }));
  await refuses("params_conflict", () => modulate(bits, { modulation: "apsk32", apsk_code_rate: "2_3" }));
  const symbols = await modulate(bits, { modulation: "apsk16" });
  await refuses(
    "params_conflict",
    () => demodulate(symbols, {}, { constellation_points: undefined as unknown as string }),
  );
  await refuses("boundary_value_invalid", () => demodulate(symbols, {}, { constellation_points: "none" }));
});

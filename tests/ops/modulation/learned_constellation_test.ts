import assert from "node:assert/strict";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import demap from "../../../ops/demodulation/constellation_demapper.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import map from "../../../ops/modulation/learned_constellation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { bitsInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { runOperation } from "../harness.ts";

const mapped = async (bits: Uint8Array, params: JsonObject) =>
  (await runOperation(map, { inputs: { bits: payloadInput(bits) }, params })).outputs;

Deno.test("mode qam is the Gray mapping, and its demapper gives the LLRs of the closed forms", async () => {
  const noise = Generator.seeded(5);
  for (const [width, modulation] of [[1, "bpsk"], [2, "qpsk"], [4, "qam16"], [6, "qam64"], [8, "qam256"]] as const) {
    const bits = someBits(width * 40 - 1);
    const { symbols, constellation } = await mapped(bits, { bits_per_symbol: width });
    const direct = await runOperation(digitalModulate, { inputs: { bits: bitsInput(bits) }, params: { modulation } });
    const sent = symbols.array().data as Float32Array, expected = direct.outputs.symbols.array().data;
    sent.forEach((part, i) => assert.ok(Math.abs(part - Number(expected[i])) < 1e-6));
    const rx_symbols = symbolsInput(sent.map((part) => part + 0.1 * noise.standardNormal(1)[0]), {
      ...symbols.metadata,
      noise_variance: 0.02,
    });
    for (const mode of ["exact", "max_log"]) {
      const inputs = { rx_symbols, constellation };
      const found = await runOperation(demap, { inputs, params: { mode } });
      const params = { modulation, llr_method: mode };
      const { llr } = (await runOperation(digitalDemodulate, { inputs: { rx_symbols }, params })).outputs;
      const values = found.outputs.llr.array().data, closed = llr.array().data;
      assert.equal(values.length, bits.length);
      // BPSK and QPSK have one formula; above, the nearest point is max-log.
      values.forEach((value, i) => {
        assert.ok(Math.abs(Number(value) - Number(closed[i])) < 2e-4 * (1 + Math.abs(Number(closed[i]))), modulation);
      });
    }
  }
});

Deno.test("given points have unit mean power, and a label has its first bit highest", async () => {
  const points = Array.from({ length: 8 }, (_, m) => [m + 1, -m]);
  const { symbols, constellation } = await mapped(Uint8Array.of(1, 0, 0, 0, 1), {
    mode: "points",
    bits_per_symbol: 3,
    points,
  });
  const scaled = constellation.array().data as Float32Array;
  assert.ok(Math.abs(scaled.reduce((sum, part) => sum + part ** 2, 0) / 8 - 1) < 1e-6);
  assert.deepEqual(symbols.array().data, Float32Array.of(...scaled.subarray(8, 10), ...scaled.subarray(4, 6)));
  const { modulation, bits_per_symbol, modulation_padding_bits } = symbols.metadata;
  assert.deepEqual([modulation, bits_per_symbol, modulation_padding_bits], ["constellation", 3, 1]);
  await assert.rejects(mapped(someBits(6), { mode: "points", bits_per_symbol: 1, points: [[0, 0], [0, 0]] }), {
    message: /without power/,
  });
});

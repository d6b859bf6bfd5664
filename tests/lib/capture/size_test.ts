import assert from "node:assert/strict";
import { captureSize } from "../../../lib/capture/size.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { createRegistry } from "../../../ops/registry.ts";

Deno.test("a capture is as large as its records times their shapes", async () => {
  const registry = await createRegistry();
  const steps = [
    { id: "data", op: "source.random_bits", params: { bit_count: 96 } },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    {
      id: "link",
      op: "wireless.channel",
      params: { channel: "flat_rayleigh" },
      inputs: { symbols: "modulator.symbols" },
    },
    { id: "pilots", op: "source.beamforming_scenario", params: { example_count: 5, tx_antennas: 4 } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "link.rx_symbols" } },
  ];
  const { effective } = compileRecipe({ name: "sizes", steps }, { mode: "strict", registry });
  const size = (...taps: { id: string; from: string; record?: "run" }[]) =>
    captureSize({ samples: 10, taps }, effective!, registry);
  const bits = { id: "b", from: "data.bits" };
  // 96 bits in uint8, and 48 complex64 symbols: one record each.
  assert.deepEqual(size(bits, { id: "s", from: "modulator.symbols" }), {
    records: 10,
    bytes: 10 * (96 + 8 * 48),
    exact: true,
    text: "10 records × (b [96], s [48]) = 4.7 KiB",
  });
  const rows = effective!.steps[3], [port] = Object.keys(registry.get(rows.op).operation.contract.output_kinds);
  const row = size({ id: "r", from: `pilots.${port}` }),
    whole = size({ id: "r", from: `pilots.${port}`, record: "run" });
  assert.equal(whole.bytes, 5 * row.bytes);
  // Symbols of a fading channel and the noise variance of each.
  assert.equal(size({ id: "rx", from: "link.rx_symbols" }).bytes, 10 * 48 * (8 + 4));
  const unknown = size(bits, { id: "rx", from: "demodulator.bits" });
  assert.deepEqual([unknown.exact, unknown.text], [
    false,
    "10 records × (b [96], rx [size known when demodulator runs]) = at least 960 B",
  ]);
  // A run with several items gives a record for each.
  steps[0] = { id: "data", op: "source.random_bits", params: { bit_count: 96, batch_size: 8 } as never };
  const batch = compileRecipe({ name: "sizes", steps }, { mode: "strict", registry }).effective!;
  const taps = [bits, { id: "s", from: "modulator.symbols" }];
  assert.equal(captureSize({ samples: 10, taps }, batch, registry).text, "10 records × (b [96], s [48]) = 4.7 KiB");
  const run = captureSize({ samples: 10, taps: [{ ...bits, record: "run" as const }] }, batch, registry);
  assert.equal(run.text, "10 records × (b [768]) = 7.5 KiB");
});

Deno.test("a vector with a value for each row of the other taps has one value a record", async () => {
  const registry = await createRegistry();
  const steps = [
    { id: "data", op: "source.modulation_frames", params: { frame_count: 96 } },
    { id: "observation", op: "wireless.modulation_awgn_observation", inputs: { frames: "data.frames" } },
  ];
  const { effective, diagnostics } = compileRecipe({ name: "sizes", steps }, { mode: "strict", registry });
  assert.ok(effective !== null, JSON.stringify(diagnostics));
  const taps = [{ id: "x", from: "observation.observation" }, { id: "y", from: "data.labels" }];
  assert.match(captureSize({ samples: 4, taps }, effective, registry).text, /^4 records × \(x \[128\], y \[\]\) = /);
});

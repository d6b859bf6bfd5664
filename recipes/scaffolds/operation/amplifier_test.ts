/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { clip } from "./amplifier.ts";
import type { ArrayValue, Context } from "../svc_types.ts";

const symbols = (...parts: number[]): ArrayValue => ({
  dtype: "complex64",
  shape: [parts.length / 2],
  data: Float32Array.from(parts),
});

Deno.test("amplitudes above the saturation are set to it, phases are kept", () => {
  // Mean power 25 / 2; at 0 dB of back-off the saturation is its root.
  const { outputs, metrics } = clip({ symbols: symbols(3, 4, 0, 0) }, { backoff_db: 0 }, {} as Context);
  const [real, imaginary, ...rest] = (outputs!.symbols as ArrayValue).data as Float32Array;
  assert.ok(Math.abs(Math.hypot(real, imaginary) - Math.sqrt(12.5)) < 1e-6);
  assert.ok(Math.abs(real / imaginary - 3 / 4) < 1e-6);
  assert.deepEqual(rest, [0, 0]);
  assert.equal(metrics!.clipped_share, 0.5);
});

Deno.test("with enough back-off nothing changes", () => {
  const given = symbols(1, 0, 0, -1, 0.5, 0.5);
  const { outputs, metrics } = clip({ symbols: given }, { backoff_db: 20 }, {} as Context);
  assert.deepEqual(outputs!.symbols, given);
  assert.equal(metrics!.clipped_share, 0);
});

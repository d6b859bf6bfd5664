import assert from "node:assert/strict";
import { runOperation, symbolsArtifact } from "../../../mod.ts";
import ownLimiter from "./own_limiter.ts";

Deno.test("3 + 4i is limited to amplitude 1, its phase kept; smaller symbols stay", async () => {
  const inputs = { symbols: symbolsArtifact(Float32Array.of(3, 4, 0.25, 0), {}) };
  const { outputs, metrics } = await runOperation(ownLimiter, { inputs });
  const [real, imaginary, ...rest] = outputs.symbols.array().data as Float32Array;
  assert.ok(Math.abs(real - 0.6) < 1e-6 && Math.abs(imaginary - 0.8) < 1e-6);
  assert.deepEqual(rest, [0.25, 0]);
  assert.equal(metrics["own.clipped_share"], 0.5);
});

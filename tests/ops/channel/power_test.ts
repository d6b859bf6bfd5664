import assert from "node:assert/strict";
import normalize from "../../../ops/channel/symbol_power_normalize.ts";
import { meanPower } from "../../../lib/numeric/linalg/complex.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { symbolsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const SYMBOLS = [3, 4, 0, 5, 0.1, 0, 0, 0.3, -0.2, 0.1];

async function powers(params: JsonObject, metadata: JsonObject, cuts: number[]) {
  const result = await runOperation(normalize, { inputs: { symbols: symbolsInput(SYMBOLS, metadata) }, params });
  const data = result.outputs.symbols.array().data as Float32Array;
  const ends = cuts.map((_, i) => cuts.slice(0, i + 1).reduce((sum, cut) => sum + cut, 0));
  return { powers: ends.map((end, i) => meanPower(data.subarray(2 * (end - cuts[i]), 2 * end))), data, result };
}

const isNear = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, b), `${a} ${b}`);

Deno.test("each source item gets the target power, the whole stream where none is declared", async () => {
  const perItem = await powers({ target_power: 2 }, { source_item_counts: [2, 3] }, [2, 3]);
  perItem.powers.forEach((power) => isNear(power, 2));
  const undeclared = await powers({ target_power: 2 }, {}, [5]);
  isNear(undeclared.powers[0], 2);
  const global = await powers({ normalization_scope: "global" }, { source_item_counts: [2, 3] }, [5]);
  isNear(global.powers[0], 1);
  assert.ok(Math.abs(global.data[0] / global.data[4] - 30) < 1e-4, "one gain for all");
});

Deno.test("known gain: two symbols of power 25 become unit power at -13.98 dB", async () => {
  const { outputs, metrics } = await runOperation(normalize, { inputs: { symbols: symbolsInput([3, 4, 0, 5]) } });
  assert.deepEqual(outputs.symbols.array().data, Float32Array.of(0.6, 0.8, 0, 1));
  isNear(metrics["channel.tx_gain_db"] as number, -10 * Math.log10(25));
});

Deno.test("silence stays silent, and an empty item does no harm", async () => {
  const { outputs, metrics } = await runOperation(normalize, {
    inputs: { symbols: symbolsInput([0, 0, 2, 0], { source_item_counts: [1, 0, 1] }) },
  });
  assert.deepEqual(outputs.symbols.array().data, Float32Array.of(0, 0, 1, 0));
  isNear(metrics["channel.tx_gain_db"] as number, -20 * Math.log10(2));
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(normalize, { inputs: { symbols: symbolsInput(3, { source_item_counts: [1, 1] }) } }),
  );
});

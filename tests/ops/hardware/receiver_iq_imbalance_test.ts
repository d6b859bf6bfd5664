import assert from "node:assert/strict";
import vectors from "../../data/wireless/receiver_vectors.json" with { type: "json" };
import type { JsonObject } from "../../../lib/contract/value.ts";
import iqImbalance from "../../../ops/hardware/receiver_iq_imbalance.ts";
import { runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";
import { assertSame, floats } from "../wireless/_vectors.ts";

Deno.test("I/Q imbalance is NumPy's affine transform, and none at zero", async () => {
  const metadata = { source_item_counts: vectors.frame_symbol_counts, text_ids: ["a"] };
  const rx_symbols = symbolsInput(floats(vectors.symbols), metadata, { kind: "channel.rx_symbols.complex_numpy" });
  const run = async (params: JsonObject) =>
    (await runOperation(iqImbalance, { inputs: { rx_symbols }, params })).outputs.rx_symbols;
  const impaired = await run(vectors.imbalance_params);
  assertSame(impaired.array().data as Float32Array, floats(vectors.imbalanced), "imbalanced");
  assert.deepEqual(impaired.metadata.text_ids, ["a"]);
  const zero = Object.fromEntries(Object.keys(vectors.imbalance_params).map((key) => [key, 0]));
  assert.deepEqual((await run(zero)).array().data, floats(vectors.symbols));
});

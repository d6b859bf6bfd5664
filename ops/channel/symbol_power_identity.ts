/** Transmit power bypass: symbols keep their power. It takes the place of power control in a graph. */
import { SYMBOLS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { executed, exported } from "../_backends.ts";
import { relaySymbols, SYMBOL_KEYS } from "./_relay.ts";

export default defineOperation({
  id: "channel.symbol_power_identity",
  name: "Transmit power bypass",
  description: "Leaves the symbol power unchanged",
  inputs: { symbols: SYMBOLS_ANY },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({
    label: z.string().default("tx_power_off").describe("name of the stage in the step row"),
    power_unit: z.enum(["normalized", "mW"]).default("normalized").describe("unit of the symbol power"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  equivalence: { type: "exact" },
  materializations: [...executed("numpy", "numpy_symbol_identity"), exported("torch", "torch_identity")],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: [...SYMBOL_KEYS, "power_unit"] } },
  twin: true,
  threadSafe: true,
  run: ({ inputs, params }) => ({
    outputs: { symbols: relaySymbols(inputs.symbols, { power_unit: params.power_unit }) },
    metadata: { label: params.label },
  }),
});

/** Bypassed symbol channel: y = x, with companion arrays and metadata. */
import { SYMBOLS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { executed, exported } from "../_backends.ts";
import { relaySymbols, SYMBOL_KEYS } from "./_relay.ts";
import { sizeOfInput } from "../_same_shape.ts";

export default defineOperation({
  id: "channel.identity_symbol_link",
  name: "Bypassed symbol channel",
  description: "Identity on continuous symbols for a disabled channel",
  inputs: { symbols: SYMBOLS_ANY },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({
    label: z.string().default("identity_symbol_channel").describe("name of the link in the step row"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: SYMBOL_KEYS } },
  estimate: (_params, { symbols }) => ({ symbols: sizeOfInput(symbols, "complex64") }),
  twin: true,
  threadSafe: true,
  run: ({ inputs, params }) => ({
    outputs: { symbols: relaySymbols(inputs.symbols) },
    metadata: { label: params.label },
  }),
});

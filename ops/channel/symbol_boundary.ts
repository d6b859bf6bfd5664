/**
 * Symbol checkpoint: finite complex64 symbols in one dimension, and the expected number of symbols if given. The
 * symbols, their companion arrays and their metadata pass unchanged.
 */
import { SYMBOLS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { checkExpectedCount } from "../../lib/artifact/accounting.ts";
import { executed, exported } from "../_backends.ts";
import { relaySymbols, SYMBOL_KEYS } from "./_relay.ts";

export default defineOperation({
  id: "channel.symbol_boundary",
  name: "Symbol checkpoint",
  description: "Validates and stores complex symbols unchanged at a named checkpoint",
  inputs: { symbols: SYMBOLS_ANY },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({
    expected_symbol_count: z.int().nonnegative().default(0).describe("symbols that must arrive; 0 accepts any number"),
    label: z.string().default("symbol_boundary").describe("name of the checkpoint in the step row"),
    role: z.string().default("channel_symbol_boundary").describe("role of the checkpoint, such as channel_input"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  equivalence: { type: "numerical", tolerance: { atol: 0, rtol: 0 } },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: SYMBOL_KEYS } },
  twin: true,
  threadSafe: true,
  run({ inputs, params }) {
    const symbols = relaySymbols(inputs.symbols);
    const expected = params.expected_symbol_count;
    if (expected > 0) checkExpectedCount(symbols.array!.data.length / 2, expected, "symbols");
    return { outputs: { symbols }, metadata: { label: params.label, role: params.role } };
  },
});

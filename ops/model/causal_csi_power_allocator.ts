/**
 * Power control of symbols from what was reported of the channel; policies: _power_policies.ts and _power_csi.ts. It does
 * what model.symbol_power_allocator does; a trained policy is given the history of reports instead of one gain.
 *
 * Shapes: symbols complex64 [n] -> symbols complex64 [n], or as many as bit loading uses; allocation `power` float64
 * [state, subcarrier], mean power per resource element, and with bit loading `bits_per_symbol` uint8 of the same shape.
 * Resource elements run subcarrier first, then OFDM symbol, then grid; symbol i uses element i.
 */
import {
  BITS,
  CODED_BITS,
  OFDM_STATE,
  PAYLOAD_BITS,
  POWER_ALLOCATION,
  SYMBOLS,
  SYMBOLS_ANY,
} from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { allocatePower } from "./_power_allocator.ts";
import {
  CHECKPOINT_FORMAT,
  checkPower,
  POWER_MATERIALIZATIONS,
  POWER_PARAMS,
  powerAbi,
  RECORD_KEYS,
  requiredFiles,
} from "./_power_params.ts";

export default defineOperation({
  id: "model.causal_csi_power_allocator",
  name: "Causal-history power allocator",
  description: "Scales symbols by a power policy that may use the history of channel reports",
  inputs: { symbols: SYMBOLS_ANY },
  optionalInputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS], channel_state: [OFDM_STATE] },
  outputs: { allocation: POWER_ALLOCATION, symbols: SYMBOLS },
  params: POWER_PARAMS,
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: CHECKPOINT_FORMAT },
  materializations: POWER_MATERIALIZATIONS,
  outputMetadataGuarantees: {
    allocation: { keys: [...RECORD_KEYS, "state_count", "subcarrier_count", "symbol_count"] },
    symbols: { from: "symbols", keys: ["boundary_contract", "symbol_count", ...RECORD_KEYS] },
  },
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: powerAbi({ csi_history: { dtype: "float32", shape: ["batch", "history", "subcarrier", 2] } }),
  check: checkPower,
  requires: requiredFiles,
  threadSafe: true,
  run: (context) => allocatePower(context, "csi_history"),
});

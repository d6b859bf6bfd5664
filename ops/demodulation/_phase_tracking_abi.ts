/** What a trained phase tracker takes and gives: features of every frame symbol, and the phase that is left to correct. */
import type { JsonObject } from "../../lib/contract/value.ts";

export const PHASE_TRACKING_ABI: JsonObject = {
  component_id: "receiver",
  component_role: "phase_tracking_receiver",
  entrypoint_id: "phase_tracking_receiver",
  inputs: { receiver_features_v3: { dtype: "float32", shape: ["packet", "frame_symbol", 11] } },
  outputs: { residual_phase_rad: { dtype: "float32", shape: ["packet", "frame_symbol"] } },
  required_operation_inputs: ["rx_symbols", "pilot_context"],
  binding_params: {
    mode: "learned_artifact",
    artifact_manifest_path: "trained_artifact.yaml",
    artifact_entrypoint: "phase_tracking_receiver",
  },
};

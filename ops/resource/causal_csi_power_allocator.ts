/**
 * Power control of symbols from the reported channel; _power_allocator.ts. A trained policy receives the history of reports,
 * csi_history.
 */
import { powerAllocator } from "./_power_allocator.ts";

export default powerAllocator({
  id: "model.causal_csi_power_allocator",
  name: "Causal-history power allocator",
  description: "Scales symbols by a power policy that may use the history of channel reports",
  feature: "csi_history",
  shape: ["batch", "history", "subcarrier", 2],
  meaning: "reports of the channel, the oldest first, real and imaginary part",
});

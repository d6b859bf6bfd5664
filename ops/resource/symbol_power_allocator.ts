/** Power control of symbols under a budget; _power_allocator.ts. A trained policy receives the last reported gain. */
import { powerAllocator } from "./_power_allocator.ts";

export default powerAllocator({
  id: "model.symbol_power_allocator",
  name: "Budget-constrained symbol power control",
  description: "Scales symbols by a power policy under a mean power budget, optionally with bit loading",
  feature: "channel_gain",
  shape: ["batch", "subcarrier"],
  meaning: "|h|^2 of the last report",
});

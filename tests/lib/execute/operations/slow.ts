/** Polls for cancellation until a number of ticks has passed; reports progress unless it is silent. */
import { bitsArtifact } from "../../../../lib/artifact/values.ts";
import { defineOperation } from "../../../../lib/contract/define.ts";
import { BITS } from "../../../../lib/contract/kinds.ts";
import { z } from "../../../../lib/contract/zod.ts";

export default defineOperation({
  id: "test.slow",
  name: "Slow step for tests",
  outputs: { bits: BITS },
  params: z.strictObject({ ticks: z.int().default(20), silent: z.boolean().default(false) }),
  threadSafe: true,
  async run({ params, report_progress, is_cancelled, raise_if_cancelled }) {
    for (let tick = 0; tick < params.ticks; tick++) {
      if (is_cancelled()) raise_if_cancelled();
      if (!params.silent) report_progress(tick, params.ticks, { phase: "ticking", unit: "ticks" });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { outputs: { bits: bitsArtifact(new Uint8Array(8)) } };
  },
});

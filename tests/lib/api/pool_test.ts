import assert from "node:assert/strict";
import { SessionCore } from "../../../lib/api/core.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("threads that are started early stay for a run that begins meanwhile", async () => {
  const folder = temporaryFolder();
  const core = new SessionCore({ projectRoot: folder, stateDir: folder, idleMs: 0 });
  try {
    const early = core.warmUp();
    await core.withPool(async (_, pool) => {
      await early;
      // Longer than threads stay without a run.
      await new Promise((done) => setTimeout(done, 10));
      await core.withPool((_, same) => Promise.resolve(assert.ok(same === pool, "its threads were ended")));
    });
  } finally {
    core.close();
  }
});

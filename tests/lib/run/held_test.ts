import assert from "node:assert/strict";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { bundlePath } from "../../../lib/contract/names.ts";
import { HeldFiles, isHoldable } from "../../../lib/run/held.ts";
import { readPruned } from "../../../lib/run/prune.ts";
import { runRecipe } from "../../../lib/run/run.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const link = (bit_count: number): JsonObject => ({
  name: "link",
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count } },
    { id: "sent", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
  ],
});

Deno.test("a run in memory is stored as a valid bundle; an artifact that was changed is not kept", async () => {
  const stateDir = temporaryFolder();
  const workspace = openWorkspace({ projectRoot: stateDir, stateDir }), registry = await createRegistry();
  const run = async (held?: HeldFiles) =>
    await runRecipe({ raw: link(64), registry, workspace, held, cancellation: createCancellation() });
  const onDisk = await run();
  for (const change of [false, true]) {
    const held = new HeldFiles(), { run_id, summary, directory } = await run(held);
    assert.ok(held.isUsed);
    const path = bundlePath("artifacts/data/bits.npz");
    const digests = (steps: typeof summary.steps) =>
      steps.flatMap(({ outputs }) => Object.values(outputs).map(({ sha256 }) => sha256));
    assert.deepEqual(digests(summary.steps), digests(onDisk.summary.steps));
    if (change) held.putArtifact(path, held.read(path, Infinity).map((byte) => byte ^ 1));
    await held.store(workspace, summary);
    const { status, errors } = await verifyRun(workspace, run_id);
    assert.deepEqual([status, errors], ["valid", []]);
    assert.deepEqual(readPruned(directory)?.files.map((file) => file.path) ?? [], change ? [path] : []);
  }
});

Deno.test("a run is held up to 8 MiB of artifacts, and not with a chain", async () => {
  const stateDir = temporaryFolder();
  const workspace = openWorkspace({ projectRoot: stateDir, stateDir }), registry = await createRegistry();
  const held = new HeldFiles();
  const raw = link(2 ** 21);
  const { run_id } = await runRecipe({ raw, registry, workspace, held, cancellation: createCancellation() });
  assert.equal(held.isUsed, false);
  assert.equal((await verifyRun(workspace, run_id)).status, "valid");
  const plan = (chain?: number) =>
    ({ resources: { disk_bytes: 1, memory_bytes: 1, per_step: [{ step_id: "a", chain }] } }) as never;
  assert.deepEqual([isHoldable(plan()), isHoldable(plan(0))], [true, false]);
});

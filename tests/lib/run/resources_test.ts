import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { freeDisk, memoryReserve, readCapacity, type ReadFree, writtenResources } from "../../../lib/run/resources.ts";
import type { IsKept } from "../../../lib/run/prune.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { runRecipe } from "../../../lib/run/run.ts";
import { runMatrix } from "../../../lib/study/run_matrix.ts";
import type { Workspace } from "../../../lib/run/workspace.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { withWorkspace } from "./fixture.ts";

const MIB = 2 ** 20;
const raw = (bit_count: number) => ({
  name: "large",
  metadata: { seed: 1 },
  steps: [
    { id: "small", op: "source.random_bits", params: { bit_count: 8 } },
    { id: "data", op: "source.random_bits", params: { bit_count } },
  ],
});

async function optionsOf(workspace: Workspace, memory: number | null, disk: number | null) {
  const readFree: ReadFree = (_, kind) => ({ memory, disk })[kind];
  return { registry: await createRegistry(), workspace, cancellation: createCancellation(), readFree };
}

async function refusal(run: Promise<unknown>): Promise<SvcError> {
  return await run.then(() => assert.fail("it ran"), (error) => {
    assert.ok(error instanceof SvcError, String(error));
    assert.equal(error.code, "resources_insufficient");
    return error;
  });
}

Deno.test("a run that cannot fit is refused with both numbers and the step, before anything is written", () =>
  withWorkspace(async (workspace) => {
    const memory = await optionsOf(workspace, 300 * MIB, null);
    const large = { ...memory, raw: raw(200 * MIB) };
    const error = await refusal(runRecipe(large));
    assert.equal(error.message, "Cannot run data: the run needs 400.0 MiB of memory, and 300.0 MiB are available");
    assert.deepEqual(error.extra, {
      step_id: "data",
      resource: "memory",
      needed_bytes: 400 * MIB,
      free_bytes: 300 * MIB,
    });
    assert.match(error.hint!, /--ignore-estimate/);
    const disk = await optionsOf(workspace, null, 1000);
    const full = await refusal(runRecipe({ ...disk, raw: raw(2000) }));
    assert.equal(full.message, "Cannot run data: the run needs 2.0 KiB on the disk, and 1000 B are available");
    assert.throws(() => Deno.statSync(workspace.runs), Deno.errors.NotFound);
  }));

Deno.test("the estimate can be ignored, and what cannot be read does not refuse", () =>
  withWorkspace(async (workspace) => {
    const full = await optionsOf(workspace, null, 0);
    assert.equal((await runRecipe({ ...full, raw: raw(2000), ignoreEstimate: true })).status, "completed");
    const unknown = await optionsOf(workspace, null, null);
    assert.equal((await runRecipe({ ...unknown, raw: raw(2000) })).status, "completed");
    // A machine below its reserve still makes small runs.
    const low = await optionsOf(workspace, -MIB, null);
    assert.equal((await runRecipe({ ...low, raw: raw(2000) })).status, "completed");
  }));

Deno.test("a matrix is refused before its first variant runs", () =>
  withWorkspace(async (workspace) => {
    const matrix = { dimensions: { n: [8, 5000] }, step_params: { data: { bit_count: { matrix: "n" } } } };
    const options = { ...await optionsOf(workspace, null, 1000), raw: { ...raw(8), metadata: { seed: 1, matrix } } };
    await refusal(runMatrix(options));
    assert.throws(() => Deno.statSync(workspace.runs), Deno.errors.NotFound);
    const { status } = await runMatrix({ ...options, ignoreEstimate: true });
    assert.equal(status, "completed");
  }));

Deno.test("the reserve is 2 GiB or a tenth of the memory, and free disk is that of the nearest folder that exists", () => {
  assert.equal(memoryReserve(8 * 2 ** 30), 2 * 2 ** 30);
  assert.equal(memoryReserve(100 * 2 ** 30), 10 * 2 ** 30);
  assert.ok(freeDisk("/")! > 0);
  assert.ok(freeDisk("/no/such/folder")! > 0);
});

Deno.test("capacity counts used memory and used disk space too", () =>
  withWorkspace(({ stateDir }) => {
    const { total, available } = Deno.systemMemoryInfo();
    const memory = readCapacity(stateDir, "memory"), disk = readCapacity(stateDir, "disk");
    assert.equal(memory, total - memoryReserve(total));
    assert.ok(available < total && disk! > freeDisk(stateDir)!);
    return Promise.resolve();
  }));

Deno.test("arrays of a chain that are not kept need no disk, unless a step outside reads them", () => {
  const row = (step_id: string, chain?: number) => ({
    step_id,
    memory_bytes: 1,
    disk_bytes: 100,
    exact: true,
    ...(chain === undefined ? {} : { chain }),
  });
  const per_step = [row("data", 0), row("sent", 0), row("ber", 0), row("relay")];
  const plan = { resources: { memory_bytes: 1, disk_bytes: 400, exact: true, per_step }, steps: [] };
  const step = (id: string, inputs: Record<string, string> = {}) => ({ id, op: "", params: {}, inputs });
  const steps = [step("data"), step("sent", { bits: "data.bits" }), step("ber"), step("relay", { bits: "data.bits" })];
  const need = (isKept: IsKept) => writtenResources(plan, { steps }, isKept).resources.disk_bytes;
  assert.equal(need(() => true), 400);
  assert.equal(need(() => false), 200);
  assert.equal(need((id) => id === "sent"), 300);
});

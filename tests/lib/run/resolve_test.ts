import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { resolveRunId } from "../../../lib/run/store.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("a removed run's id is not the beginning of a later one's", async () => {
  const stateDir = temporaryFolder("svc-resolve-");
  const workspace = openWorkspace({ stateDir });
  const [removed, later] = ["20260101T000000Z_bits", "20260101T000000Z_bits_2"];
  await Deno.mkdir(workspace.reservations, { recursive: true });
  for (const id of [removed, later]) await Deno.writeTextFile(join(workspace.reservations, id), "");
  await Deno.mkdir(join(workspace.runs, later));
  assert.equal(resolveRunId(workspace, "20260101T0"), later);
  assert.throws(
    () => resolveRunId(workspace, removed),
    (error) => error instanceof SvcError && error.code === "run_not_found",
  );
});

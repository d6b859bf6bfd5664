import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { isNumber, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { stagingPaths } from "../../../lib/execute/staging.ts";
import { ValueStore } from "../../../lib/execute/value_store.ts";
import { execute, type StepSpec } from "./execution.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const numbers = (id: string, seed = 23): StepSpec => [id, "test.numbers", {}, { count: 64, seed }];

/** A source, `width` relays of it, and a relay of the last one. */
function fan(width: number): StepSpec[] {
  const relays = Array.from({ length: width }, (_, i): StepSpec => [`r${i}`, "test.relay", { bits: "data.bits" }]);
  return [numbers("data"), ...relays, ["end", "test.relay", { bits: `r${width - 1}.bits` }]];
}

Deno.test("a chain leaves its artifacts, hashed, and nothing else", async () => {
  const done = await execute([numbers("data"), ["tx", "test.relay", { bits: "data.bits" }]]);
  assert.equal(done.status, "completed");
  assert.deepEqual(Object.keys(done.files), ["artifacts/data/bits.npz", "artifacts/tx/bits.npz"]);
  for (const row of done.rows) {
    const { path, sha256 } = row.outputs.bits;
    assert.equal(sha256Hex(done.files[path]), sha256);
  }
  assert.deepEqual(done.rows.map(({ id, status }) => [id, status]), [["data", "completed"], ["tx", "completed"]]);
  const { metrics, metadata } = done.row.data;
  assert.equal(metrics["test.count"], 64);
  assert.equal(metrics["test.half"], 0.5);
  assert.ok(isNumber(metrics["timing.step.wall_time_s"]) && toNumber(metrics["timing.step.wall_time_s"]) > 0);
  const timing = metadata.timing as JsonObject;
  assert.equal(timing.clock, "monotonic");
  assert.equal(timing.worker, 0);
  assert.equal(done.row.tx.outputs.bits.metadata.mark, "relay");
  assert.deepEqual(done.events.map(({ kind }) => kind), [
    "step_started",
    "step_completed",
    "step_started",
    "step_completed",
  ]);
});

Deno.test("the bytes depend on the seed and not on the number of workers", async () => {
  const graph = fan(6);
  const one = await execute(graph), many = await execute(graph, { workers: 4 });
  assert.deepEqual(Object.keys(one.files), Object.keys(many.files));
  for (const path of Object.keys(one.files)) {
    assert.equal(sha256Hex(one.files[path]), sha256Hex(many.files[path]), path);
  }
  const other = await execute([numbers("data", 24)]);
  assert.notEqual(sha256Hex(other.files["artifacts/data/bits.npz"]), sha256Hex(one.files["artifacts/data/bits.npz"]));
});

/** The largest number of steps under way at once, and whether any other overlapped a named one. */
function overlap(events: { kind: string; fields: JsonObject }[], alone?: string): { most: number; aloneKept: boolean } {
  const under = new Set<string>();
  let most = 0, aloneKept = true;
  for (const { kind, fields } of events) {
    const id = String(fields.step_id);
    if (kind === "step_started") {
      under.add(id);
      most = Math.max(most, under.size);
      if (alone !== undefined && under.has(alone) && under.size > 1) aloneKept = false;
    } else if (kind !== "step_progress") under.delete(id);
  }
  return { most, aloneKept };
}

Deno.test("ready steps overlap up to the limit, and only with more than one worker", async () => {
  const slow = Array.from({ length: 5 }, (_, i): StepSpec => [`s${i}`, "test.slow", {}, { ticks: 10 }]);
  assert.equal(overlap((await execute(slow, { workers: 3 })).events).most, 3);
  assert.equal(overlap((await execute(slow, { workers: 1 })).events).most, 1);
});

Deno.test("a step that is not thread safe is a barrier in plan order", async () => {
  const done = await execute([
    numbers("data"),
    ["s0", "test.slow", {}, { ticks: 10 }],
    ["alone", "test.exclusive", { bits: "data.bits" }],
    ["s1", "test.slow", {}, { ticks: 2 }],
  ], { workers: 4 });
  assert.equal(done.status, "completed");
  // s1 stands before the barrier only while the barrier is not ready: data and s0 and s1 may start together.
  assert.ok(overlap(done.events, "alone").aloneKept);
  const late = await execute([
    numbers("data"),
    ["alone", "test.exclusive", { bits: "data.bits" }],
    ["after", "test.relay", { bits: "alone.bits" }],
    ["other", "test.relay", { bits: "data.bits" }],
  ], { workers: 4 });
  assert.ok(overlap(late.events, "alone").aloneKept);
  const started = late.events.filter(({ kind }) => kind === "step_started").map(({ fields }) => fields.step_id);
  assert.deepEqual(started, ["data", "alone", "after", "other"]);
});

const FAILURES: [string, string, RegExp][] = DATA.FAILURES;

for (const [mode, code, message] of FAILURES) {
  Deno.test(`a relay that does ${mode} fails with ${code}, and its dependents never start`, async () => {
    const done = await execute([
      numbers("data"),
      ["bad", "test.relay", { bits: "data.bits" }, { mode }],
      ["after", "test.relay", { bits: "bad.bits" }],
    ], { onBundle: (bundle) => assert.deepEqual(stagingPaths(bundle), []) });
    assert.equal(done.status, "failed");
    assert.deepEqual([done.failure?.code, done.failure?.step_id], [code, "bad"]);
    assert.match(done.error!, message);
    assert.deepEqual(done.rows.map(({ id, status }) => [id, status]), [["data", "completed"], ["bad", "failed"]]);
    assert.equal((done.row.bad.error as JsonObject).code, code);
    assert.deepEqual(Object.keys(done.files), ["artifacts/data/bits.npz"]);
    assert.ok(done.events.every(({ fields }) => fields.step_id !== "after"));
  });
}

Deno.test("a consumer starts after its input was hashed; if it alters that, the stored file stays", async () => {
  const large: StepSpec = ["data", "test.numbers", {}, { count: 2 ** 26, seed: 23 }];
  const done = await execute([large, ["bad", "test.relay", { bits: "data.bits" }, { mode: "alter_input" }]]);
  assert.deepEqual([done.failure?.code, done.failure?.step_id], ["input_modified", "bad"]);
  const kinds = ["step_started", "step_completed", "step_started", "step_failed"];
  assert.deepEqual(done.events.map(({ kind }) => kind), kinds);
  const [data, bad] = done.rows.map(({ metadata }) => metadata.timing as Record<string, number>);
  assert.ok(bad.start_offset_s >= data.start_offset_s + data.step_wall_time_s);
  const { path, sha256 } = done.row.data.outputs.bits;
  assert.equal(sha256Hex(done.files[path]), sha256);
});

Deno.test("a failing step stops its running peers; its own error is the failure", async () => {
  const done = await execute([
    ["slow", "test.slow", {}, { ticks: 2000 }],
    numbers("data"),
    ["bad", "test.relay", { bits: "data.bits" }, { mode: "throw" }],
    ["never", "test.slow", {}, { ticks: 1 }],
  ], { workers: 2 });
  assert.equal(done.status, "failed");
  assert.equal(done.failure?.step_id, "bad");
  assert.equal(done.row.slow.status, "canceled");
  assert.equal(done.row.never, undefined);
});

Deno.test("cancellation stops the running step at its next checkpoint", async () => {
  const cancellation = createCancellation();
  const done = await execute([["slow", "test.slow", {}, { ticks: 2000 }], numbers("data")], {
    cancellation,
    onEvent: ({ kind }) => kind === "step_progress" && cancellation.cancel(),
  });
  assert.equal(done.status, "canceled");
  assert.deepEqual(done.rows.map(({ id, status }) => [id, status]), [["slow", "canceled"]]);
  assert.deepEqual(Object.keys(done.files), []);
  const progress = done.events.find(({ kind }) => kind === "step_progress")!.fields;
  assert.deepEqual([progress.phase, progress.unit, progress.total], ["ticking", "ticks", 2000]);
});

Deno.test("a run cancelled before it begins starts nothing", async () => {
  const cancellation = createCancellation();
  cancellation.cancel();
  const done = await execute([numbers("data")], { cancellation });
  assert.equal(done.status, "canceled");
  assert.deepEqual(done.rows, []);
});

Deno.test("a token tells each listener once, late ones at once, forgotten ones never", () => {
  const cancellation = createCancellation();
  const calls: string[] = [];
  const forget = cancellation.onCancel(() => calls.push("forgotten"));
  forget();
  cancellation.onCancel(() => calls.push("kept"));
  cancellation.cancel();
  cancellation.cancel();
  cancellation.onCancel(() => calls.push("late"));
  assert.deepEqual(calls, ["kept", "late"]);
  assert.equal(cancellation.isCancelled, true);
});

Deno.test("images are kept for their consumers, dropped when memory is short, and released", () => {
  const store = new ValueStore(100);
  store.put("a.x", new Uint8Array(60), 2);
  store.put("b.x", new Uint8Array(50), 1);
  assert.equal(store.get("a.x"), null);
  assert.equal(store.get("b.x")?.length, 50);
  store.put("c.x", new Uint8Array(10), 0);
  assert.equal(store.get("c.x"), null);
  store.release("b.x");
  assert.equal(store.get("b.x"), null);
  store.release("unknown.x");
});

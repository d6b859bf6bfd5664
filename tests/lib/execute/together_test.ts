/** Steps of a run in memory, sent to a thread at once: rows, events and bytes are those of steps one after another. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { parse } from "npm:yaml@^2.9.1";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { WorkerPool } from "../../../lib/execute/pool.ts";
import type { StepTask } from "../../../lib/execute/protocol.ts";
import { execute, type Executed, type StepSpec } from "./execution.ts";

/** Counts the steps of each message to a thread. */
class CountingPool extends WorkerPool implements Disposable {
  readonly counts: number[] = [];

  override start(steps: StepTask[], ...rest: [Parameters<WorkerPool["start"]>[1], boolean?]) {
    this.counts.push(steps.length);
    return super.start(steps, ...rest);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

const GRAPH: StepSpec[] = [
  ["data", "test.numbers", {}, { count: 100, seed: 23 }],
  ["first", "test.relay", { bits: "data.bits" }],
  ["slow", "test.slow", {}, { ticks: 3 }],
  ["second", "test.relay", { bits: "first.bits" }],
  ["alone", "test.exclusive", { bits: "second.bits" }],
  ["last", "test.relay", { bits: "alone.bits" }],
];

/** What does not depend on time: the order of events with their fields, rows, and bytes. */
const comparable = ({ status, failure, error, rows, events, files }: Executed) => ({
  status,
  failure,
  error,
  rows: rows.map((
    { metadata: { timing: _, ...metadata }, metrics: { "timing.step.wall_time_s": _time, ...metrics }, ...row },
  ) => ({
    ...row,
    metadata,
    metrics,
  })),
  events: events.filter(({ kind }) => kind !== "step_progress").map((
    { fields: { metrics: _, ...fields }, ...event },
  ) => ({
    ...event,
    fields,
  })),
  files,
});

/** The events of the second run are those of steps whose operations proved to be short. */
async function twice(graph: StepSpec[], pool: CountingPool): Promise<Executed> {
  await execute(GRAPH, { held: true, pool });
  pool.counts.length = 0;
  return await execute(graph, { held: true, pool });
}

Deno.test("steps are sent at once up to one that runs alone, and leave what steps one after another leave", async () => {
  using pool = new CountingPool();
  const together = await twice(GRAPH, pool), apart = await execute(GRAPH);
  assert.deepEqual(pool.counts, [4, 1, 1]);
  assert.deepEqual(comparable(together), comparable(apart));
  const times = together.rows.map(({ metadata }) => metadata.timing as Record<string, number>);
  for (const [index, { start_offset_s: start, step_wall_time_s: took }] of times.entries()) {
    assert.ok(index === 0 || +start >= +times[index - 1].start_offset_s, "steps start in order");
    assert.ok(+took > 0);
  }
});

Deno.test("with several workers each step is sent by itself", async () => {
  using pool = new CountingPool();
  await execute(GRAPH, { held: true, pool, workers: 2 });
  assert.ok(pool.counts.every((count) => count === 1));
});

const { FAILURES } = parse(readFileSync(new URL("./execute_test.yaml", import.meta.url), "utf8")) as {
  FAILURES: [string, string, string][];
};
// Its image changes after it was hashed, which only the comparison with a file finds.
for (const [mode, code] of FAILURES.filter(([mode]) => mode !== "alter_output")) {
  Deno.test(`of steps sent at once, one that does ${mode} fails as by itself, behind completed ones`, async () => {
    using pool = new CountingPool();
    const graph: StepSpec[] = [
      ...GRAPH.slice(0, 2),
      ["bad", "test.relay", { bits: "first.bits" }, { mode }],
      ["after", "test.relay", { bits: "bad.bits" }],
    ];
    const together = await twice(graph, pool), apart = await execute(graph);
    assert.equal(together.failure?.code, code);
    assert.equal(pool.counts[0], 4);
    assert.deepEqual(comparable(together), comparable(apart));
  });
}

Deno.test("a request to cancel stops the step that runs and those after it, and keeps those before", async () => {
  using pool = new CountingPool();
  const cancellation = createCancellation(), seen: string[] = [];
  const done = await execute([
    ["data", "test.numbers", {}, { count: 100, seed: 23 }],
    ["slow", "test.slow", {}, { ticks: 2000 }],
    ["after", "test.relay", { bits: "data.bits" }],
  ], {
    held: true,
    pool,
    cancellation,
    onEvent({ kind, fields }) {
      seen.push(`${kind} ${fields.step_id}`);
      if (kind === "step_progress") cancellation.cancel();
    },
  });
  assert.deepEqual(pool.counts, [3]);
  assert.equal(done.status, "canceled");
  assert.deepEqual(done.rows.map(({ id, status }) => [id, status]), [["data", "completed"], ["slow", "canceled"]]);
  const order = seen.filter((event, index) => seen.indexOf(event) === index);
  assert.deepEqual(order, [
    "step_started data",
    "step_completed data",
    "step_started slow",
    "step_progress slow",
    "step_failed slow",
  ]);
  assert.equal((done.row.slow.error as JsonObject).code, "operation_canceled");
});

Deno.test("steps before one that was short and becomes long are seen while it runs", async () => {
  using pool = new CountingPool();
  const graph = (ticks: number): StepSpec[] => [
    ["data", "test.numbers", {}, { count: 100, seed: 23 }],
    ["first", "test.relay", { bits: "data.bits" }],
    ["slow", "test.slow", {}, { ticks, silent: true }],
  ];
  for (let run = 0; run < 2; run++) await execute(graph(0), { held: true, pool });
  const cancellation = createCancellation();
  const done = await execute(graph(2000), {
    held: true,
    pool,
    cancellation,
    onEvent: ({ kind, fields }) => kind === "step_started" && fields.step_id === "slow" && cancellation.cancel(),
  });
  assert.deepEqual(done.rows.map(({ id, status }) => [id, status]), [
    ["data", "completed"],
    ["first", "completed"],
    ["slow", "canceled"],
  ]);
});

Deno.test("a step that changes its input after it was honest twice leaves the steps before it as they were", async () => {
  using pool = new CountingPool();
  const graph: StepSpec[] = [
    ["data", "test.numbers", {}, { count: 100, seed: 23 }],
    ["first", "test.relay", { bits: "data.bits" }],
    ["bad", "test.relay", { bits: "first.bits" }, { mode: "alter_input_third" }],
  ];
  const run = () => execute(graph, { held: true, pool });
  const [, honest, altered] = [await run(), await run(), await run()];
  assert.deepEqual([honest.status, altered.failure?.code], ["completed", "input_modified"]);
  assert.deepEqual(altered.rows.map(({ status }) => status), ["completed", "completed", "failed"]);
  const { "artifacts/bad/bits.npz": _, ...before } = honest.files;
  assert.deepEqual(altered.files, before);
});

Deno.test("a thread loads operations ahead of their steps, and one that cannot be loaded fails no other", async () => {
  using pool = new CountingPool();
  const moduleUrl = new URL("./operations/numbers.ts", import.meta.url).href;
  pool.load([
    { operationId: "test.numbers", moduleUrl, binding: null },
    { operationId: "test.missing", moduleUrl: new URL("./operations/missing.ts", import.meta.url).href, binding: null },
  ]);
  const ahead = await execute(GRAPH, { held: true, pool });
  assert.deepEqual(comparable(ahead), comparable(await execute(GRAPH)));
});

/** Graphs without bounds end at the limits of their session, with their sandbox, and leave nothing behind. */
import assert from "node:assert/strict";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { closeOnnxSessions, openOnnxSession } from "../../../lib/onnx/session.ts";
import {
  doublingLoop,
  endlessLoop,
  hostileModel,
  largeExpand,
  largeProduct,
  nestedLoops,
} from "../../support/hostile_graphs.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { linearModel } from "../../support/onnx_graphs.ts";

const MIB = 2 ** 20;
const ONE = { x: ndarray("float32", Float32Array.of(1), []) };

/** Loads and runs a graph with small limits. */
async function compute(model: Uint8Array, limits = { call_timeout_s: 60, memory_mb: 128 }): Promise<NdArray> {
  const session = await openOnnxSession(model, { limits });
  try {
    return (await session.run(ONE)).y;
  } finally {
    await session.release();
  }
}

/** While a graph runs and while it is loaded; `deno task soak whole` has other graphs that run. */
const TIME: Record<string, () => Parameters<typeof hostileModel>[0]> = {
  "a loop without a trip count": endlessLoop,
  ...FULL_SIZE && {
    "nested loops": () => nestedLoops(3),
    // 430 GFLOP: seconds on any processor.
    "a matrix product within one operator": () => largeProduct(6000),
  },
  "a constant that is computed while the graph is loaded": () => largeProduct(6000, true),
};

for (const [name, model] of Object.entries(TIME)) {
  Deno.test(`${name} ends at its time limit`, async () => {
    try {
      await assert.rejects(compute(hostileModel(model()), { call_timeout_s: 1, memory_mb: 1024 }), {
        code: "onnx_time_exceeded",
        message: "Cannot run the model: it took longer than 1 s",
        hint: /runtime\.limits\.call_timeout_s/,
      });
    } finally {
      await closeOnnxSessions();
    }
  });
}

const MEMORY: Record<string, () => Parameters<typeof hostileModel>[0]> = {
  "an array beyond the limit": () => largeExpand(40 * MIB),
  "an array of 3.4 GB": () => largeExpand(850e6),
  "an array beyond any address": () => largeExpand(2 ** 40),
  "an array that doubles in every turn of a loop": doublingLoop,
};

for (const [name, model] of Object.entries(MEMORY)) {
  Deno.test(`${name} ends at the memory limit`, async () => {
    try {
      await assert.rejects(compute(hostileModel(model()), { call_timeout_s: 60, memory_mb: 128 }), {
        code: "onnx_memory_exceeded",
        message: "Cannot run the model: it needs more than 128 MiB of memory",
        hint: /runtime\.limits\.memory_mb/,
      });
    } finally {
      await closeOnnxSessions();
    }
  });
}

Deno.test("the memory limit is one of each session", async () => {
  const limits = { call_timeout_s: 60, memory_mb: 128 }, owner = {};
  try {
    // Another graph each: 100 MiB, and the sum is beyond the limit of one.
    const sessions = await Promise.all(
      [25, 24, 23].map((count) => openOnnxSession(hostileModel(largeExpand(count * MIB)), { limits, owner })),
    );
    for (const session of sessions) assert.deepEqual((await session.run(ONE)).y.data, Float32Array.of(2));
    await Promise.all(sessions.map((session) => session.release()));
  } finally {
    await closeOnnxSessions();
  }
});

Deno.test("a limit ends the sessions of its sandbox and no others, and the next one starts afresh", async () => {
  try {
    const other = await openOnnxSession(linearModel([3], 1));
    const session = await openOnnxSession(hostileModel(largeExpand(850e6)), { limits: { memory_mb: 128 } });
    await assert.rejects(session.run(ONE), { code: "onnx_memory_exceeded" });
    await assert.rejects(session.run(ONE), { code: "onnx_memory_exceeded" });
    const x = ndarray("float32", Float32Array.of(2), [1, 1]);
    assert.deepEqual((await other.run({ x })).y.data, Float32Array.of(6));
    assert.deepEqual((await compute(hostileModel(largeExpand(8)))).data, Float32Array.of(2));
    await Promise.all([session.release(), other.release()]);
  } finally {
    await closeOnnxSessions();
  }
});

// At full size by the limit of time, which takes its time, else by that of memory.
const [GRAPH, ENDED_BY] = FULL_SIZE
  ? [endlessLoop(), "onnx_time_exceeded"]
  : [largeExpand(850e6), "onnx_memory_exceeded"];

Deno.test("a limit ends the sessions of its owner and no others, with equal limits and equal models too", async () => {
  const limits = { call_timeout_s: 6, memory_mb: 128 }, model = hostileModel(GRAPH);
  try {
    const owner = {}, own = [await openOnnxSession(model, { limits, owner })];
    own.push(await openOnnxSession(linearModel([4], 1), { limits, owner }));
    const others = [
      await openOnnxSession(linearModel([3], 1), { limits }),
      await openOnnxSession(model, { limits }),
      await openOnnxSession(linearModel([4], 1), { limits }),
    ];
    const x = ndarray("float32", Float32Array.of(2), [1, 1]);
    const ended = [own[0].run(ONE), own[1].run({ x })].map((run) => assert.rejects(run, { code: ENDED_BY }));
    assert.deepEqual((await others[0].run({ x })).y.data, Float32Array.of(6));
    await Promise.all(ended);
    assert.deepEqual((await others[0].run({ x })).y.data, Float32Array.of(6));
    assert.deepEqual((await others[2].run({ x })).y.data, Float32Array.of(8));
    await Promise.all([...own, ...others].map((session) => session.release()));
    // A released sandbox serves the next owner.
    const next = await openOnnxSession(linearModel([3], 1), { limits });
    assert.deepEqual((await next.run({ x })).y.data, Float32Array.of(6));
    await next.release();
  } finally {
    await closeOnnxSessions();
  }
});

Deno.test("calls that wait for their turn have their own time", async () => {
  try {
    const session = await openOnnxSession(hostileModel(largeProduct(700)), { limits: { call_timeout_s: 5 } });
    const results = await Promise.all(Array.from({ length: 12 }, () => session.run(ONE)));
    for (const { y } of results) assert.deepEqual(y.data, Float32Array.of(701));
    await session.release();
  } finally {
    await closeOnnxSessions();
  }
});

Deno.test("after its limit a session computes no longer and holds no memory", async () => {
  // In a process of its own: other tests use memory and processors at the same time.
  const script = new URL("./limits_case.ts", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", script],
    env: { MALLOC_ARENA_MAX: "1" },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
});

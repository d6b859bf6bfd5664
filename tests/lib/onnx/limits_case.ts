/** Exceeds limits, and waits until the sandboxes have ended and their memory is returned. */
import assert from "node:assert/strict";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { openOnnxSession } from "../../../lib/onnx/session.ts";
import { doublingLoop, endlessLoop, hostileModel, largeProduct } from "../../support/hostile_graphs.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { until } from "../../support/until.ts";
import { workerThreads } from "../../support/worker_threads.ts";

/**
 * Resident memory of the largest mapping: the memory of a runtime is one. The heap of the C library is left out: it keeps
 * what was freed. MALLOC_ARENA_MAX=1 (set by the test) makes it one; arenas side by side would look like one large mapping.
 */
const largestMb = () =>
  Math.max(
    ...Deno.readTextFileSync("/proc/self/smaps").split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
      .filter((mapping) => !/^.*\[heap\]$/m.test(mapping))
      .map((mapping) => +/^Rss: *(\d+) kB/m.exec(mapping)![1] / 1024),
  );
for (
  const [name, model, limits, code] of [
    // A loop ends as a product does, and holds less.
    ...FULL_SIZE
      ? [["endless", endlessLoop(), { call_timeout_s: 1, memory_mb: 1024 }, "onnx_time_exceeded"] as const]
      : [],
    // 400 MiB, and 600 GFLOP.
    ["product", largeProduct(7000), { call_timeout_s: 3, memory_mb: 2048 }, "onnx_time_exceeded"],
    ["doubling", doublingLoop(), { call_timeout_s: 120, memory_mb: 1024 }, "onnx_memory_exceeded"],
  ] as const
) {
  // On a loaded machine the time is over before the graph is loaded.
  await assert.rejects(async () => {
    const session = await openOnnxSession(hostileModel(model), { limits });
    await session.run({ x: ndarray("float32", Float32Array.of(1), []) });
  }, { code });
  // The system returns the pages of an ended thread a little after the thread itself.
  await until(`${name}: no thread and no memory remain`, () => workerThreads() === 0 && largestMb() < 100);
}
// A thread that still computes must not keep this process.
Deno.exit();

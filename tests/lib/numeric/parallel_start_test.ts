/** The first helper threads of a process: the file has one test, since each other one would start some before. */
import assert from "node:assert/strict";
import { integersParallel } from "../../../lib/numeric/parallel/draws.ts";
import { worthwhileThreads } from "../../../lib/numeric/parallel/team.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

Deno.test("a short job takes the helpers that run, a long one starts them", () => {
  // Nothing in this process has started a helper yet.
  assert.equal(worthwhileThreads(1000, 1000, 4), 1);
  assert.equal(worthwhileThreads(1_000_000, 1000, 4), 4);
  integersParallel(Generator.seeded(1), 0, 2, 3_000_000, "uint8", { threads: 3, least: 1 });
  assert.equal(worthwhileThreads(1000, 1000, 4), 3);
  assert.equal(worthwhileThreads(1000, 1000, 2), 2);
  assert.equal(worthwhileThreads(999, 1000, 4), 1);
});

import assert from "node:assert/strict";
import { findSuite, listSuites } from "../../../lib/study/pack/suites.ts";
import { findTask } from "../../../lib/research/catalog.ts";
import { ROOT_PATH } from "../../support/paths.ts";

Deno.test("every task of a suite is in the research catalogue, supported or planned as it says there", () => {
  const suites = listSuites(ROOT_PATH);
  assert.equal(new Set(suites.map(({ id }) => id)).size, suites.length);
  for (const { id, supported_tasks, planned_tasks } of suites) {
    assert.ok(supported_tasks.length + planned_tasks.length > 0, id);
    for (const task of supported_tasks) assert.notEqual(findTask(task)?.status, "planned", `${id} ${task}`);
    for (const task of planned_tasks) assert.ok(findTask(task), `${id} names the unknown task ${task}`);
  }
});

Deno.test("packs are listed under the suite that they name, and an unknown suite offers the nearest", () => {
  const { benchmark_packs } = findSuite("neural_receiver", ROOT_PATH);
  assert.ok(
    benchmark_packs.some(({ path, status }) => path === "bit_transport/ber_theory_v1" && status === "available"),
  );
  assert.throws(() => findSuite("neural_reciever", ROOT_PATH), {
    code: "not_found",
    hint: "Did you mean neural_receiver?",
  });
});

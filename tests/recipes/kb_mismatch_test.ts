/** A knowledge base of the receiver other than the sender's: what its facts restore, and what false ones assert. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });
const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
const STEP = "  - id: receiver_knowledge\n    op: foundation.knowledge_base\n";

interface Pack {
  recipes: { id: string; params: { step_params?: Record<string, JsonObject> } }[];
}

Deno.test("a shared base restores facts, half of it fewer, none no fact, and false facts are asserted", async () => {
  const text = await read("recipes/text_semantic_kb_mismatch.yaml"), { recipes } = await session();
  const pack = parseYaml(await read("benchmarks/semantic_comm/kb_mismatch_v1.yaml")) as unknown as Pack;
  const scores: Record<string, { f1: number; unsupported: number }> = {};
  assert.ok(text.includes(STEP));
  for (const { id, params: { step_params } } of pack.recipes) {
    const params = JSON.stringify(step_params?.receiver_knowledge ?? {});
    const { status, rows } = await recipes.runMatrix(text.replace(STEP, `${STEP}    params: ${params}\n`), {
      points: ["probability=0.2"],
    });
    assert.equal(status, "completed", id);
    const found = rows[0].metrics.written_faithfulness;
    const score = (name: string) => toNumber(found[`faithfulness.${name}`] as number);
    scores[id] = { f1: score("fact_f1"), unsupported: score("unsupported_assertion_rate") };
  }
  const { none, half, shared, false_facts } = scores, shown = JSON.stringify(scores);
  assert.ok(shared.f1 > half.f1 && half.f1 > none.f1 + 0.2, shown);
  assert.ok(none.unsupported === 0 && half.unsupported < false_facts.unsupported, shown);
  assert.ok(false_facts.f1 < half.f1, shown);
});

/** Masks are repaired only behind a text codec that keeps bits. */
import assert from "node:assert/strict";
import { lintRecipe } from "../../../lib/plan/lint.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { createRegistry } from "../../../ops/registry.ts";

const registry = await createRegistry();
type Step = Record<string, unknown>;

const SOURCE: Step[] = [
  { id: "data", op: "source.text_dataset" },
  { id: "noise", op: "noise.source_text_perturbation", inputs: { texts: "data.texts" } },
];
const UTF8: Step[] = [
  { id: "sender", op: "model.text_utf8_encode", inputs: { texts: "noise.texts" } },
  { id: "receiver", op: "model.text_utf8_decode", inputs: { bits: "sender.bits" } },
];
const STATE: Step[] = [
  { id: "knowledge", op: "foundation.knowledge_base" },
  { id: "state", op: "foundation.text_semantic_state_encode", inputs: { texts: "noise.texts" } },
  { id: "written", op: "foundation.semantic_state_to_text", inputs: { kb: "knowledge.kb", state: "state.state" } },
];

/** Findings about a repair of these texts, and one more behind it. */
function findings(texts: string, before: Step[]) {
  const params = { generator: "local_template" }, op = "foundation.text_mask_repair";
  const steps = [
    ...SOURCE,
    ...before,
    { id: "first", op, params, inputs: { texts } },
    { id: "second", op, params, inputs: { texts: "first.texts" } },
  ];
  const recipe = { schema_version: 1, name: "repair", execution_profile: "custom", metadata: { seed: 23 }, steps };
  const { issues } = lintRecipe(compileRecipe(recipe as never, { mode: "strict", registry }), { registry });
  return issues.filter(({ code }) => code === "mask_repair_codec_invalid");
}

Deno.test("masks may be repaired at the source and behind UTF-8", () => {
  assert.deepEqual(findings("noise.texts", []), []);
  assert.deepEqual(findings("receiver.texts", UTF8), []);
  assert.deepEqual(findings("receiver.texts", [...UTF8, ...STATE]), []);
});

Deno.test("texts that a decoder wrote by itself have no masks to repair", () => {
  const found = findings("written.texts", STATE);
  assert.deepEqual(found.map(({ step_id }) => step_id), ["first", "second"]);
  assert.equal(found[0].path, "$.steps[5].inputs.texts");
  assert.match(found[0].message, /^Cannot repair the masks of written\.texts: foundation\.semantic_state_to_text/);
  assert.match(found[0].hint!, /after model\.text_utf8_decode/);
});

Deno.test("the hint names a decoder that is there", () => {
  const behindUtf8 = STATE.map((step) => step.id === "state" ? { ...step, inputs: { texts: "receiver.texts" } } : step);
  assert.equal(findings("written.texts", [...UTF8, ...behindUtf8])[0].hint, "Wire texts to receiver.texts");
});

/** Answers of a file as artifacts, and the documents that are refused. */
import assert from "node:assert/strict";
import answerFile from "../../../ops/source/answer_file.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { itemsOf } from "../../../lib/artifact/values.ts";
import { refuses, runOperation } from "../harness.ts";

const DOCUMENT = {
  schema_version: 1,
  kind: "svc.answers",
  captions: [{ id: "a", candidate: "", references: ["one cat", "a cat"] }],
  labels: [{ id: "a", candidate: "cat", reference: "dog", probabilities: { cat: 0.75, dog: 0.25 } }],
  detections: [{
    id: "a",
    candidates: [{ label: "dog", confidence: 0.5, box: [0, 0, 2, 3] }, {
      label: "fox",
      confidence: 1,
      box: [1, 1, 1, 1],
    }],
    references: [{ label: "dog", box: [0.5, 0, 2, 3] }],
  }],
  rankings: [{ id: "q", ranked_ids: ["x", "y"], relevant_ids: ["y"] }],
};

const run = (document: unknown, digest?: string) => {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  return runOperation(answerFile, {
    params: { answers_path: "a.json", answers_sha256: digest ?? sha256Hex(text) },
    files: { "a.json": text },
  });
};

Deno.test("answers and references are artifacts of the kinds that scores read", async () => {
  const { outputs } = await run(DOCUMENT);
  const plain = (name: keyof typeof outputs) => JSON.parse(JSON.stringify(itemsOf(outputs[name])));
  assert.deepEqual(plain("captions_candidate"), [{ id: "a", text: "" }]);
  assert.deepEqual(plain("captions_reference"), [{ id: "a", texts: ["one cat", "a cat"] }]);
  assert.deepEqual(plain("labels_candidate"), [{ id: "a", label: "cat", probabilities: { cat: 0.75, dog: 0.25 } }]);
  assert.deepEqual(plain("labels_reference"), [{ id: "a", label: "dog" }]);
  const [{ detections }] = plain("detections_candidate");
  assert.deepEqual(detections.map((one: { label_id: number }) => one.label_id), [0, -1]);
  assert.deepEqual(plain("detections_reference")[0].detections, [
    { label: "dog", label_id: 0, confidence: 1, box: [0.5, 0, 2, 3] },
  ]);
  assert.deepEqual(plain("rankings"), DOCUMENT.rankings);
});

Deno.test("lists that are left out are empty", async () => {
  const { outputs } = await run({ gallery_size: 7, schema_version: 1, kind: "svc.answers", labels: DOCUMENT.labels });
  assert.deepEqual([itemsOf(outputs.rankings), itemsOf(outputs.captions_candidate)], [[], []]);
  assert.equal(outputs.rankings.metadata.gallery_size, 7);
});

Deno.test("another digest, text or form is refused with its place", async () => {
  await refuses("boundary_hash_mismatch", () => run(DOCUMENT, "0".repeat(64)));
  const wrong: [unknown, RegExp][] = [
    ["{", /as svc\.answers/],
    [[], /the document/],
    [{ ...DOCUMENT, kind: "svc.other" }, /kind/],
    [{ ...DOCUMENT, extra: 1 }, /extra/],
    [{ ...DOCUMENT, captions: [{ id: "a", candidate: "x", references: [] }] }, /captions\.0\.references/],
    [{ ...DOCUMENT, labels: [...DOCUMENT.labels, ...DOCUMENT.labels] }, /labels: ids are unique/],
    [
      { ...DOCUMENT, labels: [{ id: "a", candidate: "x", reference: "x", probabilities: { x: 1.5 } }] },
      /probabilities\.x/,
    ],
    [{ ...DOCUMENT, rankings: [{ id: "q", ranked_ids: null, relevant_ids: [] }] }, /rankings\.0\.ranked_ids/],
    [
      { ...DOCUMENT, detections: [{ id: "a", candidates: [], references: [{ label: "x", box: [2, 0, 1, 1] }] }] },
      /detections\.0\.references\.0\.box: a box is/,
    ],
  ];
  for (const [document, place] of wrong) {
    await assert.rejects(() => run(document), { code: "boundary_value_invalid", message: place });
  }
});

/**
 * Share of answers that equal the reference after trimming, case folding and collapsing white space. Labels and
 * predictions count as answers with their label.
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { REPORT } from "../../lib/contract/kinds.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import { z } from "../../lib/contract/zod.ts";
import { checkPairedIds, itemsOf, reportResult } from "../../lib/artifact/values.ts";

const LABELS = "task.labels.json", ANSWERS = "vqa.answers.json";

export default defineOperation({
  id: "metrics.vqa",
  name: "VQA scores",
  description: "Scores answers against one reference each",
  inputs: { candidate: [ANSWERS, "task.predictions.json", LABELS], reference: [ANSWERS, LABELS] },
  outputs: { report: REPORT },
  params: z.strictObject({}),
  threadSafe: true,
  run({ inputs }) {
    const candidate = answersOf(inputs.candidate), reference = answersOf(inputs.reference);
    if (reference.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty list of answers");
    checkPairedIds(candidate, reference);
    const items = reference.map(({ id, answer }, index) => ({
      id,
      reference: answer,
      candidate: candidate[index].answer,
      correct: normalised(answer) === normalised(candidate[index].answer),
    }));
    const correct = items.filter((item) => item.correct).length;
    const metrics = { "vqa.single_reference_exact_match": correct / items.length };
    const facts = { question_count: items.length, correct_count: correct };
    return reportResult("metrics.vqa", metrics, { items, facts });
  },
});

function answersOf(input: InputArtifact): { id: string; answer: string }[] {
  const key = input.kind === ANSWERS ? "answer" : "label";
  return itemsOf(input).map(({ id, [key]: answer }) => {
    if (typeof id === "string" && typeof answer === "string") return { id, answer };
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot score an item of a ${input.kind} artifact without id and ${key}`,
    );
  });
}

/** Upper case first, so that letters without a capital are folded as well. */
function normalised(answer: string): string {
  return answer.trim().toUpperCase().toLowerCase().replace(/\s+/g, " ");
}

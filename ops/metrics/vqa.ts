/**
 * Scores of answers. Exact match is the share of answers that equal the reference after trimming, case folding and
 * collapsing white space. Labels and predictions count as answers with their label.
 *
 * If every reference has the answers of several annotators, `vqa.accuracy` is the mean over the annotators of
 * min(equal answers of the others / 3, 1), after the articles and the punctuation are left out and the words zero to ten
 * are digits. Contractions are compared as written.
 *
 * Source: Antol et al., VQA: visual question answering, ICCV 2015, section 3.
 */
import { float, type InputArtifact, SvcError } from "../api.ts";
import { checkPairedIds, itemsOf } from "../../lib/artifact/values.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { countRate } from "../../lib/numeric/scores/rate_interval.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { type Answer, ANSWERS } from "../_vqa.ts";
import { defineReport } from "../_report.ts";

const LABELS = "task.labels.json";

export default defineReport({
  id: "metrics.vqa",
  name: "VQA scores",
  description: "Scores answers against one reference each, or against those of several annotators",
  inputs: { candidate: [ANSWERS, "task.predictions.json", LABELS], reference: [ANSWERS, LABELS] },
  run({ inputs }) {
    const candidate = answersOf(inputs.candidate), reference = answersOf(inputs.reference);
    if (reference.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty list of answers");
    checkPairedIds(candidate, reference);
    const consensus = reference.map(({ answers }, index) =>
      answers === undefined ? undefined : agreement(candidate[index].answer, answers)
    ).filter((score) => score !== undefined);
    const agreed = consensus.length === reference.length;
    const items = reference.map(({ id, answer }, index) => ({
      id,
      reference: answer,
      candidate: candidate[index].answer,
      correct: normalised(answer) === normalised(candidate[index].answer),
      ...(agreed ? { metrics: { "vqa.accuracy": float(consensus[index]) } } : {}),
    }));
    const wrong = rateCounts(items.map(({ correct }) => correct ? 0 : 1), inputs.candidate.metadata, "source_item");
    const correct = items.length - wrong.events;
    const metrics = {
      "vqa.single_reference_exact_match": correct / items.length,
      ...(agreed ? { "vqa.accuracy": mean(consensus) } : {}),
    };
    const facts = { question_count: items.length, correct_count: correct };
    // The share of an answer that the annotators do not give is its loss.
    const ends = consensus.map((_, index) => index + 1);
    const rates = {
      "vqa.single_reference_exact_match": successes(wrong),
      ...(agreed
        ? { "vqa.accuracy": successes(countRate(consensus.map((score) => 1 - score), "source_item", ends)) }
        : {}),
    };
    return { metrics, items, facts, rates };
  },
});

function answersOf(input: InputArtifact): Answer[] {
  const key = input.kind === ANSWERS ? "answer" : "label";
  return itemsOf(input).map(({ id, [key]: answer, answers }) => {
    const several = Array.isArray(answers) && answers.length > 1 ? answers.map(String) : undefined;
    if (typeof id === "string" && typeof answer === "string") return { id, answer, answers: several };
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

/** Agreement with annotators: mean over them of min(equal answers of the others / 3, 1). */
function agreement(answer: string, answers: readonly string[]): number {
  const given = comparable(answer), equal = answers.map((other) => Number(comparable(other) === given));
  const matches = equal.reduce((sum, match) => sum + match, 0);
  return mean(equal.map((own) => Math.min(1, (matches - own) / 3)));
}

const ARTICLES = new Set(["a", "an", "the"]);
const DIGITS = new Map(
  "zero one two three four five six seven eight nine ten".split(" ").map((word, digit) => [word, String(digit)]),
);

/** An answer as annotators' answers are compared. */
function comparable(answer: string): string {
  const words = normalised(answer).replace(/[^\p{L}\p{M}\p{N}'.\s]|\.(?!\d)/gu, " ").split(/\s+/u);
  return words.filter((word) => word !== "" && !ARTICLES.has(word)).map((word) => DIGITS.get(word) ?? word).join(" ");
}

/**
 * Answers of another system beside the right ones, from a file of the project, to be scored: captions, labels, boxes and rankings.
 *
 * The document `svc.answers`, JSON; lists that are left out are empty:
 *
 *     schema_version: 1
 *     kind: svc.answers
 *     captions: [{id, candidate, references: [<text>, …]}]
 *     labels: [{id, candidate, reference, probabilities: {<class>: p, …}}]       probabilities in all or in none, of sum 1
 *     detections: [{id, candidates: [{label, confidence, box}], references: [{label, box}]}]     box [x_min, y_min, x_max, y_max]
 *     rankings: [{id, ranked_ids: [<id>, …], relevant_ids: [<id>, …]}]           the best first
 *     gallery_size: <number>                                                     of ids that were ranked; unknown when left out
 */
import { CAPTIONS, LABELS, PREDICTIONS } from "../../lib/contract/kinds.ts";
import { DETECTIONS, detectionsArtifact } from "../../lib/artifact/vision.ts";
import { captionsArtifact } from "../_captions.ts";
import { checkDigest } from "../_file_digest.ts";
import { defineOperation, float, type JsonObject, messageOf, SvcError, z } from "../api.ts";

const text = z.string().min(1), number = z.number();
const box = z.tuple([number, number, number, number])
  .refine(([left, top, right, bottom]) => left <= right && top <= bottom, "a box is [x_min, y_min, x_max, y_max]");
const list = <Item extends z.ZodObject<{ id: z.ZodString }>>(item: Item) =>
  z.array(item).default([]).refine(
    (items) => new Set(items.map(({ id }) => id)).size === items.length,
    "ids are unique",
  );
const document = z.strictObject({
  schema_version: z.literal(1),
  kind: z.literal("svc.answers"),
  captions: list(z.strictObject({ id: text, candidate: z.string(), references: z.array(text).min(1) })),
  labels: list(z.strictObject({
    id: text,
    candidate: text,
    reference: text,
    probabilities: z.record(text, number.min(0).max(1)).optional(),
  })),
  detections: list(z.strictObject({
    id: text,
    candidates: z.array(z.strictObject({ label: text, confidence: number.min(0).max(1), box })),
    references: z.array(z.strictObject({ label: text, box })),
  })),
  rankings: list(z.strictObject({ id: text, ranked_ids: z.array(text), relevant_ids: z.array(text) })),
  gallery_size: z.int().positive().optional(),
});

/** @throws SvcError `boundary_value_invalid` with the place of the first problem */
function answersOf(bytes: Uint8Array, path: string): z.output<typeof document> {
  const refuse = (why: string) => new SvcError("boundary_value_invalid", `Cannot use ${path} as svc.answers: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice()));
  } catch (error) {
    throw refuse(messageOf(error));
  }
  const { success, data, error } = document.safeParse(value);
  if (success) return data;
  const [{ path: place, message }] = error.issues;
  throw refuse(`${place.length === 0 ? "the document" : place.join(".")}: ${message}`);
}

export default defineOperation({
  id: "source.answer_file",
  name: "Answers of another system",
  description: "Reads captions, labels, boxes and rankings of another system with the right ones, to be scored",
  outputs: {
    captions_candidate: CAPTIONS,
    captions_reference: CAPTIONS,
    detections_candidate: DETECTIONS,
    detections_reference: DETECTIONS,
    labels_candidate: PREDICTIONS,
    labels_reference: LABELS,
    rankings: "retrieval.rankings.json",
  },
  params: z.strictObject({
    answers_path: text.describe("path of the file of answers, JSON, relative to the project"),
    answers_sha256: z.string().regex(/^[0-9a-f]{64}$/).describe("SHA-256 of the file"),
  }),
  estimate: () => ({}),
  requires: ({ answers_path }) => [{ kind: "file", id: answers_path }],
  async run({ params: { answers_path, answers_sha256 }, files }) {
    const bytes = await files.read(answers_path);
    checkDigest(bytes, answers_sha256, answers_path);
    const { captions, labels, detections, rankings, gallery_size } = answersOf(bytes, answers_path);
    const metadata = { dataset: { id: answers_path, version: answers_sha256 } };
    const names = [...new Set(detections.flatMap(({ references }) => references.map(({ label }) => label)))];
    const idOf = (label: string) => names.indexOf(label);
    const items = (kind: string, rows: JsonObject[]) => ({ json: { kind, schema_version: 1, items: rows }, metadata });
    return {
      outputs: {
        captions_candidate: captionsArtifact(
          captions.map(({ id, candidate }) => ({ id, texts: [candidate] })),
          metadata,
        ),
        captions_reference: captionsArtifact(
          captions.map(({ id, references }) => ({ id, texts: references })),
          metadata,
        ),
        detections_candidate: detectionsArtifact(
          detections.map(({ id, candidates }) => ({
            id,
            detections: candidates.map((one) => ({ ...one, label_id: idOf(one.label) })),
          })),
          metadata,
        ),
        detections_reference: detectionsArtifact(
          detections.map(({ id, references }) => ({
            id,
            detections: references.map((one) => ({ ...one, label_id: idOf(one.label), confidence: 1 })),
          })),
          metadata,
        ),
        labels_candidate: items(
          "task.predictions",
          labels.map(({ id, candidate, probabilities }) => ({
            id,
            label: candidate,
            ...probabilities === undefined ? {} : {
              probabilities: Object.fromEntries(Object.entries(probabilities).map(([name, p]) => [name, float(p)])),
            },
          })),
        ),
        labels_reference: items("task.labels", labels.map(({ id, reference }) => ({ id, label: reference }))),
        rankings: {
          ...items("retrieval.rankings", rankings),
          metadata: { ...metadata, ...gallery_size === undefined ? {} : { gallery_size } },
        },
      },
    };
  },
});

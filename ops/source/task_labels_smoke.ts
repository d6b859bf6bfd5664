/**
 * Built-in labels of road users with predictions of an imagined classifier: eight items of three classes of unequal
 * size, six correct, so that accuracy is 6/8 = 0.75 and balanced accuracy (3/4 + 3/3 + 0/1)/3 = 0.5833.
 */
import { LABELS, PREDICTIONS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type JsonObject, z } from "../api.ts";
import { checkIds, parseIds } from "./_ids.ts";

const CLASSES = ["car", "cyclist", "pedestrian"] as const;

/** Label and the scores of the classes, in thousandths. */
const TASK_SMOKE: Readonly<Record<string, readonly [label: string, ...scores: number[]]>> = {
  crossing_1: ["car", 910, 40, 50],
  crossing_2: ["car", 780, 150, 70],
  crossing_3: ["car", 640, 260, 100],
  crossing_4: ["car", 380, 450, 170],
  pavement_1: ["pedestrian", 20, 80, 900],
  pavement_2: ["pedestrian", 60, 210, 730],
  pavement_3: ["pedestrian", 110, 330, 560],
  cycle_path_1: ["cyclist", 90, 420, 490],
};
const KNOWN = Object.keys(TASK_SMOKE);

export default defineOperation({
  id: "source.task_labels_smoke",
  name: "Tiny label/prediction fixture",
  description: "Built-in labels and predictions for task-metric smoke tests",
  outputs: { candidate: PREDICTIONS, reference: LABELS },
  params: z.strictObject({
    dataset: z.enum(["task_smoke"]).default("task_smoke").describe("built-in dataset"),
    sample_ids: z.string().default("").describe("comma-separated ids, in this order; empty uses all"),
  }),
  outputMetadataGuarantees: { candidate: { keys: ["dataset"] }, reference: { keys: ["dataset"] } },
  estimate: () => ({}),
  check: ({ sample_ids }) => checkIds(sample_ids, "sample_ids", KNOWN),
  run({ params }) {
    const wanted = parseIds(params.sample_ids);
    const samples = (wanted.length > 0 ? wanted : KNOWN).map((id) => {
      const [label, ...scores] = TASK_SMOKE[id];
      return { id, label, scores };
    });
    const metadata = { dataset: { id: params.dataset, version: `${params.dataset}-v1` } };
    const reference = samples.map(({ id, label }): JsonObject => ({ id, label }));
    const candidate = samples.map(({ id, scores }): JsonObject => ({
      id,
      label: CLASSES[scores.indexOf(Math.max(...scores))],
      scores: Object.fromEntries(CLASSES.map((name, index) => [name, float(scores[index] / 1000)])),
    }));
    return {
      outputs: {
        candidate: { json: { kind: "task.predictions", schema_version: 1, items: candidate }, metadata },
        reference: { json: { kind: "task.labels", schema_version: 1, items: reference }, metadata },
      },
    };
  },
});

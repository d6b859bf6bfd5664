/** A few labels and predictions to test the metric with. */
import type { Context, Dataset } from "../svc_types.ts";

/** Ten examples of two classes, seven of them correct. */
export function examples(_context: Context): Dataset {
  const labels = ["yes", "yes", "yes", "yes", "yes", "no", "no", "no", "no", "no"];
  const predictions = ["yes", "yes", "yes", "yes", "no", "no", "no", "no", "yes", "yes"];
  return { examples: labels.map((label, i) => ({ id: `e${i}`, label, prediction: predictions[i] })) };
}

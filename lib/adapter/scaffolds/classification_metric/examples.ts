/** A few labels and predictions to try the metric on. */
import type { Context, Dataset } from "../svc_types.ts";

/** Ten examples of two classes, of which seven are right. */
export function examples(_context: Context): Dataset {
  const labels = ["yes", "yes", "yes", "yes", "yes", "no", "no", "no", "no", "no"];
  const predictions = ["yes", "yes", "yes", "yes", "no", "no", "no", "no", "yes", "yes"];
  return { examples: labels.map((label, i) => ({ id: `e${i}`, label, prediction: predictions[i] })) };
}

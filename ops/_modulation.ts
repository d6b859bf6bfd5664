/**
 * Artifacts of the modulation recognition operations. Frames are complex64 [frame, symbol]; received ones have the
 * companions noise_variance and snr_db, float64 [frame], and no labels. Labels and predictions are int64 [frame],
 * indices of class_names (default bpsk, qpsk, qam16); predictions have scores float64 [frame, class], noise_variance and
 * snr_db.
 */
import { artifactKind } from "../lib/contract/kinds.ts";
import { z } from "./api.ts";
import { MODULATIONS } from "../lib/numeric/link/modulations.ts";
import { MODULATION_CLASSES } from "../lib/numeric/link/modulation_recognition.ts";
import { type NdArray, ndarray } from "../lib/numeric/array/ndarray.ts";

export const MODULATION_FRAMES = artifactKind("ai_phy.modulation_frames.numpy", { frame_count: "count" });
export const MODULATION_LABELS = artifactKind("ai_phy.modulation_labels.numpy", { class_names: "list" });
export const MODULATION_IQ = artifactKind("ai_phy.modulation_iq_frames.numpy", { frame_count: "count" });
export const MODULATION_PREDICTIONS = artifactKind("ai_phy.modulation_predictions.numpy", {
  class_names: "list",
  classifier: "text",
});

/** Modulations to distinguish, in the order of the labels; left out, those of MODULATION_CLASSES. */
export const classesParameter = () =>
  z.array(z.enum(MODULATIONS)).min(1).max(MODULATIONS.length).optional()
    .describe(`modulations in the order of the labels; default ${MODULATION_CLASSES.join(", ")}`);

/** Repeated classes cannot be distinguished. */
export const checkClasses = ({ classes = [] }: { classes?: readonly string[] }) =>
  new Set(classes).size === classes.length
    ? []
    : [{ code: "params_invalid" as const, place: ["classes"], message: "Cannot use a modulation as two classes" }];

/** Classes of frames, int64 [frame]. */
export function classArray(labels: ArrayLike<number>): NdArray {
  return ndarray("int64", BigInt64Array.from(Array.from(labels, BigInt)), [labels.length]);
}

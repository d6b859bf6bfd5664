/**
 * Artifacts of the modulation recognition operations. Frames are complex64 [frame, symbol]; received ones have the
 * companions noise_variance and snr_db, float64 [frame], and no labels. Labels and predictions are int64 [frame],
 * indices of the class names bpsk, qpsk, qam16; predictions have scores float64 [frame, class], noise_variance and
 * snr_db.
 */
import { artifactKind } from "../lib/contract/kinds.ts";
import { MODULATION_CLASSES } from "../lib/numeric/modulation_recognition.ts";
import { type NdArray, ndarray } from "../lib/numeric/ndarray.ts";

export const MODULATION_FRAMES = artifactKind("ai_phy.modulation_frames.numpy", { frame_count: "count" });
export const MODULATION_LABELS = artifactKind("ai_phy.modulation_labels.numpy", { class_names: "list" });
export const MODULATION_IQ = artifactKind("ai_phy.modulation_iq_frames.numpy", { frame_count: "count" });
export const MODULATION_PREDICTIONS = artifactKind("ai_phy.modulation_predictions.numpy", {
  class_names: "list",
  classifier: "text",
});

export const CLASS_COUNT = MODULATION_CLASSES.length;
/** Metadata of labels and predictions. */
export const CLASS_FACTS = { class_names: [...MODULATION_CLASSES] };

/** Classes of frames, int64 [frame]. */
export function classArray(labels: ArrayLike<number>): NdArray {
  return ndarray("int64", BigInt64Array.from(Array.from(labels, BigInt)), [labels.length]);
}

/**
 * What the operations of modulation recognition hand each other. Frames are complex64 [frame, symbol]; received ones carry the
 * companions noise_variance and snr_db, float64 [frame], and never the labels. Labels and predictions are int64 [frame], indices
 * of the class names bpsk, qpsk, qam16; predictions carry scores float64 [frame, class], noise_variance and snr_db.
 */
import { MODULATION_CLASSES } from "../lib/numeric/modulation_recognition.ts";
import { type NdArray, ndarray } from "../lib/numeric/ndarray.ts";

export const MODULATION_FRAMES = "ai_phy.modulation_frames.numpy";
export const MODULATION_LABELS = "ai_phy.modulation_labels.numpy";
export const MODULATION_IQ = "ai_phy.modulation_iq_frames.numpy";
export const MODULATION_PREDICTIONS = "ai_phy.modulation_predictions.numpy";

export const CLASS_COUNT = MODULATION_CLASSES.length;
/** Metadata of labels and predictions. */
export const CLASS_FACTS = { class_names: [...MODULATION_CLASSES] };

/** Classes of frames, int64 [frame]. */
export function classArray(labels: ArrayLike<number>): NdArray {
  return ndarray("int64", BigInt64Array.from(Array.from(labels, BigInt)), [labels.length]);
}

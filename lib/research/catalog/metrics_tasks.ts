/** Metrics of task success. */
import { family, higher, lower, MAXIMUM, neutral, PLANNED, RATE, TOTAL } from "./metric_rows.ts";

/** Mean, lowest and highest cosine of paired embeddings. */
const cosines = (label: string, name: string) => [
  higher(`${label}.cosine_mean`, "ratio", `${name}, mean cosine`),
  higher(`${label}.cosine_min`, "ratio", `${name}, lowest cosine`, { reduction: "min" }),
  higher(`${label}.cosine_max`, "ratio", `${name}, highest cosine`, MAXIMUM),
];

export const TASK_METRICS = [
  ...family("task", [
    higher("score", "fraction", "Score of the task", { description: "The task's own quality, at most 1" }),
    higher("accuracy", "fraction", "Accuracy", RATE),
    higher("exact_match", "fraction", "Exact match", RATE),
    lower("wer", "fraction", "Word error rate", { ...RATE, ...PLANNED }),
    lower("cer", "fraction", "Character error rate", { ...RATE, ...PLANNED }),
  ]),
  ...family("tasks", [
    higher("classification.balanced_accuracy", "fraction", "Balanced accuracy"),
    higher("modulation_recognition.accuracy", "fraction", "Modulation accuracy", RATE),
    higher("modulation_recognition.balanced_accuracy", "fraction", "Balanced modulation accuracy"),
    higher("modulation_recognition.macro_f1", "fraction", "Modulation macro F1"),
    neutral("modulation_recognition.frame_count", "frames", "Frames classified", TOTAL),
    higher("vqa.single_reference_exact_match", "fraction", "Answers equal to the reference", RATE),
    higher("detection.recall_at_iou_0p5_conf_0", "fraction", "Detection recall at IoU 0.5", RATE),
    higher("detection.precision_at_iou_0p5_conf_0", "fraction", "Detection precision at IoU 0.5", RATE),
    higher("detection.f1_at_iou_0p5_conf_0", "fraction", "Detection F1 at IoU 0.5"),
    higher("detection.class_f1_at_iou_0p5_conf_0.*", "fraction", "Detection F1 of one label at IoU 0.5"),
    higher("detection.ap_at_iou_0p5_conf_0", "fraction", "Mean average precision at IoU 0.5 (AP50)"),
    higher("detection.map_at_iou_0p5_to_0p95_conf_0", "fraction", "Mean average precision over IoU 0.5 to 0.95 (mAP)"),
    higher("segmentation.semantic_raster_pooled_miou", "fraction", "Mean IoU over classes"),
    higher(
      "segmentation.semantic_raster_pooled_miou_without_background",
      "fraction",
      "Mean IoU without the background",
    ),
    higher("segmentation.semantic_raster_pooled_class_iou.*", "fraction", "IoU of one class"),
    higher("segmentation.semantic_raster_pooled_pixel_accuracy", "fraction", "Pixel accuracy", RATE),
    higher("retrieval.hit_at_1", "fraction", "Right answer first", RATE),
    higher("retrieval.hit_at_5", "fraction", "Right answer in the first 5", RATE),
    higher("retrieval.hit_at_10", "fraction", "Right answer in the first 10", RATE),
    higher("retrieval.mrr_at_10", "fraction", "Mean reciprocal rank to 10"),
    ...cosines("generation.text_image_clip", "Text against generated image"),
    ...cosines("generation.image_image_clip", "Source against generated image"),
    ...cosines("embedding", "Paired embeddings"),
    higher("caption.token_f1", "fraction", "Overlap of words with a reference caption"),
    higher("caption.unigram_bleu_proxy", "fraction", "Caption unigram precision with brevity penalty"),
    higher("caption.rouge_l", "fraction", "Longest common subsequence with a reference caption"),
    higher("caption.edit_similarity", "fraction", "Edit similarity to a reference caption"),
    higher("caption.exact_match", "fraction", "Captions equal to a reference", RATE),
    higher("caption.*", "fraction", "Caption scores", PLANNED),
  ], ""),
  ...family("isac", [
    higher("scalarized_utility", "fraction", "Weighted utility of communication and sensing"),
    higher("communication_rate_bps_hz", "bit/s/Hz", "Communication rate"),
    higher("sensing_snr_db", "dB", "Sensing SNR"),
    lower("power_constraint_max_abs_error", "normalized_power", "Largest miss of the power budget", MAXIMUM),
  ]),
  ...family("near_field", [
    lower("range_rmse_m", "m", "Range RMSE"),
    lower("angle_rmse_deg", "degree", "Angle RMSE"),
    higher("normalized_focusing_gain", "fraction", "Focusing gain over the largest"),
  ]),
  ...family("ntn", [
    lower("doppler_mae_hz", "Hz", "Doppler MAE"),
    lower("doppler_rmse_hz", "Hz", "Doppler RMSE"),
    higher("beam_handover_accuracy", "fraction", "Correctly predicted serving beams", RATE),
    lower("beam_outage_rate", "fraction", "Predictions more than a beam away", RATE),
    neutral("handover_lead_time_mean_s", "s", "Mean time from prediction to handover"),
  ]),
];

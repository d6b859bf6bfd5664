/** Infers the metrics of a recipe's evaluation steps from operations and parameters. */
import { isNumber, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { RecipeDocument, StepDocument } from "../recipe/types.ts";
import { findMetric, findTask, type MetricEntry } from "./catalog.ts";

type Params = StepDocument["params"];

const text = (value: Value | undefined, otherwise: string) => typeof value === "string" ? value : otherwise;
const main = (task: string) => () => findTask(task)!.metrics;

/** A number in ids: 0.5 is `0p5`. */
const inId = (value: Value | undefined, otherwise: number) =>
  String(isNumber(value) ? toNumber(value) : otherwise).replace(".", "p");

/** Headline metrics by operation. */
const HEADLINES: Readonly<Record<string, (params: Params) => readonly string[]>> = {
  "metrics.bit_error_rate": ({ label }) => [`channel.${text(label, "ber")}`],
  "metrics.block_error_rate": ({ label }) => [`channel.${text(label, "bler")}`],
  "metrics.ergodic_capacity": () => ["capacity.ergodic_bps_hz"],
  "metrics.outage_capacity": () => ["capacity.outage_probability"],
  "metrics.fading_statistics": () => ["fading.level_crossing_rate_hz"],
  "metrics.mutual_information": ({ capacity_gap }) => [
    "channel.mutual_information_bits",
    "channel.generalised_mutual_information_bits",
    ...capacity_gap === true ? ["channel.achievable_rate_bits", "channel.capacity_gap_db"] : [],
  ],
  "metrics.effective_snr": () => ["channel.effective_snr_db"],
  "metrics.image_delivery_status": () => ["channel.outage_rate"],
  "metrics.image_reconstruction": main("image_reconstruction"),
  "metrics.importance_weighted_error": () => ["quality.importance_weighted_psnr_db", "quality.importance_weighted_mse"],
  "metrics.perceptual_distance": ({ measure }) => [`quality.${text(measure, "lpips")}`],
  "metrics.age_of_information": () => ["age.average_s", "age.peak_s"],
  "metrics.semantic_rate": () => ["semantic.spectral_efficiency_suts_s_hz", "semantic.similarity"],
  "metrics.bert_score": () => ["semantic.bert_score"],
  "metrics.text_semantic_similarity": main("text_semantic_similarity"),
  "metrics.semantic_state_faithfulness": () => [
    ...["concept_f1", "entity_f1", "unsupported_assertion_rate_scored", "fact_omission_rate_scored"].map((score) =>
      `faithfulness.${score}`
    ),
    "faithfulness.items_without_facts",
    ...["reference", "candidate", "knowledge"].map((part) => `semantic.fact_count_${part}`),
  ],
  "metrics.embedding_similarity": ({ label }) => [`${text(label, "embedding")}.cosine_mean`],
  "metrics.detection": ({ iou_threshold, confidence_threshold }) =>
    ["recall", "precision", "f1", "ap"].map((score) =>
      `detection.${score}_at_iou_${inId(iou_threshold, 0.5)}_conf_${inId(confidence_threshold, 0)}`
    ),
  "metrics.retrieval": ({ k_values }) => text(k_values, "1,5,10").split(",").map((k) => `retrieval.hit_at_${k.trim()}`),
  "metrics.segmentation": main("segmentation"),
  "metrics.classification": main("classification"),
  "metrics.text_corpus_scores": () => ["text.bleu_4", "text.chrf", "text.rouge_l", "text.meteor"],
  "metrics.captioning": () => ["caption.token_f1", "caption.rouge_l"],
  "metrics.vqa": main("visual_question_answering"),
  "metrics.modulation_classification": main("automatic_modulation_recognition"),
  "model.nr_codebook_csi": () => ["csi.spectral_efficiency_bps_hz", "csi.sgcs"],
  "metrics.csi_feedback": main("csi_compression_feedback"),
  "metrics.beamforming": main("beamforming_precoding"),
  "metrics.mu_mimo": () => ["mu_mimo.sum_rate_bps_hz", "mu_mimo.min_rate_bps_hz"],
  "model.proportional_fair_scheduler": () => ["schedule.sum_rate_bps_hz", "schedule.jain_fairness"],
  "metrics.localization": main("wireless_localization"),
  "metrics.aoa_estimation": main("aoa_estimation"),
  "metrics.channel_estimation": main("pilot_channel_estimation"),
  "metrics.resource_allocation": () => [
    "resource.theoretical_shannon_sum_bits_per_ofdm_symbol",
    ...findTask("resource_allocation")!.metrics,
  ],
  "metrics.ofdm_power_allocation": () => ["resource.theoretical_shannon_spectral_efficiency_bps_hz"],
  "metrics.ofdm_finite_blocklength_allocation": () => ["resource.finite_blocklength.expected_goodput_bps_hz"],
  "metrics.nr_ldpc_ofdm_delivery": () => ["channel.nr_ldpc_ofdm.goodput_bits_per_resource_element"],
  "metrics.adjacent_channel_leakage": ({ mask }) =>
    Array.isArray(mask)
      ? ["ofdm.out_of_band_db", "ofdm.mask_margin_db", "ofdm.aclr_db"]
      : ["ofdm.aclr_db", "ofdm.out_of_band_db"],
  "metrics.error_vector_magnitude": () => ["channel.evm_percent"],
  "metrics.spectrum": () => ["spectrum.power_db", "spectrum.rms_bandwidth_hz"],
  "metrics.harq": () => ["harq.throughput_bits_per_symbol"],
  "metrics.nr_adapted_throughput": () => ["harq.throughput_bits_per_symbol"],
  "metrics.isac_ofdm": main("joint_isac_resource_allocation"),
  "metrics.range_doppler": main("range_velocity_estimation"),
  "metrics.near_field_focusing": main("near_field_range_angle_focusing"),
  "metrics.ris": main("reflecting_surface_control"),
  "source.leo_link_budget": main("satellite_link_budget"),
  "metrics.leo_ntn_tracking": main("leo_ntn_doppler_beam_tracking"),
};

/** Operations with known headline metrics. Exported for tests. */
export const evaluatingOperations = (): string[] => Object.keys(HEADLINES);

/** The headline metrics of one step. */
export function stepMetrics({ op, params }: { op: string; params: JsonObject }): readonly string[] {
  return HEADLINES[op]?.(params) ?? [];
}

/** The headline metrics of a recipe, each once, in the order of the steps. */
export function evaluatedMetrics(recipe: RecipeDocument): string[] {
  return [...new Set(recipe.steps.flatMap(stepMetrics))];
}

/**
 * Error rates and counts with labels of the recipe: `link.ber` gives `channel.link.ber` and `channel.link.error_count`.
 */
export function labelledMetrics(recipe: RecipeDocument): Map<string, MetricEntry> {
  const found = new Map<string, MetricEntry>();
  for (const { op, params: { label } } of recipe.steps) {
    const rate = { "metrics.bit_error_rate": "ber", "metrics.block_error_rate": "bler" }[op];
    if (rate === undefined || typeof label !== "string" || label === "") continue;
    const stem = label.endsWith(rate) ? label.slice(0, -rate.length) : `${label}.`;
    const template = findMetric(`channel.${rate}`)!;
    const place = (id: string) => `channel.${stem}${id.slice("channel.".length)}`;
    const counts = { events: place(template.counts!.events), trials: place(template.counts!.trials) };
    const id = `channel.${label}`;
    found.set(id, { ...template, id, name: id, counts });
    for (const key of ["events", "trials"] as const) {
      found.set(counts[key], { ...findMetric(template.counts![key])!, id: counts[key], name: counts[key] });
    }
  }
  return found;
}

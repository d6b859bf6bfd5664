/**
 * Infers the scored task of a recipe from its operations: the first matching rule applies. Other tasks must be
 * declared.
 */

type Rule = {
  task: string;
  /** Any of these operations. */
  any: string[];
  /** And, where given, this one. */
  with?: string;
};

const RULES: readonly Rule[] = [
  { task: "automatic_modulation_recognition", any: ["metrics.modulation_classification"] },
  { task: "csi_compression_feedback", any: ["metrics.csi_feedback"] },
  { task: "image_reconstruction", any: ["metrics.image_reconstruction"] },
  {
    task: "text_semantic_similarity",
    any: ["metrics.text_semantic_similarity", "metrics.text_corpus_scores", "metrics.semantic_state_faithfulness"],
  },
  { task: "classification", any: ["metrics.classification"] },
  { task: "visual_question_answering", any: ["metrics.vqa"] },
  { task: "object_detection", any: ["metrics.detection"] },
  { task: "segmentation", any: ["metrics.segmentation"] },
  { task: "image_captioning", any: ["metrics.captioning"] },
  { task: "image_text_retrieval", any: ["metrics.retrieval"] },
  {
    task: "image_generation",
    any: ["foundation.diffusion_state_to_image", "foundation.local_state_to_image", "metrics.embedding_similarity"],
  },
  {
    task: "neural_receiver_demapping",
    any: ["demodulation.neural_receiver_adapter", "demodulation.phase_tracking_receiver_adapter"],
    with: "metrics.block_error_rate",
  },
  { task: "joint_isac_resource_allocation", any: ["metrics.isac_ofdm"] },
  { task: "range_velocity_estimation", any: ["metrics.range_doppler"] },
  { task: "near_field_range_angle_focusing", any: ["metrics.near_field_focusing"] },
  { task: "leo_ntn_doppler_beam_tracking", any: ["metrics.leo_ntn_tracking"] },
  { task: "bit_transport", any: ["metrics.bit_error_rate"] },
];

/** The task of these operations, or null. */
export function inferTask(operations: Iterable<string>): string | null {
  const present = new Set(operations);
  const rule = RULES.find((candidate) =>
    candidate.any.some((id) => present.has(id)) && (candidate.with === undefined || present.has(candidate.with))
  );
  return rule?.task ?? null;
}

/**
 * Whether a task fits these operations: it is the inferred one, or none is inferred. An inferred bit transport yields to a
 * task without a rule, and to one with an operation of its rule, because every digital link counts bits.
 */
export function suitsOperations(task: string, operations: readonly string[]): boolean {
  const inferred = inferTask(operations);
  if (inferred === null || inferred === task) return true;
  const own = RULES.find((rule) => rule.task === task);
  return inferred === "bit_transport" &&
    (own === undefined || operations.some((id) => own.any.includes(id) || own.with === id));
}

/** The rules as data, for digests of planning inputs. */
export function inferenceRules(): Rule[] {
  return [...RULES];
}

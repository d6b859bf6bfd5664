/** The built-in operations, sorted by id. Written by ops/generate_index.ts from the folder; do not edit. */
import type { Operation } from "../lib/contract/operation.ts";
import type { RegisteredOperation } from "../lib/contract/registry.ts";
import channelBitBoundary from "./channel/bit_boundary.ts";
import channelBitCountMatch from "./channel/bit_count_match.ts";
import channelBitsToIndices from "./channel/bits_to_indices.ts";
import channelBitsToLatents from "./channel/bits_to_latents.ts";
import channelCapacityOracleDigitalLink from "./channel/capacity_oracle_digital_link.ts";
import channelCommunicationResourceAccounting from "./channel/communication_resource_accounting.ts";
import channelCommunicationResourceAccountingV2 from "./channel/communication_resource_accounting_v2.ts";
import channelCrc32Check from "./channel/crc32_check.ts";
import channelCsiFeedbackLink from "./channel/csi_feedback_link.ts";
import channelIdentityDecoder from "./channel/identity_decoder.ts";
import channelIdentityEncoder from "./channel/identity_encoder.ts";
import channelIdentityLink from "./channel/identity_link.ts";
import channelIdentitySymbolLink from "./channel/identity_symbol_link.ts";
import channelIndicesToBits from "./channel/indices_to_bits.ts";
import channelJpegCapacityOracle from "./channel/jpeg_capacity_oracle.ts";
import channelLatentsToBits from "./channel/latents_to_bits.ts";
import channelNrLdpcDecoder from "./channel/nr_ldpc_decoder.ts";
import channelNrLdpcEncoder from "./channel/nr_ldpc_encoder.ts";
import channelPacketizeCrc32 from "./channel/packetize_crc32.ts";
import channelPacketizeCrc32V2 from "./channel/packetize_crc32_v2.ts";
import channelPayloadPassthroughDecoder from "./channel/payload_passthrough_decoder.ts";
import channelPayloadPassthroughEncoder from "./channel/payload_passthrough_encoder.ts";
import channelRepetitionDecoder from "./channel/repetition_decoder.ts";
import channelRepetitionEncoder from "./channel/repetition_encoder.ts";
import channelSymbolBoundary from "./channel/symbol_boundary.ts";
import channelSymbolCountMatch from "./channel/symbol_count_match.ts";
import channelSymbolPowerIdentity from "./channel/symbol_power_identity.ts";
import channelSymbolPowerNormalize from "./channel/symbol_power_normalize.ts";
import demodulationDigitalDemodulate from "./demodulation/digital_demodulate.ts";
import demodulationIdentityDemodulate from "./demodulation/identity_demodulate.ts";
import demodulationNeuralReceiverAdapter from "./demodulation/neural_receiver_adapter.ts";
import demodulationPhaseTrackingReceiverAdapter from "./demodulation/phase_tracking_receiver_adapter.ts";
import foundationClipImageEmbed from "./foundation/clip_image_embed.ts";
import foundationClipRetrievalRank from "./foundation/clip_retrieval_rank.ts";
import foundationClipTextEmbed from "./foundation/clip_text_embed.ts";
import foundationDiffusionStateToImage from "./foundation/diffusion_state_to_image.ts";
import foundationKnowledgeBase from "./foundation/knowledge_base.ts";
import foundationLocalStateToImage from "./foundation/local_state_to_image.ts";
import foundationSamSegment from "./foundation/sam_segment.ts";
import foundationSemanticStateGround from "./foundation/semantic_state_ground.ts";
import foundationSemanticStatePayloadDecode from "./foundation/semantic_state_payload_decode.ts";
import foundationSemanticStatePayloadEncode from "./foundation/semantic_state_payload_encode.ts";
import foundationSemanticStateToText from "./foundation/semantic_state_to_text.ts";
import foundationTextMaskRepair from "./foundation/text_mask_repair.ts";
import foundationTextSemanticStateEncode from "./foundation/text_semantic_state_encode.ts";
import foundationVlmImageToState from "./foundation/vlm_image_to_state.ts";
import foundationVqaAnswerFromPacket from "./foundation/vqa_answer_from_packet.ts";
import foundationVqaPayloadDecode from "./foundation/vqa_payload_decode.ts";
import foundationVqaPayloadEncode from "./foundation/vqa_payload_encode.ts";
import foundationVqaSemanticSelect from "./foundation/vqa_semantic_select.ts";
import foundationVqaTransformersAnswer from "./foundation/vqa_transformers_answer.ts";
import foundationYoloDetect from "./foundation/yolo_detect.ts";
import foundationYoloSegment from "./foundation/yolo_segment.ts";
import hardwareReceiverIqImbalance from "./hardware/receiver_iq_imbalance.ts";
import metricsAoaEstimation from "./metrics/aoa_estimation.ts";
import metricsBeamforming from "./metrics/beamforming.ts";
import metricsBitErrorRate from "./metrics/bit_error_rate.ts";
import metricsBlockErrorRate from "./metrics/block_error_rate.ts";
import metricsCaptioning from "./metrics/captioning.ts";
import metricsChannelEstimation from "./metrics/channel_estimation.ts";
import metricsClassification from "./metrics/classification.ts";
import metricsCsiFeedback from "./metrics/csi_feedback.ts";
import metricsDetection from "./metrics/detection.ts";
import metricsEmbeddingSimilarity from "./metrics/embedding_similarity.ts";
import metricsExternalClassification from "./metrics/external_classification.ts";
import metricsImageDeliveryStatus from "./metrics/image_delivery_status.ts";
import metricsImageReconstruction from "./metrics/image_reconstruction.ts";
import metricsIsacOfdm from "./metrics/isac_ofdm.ts";
import metricsLeoNtnTracking from "./metrics/leo_ntn_tracking.ts";
import metricsLocalization from "./metrics/localization.ts";
import metricsModulationClassification from "./metrics/modulation_classification.ts";
import metricsNearFieldFocusing from "./metrics/near_field_focusing.ts";
import metricsNrLdpcOfdmDelivery from "./metrics/nr_ldpc_ofdm_delivery.ts";
import metricsOfdmFiniteBlocklengthAllocation from "./metrics/ofdm_finite_blocklength_allocation.ts";
import metricsOfdmPowerAllocation from "./metrics/ofdm_power_allocation.ts";
import metricsResourceAllocation from "./metrics/resource_allocation.ts";
import metricsRetrieval from "./metrics/retrieval.ts";
import metricsSegmentation from "./metrics/segmentation.ts";
import metricsSemanticStateFaithfulness from "./metrics/semantic_state_faithfulness.ts";
import metricsTextSemanticSimilarity from "./metrics/text_semantic_similarity.ts";
import metricsVqa from "./metrics/vqa.ts";
import modelAoaEstimatorAdapter from "./model/aoa_estimator_adapter.ts";
import modelBeamformingAdapter from "./model/beamforming_adapter.ts";
import modelCausalCsiPowerAllocator from "./model/causal_csi_power_allocator.ts";
import modelChannelEstimatorAdapter from "./model/channel_estimator_adapter.ts";
import modelCodeclibAnalysisEncode from "./model/codeclib_analysis_encode.ts";
import modelCodeclibAotiDecode from "./model/codeclib_aoti_decode.ts";
import modelCodeclibAotiEncode from "./model/codeclib_aoti_encode.ts";
import modelCodeclibDecode from "./model/codeclib_decode.ts";
import modelCodeclibEncode from "./model/codeclib_encode.ts";
import modelCodeclibEntropyDecode from "./model/codeclib_entropy_decode.ts";
import modelCodeclibEntropyEncode from "./model/codeclib_entropy_encode.ts";
import modelCodeclibExportOnnx from "./model/codeclib_export_onnx.ts";
import modelCodeclibOnnxDecode from "./model/codeclib_onnx_decode.ts";
import modelCodeclibOnnxEncode from "./model/codeclib_onnx_encode.ts";
import modelCodeclibOnnxEntropyDecode from "./model/codeclib_onnx_entropy_decode.ts";
import modelCodeclibOnnxEntropyEncode from "./model/codeclib_onnx_entropy_encode.ts";
import modelCodeclibSynthesisDecode from "./model/codeclib_synthesis_decode.ts";
import modelCsiFeedbackDecoder from "./model/csi_feedback_decoder.ts";
import modelCsiFeedbackEncoder from "./model/csi_feedback_encoder.ts";
import modelCsiMrtPrecoder from "./model/csi_mrt_precoder.ts";
import modelDeepjsccExternalDecode from "./model/deepjscc_external_decode.ts";
import modelDeepjsccExternalEncode from "./model/deepjscc_external_encode.ts";
import modelEqualPowerAllocator from "./model/equal_power_allocator.ts";
import modelExternalDecodeBits from "./model/external_decode_bits.ts";
import modelExternalDecodeIndices from "./model/external_decode_indices.ts";
import modelExternalDecodeLatents from "./model/external_decode_latents.ts";
import modelExternalEncodeBits from "./model/external_encode_bits.ts";
import modelExternalEncodeIndices from "./model/external_encode_indices.ts";
import modelExternalEncodeLatents from "./model/external_encode_latents.ts";
import modelIsacOfdmAllocatorAdapter from "./model/isac_ofdm_allocator_adapter.ts";
import modelJpegDecode from "./model/jpeg_decode.ts";
import modelJpegEncode from "./model/jpeg_encode.ts";
import modelLeoNtnTrackingAdapter from "./model/leo_ntn_tracking_adapter.ts";
import modelLocalizationAdapter from "./model/localization_adapter.ts";
import modelLsChannelEstimator from "./model/ls_channel_estimator.ts";
import modelModulationClassifierAdapter from "./model/modulation_classifier_adapter.ts";
import modelMrtBeamformer from "./model/mrt_beamformer.ts";
import modelMusicAoaEstimator from "./model/music_aoa_estimator.ts";
import modelNearFieldEstimatorAdapter from "./model/near_field_estimator_adapter.ts";
import modelResourceAllocationAdapter from "./model/resource_allocation_adapter.ts";
import modelSymbolPowerAllocator from "./model/symbol_power_allocator.ts";
import modelTextUtf8Decode from "./model/text_utf8_decode.ts";
import modelTextUtf8Encode from "./model/text_utf8_encode.ts";
import modelToyVqvaeDecode from "./model/toy_vqvae_decode.ts";
import modelToyVqvaeEncode from "./model/toy_vqvae_encode.ts";
import modelTrilaterationLocalizer from "./model/trilateration_localizer.ts";
import modelWaterFillingPowerAllocator from "./model/water_filling_power_allocator.ts";
import modulationDigitalModulate from "./modulation/digital_modulate.ts";
import modulationIdentityModulate from "./modulation/identity_modulate.ts";
import modulationQpskPilotModulate from "./modulation/qpsk_pilot_modulate.ts";
import noiseRepresentationIndices from "./noise/representation_indices.ts";
import noiseRepresentationLatents from "./noise/representation_latents.ts";
import noiseSourceImagePerturbation from "./noise/source_image_perturbation.ts";
import noiseSourceTextPerturbation from "./noise/source_text_perturbation.ts";
import sourceAiPhyChannelRealization from "./source/ai_phy_channel_realization.ts";
import sourceAiPhyPilotChannel from "./source/ai_phy_pilot_channel.ts";
import sourceAiPhyPilotPattern from "./source/ai_phy_pilot_pattern.ts";
import sourceAoaScene from "./source/aoa_scene.ts";
import sourceBeamformingScenario from "./source/beamforming_scenario.ts";
import sourceBitManifest from "./source/bit_manifest.ts";
import sourceCoco128Detection from "./source/coco128_detection.ts";
import sourceCoco8Segmentation from "./source/coco8_segmentation.ts";
import sourceExternalClassificationDataset from "./source/external_classification_dataset.ts";
import sourceFlickr8kRetrieval from "./source/flickr8k_retrieval.ts";
import sourceImageDataset from "./source/image_dataset.ts";
import sourceIsacOfdmScenario from "./source/isac_ofdm_scenario.ts";
import sourceKodakFiles from "./source/kodak_files.ts";
import sourceLeoNtnTrackingScenario from "./source/leo_ntn_tracking_scenario.ts";
import sourceLocalNpzImages from "./source/local_npz_images.ts";
import sourceLocalizationGeometry from "./source/localization_geometry.ts";
import sourceLocalizationSensingScenario from "./source/localization_sensing_scenario.ts";
import sourceModulationFrames from "./source/modulation_frames.ts";
import sourceNearFieldXlMimoScenario from "./source/near_field_xl_mimo_scenario.ts";
import sourceRandomBits from "./source/random_bits.ts";
import sourceResourceAllocationScenario from "./source/resource_allocation_scenario.ts";
import sourceRetrievalSmoke from "./source/retrieval_smoke.ts";
import sourceSemanticArtifactsSmoke from "./source/semantic_artifacts_smoke.ts";
import sourceSyntheticScenes from "./source/synthetic_scenes.ts";
import sourceTaskLabelsSmoke from "./source/task_labels_smoke.ts";
import sourceTextDataset from "./source/text_dataset.ts";
import sourceVqaManifest from "./source/vqa_manifest.ts";
import sourceVqaSmallHf from "./source/vqa_small_hf.ts";
import sourceVqaSmoke from "./source/vqa_smoke.ts";
import wirelessCarrierPhaseImpairment from "./wireless/carrier_phase_impairment.ts";
import wirelessChannel from "./wireless/channel.ts";
import wirelessDigitalLink from "./wireless/digital_link.ts";
import wirelessMisoOfdmCsi from "./wireless/miso_ofdm_csi.ts";
import wirelessModulationAwgnObservation from "./wireless/modulation_awgn_observation.ts";
import wirelessOfdmChannelState from "./wireless/ofdm_channel_state.ts";
import wirelessOfdmDelayedCsi from "./wireless/ofdm_delayed_csi.ts";
import wirelessPilotObservation from "./wireless/pilot_observation.ts";
import wirelessRangeObservation from "./wireless/range_observation.ts";
import wirelessUlaArrayObservation from "./wireless/ula_array_observation.ts";

const entry = (operation: Operation, path: string): RegisteredOperation => ({
  operation,
  moduleUrl: new URL(path, import.meta.url).href,
});

export const BUILTIN_OPERATIONS: RegisteredOperation[] = [
  entry(channelBitBoundary, "./channel/bit_boundary.ts"),
  entry(channelBitCountMatch, "./channel/bit_count_match.ts"),
  entry(channelBitsToIndices, "./channel/bits_to_indices.ts"),
  entry(channelBitsToLatents, "./channel/bits_to_latents.ts"),
  entry(channelCapacityOracleDigitalLink, "./channel/capacity_oracle_digital_link.ts"),
  entry(channelCommunicationResourceAccounting, "./channel/communication_resource_accounting.ts"),
  entry(channelCommunicationResourceAccountingV2, "./channel/communication_resource_accounting_v2.ts"),
  entry(channelCrc32Check, "./channel/crc32_check.ts"),
  entry(channelCsiFeedbackLink, "./channel/csi_feedback_link.ts"),
  entry(channelIdentityDecoder, "./channel/identity_decoder.ts"),
  entry(channelIdentityEncoder, "./channel/identity_encoder.ts"),
  entry(channelIdentityLink, "./channel/identity_link.ts"),
  entry(channelIdentitySymbolLink, "./channel/identity_symbol_link.ts"),
  entry(channelIndicesToBits, "./channel/indices_to_bits.ts"),
  entry(channelJpegCapacityOracle, "./channel/jpeg_capacity_oracle.ts"),
  entry(channelLatentsToBits, "./channel/latents_to_bits.ts"),
  entry(channelNrLdpcDecoder, "./channel/nr_ldpc_decoder.ts"),
  entry(channelNrLdpcEncoder, "./channel/nr_ldpc_encoder.ts"),
  entry(channelPacketizeCrc32, "./channel/packetize_crc32.ts"),
  entry(channelPacketizeCrc32V2, "./channel/packetize_crc32_v2.ts"),
  entry(channelPayloadPassthroughDecoder, "./channel/payload_passthrough_decoder.ts"),
  entry(channelPayloadPassthroughEncoder, "./channel/payload_passthrough_encoder.ts"),
  entry(channelRepetitionDecoder, "./channel/repetition_decoder.ts"),
  entry(channelRepetitionEncoder, "./channel/repetition_encoder.ts"),
  entry(channelSymbolBoundary, "./channel/symbol_boundary.ts"),
  entry(channelSymbolCountMatch, "./channel/symbol_count_match.ts"),
  entry(channelSymbolPowerIdentity, "./channel/symbol_power_identity.ts"),
  entry(channelSymbolPowerNormalize, "./channel/symbol_power_normalize.ts"),
  entry(demodulationDigitalDemodulate, "./demodulation/digital_demodulate.ts"),
  entry(demodulationIdentityDemodulate, "./demodulation/identity_demodulate.ts"),
  entry(demodulationNeuralReceiverAdapter, "./demodulation/neural_receiver_adapter.ts"),
  entry(demodulationPhaseTrackingReceiverAdapter, "./demodulation/phase_tracking_receiver_adapter.ts"),
  entry(foundationClipImageEmbed, "./foundation/clip_image_embed.ts"),
  entry(foundationClipRetrievalRank, "./foundation/clip_retrieval_rank.ts"),
  entry(foundationClipTextEmbed, "./foundation/clip_text_embed.ts"),
  entry(foundationDiffusionStateToImage, "./foundation/diffusion_state_to_image.ts"),
  entry(foundationKnowledgeBase, "./foundation/knowledge_base.ts"),
  entry(foundationLocalStateToImage, "./foundation/local_state_to_image.ts"),
  entry(foundationSamSegment, "./foundation/sam_segment.ts"),
  entry(foundationSemanticStateGround, "./foundation/semantic_state_ground.ts"),
  entry(foundationSemanticStatePayloadDecode, "./foundation/semantic_state_payload_decode.ts"),
  entry(foundationSemanticStatePayloadEncode, "./foundation/semantic_state_payload_encode.ts"),
  entry(foundationSemanticStateToText, "./foundation/semantic_state_to_text.ts"),
  entry(foundationTextMaskRepair, "./foundation/text_mask_repair.ts"),
  entry(foundationTextSemanticStateEncode, "./foundation/text_semantic_state_encode.ts"),
  entry(foundationVlmImageToState, "./foundation/vlm_image_to_state.ts"),
  entry(foundationVqaAnswerFromPacket, "./foundation/vqa_answer_from_packet.ts"),
  entry(foundationVqaPayloadDecode, "./foundation/vqa_payload_decode.ts"),
  entry(foundationVqaPayloadEncode, "./foundation/vqa_payload_encode.ts"),
  entry(foundationVqaSemanticSelect, "./foundation/vqa_semantic_select.ts"),
  entry(foundationVqaTransformersAnswer, "./foundation/vqa_transformers_answer.ts"),
  entry(foundationYoloDetect, "./foundation/yolo_detect.ts"),
  entry(foundationYoloSegment, "./foundation/yolo_segment.ts"),
  entry(hardwareReceiverIqImbalance, "./hardware/receiver_iq_imbalance.ts"),
  entry(metricsAoaEstimation, "./metrics/aoa_estimation.ts"),
  entry(metricsBeamforming, "./metrics/beamforming.ts"),
  entry(metricsBitErrorRate, "./metrics/bit_error_rate.ts"),
  entry(metricsBlockErrorRate, "./metrics/block_error_rate.ts"),
  entry(metricsCaptioning, "./metrics/captioning.ts"),
  entry(metricsChannelEstimation, "./metrics/channel_estimation.ts"),
  entry(metricsClassification, "./metrics/classification.ts"),
  entry(metricsCsiFeedback, "./metrics/csi_feedback.ts"),
  entry(metricsDetection, "./metrics/detection.ts"),
  entry(metricsEmbeddingSimilarity, "./metrics/embedding_similarity.ts"),
  entry(metricsExternalClassification, "./metrics/external_classification.ts"),
  entry(metricsImageDeliveryStatus, "./metrics/image_delivery_status.ts"),
  entry(metricsImageReconstruction, "./metrics/image_reconstruction.ts"),
  entry(metricsIsacOfdm, "./metrics/isac_ofdm.ts"),
  entry(metricsLeoNtnTracking, "./metrics/leo_ntn_tracking.ts"),
  entry(metricsLocalization, "./metrics/localization.ts"),
  entry(metricsModulationClassification, "./metrics/modulation_classification.ts"),
  entry(metricsNearFieldFocusing, "./metrics/near_field_focusing.ts"),
  entry(metricsNrLdpcOfdmDelivery, "./metrics/nr_ldpc_ofdm_delivery.ts"),
  entry(metricsOfdmFiniteBlocklengthAllocation, "./metrics/ofdm_finite_blocklength_allocation.ts"),
  entry(metricsOfdmPowerAllocation, "./metrics/ofdm_power_allocation.ts"),
  entry(metricsResourceAllocation, "./metrics/resource_allocation.ts"),
  entry(metricsRetrieval, "./metrics/retrieval.ts"),
  entry(metricsSegmentation, "./metrics/segmentation.ts"),
  entry(metricsSemanticStateFaithfulness, "./metrics/semantic_state_faithfulness.ts"),
  entry(metricsTextSemanticSimilarity, "./metrics/text_semantic_similarity.ts"),
  entry(metricsVqa, "./metrics/vqa.ts"),
  entry(modelAoaEstimatorAdapter, "./model/aoa_estimator_adapter.ts"),
  entry(modelBeamformingAdapter, "./model/beamforming_adapter.ts"),
  entry(modelCausalCsiPowerAllocator, "./model/causal_csi_power_allocator.ts"),
  entry(modelChannelEstimatorAdapter, "./model/channel_estimator_adapter.ts"),
  entry(modelCodeclibAnalysisEncode, "./model/codeclib_analysis_encode.ts"),
  entry(modelCodeclibAotiDecode, "./model/codeclib_aoti_decode.ts"),
  entry(modelCodeclibAotiEncode, "./model/codeclib_aoti_encode.ts"),
  entry(modelCodeclibDecode, "./model/codeclib_decode.ts"),
  entry(modelCodeclibEncode, "./model/codeclib_encode.ts"),
  entry(modelCodeclibEntropyDecode, "./model/codeclib_entropy_decode.ts"),
  entry(modelCodeclibEntropyEncode, "./model/codeclib_entropy_encode.ts"),
  entry(modelCodeclibExportOnnx, "./model/codeclib_export_onnx.ts"),
  entry(modelCodeclibOnnxDecode, "./model/codeclib_onnx_decode.ts"),
  entry(modelCodeclibOnnxEncode, "./model/codeclib_onnx_encode.ts"),
  entry(modelCodeclibOnnxEntropyDecode, "./model/codeclib_onnx_entropy_decode.ts"),
  entry(modelCodeclibOnnxEntropyEncode, "./model/codeclib_onnx_entropy_encode.ts"),
  entry(modelCodeclibSynthesisDecode, "./model/codeclib_synthesis_decode.ts"),
  entry(modelCsiFeedbackDecoder, "./model/csi_feedback_decoder.ts"),
  entry(modelCsiFeedbackEncoder, "./model/csi_feedback_encoder.ts"),
  entry(modelCsiMrtPrecoder, "./model/csi_mrt_precoder.ts"),
  entry(modelDeepjsccExternalDecode, "./model/deepjscc_external_decode.ts"),
  entry(modelDeepjsccExternalEncode, "./model/deepjscc_external_encode.ts"),
  entry(modelEqualPowerAllocator, "./model/equal_power_allocator.ts"),
  entry(modelExternalDecodeBits, "./model/external_decode_bits.ts"),
  entry(modelExternalDecodeIndices, "./model/external_decode_indices.ts"),
  entry(modelExternalDecodeLatents, "./model/external_decode_latents.ts"),
  entry(modelExternalEncodeBits, "./model/external_encode_bits.ts"),
  entry(modelExternalEncodeIndices, "./model/external_encode_indices.ts"),
  entry(modelExternalEncodeLatents, "./model/external_encode_latents.ts"),
  entry(modelIsacOfdmAllocatorAdapter, "./model/isac_ofdm_allocator_adapter.ts"),
  entry(modelJpegDecode, "./model/jpeg_decode.ts"),
  entry(modelJpegEncode, "./model/jpeg_encode.ts"),
  entry(modelLeoNtnTrackingAdapter, "./model/leo_ntn_tracking_adapter.ts"),
  entry(modelLocalizationAdapter, "./model/localization_adapter.ts"),
  entry(modelLsChannelEstimator, "./model/ls_channel_estimator.ts"),
  entry(modelModulationClassifierAdapter, "./model/modulation_classifier_adapter.ts"),
  entry(modelMrtBeamformer, "./model/mrt_beamformer.ts"),
  entry(modelMusicAoaEstimator, "./model/music_aoa_estimator.ts"),
  entry(modelNearFieldEstimatorAdapter, "./model/near_field_estimator_adapter.ts"),
  entry(modelResourceAllocationAdapter, "./model/resource_allocation_adapter.ts"),
  entry(modelSymbolPowerAllocator, "./model/symbol_power_allocator.ts"),
  entry(modelTextUtf8Decode, "./model/text_utf8_decode.ts"),
  entry(modelTextUtf8Encode, "./model/text_utf8_encode.ts"),
  entry(modelToyVqvaeDecode, "./model/toy_vqvae_decode.ts"),
  entry(modelToyVqvaeEncode, "./model/toy_vqvae_encode.ts"),
  entry(modelTrilaterationLocalizer, "./model/trilateration_localizer.ts"),
  entry(modelWaterFillingPowerAllocator, "./model/water_filling_power_allocator.ts"),
  entry(modulationDigitalModulate, "./modulation/digital_modulate.ts"),
  entry(modulationIdentityModulate, "./modulation/identity_modulate.ts"),
  entry(modulationQpskPilotModulate, "./modulation/qpsk_pilot_modulate.ts"),
  entry(noiseRepresentationIndices, "./noise/representation_indices.ts"),
  entry(noiseRepresentationLatents, "./noise/representation_latents.ts"),
  entry(noiseSourceImagePerturbation, "./noise/source_image_perturbation.ts"),
  entry(noiseSourceTextPerturbation, "./noise/source_text_perturbation.ts"),
  entry(sourceAiPhyChannelRealization, "./source/ai_phy_channel_realization.ts"),
  entry(sourceAiPhyPilotChannel, "./source/ai_phy_pilot_channel.ts"),
  entry(sourceAiPhyPilotPattern, "./source/ai_phy_pilot_pattern.ts"),
  entry(sourceAoaScene, "./source/aoa_scene.ts"),
  entry(sourceBeamformingScenario, "./source/beamforming_scenario.ts"),
  entry(sourceBitManifest, "./source/bit_manifest.ts"),
  entry(sourceCoco128Detection, "./source/coco128_detection.ts"),
  entry(sourceCoco8Segmentation, "./source/coco8_segmentation.ts"),
  entry(sourceExternalClassificationDataset, "./source/external_classification_dataset.ts"),
  entry(sourceFlickr8kRetrieval, "./source/flickr8k_retrieval.ts"),
  entry(sourceImageDataset, "./source/image_dataset.ts"),
  entry(sourceIsacOfdmScenario, "./source/isac_ofdm_scenario.ts"),
  entry(sourceKodakFiles, "./source/kodak_files.ts"),
  entry(sourceLeoNtnTrackingScenario, "./source/leo_ntn_tracking_scenario.ts"),
  entry(sourceLocalNpzImages, "./source/local_npz_images.ts"),
  entry(sourceLocalizationGeometry, "./source/localization_geometry.ts"),
  entry(sourceLocalizationSensingScenario, "./source/localization_sensing_scenario.ts"),
  entry(sourceModulationFrames, "./source/modulation_frames.ts"),
  entry(sourceNearFieldXlMimoScenario, "./source/near_field_xl_mimo_scenario.ts"),
  entry(sourceRandomBits, "./source/random_bits.ts"),
  entry(sourceResourceAllocationScenario, "./source/resource_allocation_scenario.ts"),
  entry(sourceRetrievalSmoke, "./source/retrieval_smoke.ts"),
  entry(sourceSemanticArtifactsSmoke, "./source/semantic_artifacts_smoke.ts"),
  entry(sourceSyntheticScenes, "./source/synthetic_scenes.ts"),
  entry(sourceTaskLabelsSmoke, "./source/task_labels_smoke.ts"),
  entry(sourceTextDataset, "./source/text_dataset.ts"),
  entry(sourceVqaManifest, "./source/vqa_manifest.ts"),
  entry(sourceVqaSmallHf, "./source/vqa_small_hf.ts"),
  entry(sourceVqaSmoke, "./source/vqa_smoke.ts"),
  entry(wirelessCarrierPhaseImpairment, "./wireless/carrier_phase_impairment.ts"),
  entry(wirelessChannel, "./wireless/channel.ts"),
  entry(wirelessDigitalLink, "./wireless/digital_link.ts"),
  entry(wirelessMisoOfdmCsi, "./wireless/miso_ofdm_csi.ts"),
  entry(wirelessModulationAwgnObservation, "./wireless/modulation_awgn_observation.ts"),
  entry(wirelessOfdmChannelState, "./wireless/ofdm_channel_state.ts"),
  entry(wirelessOfdmDelayedCsi, "./wireless/ofdm_delayed_csi.ts"),
  entry(wirelessPilotObservation, "./wireless/pilot_observation.ts"),
  entry(wirelessRangeObservation, "./wireless/range_observation.ts"),
  entry(wirelessUlaArrayObservation, "./wireless/ula_array_observation.ts"),
];

/** The built-in operations, sorted by id. Written by ops/generate_index.ts from the folder; do not edit. */
import type { Operation } from "../lib/contract/operation.ts";
import type { RegisteredOperation } from "../lib/contract/registry.ts";
import digests from "./contract_digests.json" with { type: "json" };
import channelBitBoundary from "./channel/bit_boundary.ts";
import channelBitCountMatch from "./channel/bit_count_match.ts";
import channelBitsToIndices from "./channel/bits_to_indices.ts";
import channelBitsToLatents from "./channel/bits_to_latents.ts";
import channelCapacityOracleDigitalLink from "./channel/capacity_oracle_digital_link.ts";
import channelCommunicationResourceAccounting from "./channel/communication_resource_accounting.ts";
import channelCommunicationResourceAccountingV2 from "./channel/communication_resource_accounting_v2.ts";
import channelCommunicationResourceAccountingV3 from "./channel/communication_resource_accounting_v3.ts";
import channelCrc32Check from "./channel/crc32_check.ts";
import channelCsiFeedbackLink from "./channel/csi_feedback_link.ts";
import channelIdentityDecoder from "./channel/identity_decoder.ts";
import channelIdentityEncoder from "./channel/identity_encoder.ts";
import channelIdentityLink from "./channel/identity_link.ts";
import channelIdentitySymbolLink from "./channel/identity_symbol_link.ts";
import channelIndicesToBits from "./channel/indices_to_bits.ts";
import channelJpegCapacityOracle from "./channel/jpeg_capacity_oracle.ts";
import channelLatentsToBits from "./channel/latents_to_bits.ts";
import channelNrHarqCombine from "./channel/nr_harq_combine.ts";
import channelNrLdpcDecoder from "./channel/nr_ldpc_decoder.ts";
import channelNrLdpcEncoder from "./channel/nr_ldpc_encoder.ts";
import channelNrPolarDecoder from "./channel/nr_polar_decoder.ts";
import channelNrPolarEncoder from "./channel/nr_polar_encoder.ts";
import channelPacketizeCrc32 from "./channel/packetize_crc32.ts";
import channelPacketizeCrc32V2 from "./channel/packetize_crc32_v2.ts";
import channelPayloadPassthroughDecoder from "./channel/payload_passthrough_decoder.ts";
import channelPayloadPassthroughEncoder from "./channel/payload_passthrough_encoder.ts";
import channelRepetitionDecoder from "./channel/repetition_decoder.ts";
import channelRepetitionEncoder from "./channel/repetition_encoder.ts";
import channelSymbolBoundary from "./channel/symbol_boundary.ts";
import channelSymbolCountMatch from "./channel/symbol_count_match.ts";
import channelSymbolPowerAllocation from "./channel/symbol_power_allocation.ts";
import channelSymbolPowerIdentity from "./channel/symbol_power_identity.ts";
import channelSymbolPowerNormalize from "./channel/symbol_power_normalize.ts";
import channelUnequalErrorProtection from "./channel/unequal_error_protection.ts";
import channelUnequalErrorProtectionDecoder from "./channel/unequal_error_protection_decoder.ts";
import demodulationConstellationDemapper from "./demodulation/constellation_demapper.ts";
import demodulationDigitalDemodulate from "./demodulation/digital_demodulate.ts";
import demodulationIdentityDemodulate from "./demodulation/identity_demodulate.ts";
import demodulationMimoDetect from "./demodulation/mimo_detect.ts";
import demodulationNeuralReceiverAdapter from "./demodulation/neural_receiver_adapter.ts";
import demodulationOfdmEqualize from "./demodulation/ofdm_equalize.ts";
import demodulationOfdmPilotObservation from "./demodulation/ofdm_pilot_observation.ts";
import demodulationOfdmReceive from "./demodulation/ofdm_receive.ts";
import demodulationPhaseTrackingReceiverAdapter from "./demodulation/phase_tracking_receiver_adapter.ts";
import foundationClipImageEmbed from "./foundation/clip_image_embed.ts";
import foundationClipRetrievalRank from "./foundation/clip_retrieval_rank.ts";
import foundationClipTextEmbed from "./foundation/clip_text_embed.ts";
import foundationDiffusionStateToImage from "./foundation/diffusion_state_to_image.ts";
import foundationImportanceMap from "./foundation/importance_map.ts";
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
import hardwareEnvelopeClip from "./hardware/envelope_clip.ts";
import hardwarePowerAmplifier from "./hardware/power_amplifier.ts";
import hardwareQuantizer from "./hardware/quantizer.ts";
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
import metricsExternalText from "./metrics/external_text.ts";
import metricsHarq from "./metrics/harq.ts";
import metricsImageDeliveryStatus from "./metrics/image_delivery_status.ts";
import metricsImageReconstruction from "./metrics/image_reconstruction.ts";
import metricsImportanceWeightedError from "./metrics/importance_weighted_error.ts";
import metricsIsacOfdm from "./metrics/isac_ofdm.ts";
import metricsLeoNtnTracking from "./metrics/leo_ntn_tracking.ts";
import metricsLocalization from "./metrics/localization.ts";
import metricsModulationClassification from "./metrics/modulation_classification.ts";
import metricsMuMimo from "./metrics/mu_mimo.ts";
import metricsNearFieldFocusing from "./metrics/near_field_focusing.ts";
import metricsNrLdpcOfdmDelivery from "./metrics/nr_ldpc_ofdm_delivery.ts";
import metricsOfdmFiniteBlocklengthAllocation from "./metrics/ofdm_finite_blocklength_allocation.ts";
import metricsOfdmPowerAllocation from "./metrics/ofdm_power_allocation.ts";
import metricsRangeDoppler from "./metrics/range_doppler.ts";
import metricsResourceAllocation from "./metrics/resource_allocation.ts";
import metricsRetrieval from "./metrics/retrieval.ts";
import metricsRis from "./metrics/ris.ts";
import metricsSegmentation from "./metrics/segmentation.ts";
import metricsSemanticStateFaithfulness from "./metrics/semantic_state_faithfulness.ts";
import metricsTextCorpusScores from "./metrics/text_corpus_scores.ts";
import metricsTextSemanticSimilarity from "./metrics/text_semantic_similarity.ts";
import metricsVqa from "./metrics/vqa.ts";
import modelAoaEstimatorAdapter from "./antenna/aoa_estimator_adapter.ts";
import modelAvifDecode from "./codec/avif_decode.ts";
import modelAvifEncode from "./codec/avif_encode.ts";
import modelBeamformingAdapter from "./antenna/beamforming_adapter.ts";
import modelBeampattern from "./antenna/beampattern.ts";
import modelCausalCsiPowerAllocator from "./resource/causal_csi_power_allocator.ts";
import modelChannelEstimatorAdapter from "./estimation/channel_estimator_adapter.ts";
import modelCodeclibAnalysisEncode from "./codeclib/codeclib_analysis_encode.ts";
import modelCodeclibAotiDecode from "./codeclib/codeclib_aoti_decode.ts";
import modelCodeclibAotiEncode from "./codeclib/codeclib_aoti_encode.ts";
import modelCodeclibAotiEntropyDecode from "./codeclib/codeclib_aoti_entropy_decode.ts";
import modelCodeclibAotiEntropyEncode from "./codeclib/codeclib_aoti_entropy_encode.ts";
import modelCodeclibDecode from "./codeclib/codeclib_decode.ts";
import modelCodeclibEncode from "./codeclib/codeclib_encode.ts";
import modelCodeclibEntropyDecode from "./codeclib/codeclib_entropy_decode.ts";
import modelCodeclibEntropyEncode from "./codeclib/codeclib_entropy_encode.ts";
import modelCodeclibExportAoti from "./codeclib/codeclib_export_aoti.ts";
import modelCodeclibExportOnnx from "./codeclib/codeclib_export_onnx.ts";
import modelCodeclibOnnxCppDecode from "./codeclib/codeclib_onnx_cpp_decode.ts";
import modelCodeclibOnnxCppEncode from "./codeclib/codeclib_onnx_cpp_encode.ts";
import modelCodeclibOnnxCppEntropyDecode from "./codeclib/codeclib_onnx_cpp_entropy_decode.ts";
import modelCodeclibOnnxCppEntropyEncode from "./codeclib/codeclib_onnx_cpp_entropy_encode.ts";
import modelCodeclibOnnxDecode from "./codeclib/codeclib_onnx_decode.ts";
import modelCodeclibOnnxEncode from "./codeclib/codeclib_onnx_encode.ts";
import modelCodeclibOnnxEntropyDecode from "./codeclib/codeclib_onnx_entropy_decode.ts";
import modelCodeclibOnnxEntropyEncode from "./codeclib/codeclib_onnx_entropy_encode.ts";
import modelCodeclibOpenvinoDecode from "./codeclib/codeclib_openvino_decode.ts";
import modelCodeclibOpenvinoEncode from "./codeclib/codeclib_openvino_encode.ts";
import modelCodeclibOpenvinoEntropyDecode from "./codeclib/codeclib_openvino_entropy_decode.ts";
import modelCodeclibOpenvinoEntropyEncode from "./codeclib/codeclib_openvino_entropy_encode.ts";
import modelCodeclibSynthesisDecode from "./codeclib/codeclib_synthesis_decode.ts";
import modelCsiFeedbackDecoder from "./estimation/csi_feedback_decoder.ts";
import modelCsiFeedbackEncoder from "./estimation/csi_feedback_encoder.ts";
import modelCsiMrtPrecoder from "./antenna/csi_mrt_precoder.ts";
import modelDeepjsccExternalDecode from "./joint_coding/deepjscc_external_decode.ts";
import modelDeepjsccExternalEncode from "./joint_coding/deepjscc_external_encode.ts";
import modelDiffusersAutoencoderklDecode from "./codec/diffusers_autoencoderkl_decode.ts";
import modelDiffusersAutoencoderklEncode from "./codec/diffusers_autoencoderkl_encode.ts";
import modelDiffusersVqmodelDecode from "./codec/diffusers_vqmodel_decode.ts";
import modelDiffusersVqmodelEncode from "./codec/diffusers_vqmodel_encode.ts";
import modelEqualPowerAllocator from "./resource/equal_power_allocator.ts";
import modelExternalDecodeBits from "./codec/external_decode_bits.ts";
import modelExternalDecodeIndices from "./codec/external_decode_indices.ts";
import modelExternalDecodeLatents from "./codec/external_decode_latents.ts";
import modelExternalEncodeBits from "./codec/external_encode_bits.ts";
import modelExternalEncodeIndices from "./codec/external_encode_indices.ts";
import modelExternalEncodeLatents from "./codec/external_encode_latents.ts";
import modelExternalReadTexts from "./codec/external_read_texts.ts";
import modelIsacOfdmAllocatorAdapter from "./sensing/isac_ofdm_allocator_adapter.ts";
import modelJpegDecode from "./codec/jpeg_decode.ts";
import modelJpegEncode from "./codec/jpeg_encode.ts";
import modelLeoNtnTrackingAdapter from "./sensing/leo_ntn_tracking_adapter.ts";
import modelLinearAnalogDecode from "./joint_coding/linear_analog_decode.ts";
import modelLinearAnalogEncode from "./joint_coding/linear_analog_encode.ts";
import modelLocalizationAdapter from "./sensing/localization_adapter.ts";
import modelLsChannelEstimator from "./estimation/ls_channel_estimator.ts";
import modelModulationClassifierAdapter from "./estimation/modulation_classifier_adapter.ts";
import modelMrtBeamformer from "./antenna/mrt_beamformer.ts";
import modelMuMimoPrecoder from "./antenna/mu_mimo_precoder.ts";
import modelMultiAoaEstimator from "./antenna/multi_aoa_estimator.ts";
import modelMusicAoaEstimator from "./antenna/music_aoa_estimator.ts";
import modelNearFieldEstimatorAdapter from "./antenna/near_field_estimator_adapter.ts";
import modelNrMcsSelector from "./resource/nr_mcs_selector.ts";
import modelOfdmChannelEstimator from "./estimation/ofdm_channel_estimator.ts";
import modelProportionalFairScheduler from "./resource/proportional_fair_scheduler.ts";
import modelRangeDopplerMap from "./sensing/range_doppler_map.ts";
import modelResourceAllocationAdapter from "./resource/resource_allocation_adapter.ts";
import modelRisPhaseOptimizer from "./antenna/ris_phase_optimizer.ts";
import modelSymbolPowerAllocator from "./resource/symbol_power_allocator.ts";
import modelTextBartJsccDecode from "./joint_coding/text_bart_jscc_decode.ts";
import modelTextBartJsccEncode from "./joint_coding/text_bart_jscc_encode.ts";
import modelTextEntropyDecode from "./codec/text_entropy_decode.ts";
import modelTextEntropyEncode from "./codec/text_entropy_encode.ts";
import modelTextUtf8Decode from "./codec/text_utf8_decode.ts";
import modelTextUtf8Encode from "./codec/text_utf8_encode.ts";
import modelToyVqvaeDecode from "./codec/toy_vqvae_decode.ts";
import modelToyVqvaeEncode from "./codec/toy_vqvae_encode.ts";
import modelTrilaterationLocalizer from "./sensing/trilateration_localizer.ts";
import modelWaterFillingPowerAllocator from "./resource/water_filling_power_allocator.ts";
import modelWebpDecode from "./codec/webp_decode.ts";
import modelWebpEncode from "./codec/webp_encode.ts";
import modulationDigitalModulate from "./modulation/digital_modulate.ts";
import modulationIdentityModulate from "./modulation/identity_modulate.ts";
import modulationLearnedConstellation from "./modulation/learned_constellation.ts";
import modulationOfdmPilotInsert from "./modulation/ofdm_pilot_insert.ts";
import modulationOfdmWaveform from "./modulation/ofdm_waveform.ts";
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
import sourceExternalTexts from "./source/external_texts.ts";
import sourceFlickr8kRetrieval from "./source/flickr8k_retrieval.ts";
import sourceImageDataset from "./source/image_dataset.ts";
import sourceIsacEchoScenario from "./source/isac_echo_scenario.ts";
import sourceIsacOfdmScenario from "./source/isac_ofdm_scenario.ts";
import sourceKodakFiles from "./source/kodak_files.ts";
import sourceLeoLinkBudget from "./source/leo_link_budget.ts";
import sourceLeoNtnTrackingScenario from "./source/leo_ntn_tracking_scenario.ts";
import sourceLocalNpzImages from "./source/local_npz_images.ts";
import sourceLocalizationGeometry from "./source/localization_geometry.ts";
import sourceLocalizationSensingScenario from "./source/localization_sensing_scenario.ts";
import sourceModulationFrames from "./source/modulation_frames.ts";
import sourceMuMimoScenario from "./source/mu_mimo_scenario.ts";
import sourceNearFieldXlMimoScenario from "./source/near_field_xl_mimo_scenario.ts";
import sourceNrTransportFormat from "./source/nr_transport_format.ts";
import sourceRandomBits from "./source/random_bits.ts";
import sourceResourceAllocationScenario from "./source/resource_allocation_scenario.ts";
import sourceRetrievalSmoke from "./source/retrieval_smoke.ts";
import sourceRisScenario from "./source/ris_scenario.ts";
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
import wirelessMimoOfdmChannel from "./wireless/mimo_ofdm_channel.ts";
import wirelessMisoOfdmCsi from "./wireless/miso_ofdm_csi.ts";
import wirelessModulationAwgnObservation from "./wireless/modulation_awgn_observation.ts";
import wirelessMultipathWaveform from "./wireless/multipath_waveform.ts";
import wirelessOfdmChannelState from "./wireless/ofdm_channel_state.ts";
import wirelessOfdmDelayedCsi from "./wireless/ofdm_delayed_csi.ts";
import wirelessPilotObservation from "./wireless/pilot_observation.ts";
import wirelessRangeObservation from "./wireless/range_observation.ts";
import wirelessUlaArrayObservation from "./wireless/ula_array_observation.ts";

// deno-fmt-ignore
const OPERATIONS: Operation[] = [
  channelBitBoundary, channelBitCountMatch, channelBitsToIndices, channelBitsToLatents,
  channelCapacityOracleDigitalLink, channelCommunicationResourceAccounting, channelCommunicationResourceAccountingV2,
  channelCommunicationResourceAccountingV3, channelCrc32Check, channelCsiFeedbackLink, channelIdentityDecoder,
  channelIdentityEncoder, channelIdentityLink, channelIdentitySymbolLink, channelIndicesToBits,
  channelJpegCapacityOracle, channelLatentsToBits, channelNrHarqCombine, channelNrLdpcDecoder, channelNrLdpcEncoder,
  channelNrPolarDecoder, channelNrPolarEncoder, channelPacketizeCrc32, channelPacketizeCrc32V2,
  channelPayloadPassthroughDecoder, channelPayloadPassthroughEncoder, channelRepetitionDecoder,
  channelRepetitionEncoder, channelSymbolBoundary, channelSymbolCountMatch, channelSymbolPowerAllocation,
  channelSymbolPowerIdentity, channelSymbolPowerNormalize, channelUnequalErrorProtection,
  channelUnequalErrorProtectionDecoder, demodulationConstellationDemapper, demodulationDigitalDemodulate,
  demodulationIdentityDemodulate, demodulationMimoDetect, demodulationNeuralReceiverAdapter, demodulationOfdmEqualize,
  demodulationOfdmPilotObservation, demodulationOfdmReceive, demodulationPhaseTrackingReceiverAdapter,
  foundationClipImageEmbed, foundationClipRetrievalRank, foundationClipTextEmbed, foundationDiffusionStateToImage,
  foundationImportanceMap, foundationKnowledgeBase, foundationLocalStateToImage, foundationSamSegment,
  foundationSemanticStateGround, foundationSemanticStatePayloadDecode, foundationSemanticStatePayloadEncode,
  foundationSemanticStateToText, foundationTextMaskRepair, foundationTextSemanticStateEncode, foundationVlmImageToState,
  foundationVqaAnswerFromPacket, foundationVqaPayloadDecode, foundationVqaPayloadEncode, foundationVqaSemanticSelect,
  foundationVqaTransformersAnswer, foundationYoloDetect, foundationYoloSegment, hardwareEnvelopeClip,
  hardwarePowerAmplifier, hardwareQuantizer, hardwareReceiverIqImbalance, metricsAoaEstimation, metricsBeamforming,
  metricsBitErrorRate, metricsBlockErrorRate, metricsCaptioning, metricsChannelEstimation, metricsClassification,
  metricsCsiFeedback, metricsDetection, metricsEmbeddingSimilarity, metricsExternalClassification, metricsExternalText,
  metricsHarq, metricsImageDeliveryStatus, metricsImageReconstruction, metricsImportanceWeightedError, metricsIsacOfdm,
  metricsLeoNtnTracking, metricsLocalization, metricsModulationClassification, metricsMuMimo, metricsNearFieldFocusing,
  metricsNrLdpcOfdmDelivery, metricsOfdmFiniteBlocklengthAllocation, metricsOfdmPowerAllocation, metricsRangeDoppler,
  metricsResourceAllocation, metricsRetrieval, metricsRis, metricsSegmentation, metricsSemanticStateFaithfulness,
  metricsTextCorpusScores, metricsTextSemanticSimilarity, metricsVqa, modelAoaEstimatorAdapter, modelAvifDecode,
  modelAvifEncode, modelBeamformingAdapter, modelBeampattern, modelCausalCsiPowerAllocator,
  modelChannelEstimatorAdapter, modelCodeclibAnalysisEncode, modelCodeclibAotiDecode, modelCodeclibAotiEncode,
  modelCodeclibAotiEntropyDecode, modelCodeclibAotiEntropyEncode, modelCodeclibDecode, modelCodeclibEncode,
  modelCodeclibEntropyDecode, modelCodeclibEntropyEncode, modelCodeclibExportAoti, modelCodeclibExportOnnx,
  modelCodeclibOnnxCppDecode, modelCodeclibOnnxCppEncode, modelCodeclibOnnxCppEntropyDecode,
  modelCodeclibOnnxCppEntropyEncode, modelCodeclibOnnxDecode, modelCodeclibOnnxEncode, modelCodeclibOnnxEntropyDecode,
  modelCodeclibOnnxEntropyEncode, modelCodeclibOpenvinoDecode, modelCodeclibOpenvinoEncode,
  modelCodeclibOpenvinoEntropyDecode, modelCodeclibOpenvinoEntropyEncode, modelCodeclibSynthesisDecode,
  modelCsiFeedbackDecoder, modelCsiFeedbackEncoder, modelCsiMrtPrecoder, modelDeepjsccExternalDecode,
  modelDeepjsccExternalEncode, modelDiffusersAutoencoderklDecode, modelDiffusersAutoencoderklEncode,
  modelDiffusersVqmodelDecode, modelDiffusersVqmodelEncode, modelEqualPowerAllocator, modelExternalDecodeBits,
  modelExternalDecodeIndices, modelExternalDecodeLatents, modelExternalEncodeBits, modelExternalEncodeIndices,
  modelExternalEncodeLatents, modelExternalReadTexts, modelIsacOfdmAllocatorAdapter, modelJpegDecode, modelJpegEncode,
  modelLeoNtnTrackingAdapter, modelLinearAnalogDecode, modelLinearAnalogEncode, modelLocalizationAdapter,
  modelLsChannelEstimator, modelModulationClassifierAdapter, modelMrtBeamformer, modelMuMimoPrecoder,
  modelMultiAoaEstimator, modelMusicAoaEstimator, modelNearFieldEstimatorAdapter, modelNrMcsSelector,
  modelOfdmChannelEstimator, modelProportionalFairScheduler, modelRangeDopplerMap, modelResourceAllocationAdapter,
  modelRisPhaseOptimizer, modelSymbolPowerAllocator, modelTextBartJsccDecode, modelTextBartJsccEncode,
  modelTextEntropyDecode, modelTextEntropyEncode, modelTextUtf8Decode, modelTextUtf8Encode, modelToyVqvaeDecode,
  modelToyVqvaeEncode, modelTrilaterationLocalizer, modelWaterFillingPowerAllocator, modelWebpDecode, modelWebpEncode,
  modulationDigitalModulate, modulationIdentityModulate, modulationLearnedConstellation, modulationOfdmPilotInsert,
  modulationOfdmWaveform, modulationQpskPilotModulate, noiseRepresentationIndices, noiseRepresentationLatents,
  noiseSourceImagePerturbation, noiseSourceTextPerturbation, sourceAiPhyChannelRealization, sourceAiPhyPilotChannel,
  sourceAiPhyPilotPattern, sourceAoaScene, sourceBeamformingScenario, sourceBitManifest, sourceCoco128Detection,
  sourceCoco8Segmentation, sourceExternalClassificationDataset, sourceExternalTexts, sourceFlickr8kRetrieval,
  sourceImageDataset, sourceIsacEchoScenario, sourceIsacOfdmScenario, sourceKodakFiles, sourceLeoLinkBudget,
  sourceLeoNtnTrackingScenario, sourceLocalNpzImages, sourceLocalizationGeometry, sourceLocalizationSensingScenario,
  sourceModulationFrames, sourceMuMimoScenario, sourceNearFieldXlMimoScenario, sourceNrTransportFormat,
  sourceRandomBits, sourceResourceAllocationScenario, sourceRetrievalSmoke, sourceRisScenario,
  sourceSemanticArtifactsSmoke, sourceSyntheticScenes, sourceTaskLabelsSmoke, sourceTextDataset, sourceVqaManifest,
  sourceVqaSmallHf, sourceVqaSmoke, wirelessCarrierPhaseImpairment, wirelessChannel, wirelessDigitalLink,
  wirelessMimoOfdmChannel, wirelessMisoOfdmCsi, wirelessModulationAwgnObservation, wirelessMultipathWaveform,
  wirelessOfdmChannelState, wirelessOfdmDelayedCsi, wirelessPilotObservation, wirelessRangeObservation,
  wirelessUlaArrayObservation,
];

export const BUILTIN_OPERATIONS: RegisteredOperation[] = OPERATIONS.map((operation) => ({
  operation,
  moduleUrl: new URL(digests.operations[operation.id as keyof typeof digests.operations].module, import.meta.url).href,
}));

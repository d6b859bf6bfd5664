/** The built-in operations, sorted by id. Written by ops/generate_index.ts from the folder; do not edit. */
import type { RegisteredOperation } from "../lib/contract/registry.ts";
import digests from "./contract_digests.json" with { type: "json" };
import antennaAoaEstimatorAdapter from "./antenna/aoa_estimator_adapter.ts";
import antennaBeamformingAdapter from "./antenna/beamforming_adapter.ts";
import antennaBeampattern from "./antenna/beampattern.ts";
import antennaCsiMrtPrecoder from "./antenna/csi_mrt_precoder.ts";
import antennaMrtBeamformer from "./antenna/mrt_beamformer.ts";
import antennaMuMimoPrecoder from "./antenna/mu_mimo_precoder.ts";
import antennaMultiAoaEstimator from "./antenna/multi_aoa_estimator.ts";
import antennaMusicAoaEstimator from "./antenna/music_aoa_estimator.ts";
import antennaNearFieldEstimatorAdapter from "./antenna/near_field_estimator_adapter.ts";
import antennaRisPhaseOptimizer from "./antenna/ris_phase_optimizer.ts";
import channelAccounting from "./channel/accounting.ts";
import channelAlgebraic from "./channel/algebraic.ts";
import channelCapacityOracleDigitalLink from "./channel/capacity_oracle_digital_link.ts";
import channelConvolutional from "./channel/convolutional.ts";
import channelCountMatch from "./channel/count_match.ts";
import channelCsiFeedbackLink from "./channel/csi_feedback_link.ts";
import channelDistributionMatch from "./channel/distribution_match.ts";
import channelInterleaver from "./channel/interleaver.ts";
import channelJpegCapacityOracle from "./channel/jpeg_capacity_oracle.ts";
import channelLdpc from "./channel/ldpc.ts";
import channelNrHarqCombine from "./channel/nr_harq_combine.ts";
import channelNrLdpcDecoder from "./channel/nr_ldpc_decoder.ts";
import channelNrLdpcEncoder from "./channel/nr_ldpc_encoder.ts";
import channelNrPolar from "./channel/nr_polar.ts";
import channelPackets from "./channel/packets.ts";
import channelRelay from "./channel/relay.ts";
import channelRepetition from "./channel/repetition.ts";
import channelSerial from "./channel/serial.ts";
import channelSmallBlock from "./channel/small_block.ts";
import channelSymbolCombine from "./channel/symbol_combine.ts";
import channelSymbolInterleaver from "./channel/symbol_interleaver.ts";
import channelSymbolPowerAllocation from "./channel/symbol_power_allocation.ts";
import channelSymbolPowerNormalize from "./channel/symbol_power_normalize.ts";
import channelTurbo from "./channel/turbo.ts";
import channelUnequalErrorProtection from "./channel/unequal_error_protection.ts";
import channelUnequalErrorProtectionDecoder from "./channel/unequal_error_protection_decoder.ts";
import codecDiffusers from "./codec/diffusers.ts";
import codecExternal from "./codec/external.ts";
import codecJpeg from "./codec/jpeg.ts";
import codecTextEntropy from "./codec/text_entropy.ts";
import codecTextUtf8 from "./codec/text_utf8.ts";
import codecToyVqvae from "./codec/toy_vqvae.ts";
import codecWebpAvif from "./codec/webp_avif.ts";
import codeclibCodeclib from "./codeclib/codeclib.ts";
import codeclibCodeclibExportOnnx from "./codeclib/codeclib_export_onnx.ts";
import codeclibCodeclibRuntimes from "./codeclib/codeclib_runtimes.ts";
import demodulationConstellationDemapper from "./demodulation/constellation_demapper.ts";
import demodulationDigitalDemodulate from "./demodulation/digital_demodulate.ts";
import demodulationIdentityDemodulate from "./demodulation/identity_demodulate.ts";
import demodulationMimoDetect from "./demodulation/mimo_detect.ts";
import demodulationNeuralReceiverAdapter from "./demodulation/neural_receiver_adapter.ts";
import demodulationOfdmEqualize from "./demodulation/ofdm_equalize.ts";
import demodulationOfdmPilotObservation from "./demodulation/ofdm_pilot_observation.ts";
import demodulationOfdmReceive from "./demodulation/ofdm_receive.ts";
import demodulationPhaseTrackingReceiverAdapter from "./demodulation/phase_tracking_receiver_adapter.ts";
import estimationChannelEstimatorAdapter from "./estimation/channel_estimator_adapter.ts";
import estimationCsiFeedback from "./estimation/csi_feedback.ts";
import estimationLsChannelEstimator from "./estimation/ls_channel_estimator.ts";
import estimationModulationClassifierAdapter from "./estimation/modulation_classifier_adapter.ts";
import estimationNrCodebookCsi from "./estimation/nr_codebook_csi.ts";
import estimationOfdmChannelEstimator from "./estimation/ofdm_channel_estimator.ts";
import foundationClip from "./foundation/clip.ts";
import foundationClipRetrievalRank from "./foundation/clip_retrieval_rank.ts";
import foundationDiffusionStateToImage from "./foundation/diffusion_state_to_image.ts";
import foundationImportanceMap from "./foundation/importance_map.ts";
import foundationKnowledgeBase from "./foundation/knowledge_base.ts";
import foundationLocalStateToImage from "./foundation/local_state_to_image.ts";
import foundationSamSegment from "./foundation/sam_segment.ts";
import foundationSemanticStateGround from "./foundation/semantic_state_ground.ts";
import foundationSemanticStatePayload from "./foundation/semantic_state_payload.ts";
import foundationSemanticStateToText from "./foundation/semantic_state_to_text.ts";
import foundationTextMaskRepair from "./foundation/text_mask_repair.ts";
import foundationTextSemanticStateEncode from "./foundation/text_semantic_state_encode.ts";
import foundationVlmImageToState from "./foundation/vlm_image_to_state.ts";
import foundationVqaPayload from "./foundation/vqa_payload.ts";
import foundationVqaSemanticSelect from "./foundation/vqa_semantic_select.ts";
import foundationVqaTransformersAnswer from "./foundation/vqa_transformers_answer.ts";
import foundationYoloDetect from "./foundation/yolo_detect.ts";
import foundationYoloSegment from "./foundation/yolo_segment.ts";
import hardwareEnvelopeClip from "./hardware/envelope_clip.ts";
import hardwarePhaseNoise from "./hardware/phase_noise.ts";
import hardwarePowerAmplifier from "./hardware/power_amplifier.ts";
import hardwareQuantizer from "./hardware/quantizer.ts";
import hardwareReceiverIqImbalance from "./hardware/receiver_iq_imbalance.ts";
import jointCodingDeepjsccExternalDecode from "./joint_coding/deepjscc_external_decode.ts";
import jointCodingDeepjsccExternalEncode from "./joint_coding/deepjscc_external_encode.ts";
import jointCodingFeatureClassify from "./joint_coding/feature_classify.ts";
import jointCodingFeatureDetect from "./joint_coding/feature_detect.ts";
import jointCodingLinearAnalogDecode from "./joint_coding/linear_analog_decode.ts";
import jointCodingLinearAnalogEncode from "./joint_coding/linear_analog_encode.ts";
import jointCodingTextBartJsccDecode from "./joint_coding/text_bart_jscc_decode.ts";
import jointCodingTextBartJsccEncode from "./joint_coding/text_bart_jscc_encode.ts";
import metricsAdjacentChannelLeakage from "./metrics/adjacent_channel_leakage.ts";
import metricsAgeOfInformation from "./metrics/age_of_information.ts";
import metricsAoaEstimation from "./metrics/aoa_estimation.ts";
import metricsBeamforming from "./metrics/beamforming.ts";
import metricsBertScore from "./metrics/bert_score.ts";
import metricsCaptioning from "./metrics/captioning.ts";
import metricsChannelEstimation from "./metrics/channel_estimation.ts";
import metricsClassification from "./metrics/classification.ts";
import metricsCsiFeedback from "./metrics/csi_feedback.ts";
import metricsDetection from "./metrics/detection.ts";
import metricsEmbeddingSimilarity from "./metrics/embedding_similarity.ts";
import metricsErrorRate from "./metrics/error_rate.ts";
import metricsErrorVectorMagnitude from "./metrics/error_vector_magnitude.ts";
import metricsExternal from "./metrics/external.ts";
import metricsFadingStatistics from "./metrics/fading_statistics.ts";
import metricsHarq from "./metrics/harq.ts";
import metricsImageDeliveryStatus from "./metrics/image_delivery_status.ts";
import metricsImageReconstruction from "./metrics/image_reconstruction.ts";
import metricsImportanceWeightedError from "./metrics/importance_weighted_error.ts";
import metricsIsacOfdm from "./metrics/isac_ofdm.ts";
import metricsLeoNtnTracking from "./metrics/leo_ntn_tracking.ts";
import metricsLinkAbstraction from "./metrics/link_abstraction.ts";
import metricsLocalization from "./metrics/localization.ts";
import metricsModulationClassification from "./metrics/modulation_classification.ts";
import metricsMuMimo from "./metrics/mu_mimo.ts";
import metricsNearFieldFocusing from "./metrics/near_field_focusing.ts";
import metricsNrAdaptedThroughput from "./metrics/nr_adapted_throughput.ts";
import metricsNrLdpcOfdmDelivery from "./metrics/nr_ldpc_ofdm_delivery.ts";
import metricsOfdmFiniteBlocklengthAllocation from "./metrics/ofdm_finite_blocklength_allocation.ts";
import metricsOfdmPowerAllocation from "./metrics/ofdm_power_allocation.ts";
import metricsPerceptualDistance from "./metrics/perceptual_distance.ts";
import metricsRangeDoppler from "./metrics/range_doppler.ts";
import metricsResourceAllocation from "./metrics/resource_allocation.ts";
import metricsRetrieval from "./metrics/retrieval.ts";
import metricsRis from "./metrics/ris.ts";
import metricsSegmentation from "./metrics/segmentation.ts";
import metricsSemanticRate from "./metrics/semantic_rate.ts";
import metricsSemanticStateFaithfulness from "./metrics/semantic_state_faithfulness.ts";
import metricsSpectrum from "./metrics/spectrum.ts";
import metricsTextCorpusScores from "./metrics/text_corpus_scores.ts";
import metricsTextSemanticSimilarity from "./metrics/text_semantic_similarity.ts";
import metricsVqa from "./metrics/vqa.ts";
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
import resourceCausalCsiPowerAllocator from "./resource/causal_csi_power_allocator.ts";
import resourceEqualPowerAllocator from "./resource/equal_power_allocator.ts";
import resourceNrMcsSelector from "./resource/nr_mcs_selector.ts";
import resourceProportionalFairScheduler from "./resource/proportional_fair_scheduler.ts";
import resourceResourceAllocationAdapter from "./resource/resource_allocation_adapter.ts";
import resourceSymbolPowerAllocator from "./resource/symbol_power_allocator.ts";
import resourceWaterFillingPowerAllocator from "./resource/water_filling_power_allocator.ts";
import sensingIsacOfdmAllocatorAdapter from "./sensing/isac_ofdm_allocator_adapter.ts";
import sensingLeoNtnTrackingAdapter from "./sensing/leo_ntn_tracking_adapter.ts";
import sensingLocalizationAdapter from "./sensing/localization_adapter.ts";
import sensingRangeDopplerMap from "./sensing/range_doppler_map.ts";
import sensingTrilaterationLocalizer from "./sensing/trilateration_localizer.ts";
import sourceAiPhy from "./source/ai_phy.ts";
import sourceAnswerFile from "./source/answer_file.ts";
import sourceAoaScene from "./source/aoa_scene.ts";
import sourceBeamformingScenario from "./source/beamforming_scenario.ts";
import sourceBitManifest from "./source/bit_manifest.ts";
import sourceChannelDataset from "./source/channel_dataset.ts";
import sourceCoco from "./source/coco.ts";
import sourceCsiDataset from "./source/csi_dataset.ts";
import sourceExternal from "./source/external.ts";
import sourceImageDataset from "./source/image_dataset.ts";
import sourceIqRecording from "./source/iq_recording.ts";
import sourceIsacEchoScenario from "./source/isac_echo_scenario.ts";
import sourceIsacOfdmScenario from "./source/isac_ofdm_scenario.ts";
import sourceKodakFiles from "./source/kodak_files.ts";
import sourceLeoLinkBudget from "./source/leo_link_budget.ts";
import sourceLeoNtnTrackingScenario from "./source/leo_ntn_tracking_scenario.ts";
import sourceLocalNpzImages from "./source/local_npz_images.ts";
import sourceLocalization from "./source/localization.ts";
import sourceModulationFrames from "./source/modulation_frames.ts";
import sourceMuMimoScenario from "./source/mu_mimo_scenario.ts";
import sourceNearFieldXlMimoScenario from "./source/near_field_xl_mimo_scenario.ts";
import sourceNrTransportFormat from "./source/nr_transport_format.ts";
import sourceRandomBits from "./source/random_bits.ts";
import sourceResourceAllocationScenario from "./source/resource_allocation_scenario.ts";
import sourceRetrieval from "./source/retrieval.ts";
import sourceRisScenario from "./source/ris_scenario.ts";
import sourceSemanticArtifactsSmoke from "./source/semantic_artifacts_smoke.ts";
import sourceSyntheticScenes from "./source/synthetic_scenes.ts";
import sourceTaskLabelsSmoke from "./source/task_labels_smoke.ts";
import sourceTextDataset from "./source/text_dataset.ts";
import sourceVqa from "./source/vqa.ts";
import wirelessCarrierPhaseImpairment from "./wireless/carrier_phase_impairment.ts";
import wirelessChannel from "./wireless/channel.ts";
import wirelessDigitalLink from "./wireless/digital_link.ts";
import wirelessMimoOfdmChannel from "./wireless/mimo_ofdm_channel.ts";
import wirelessMisoOfdmCsi from "./wireless/miso_ofdm_csi.ts";
import wirelessModulationAwgnObservation from "./wireless/modulation_awgn_observation.ts";
import wirelessModulationRecordingObservation from "./wireless/modulation_recording_observation.ts";
import wirelessMultipathWaveform from "./wireless/multipath_waveform.ts";
import wirelessOfdmChannelState from "./wireless/ofdm_channel_state.ts";
import wirelessOfdmDelayedCsi from "./wireless/ofdm_delayed_csi.ts";
import wirelessOfdmRecordingObservation from "./wireless/ofdm_recording_observation.ts";
import wirelessPilotObservation from "./wireless/pilot_observation.ts";
import wirelessRangeObservation from "./wireless/range_observation.ts";
import wirelessUlaArrayObservation from "./wireless/ula_array_observation.ts";

// deno-fmt-ignore
const MODULES = [
  antennaAoaEstimatorAdapter, antennaBeamformingAdapter, antennaBeampattern, antennaCsiMrtPrecoder,
  antennaMrtBeamformer, antennaMuMimoPrecoder, antennaMultiAoaEstimator, antennaMusicAoaEstimator,
  antennaNearFieldEstimatorAdapter, antennaRisPhaseOptimizer, channelAccounting, channelAlgebraic,
  channelCapacityOracleDigitalLink, channelConvolutional, channelCountMatch, channelCsiFeedbackLink,
  channelDistributionMatch, channelInterleaver, channelJpegCapacityOracle, channelLdpc, channelNrHarqCombine,
  channelNrLdpcDecoder, channelNrLdpcEncoder, channelNrPolar, channelPackets, channelRelay, channelRepetition,
  channelSerial, channelSmallBlock, channelSymbolCombine, channelSymbolInterleaver, channelSymbolPowerAllocation,
  channelSymbolPowerNormalize, channelTurbo, channelUnequalErrorProtection, channelUnequalErrorProtectionDecoder,
  codecDiffusers, codecExternal, codecJpeg, codecTextEntropy, codecTextUtf8, codecToyVqvae, codecWebpAvif,
  codeclibCodeclib, codeclibCodeclibExportOnnx, codeclibCodeclibRuntimes, demodulationConstellationDemapper,
  demodulationDigitalDemodulate, demodulationIdentityDemodulate, demodulationMimoDetect,
  demodulationNeuralReceiverAdapter, demodulationOfdmEqualize, demodulationOfdmPilotObservation,
  demodulationOfdmReceive, demodulationPhaseTrackingReceiverAdapter, estimationChannelEstimatorAdapter,
  estimationCsiFeedback, estimationLsChannelEstimator, estimationModulationClassifierAdapter, estimationNrCodebookCsi,
  estimationOfdmChannelEstimator, foundationClip, foundationClipRetrievalRank, foundationDiffusionStateToImage,
  foundationImportanceMap, foundationKnowledgeBase, foundationLocalStateToImage, foundationSamSegment,
  foundationSemanticStateGround, foundationSemanticStatePayload, foundationSemanticStateToText,
  foundationTextMaskRepair, foundationTextSemanticStateEncode, foundationVlmImageToState, foundationVqaPayload,
  foundationVqaSemanticSelect, foundationVqaTransformersAnswer, foundationYoloDetect, foundationYoloSegment,
  hardwareEnvelopeClip, hardwarePhaseNoise, hardwarePowerAmplifier, hardwareQuantizer, hardwareReceiverIqImbalance,
  jointCodingDeepjsccExternalDecode, jointCodingDeepjsccExternalEncode, jointCodingFeatureClassify,
  jointCodingFeatureDetect, jointCodingLinearAnalogDecode, jointCodingLinearAnalogEncode, jointCodingTextBartJsccDecode,
  jointCodingTextBartJsccEncode, metricsAdjacentChannelLeakage, metricsAgeOfInformation, metricsAoaEstimation,
  metricsBeamforming, metricsBertScore, metricsCaptioning, metricsChannelEstimation, metricsClassification,
  metricsCsiFeedback, metricsDetection, metricsEmbeddingSimilarity, metricsErrorRate, metricsErrorVectorMagnitude,
  metricsExternal, metricsFadingStatistics, metricsHarq, metricsImageDeliveryStatus, metricsImageReconstruction,
  metricsImportanceWeightedError, metricsIsacOfdm, metricsLeoNtnTracking, metricsLinkAbstraction, metricsLocalization,
  metricsModulationClassification, metricsMuMimo, metricsNearFieldFocusing, metricsNrAdaptedThroughput,
  metricsNrLdpcOfdmDelivery, metricsOfdmFiniteBlocklengthAllocation, metricsOfdmPowerAllocation,
  metricsPerceptualDistance, metricsRangeDoppler, metricsResourceAllocation, metricsRetrieval, metricsRis,
  metricsSegmentation, metricsSemanticRate, metricsSemanticStateFaithfulness, metricsSpectrum, metricsTextCorpusScores,
  metricsTextSemanticSimilarity, metricsVqa, modulationDigitalModulate, modulationIdentityModulate,
  modulationLearnedConstellation, modulationOfdmPilotInsert, modulationOfdmWaveform, modulationQpskPilotModulate,
  noiseRepresentationIndices, noiseRepresentationLatents, noiseSourceImagePerturbation, noiseSourceTextPerturbation,
  resourceCausalCsiPowerAllocator, resourceEqualPowerAllocator, resourceNrMcsSelector,
  resourceProportionalFairScheduler, resourceResourceAllocationAdapter, resourceSymbolPowerAllocator,
  resourceWaterFillingPowerAllocator, sensingIsacOfdmAllocatorAdapter, sensingLeoNtnTrackingAdapter,
  sensingLocalizationAdapter, sensingRangeDopplerMap, sensingTrilaterationLocalizer, sourceAiPhy, sourceAnswerFile,
  sourceAoaScene, sourceBeamformingScenario, sourceBitManifest, sourceChannelDataset, sourceCoco, sourceCsiDataset,
  sourceExternal, sourceImageDataset, sourceIqRecording, sourceIsacEchoScenario, sourceIsacOfdmScenario,
  sourceKodakFiles, sourceLeoLinkBudget, sourceLeoNtnTrackingScenario, sourceLocalNpzImages, sourceLocalization,
  sourceModulationFrames, sourceMuMimoScenario, sourceNearFieldXlMimoScenario, sourceNrTransportFormat,
  sourceRandomBits, sourceResourceAllocationScenario, sourceRetrieval, sourceRisScenario, sourceSemanticArtifactsSmoke,
  sourceSyntheticScenes, sourceTaskLabelsSmoke, sourceTextDataset, sourceVqa, wirelessCarrierPhaseImpairment,
  wirelessChannel, wirelessDigitalLink, wirelessMimoOfdmChannel, wirelessMisoOfdmCsi, wirelessModulationAwgnObservation,
  wirelessModulationRecordingObservation, wirelessMultipathWaveform, wirelessOfdmChannelState, wirelessOfdmDelayedCsi,
  wirelessOfdmRecordingObservation, wirelessPilotObservation, wirelessRangeObservation, wirelessUlaArrayObservation,
];
const BY_ID = new Map(MODULES.flat().map((operation) => [operation.id, operation]));

export const BUILTIN_OPERATIONS: RegisteredOperation[] = Object.entries(digests.operations).map(([id, { module }]) => ({
  operation: BY_ID.get(id)!,
  moduleUrl: new URL(module, import.meta.url).href,
}));

/** Datasets of recipes, and their source operations. */
import type { CatalogStatus, DatasetEntry, Modality } from "./types.ts";

interface Details {
  status?: CatalogStatus;
  /** Default `<id>-v1`. */
  versions?: string[];
  bundled?: boolean;
  local?: boolean;
}

function dataset(id: string, name: string, modality: Modality, sources: string[], details: Details = {}): DatasetEntry {
  const { status = "supported", versions = [`${id}-v1`], bundled = false, local = false } = details;
  return { id, name, modality, status, source_ops: sources, versions, bundled, local };
}

const TDL_STATE = "wireless.ofdm_channel_state";
const PILOTS = [
  "source.ai_phy_channel_realization",
  "source.ai_phy_pilot_pattern",
  "source.ai_phy_pilot_channel",
  "wireless.pilot_observation",
];
const EXPERIMENTAL = { status: "experimental" } as const;
const LOCAL = { local: true } as const;
const KODAK = { local: true, versions: ["kodak-24", "kodak-smoke-kodim01"] };

export const DATASETS: readonly DatasetEntry[] = [
  dataset("svc_sample_images", "Sample photographs", "image", ["source.image_dataset"], { bundled: true }),
  dataset("synthetic_scenes", "Synthetic scenes of coloured shapes", "multimodal", ["source.synthetic_scenes"]),
  dataset("semantic_text_smoke", "Built-in sentences", "text", ["source.text_dataset"], { bundled: true }),
  dataset("task_smoke", "Built-in labels and predictions", "generic", ["source.task_labels_smoke"], { bundled: true }),
  dataset(
    "semantic_artifact_smoke",
    "One built-in example of every semantic artifact",
    "multimodal",
    ["source.semantic_artifacts_smoke"],
    { bundled: true },
  ),
  dataset("coco_vqa_smoke", "Built-in questions on images", "multimodal", ["source.vqa_smoke"], { bundled: true }),
  dataset("retrieval_smoke", "Built-in images and captions", "multimodal", ["source.retrieval_smoke"], {
    bundled: true,
  }),
  dataset("synthetic_random_bits", "Random bits", "bits", ["source.random_bits"]),
  dataset("synthetic_random_bits_phylib_tdl", "Random bits over TDL channel states", "bits", [
    "source.random_bits",
    TDL_STATE,
  ]),
  dataset(
    "synthetic_random_bits_phylib_tdl_delayed_csi",
    "Random bits over TDL channel states with delayed CSI",
    "bits",
    ["source.random_bits", TDL_STATE, "wireless.ofdm_delayed_csi", "source.bit_manifest"],
    { ...EXPERIMENTAL, versions: ["v1", "v2", "three-tb-v2"] },
  ),
  dataset("synthetic_pilot_channel", "Synthetic channels observed through pilots", "wireless", PILOTS),
  dataset(
    "phylib_3gpp_tdl_c_mimo_ofdm_pilots",
    "TDL-C MIMO-OFDM channels observed through pilots",
    "wireless",
    PILOTS,
    {
      ...EXPERIMENTAL,
      versions: ["tdl-c-2x2-64sc-v1"],
    },
  ),
  dataset(
    "phylib_3gpp_mixed_tdl_mimo_ofdm_pilots",
    "TDL-A, -C and -E MIMO-OFDM channels observed through pilots",
    "wireless",
    PILOTS,
    { ...EXPERIMENTAL, versions: ["tdl-ace-2x2-64sc-v2"] },
  ),
  dataset(
    "phylib_correlated_miso_ofdm_csi",
    "Spatially correlated MISO-OFDM channels",
    "wireless",
    ["wireless.miso_ofdm_csi"],
    { versions: ["phylib-tdl-miso-ofdm-csi-v1"] },
  ),
  dataset("synthetic_beamforming", "Synthetic MISO channels for beamforming", "wireless", [
    "source.beamforming_scenario",
  ]),
  dataset("synthetic_localization_geometry", "Synthetic anchors and targets", "wireless", [
    "source.localization_geometry",
    "source.localization_sensing_scenario",
    "wireless.range_observation",
  ]),
  dataset("synthetic_ula_aoa", "Synthetic scenes at a uniform linear array", "wireless", [
    "source.aoa_scene",
    "wireless.ula_array_observation",
  ]),
  dataset("synthetic_ofdm_power_allocation", "Synthetic OFDM channels for power allocation", "wireless", [
    "source.resource_allocation_scenario",
  ]),
  dataset(
    "synthetic_modulation_iq",
    "Synthetic frames of unknown modulation",
    "wireless",
    ["source.modulation_frames", "wireless.modulation_awgn_observation"],
    { versions: ["synthetic-modulation-iq-blind-carrier-v1"] },
  ),
  dataset("synthetic_isac_frequency_response", "Synthetic communication and sensing channels", "wireless", [
    "source.isac_ofdm_scenario",
  ]),
  dataset("synthetic_near_field_array", "Synthetic sources in the near field of an array", "wireless", [
    "source.near_field_xl_mimo_scenario",
  ]),
  dataset("synthetic_leo_ntn_track", "Synthetic passes of low-orbit satellites", "wireless", [
    "source.leo_ntn_tracking_scenario",
  ]),
  dataset("kodak", "Kodak photographs", "image", ["source.image_dataset"], KODAK),
  dataset(
    "kodak_over_phylib_tdl",
    "Kodak photographs over TDL channel states",
    "image",
    ["source.image_dataset", TDL_STATE],
    KODAK,
  ),
  dataset("bsds500", "BSDS500 photographs", "image", ["source.image_dataset"], { ...EXPERIMENTAL, ...LOCAL }),
  dataset("pirm-test", "PIRM test photographs", "image", ["source.image_dataset"], { ...EXPERIMENTAL, ...LOCAL }),
  dataset("local_npz_images", "Images of a local NPZ file", "image", ["source.local_npz_images"], LOCAL),
  dataset("vqa_small", "Small public sample of visual questions", "multimodal", ["source.vqa_small_hf"], LOCAL),
  dataset("local_vqa_manifest", "Visual questions of a local manifest", "multimodal", ["source.vqa_manifest"], LOCAL),
  dataset("flickr8k", "Flickr8k images and captions", "multimodal", ["source.flickr8k_retrieval"], {
    ...LOCAL,
    versions: ["flickr8k-validation-v1"],
  }),
  dataset("coco128_detection", "COCO128 detection", "image", ["source.coco128_detection"], LOCAL),
  dataset("coco8_segmentation", "COCO8 segmentation", "image", ["source.coco8_segmentation"], LOCAL),
  dataset("coco_caption_smoke", "COCO captions", "multimodal", [], { status: "planned" }),
];

/** What the conformance suite runs every operation with. An operation without an entry fails it; a skip says why. */
import { ALLOCATION_FIXTURES } from "./allocation.ts";
import { AOA_FIXTURES } from "./aoa.ts";
import type { Cases } from "./cases.ts";
import { CHANNEL_FIXTURES } from "./channel.ts";
import { CODECLIB_FIXTURES } from "./codeclib.ts";
import { CHANNEL_ESTIMATION_FIXTURES } from "./channel_estimation.ts";
import { CSI_FEEDBACK_FIXTURES } from "./csi_feedback.ts";
import { DEEPJSCC_FIXTURES } from "./deepjscc.ts";
import { IMPORTANCE_FIXTURES } from "./importance.ts";
import { ISAC_FIXTURES } from "./isac.ts";
import { JPEG_FIXTURES } from "./jpeg.ts";
import { LEO_FIXTURES } from "./leo.ts";
import { LINEAR_ANALOG_FIXTURES } from "./linear_analog.ts";
import { LOCALIZATION_FIXTURES } from "./localization.ts";
import { MEANING_FIXTURES } from "./meaning.ts";
import { MEDIA_FIXTURES } from "./media.ts";
import { NEAR_FIELD_FIXTURES } from "./near_field.ts";
import { MODULATION_FIXTURES } from "./modulation.ts";
import { NR_LDPC_FIXTURES } from "./nr_ldpc.ts";
import { MU_MIMO_FIXTURES } from "./mu_mimo.ts";
import { CONVOLUTIONAL_FIXTURES } from "./convolutional.ts";
import { NR_POLAR_FIXTURES } from "./nr_polar.ts";
import { OFDM_PILOT_FIXTURES } from "./ofdm_pilots.ts";
import { PHYSICAL_FIXTURES } from "./physical.ts";
import { POWER_FIXTURES } from "./power.ts";
import { RIS_FIXTURES } from "./ris.ts";
import { SEMANTIC_FIXTURES } from "./semantic.ts";
import { VISION_FIXTURES } from "./vision.ts";

/** Contracts that adapters wrap; what wraps them is run by the tests of the scaffolds. */
const WRAPPED = Object.fromEntries(
  [
    ...["bits", "indices", "latents"].flatMap((
      form,
    ) => [`model.external_encode_${form}`, `model.external_decode_${form}`]),
    "model.external_read_texts",
    "source.external_classification_dataset",
    "metrics.external_classification",
    "source.external_texts",
    "metrics.external_text",
  ].map((id) => [id, { skip: "a contract that adapters wrap runs no code itself" }]),
);

export const FIXTURES: Cases = {
  ...CHANNEL_FIXTURES,
  ...ALLOCATION_FIXTURES,
  ...AOA_FIXTURES,
  ...IMPORTANCE_FIXTURES,
  ...ISAC_FIXTURES,
  ...CHANNEL_ESTIMATION_FIXTURES,
  ...CODECLIB_FIXTURES,
  ...NEAR_FIELD_FIXTURES,
  ...LEO_FIXTURES,
  ...CSI_FEEDBACK_FIXTURES,
  ...DEEPJSCC_FIXTURES,
  ...JPEG_FIXTURES,
  ...MEANING_FIXTURES,
  ...MEDIA_FIXTURES,
  ...MODULATION_FIXTURES,
  ...MU_MIMO_FIXTURES,
  ...NR_LDPC_FIXTURES,
  ...CONVOLUTIONAL_FIXTURES,
  ...NR_POLAR_FIXTURES,
  ...OFDM_PILOT_FIXTURES,
  ...PHYSICAL_FIXTURES,
  ...LINEAR_ANALOG_FIXTURES,
  ...LOCALIZATION_FIXTURES,
  ...POWER_FIXTURES,
  ...RIS_FIXTURES,
  ...SEMANTIC_FIXTURES,
  ...VISION_FIXTURES,
  ...WRAPPED,
};

/**
 * The standard execution profiles, as data. The role is the step id of a stage unless it names others; only required
 * and fused stages are inspected. A new profile is a new entry here.
 */
import type { JsonObject } from "../contract/value.ts";

export interface ProfileStage extends JsonObject {
  role: string;
  label: string;
  presence: "required" | "optional" | "fused";
}

/** A row of the catalogue; stages carry step_ids?, allowed_ops?, required_params?, fused_into? and summary?. */
export interface Profile extends JsonObject {
  id: string;
  version: number;
  label: string;
  summary: string;
  required_ordered_spine: string[];
  stages: ProfileStage[];
}

/** The stage details besides role, label and presence. */
interface StageDetails {
  /** Step ids that bind the stage; default the role name. */
  step_ids?: string[];
  allowed_ops?: string[];
  required_params?: JsonObject;
  fused_into?: string;
  summary?: string;
}

const stage = (presence: ProfileStage["presence"]) => (role: string, label: string, details: StageDetails = {}) =>
  ({ role, label, presence, ...details }) as ProfileStage;
const required = stage("required"), optional = stage("optional"), fusedStage = stage("fused");

/** Roles that another stage includes: a step with that id is an error. */
const fused = (into: string, roles: Record<string, string>) =>
  Object.entries(roles).map(([role, label]) => fusedStage(role, label, { fused_into: into }));

/** A stage for one operation. */
const by = (op: string, ...step_ids: string[]): StageDetails => ({
  ...(step_ids.length > 0 ? { step_ids } : {}),
  allowed_ops: [op],
});

function profile(id: string, label: string, summary: string, stages: ProfileStage[]): Profile {
  const spine = stages.filter(({ presence }) => presence === "required").map(({ role }) => role);
  return { id, version: 1, label, summary, required_ordered_spine: spine, stages };
}

/** Operations that may set the transmit power. */
export const TRANSMIT_POWER: readonly string[] = [
  "channel.symbol_power_identity",
  "channel.symbol_power_normalize",
  "model.symbol_power_allocator",
  "model.causal_csi_power_allocator",
];
const ENCODERS = ["channel.identity_encoder", "channel.repetition_encoder", "channel.nr_ldpc_encoder"];
const DECODERS = ["channel.identity_decoder", "channel.repetition_decoder", "channel.nr_ldpc_decoder"];
const LAYERED_LINKS = [
  "channel.identity_link",
  "channel.capacity_oracle_digital_link",
  "channel.identity_symbol_link",
  "wireless.digital_link",
  "wireless.channel",
];
const DATA = { step_ids: ["data"] };
const ESTIMATOR = { step_ids: ["estimator"] };

export const STANDARD_PROFILES: readonly Profile[] = [
  profile(
    "layered_digital",
    "Layered digital link",
    "Source and channel coding are separate: payload bits cross a protected digital link with checked bit boundaries",
    [
      optional("source", "Source", DATA),
      optional("sender", "Sender"),
      optional("payload_encoder", "Payload encoder"),
      required("payload_bit_boundary", "Payload bit boundary", by("channel.bit_boundary")),
      optional("packetizer", "Packetizer"),
      required("channel_encoder", "Channel encoder", { allowed_ops: ENCODERS }),
      required("tx_bit_boundary", "Transmitted bit boundary", by("channel.bit_boundary")),
      optional("modulator", "Modulator"),
      optional("channel_state", "Channel state"),
      optional("tx_power", "Transmit power", {
        step_ids: ["tx_power", "tx_power_normalize", "tx_power_allocate"],
        allowed_ops: [...TRANSMIT_POWER],
      }),
      required("wireless_channel", "Channel", { allowed_ops: LAYERED_LINKS }),
      optional("receiver_frontend", "Receiver front end", {
        step_ids: ["receiver_frontend", "carrier_impairment"],
        allowed_ops: ["hardware.receiver_iq_imbalance", "wireless.carrier_phase_impairment"],
      }),
      optional("demodulator", "Demodulator"),
      required("rx_bit_boundary", "Received bit boundary", by("channel.bit_boundary")),
      required("channel_bit_count_match", "Bit count comparison", by("channel.bit_count_match")),
      required("channel_decoder", "Channel decoder", {
        allowed_ops: DECODERS,
        summary: "A step crc_check may stand between here and the payload decoder",
      }),
      optional("payload_decoder", "Payload decoder"),
      optional("receiver", "Receiver"),
      optional("evaluation", "Evaluation"),
    ],
  ),
  profile(
    "joint_source_channel_symbols",
    "Joint source-channel coding on symbols",
    "One encoder turns content into channel symbols and one decoder turns received symbols into content",
    [
      optional("source", "Source", DATA),
      required("sender", "Joint encoder"),
      ...fused("sender", {
        source_encoder: "Source encoder",
        payload_encoder: "Payload encoder",
        channel_encoder: "Channel encoder",
        modulator: "Modulator",
      }),
      required("tx_power", "Transmit power", {
        step_ids: ["tx_power", "tx_power_normalize"],
        allowed_ops: [...TRANSMIT_POWER],
      }),
      required("tx_symbol_boundary", "Transmitted symbol boundary", by("channel.symbol_boundary")),
      optional("channel_state", "Channel state"),
      required("wireless_channel", "Channel", { allowed_ops: ["channel.identity_symbol_link", "wireless.channel"] }),
      required("rx_symbol_boundary", "Received symbol boundary", by("channel.symbol_boundary")),
      required("channel_symbol_count_match", "Symbol count comparison", by("channel.symbol_count_match")),
      ...fused("receiver", {
        demodulator: "Demodulator",
        channel_decoder: "Channel decoder",
        payload_decoder: "Payload decoder",
        source_decoder: "Source decoder",
      }),
      required("receiver", "Joint decoder"),
      optional("evaluation", "Evaluation"),
    ],
  ),
  profile(
    "csi_feedback_downlink",
    "CSI feedback and downlink precoding",
    "A terminal compresses and feeds back its channel state, and the base station precodes with the received state",
    [
      required("channel_state", "Channel state", by("wireless.miso_ofdm_csi")),
      optional("csi_observation", "CSI observation"),
      required("feedback_encoder", "Feedback encoder", by("model.csi_feedback_encoder")),
      required("feedback_link", "Feedback link", by("channel.csi_feedback_link")),
      required("feedback_decoder", "Feedback decoder", by("model.csi_feedback_decoder")),
      required("precoder", "Precoder", by("model.csi_mrt_precoder")),
      required("evaluation", "Evaluation", by("metrics.csi_feedback")),
    ],
  ),
  profile(
    "pilot_channel_estimation",
    "Channel estimation from pilots",
    "Known pilots pass a flat single-antenna channel, and an estimator recovers its gain",
    [
      required("channel_state", "Channel realisation", {
        ...by("source.ai_phy_channel_realization", "data"),
        required_params: { scenario: "flat_siso" },
      }),
      required("pilot_pattern", "Pilot pattern", {
        ...by("source.ai_phy_pilot_pattern", "pilots"),
        required_params: { scenario: "unit" },
      }),
      required("pilot_observation", "Pilot observation", by("wireless.pilot_observation")),
      required("channel_estimator", "Channel estimator", ESTIMATOR),
      required("evaluation", "Evaluation", by("metrics.channel_estimation")),
    ],
  ),
  profile(
    "mimo_ofdm_channel_estimation",
    "MIMO-OFDM channel estimation",
    "Comb pilots sample a frequency-selective channel of several antennas, and an estimator interpolates the rest",
    [
      required("mimo_ofdm_channel", "Channel realisation", {
        ...by("source.ai_phy_channel_realization", "data"),
        required_params: { scenario: "mimo_ofdm" },
      }),
      required("pilot_grid", "Pilot grid", {
        ...by("source.ai_phy_pilot_pattern", "pilots"),
        required_params: { scenario: "comb" },
      }),
      required("pilot_observation", "Pilot observation", by("wireless.pilot_observation")),
      required("channel_estimator", "Channel estimator", ESTIMATOR),
      required("evaluation", "Evaluation", by("metrics.channel_estimation")),
    ],
  ),
  profile(
    "beamforming_link_evaluation",
    "Beamforming on a link",
    "A beamformer chooses weights for given channels, and the link is scored with them",
    [
      required("link_scenario", "Link scenario", by("source.beamforming_scenario", "data")),
      required("beamformer", "Beamformer"),
      required("evaluation", "Evaluation", by("metrics.beamforming")),
    ],
  ),
  profile(
    "range_localization",
    "Localisation from ranges",
    "Anchors measure noisy distances to a terminal, and a localiser estimates its position",
    [
      required("geometry", "Geometry", by("source.localization_geometry", "data")),
      required("range_observation", "Range observation", by("wireless.range_observation")),
      required("localizer", "Localiser"),
      required("evaluation", "Evaluation", by("metrics.localization")),
    ],
  ),
  profile(
    "aoa_array_estimation",
    "Angle of arrival at an array",
    "A linear array receives a source in noise, and an estimator returns its direction of arrival",
    [
      required("angular_scene", "Angular scene", by("source.aoa_scene", "data")),
      required("array_observation", "Array observation", by("wireless.ula_array_observation")),
      required("angle_estimator", "Angle estimator", ESTIMATOR),
      required("evaluation", "Evaluation", by("metrics.aoa_estimation")),
    ],
  ),
  profile(
    "isac_ofdm_allocation",
    "Joint sensing and communication on OFDM",
    "An allocator shares transmit power between a communication rate and a sensing echo",
    [
      required("allocation_scenario", "Allocation scenario", by("source.isac_ofdm_scenario", "data")),
      required("allocator", "Allocator"),
      required("evaluation", "Evaluation", by("metrics.isac_ofdm")),
    ],
  ),
  profile(
    "near_field_range_angle",
    "Near-field range and angle",
    "A large array receives a spherical wave, and an estimator returns range and angle of its source",
    [
      required("array_scenario", "Array scenario", by("source.near_field_xl_mimo_scenario", "data")),
      required("range_angle_estimator", "Range and angle estimator", ESTIMATOR),
      required("evaluation", "Evaluation", by("metrics.near_field_focusing")),
    ],
  ),
  profile(
    "leo_ntn_tracking",
    "Tracking a satellite in low orbit",
    "A tracker predicts Doppler and serving beam of a passing satellite",
    [
      required("track_scenario", "Track scenario", by("source.leo_ntn_tracking_scenario", "data")),
      required("tracker", "Tracker"),
      required("evaluation", "Evaluation", by("metrics.leo_ntn_tracking")),
    ],
  ),
  profile("task_inference", "Task inference", "A model answers a task on data, and its answers are scored", [
    required("source", "Source", DATA),
    required("inference", "Inference", { step_ids: ["receiver", "inference", "answerer"] }),
    required("evaluation", "Evaluation"),
  ]),
  profile("task_evaluation", "Task evaluation", "Answers that come with the data are scored", [
    required("source", "Source", DATA),
    required("evaluation", "Evaluation"),
  ]),
];

/**
 * Execution profiles: the topologies that a recipe can claim, as data. `custom` claims none; a standard profile names
 * its stages in order, by the step ids that bind them, and what may stand in the required ones.
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
  /** Step ids that bind the stage; the role name when left out. */
  step_ids?: string[];
  allowed_ops?: string[];
  required_params?: JsonObject;
  summary?: string;
}

const required = (role: string, label: string, details: StageDetails = {}): ProfileStage => (
  { role, label, presence: "required", ...details as JsonObject }
);
const optional = (role: string, label: string, details: StageDetails = {}): ProfileStage => (
  { role, label, presence: "optional", ...details as JsonObject }
);

function profile(id: string, label: string, summary: string, stages: ProfileStage[]): Profile {
  const spine = stages.filter((stage) => stage.presence === "required").map((stage) => stage.role);
  return { id, version: 1, label, summary, required_ordered_spine: spine, stages };
}

const TRANSMIT_POWER = [
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
const BIT_BOUNDARY = { allowed_ops: ["channel.bit_boundary"] };

/** The standard profiles. Another one is another entry here. */
export const PROFILES: readonly Profile[] = [
  profile(
    "layered_digital",
    "Layered digital link",
    "Source and channel coding are separate: payload bits cross a protected digital link with checked bit boundaries",
    [
      optional("source", "Source", { step_ids: ["data"] }),
      optional("sender", "Sender"),
      optional("payload_encoder", "Payload encoder"),
      required("payload_bit_boundary", "Payload bit boundary", BIT_BOUNDARY),
      optional("packetizer", "Packetizer"),
      required("channel_encoder", "Channel encoder", { allowed_ops: ENCODERS }),
      required("tx_bit_boundary", "Transmitted bit boundary", BIT_BOUNDARY),
      optional("modulator", "Modulator"),
      optional("channel_state", "Channel state"),
      optional("tx_power", "Transmit power", {
        step_ids: ["tx_power", "tx_power_normalize", "tx_power_allocate"],
        allowed_ops: TRANSMIT_POWER,
      }),
      required("wireless_channel", "Channel", { allowed_ops: LAYERED_LINKS }),
      optional("receiver_frontend", "Receiver front end", {
        step_ids: ["receiver_frontend", "carrier_impairment"],
        allowed_ops: ["hardware.receiver_iq_imbalance", "wireless.carrier_phase_impairment"],
      }),
      optional("demodulator", "Demodulator"),
      required("rx_bit_boundary", "Received bit boundary", BIT_BOUNDARY),
      required("channel_bit_count_match", "Bit count comparison", { allowed_ops: ["channel.bit_count_match"] }),
      required("channel_decoder", "Channel decoder", {
        allowed_ops: DECODERS,
        summary: "A step crc_check may stand between here and the payload decoder",
      }),
      optional("payload_decoder", "Payload decoder"),
      optional("receiver", "Receiver"),
      optional("evaluation", "Evaluation"),
    ],
  ),
];

export const CUSTOM_PROFILE: JsonObject = {
  id: "custom",
  version: 1,
  label: "Custom topology",
  summary: "Claims no standard topology; based_on may say which one it was edited from",
};

/** The profile of that id and version, if there is one. */
export function findProfile(id: string, version: number): Profile | undefined {
  return PROFILES.find((candidate) => candidate.id === id && candidate.version === version);
}

/** All ids that a recipe may declare. */
export function profileIds(): string[] {
  return ["custom", ...PROFILES.map((known) => known.id)];
}

/** The catalogue as it is published. */
export function profileCatalogue(): JsonObject {
  return { schema_version: 1, profiles: [...PROFILES], custom: CUSTOM_PROFILE };
}

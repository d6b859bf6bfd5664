/**
 * Wiring rules of the two link profiles: allowed operations of each canonical step beyond the profile's own rules, and
 * allowed sources of its inputs. Recipes of other profiles may be wired freely.
 */
import type { Code } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { TRANSMIT_POWER } from "../standard_profiles.ts";
import { type Finding, inputOf, type LintStep, type LintView, opOf, type Rule } from "./view.ts";

export const MODULATORS = [
  "modulation.digital_modulate",
  "modulation.identity_modulate",
  "modulation.learned_constellation",
  "modulation.qpsk_pilot_modulate",
];
export const DEMODULATORS = [
  "demodulation.digital_demodulate",
  "demodulation.identity_demodulate",
  "demodulation.constellation_demapper",
  "demodulation.neural_receiver_adapter",
  "demodulation.phase_tracking_receiver_adapter",
];
export const SYMBOL_LINKS = ["wireless.channel", "channel.identity_symbol_link"];
export const BIT_LINKS = ["channel.identity_link", "channel.capacity_oracle_digital_link", "wireless.digital_link"];

const POWER_STEPS = ["tx_power", "tx_power_normalize", "tx_power_allocate"];
const FRONTENDS = ["receiver_frontend", "carrier_impairment"] as const;

type ProfileId = "layered_digital" | "joint_source_channel_symbols";

/** The link profile that a recipe declares, if any. */
function linkProfile({ recipe }: LintView): ProfileId | null {
  const { id, version } = recipe.execution_profile;
  return version === 1 && (id === "layered_digital" || id === "joint_source_channel_symbols") ? id : null;
}

/** Steps that a link profile leaves open, with their allowed operations. */
const OPERATIONS: readonly { code: Code; steps: readonly string[]; ops: readonly string[] }[] = [
  {
    code: "packetizer_op_invalid",
    steps: ["packetizer"],
    ops: ["channel.packetize_crc32", "channel.packetize_crc32.v2"],
  },
  { code: "crc_check_op_invalid", steps: ["crc_check"], ops: ["channel.crc32_check"] },
  { code: "tx_power_op_invalid", steps: POWER_STEPS, ops: TRANSMIT_POWER },
  { code: "modulator_op_invalid", steps: ["modulator"], ops: MODULATORS },
  { code: "demodulator_op_invalid", steps: ["demodulator"], ops: DEMODULATORS },
  {
    code: "channel_state_op_invalid",
    steps: ["channel_state"],
    ops: ["wireless.ofdm_channel_state", "source.channel_dataset"],
  },
  { code: "csi_observation_op_invalid", steps: ["csi_observation"], ops: ["wireless.ofdm_delayed_csi"] },
  { code: "receiver_frontend_op_invalid", steps: ["receiver_frontend"], ops: ["hardware.receiver_iq_imbalance"] },
  { code: "carrier_impairment_op_invalid", steps: ["carrier_impairment"], ops: ["wireless.carrier_phase_impairment"] },
];

const operationRules: Rule[] = OPERATIONS.map(({ code, steps, ops }) => ({
  code,
  *find(recipe) {
    if (linkProfile(recipe) === null) return;
    for (const step of recipe.steps) {
      if (!steps.includes(step.id) || ops.includes(step.op)) continue;
      yield {
        place: opOf(step),
        message: `Cannot use ${step.op} as ${step.id} of a digital link`,
        hint: `Use ${list(ops)}, or give the step another id`,
        step,
      };
    }
  },
}));

/** Steps required on both sides of a symbol link. */
const SIDES: readonly { code: Code; id: string; before: boolean; what: string; ops: readonly string[] }[] = [
  { code: "modulator_missing", id: "modulator", before: true, what: "modulator", ops: MODULATORS },
  { code: "demodulator_missing", id: "demodulator", before: false, what: "demodulator", ops: DEMODULATORS },
];

const sideRules: Rule[] = SIDES.map(({ code, id, before, what, ops }) => ({
  code,
  *find(recipe) {
    const link = recipe.step("wireless_channel");
    if (linkProfile(recipe) !== "layered_digital" || !link || !SYMBOL_LINKS.includes(link.op) || recipe.step(id)) {
      return;
    }
    yield {
      place: ["steps", link.index],
      message: `Cannot ${before ? "send bits over" : "read bits from"} the symbol link ${link.op} without a ${what}`,
      hint: `Add a step ${id} with ${list(ops)} ${before ? "before" : "behind"} it`,
      step: link,
    };
  },
}));

const frontendRules: Rule[] = FRONTENDS.map((id) => ({
  code: `${id}_channel_invalid`,
  *find(recipe) {
    const step = linkProfile(recipe) === "layered_digital" ? recipe.step(id) : undefined;
    const link = recipe.step("wireless_channel");
    if (!step || !link || (SYMBOL_LINKS.includes(link.op) && link.index < step.index)) return;
    yield {
      place: ["steps", step.index],
      message: `Cannot have ${id} without a symbol channel before it`,
      hint: SYMBOL_LINKS.includes(link.op)
        ? "Move it after wireless_channel"
        : `${link.op} returns bits; use wireless.channel, or remove ${id}`,
      step,
    };
  },
}));

/** Allowed sources of an input: any member of the first group with an existing step. */
interface Wiring {
  steps: readonly string[];
  input: string;
  from: readonly (readonly string[])[];
  /** Restricts to these operations of the step, or of the link. */
  ops?: readonly string[];
  link?: readonly string[];
}

/** `<power>` is the last transmit power step, `<link>` the output of the channel. */
const WIRING: Readonly<Record<ProfileId, readonly Wiring[]>> = {
  layered_digital: [
    {
      steps: ["packetizer"],
      input: "bits",
      from: [["payload_bit_boundary.bits", "sender.bits"]],
      ops: ["channel.packetize_crc32.v2"],
    },
    { steps: ["packetizer"], input: "bits", from: [["payload_bit_boundary.bits"]], ops: ["channel.packetize_crc32"] },
    { steps: ["channel_encoder"], input: "bits", from: [["packetizer.bits"], ["payload_bit_boundary.bits"]] },
    { steps: ["tx_bit_boundary"], input: "bits", from: [["channel_encoder.coded_bits"]] },
    { steps: ["modulator"], input: "bits", from: [["tx_bit_boundary.bits"]] },
    { steps: ["channel_state"], input: "symbols", from: [["modulator.symbols"]] },
    { steps: ["csi_observation"], input: "state", from: [["channel_state.state"]] },
    { steps: POWER_STEPS, input: "symbols", from: [["channel_state.symbols", "modulator.symbols"]] },
    {
      steps: POWER_STEPS,
      input: "channel_state",
      from: [["csi_observation.transmitter_csi", "channel_state.state"]],
    },
    {
      steps: ["wireless_channel"],
      input: "symbols",
      from: [["<power>.symbols"], ["channel_state.symbols"], ["modulator.symbols"]],
    },
    { steps: ["wireless_channel"], input: "bits", from: [["tx_bit_boundary.bits"]] },
    {
      steps: ["wireless_channel"],
      input: "channel_state",
      from: [["csi_observation.actual_state", "channel_state.state"]],
    },
    { steps: FRONTENDS, input: "rx_symbols", from: [["<link>"]], link: SYMBOL_LINKS },
    {
      steps: ["demodulator"],
      input: "rx_symbols",
      from: [["receiver_frontend.rx_symbols", "carrier_impairment.rx_symbols"], ["<link>"]],
    },
    { steps: ["rx_bit_boundary"], input: "bits", from: [["demodulator.bits"]], link: SYMBOL_LINKS },
    { steps: ["rx_bit_boundary"], input: "bits", from: [["<link>"]], link: BIT_LINKS },
    { steps: ["channel_bit_count_match"], input: "reference", from: [["tx_bit_boundary.bits"]] },
    { steps: ["channel_bit_count_match"], input: "candidate", from: [["rx_bit_boundary.bits"]] },
    { steps: ["channel_decoder"], input: "coded_bits", from: [["rx_bit_boundary.bits"]] },
    { steps: ["channel_decoder"], input: "llr", from: [["demodulator.llr"]] },
    { steps: ["crc_check"], input: "bits", from: [["channel_decoder.bits"]] },
  ],
  joint_source_channel_symbols: [
    { steps: POWER_STEPS, input: "symbols", from: [["channel_state.symbols", "sender.symbols"]] },
    {
      steps: POWER_STEPS,
      input: "channel_state",
      from: [["csi_observation.transmitter_csi", "channel_state.state"]],
    },
    { steps: ["tx_symbol_boundary"], input: "symbols", from: [["<power>.symbols"]] },
    {
      steps: ["channel_state"],
      input: "symbols",
      from: [["sender.symbols", "<power>.symbols", "tx_symbol_boundary.symbols"]],
    },
    { steps: ["csi_observation"], input: "state", from: [["channel_state.state"]] },
    { steps: ["wireless_channel"], input: "symbols", from: [["tx_symbol_boundary.symbols", "channel_state.symbols"]] },
    {
      steps: ["wireless_channel"],
      input: "channel_state",
      from: [["csi_observation.actual_state", "channel_state.state"]],
    },
    { steps: ["rx_symbol_boundary"], input: "symbols", from: [["<link>"]] },
    { steps: ["receiver"], input: "symbols", from: [["rx_symbol_boundary.symbols"]] },
    { steps: ["channel_symbol_count_match"], input: "reference", from: [["tx_symbol_boundary.symbols"]] },
    { steps: ["channel_symbol_count_match"], input: "candidate", from: [["rx_symbol_boundary.symbols"]] },
  ],
};

const LINK_OUTPUT: Readonly<Record<string, string>> = {
  "wireless.channel": "rx_symbols",
  "channel.identity_symbol_link": "symbols",
};

/** Resolves the placeholders; null for a missing step. */
function producer(recipe: LintView, text: string): string | null {
  if (text === "<link>") {
    const link = recipe.step("wireless_channel");
    return link ? `wireless_channel.${LINK_OUTPUT[link.op] ?? "bits"}` : null;
  }
  const [id, output] = text.split(".");
  const step = id === "<power>" ? powerSteps(recipe).at(-1) : recipe.step(id);
  return step ? `${step.id}.${output}` : null;
}

function powerSteps(recipe: LintView): LintStep[] {
  return recipe.steps.filter(({ id }) => POWER_STEPS.includes(id));
}

function* misplacedInputs(recipe: LintView): Iterable<Finding> {
  const profile = linkProfile(recipe);
  if (profile === null) return;
  const linkOp = recipe.step("wireless_channel")?.op;
  const [, ...laterPower] = powerSteps(recipe);
  for (const { steps, input, from, ops, link } of WIRING[profile]) {
    if (link && (linkOp === undefined || !link.includes(linkOp))) continue;
    for (const id of steps) {
      const step = recipe.step(id);
      if (!step || (ops && !ops.includes(step.op)) || !Object.hasOwn(step.inputs, input)) continue;
      // A second power step takes its symbols from the first.
      if (laterPower.includes(step)) continue;
      const allowed = from.map((group) => group.flatMap((text) => producer(recipe, text) ?? []))
        .find((group) => group.length > 0);
      const given = step.inputs[input];
      if (allowed === undefined || allowed.includes(given)) continue;
      yield {
        place: inputOf(step, input),
        message: `Cannot take ${step.id}.${input} from ${given} in ${profile}`,
        hint: `Wire ${list(allowed)}, or declare the profile custom`,
        step,
      };
    }
  }
}

export const WIRING_RULES: readonly Rule[] = [
  { code: "input_reference_invalid", find: misplacedInputs },
  ...operationRules,
  ...sideRules,
  ...frontendRules,
  {
    code: "receiver_frontend_ambiguous",
    *find(recipe) {
      const [front, carrier] = FRONTENDS.map((id) => recipe.step(id));
      if (linkProfile(recipe) !== "layered_digital" || !front || !carrier) return;
      const later = front.index > carrier.index ? front : carrier;
      yield {
        place: ["steps", later.index, "id"],
        message: "Cannot have both receiver_frontend and carrier_impairment in front of the demodulator",
        hint: "Keep one of them, or declare the profile custom",
        step: later,
      };
    },
  },
  {
    code: "csi_observation_state_missing",
    *find(recipe) {
      const step = recipe.step("csi_observation");
      if (linkProfile(recipe) === null || !step || recipe.step("channel_state")) return;
      yield {
        place: ["steps", step.index],
        message: "Cannot observe a missing channel state",
        hint: didYouMean("channel_state", recipe.steps.map(({ id }) => id).filter((id) => id !== step.id)) ??
          "Add a step channel_state with wireless.ofdm_channel_state before it",
        step,
      };
    },
  },
];

/** A choice as text: `a, b or c`. */
export function list(names: readonly string[]): string {
  return names.join(", ").replace(/, ([^,]*)$/, " or $1");
}

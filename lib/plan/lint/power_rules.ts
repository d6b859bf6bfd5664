/** Mistakes in transmit power and channel knowledge: policies without a state, learned policies, NR LDPC on old CSI. */
import type { Code } from "../../contract/error.ts";
import { toNumber } from "../../contract/value.ts";
import { type Finding, inputOf, type LintStep, type LintView, paramOf, type Rule, type Wire } from "./view.ts";
import { list, MODULATORS } from "./wiring.ts";

const ALLOCATORS = ["model.symbol_power_allocator", "model.causal_csi_power_allocator"];
/** Modulations with levels in the amplitude. */
const AMPLITUDE = ["qam16", "qam64", "qam256"];
const LEARNED = ["learned_checkpoint", "learned_artifact"];
const WITHOUT_STATE = ["fixed", "snr_sigmoid"];
const DELAYED_CSI = "wireless.ofdm_delayed_csi";
const DELIVERY = "metrics.nr_ldpc_ofdm_delivery";
const CAUSAL = [
  "observed_csi_water_filling",
  "robust_csi_water_filling",
  "causal_ar_water_filling",
  "causal_ar_box_water_filling",
];

/** Parameters for the file of a learned policy and its digest; a package can be found by digest alone. */
const PINNED: Readonly<Record<string, { path?: string; digest: string }>> = {
  learned_checkpoint: { path: "checkpoint_path", digest: "checkpoint_sha256" },
  learned_artifact: { digest: "artifact_package_sha256" },
};

/** Allocators with a learned policy in every variant. */
const learnedPolicies = (recipe: LintView) =>
  recipe.ofOp(...ALLOCATORS).filter((step) => recipe.is(step, "policy", ...LEARNED));

/** A parameter of a learned policy that must have one value. */
function learnedNeeds(code: Code, param: string, wanted: string, why: string): Rule {
  return {
    code,
    *find(recipe) {
      for (const step of learnedPolicies(recipe)) {
        const wrong = recipe.choices(step, param).values.find((value) => value !== wanted);
        if (wrong === undefined) continue;
        yield {
          place: paramOf(step, param),
          message: `Cannot use ${param} ${wrong} with a learned power policy: ${why}`,
          hint: `Set ${param} to ${wanted}`,
          step,
        };
      }
    },
  };
}

function learnedFile(code: Code, part: "path" | "digest", fits: RegExp, hint: string): Rule {
  return {
    code,
    *find(recipe) {
      for (const step of learnedPolicies(recipe)) {
        const policy = recipe.value(step, "policy");
        if (typeof policy !== "string") continue;
        const param = PINNED[policy][part];
        if (param === undefined) continue;
        if (recipe.choices(step, param).values.some((value) => typeof value === "string" && fits.test(value))) continue;
        yield {
          place: paramOf(step, param),
          message: `Cannot use the policy ${policy} without ${param}`,
          hint: `${hint}, or choose a policy that is not learned`,
          step,
        };
      }
    },
  };
}

/** The steps that set the power of an input's symbols, nearest first, and the modulator at the end. */
function powerChain(recipe: LintView, step: LintStep, port: string): LintStep[] {
  const chain: LintStep[] = [];
  for (let wire = recipe.source(step, port); wire !== undefined;) {
    chain.push(wire.step);
    if (MODULATORS.includes(wire.step.op)) break;
    wire = recipe.source(wire.step, "rx_symbols") ?? recipe.source(wire.step, "symbols");
  }
  return chain;
}

/** The reason why the mean symbol power after a step is not 1, or null when it is 1 or unknown. */
function powerOff(recipe: LintView, step: LintStep): { why: string | null; settled: boolean } {
  const settled = (why: string | null) => ({ why, settled: true });
  const target = recipe.choices(step, "target_power").values;
  const off = target.find((value) => toNumber(value as number) !== 1);
  if (step.op === "channel.symbol_power_normalize" || ALLOCATORS.includes(step.op)) {
    if (off !== undefined) return settled(`${step.id} sends at power ${off}`);
    return settled(
      recipe.takes(step, "budget_mode", "variable_average") ? `${step.id} does not keep a constant mean power` : null,
    );
  }
  if (step.op === "modulation.identity_modulate") {
    return settled(`${step.id} sends zeros and ones, with mean power 1/2`);
  }
  return { why: null, settled: MODULATORS.includes(step.op) };
}

function* variablePower(recipe: LintView): Iterable<Finding> {
  for (const step of recipe.ofOp("wireless.channel")) {
    if (!recipe.is(step, "noise_mode", "snr_at_unit_power")) continue;
    for (const from of powerChain(recipe, step, "symbols")) {
      const { why, settled } = powerOff(recipe, from);
      if (why !== null) {
        yield {
          place: paramOf(step, "snr_db"),
          message: `snr_db of ${step.id} is Es/N0 at unit symbol energy, but ${why}: it is not the Es/N0 of this link`,
          hint: "Report the power with snr_db, or set the noise with noise_mode fixed_variance",
          step,
        };
      }
      if (settled) break;
    }
  }
}

/** Demodulators after a power scaling that they do not receive. */
function* unscaled(recipe: LintView): Iterable<Finding & { allocation: boolean }> {
  for (const step of recipe.ofOp("demodulation.digital_demodulate")) {
    if (Object.hasOwn(step.inputs, "allocation")) continue;
    const chain = powerChain(recipe, step, "rx_symbols");
    const modulator = chain.at(-1);
    const scaler = chain.find(({ op }) => ALLOCATORS.includes(op) || op === "channel.symbol_power_normalize");
    if (!modulator || !scaler || modulator.op !== "modulation.digital_modulate") continue;
    const place = inputOf(step, "rx_symbols");
    const loaded = recipe.takes(scaler, "transport_mode", "allocation_aware_bit_loading");
    const amplitude = recipe.takes(modulator, "modulation", ...AMPLITUDE) || loaded;
    if (ALLOCATORS.includes(scaler.op)) {
      const soft = recipe.steps.some((reader) => recipe.source(reader, "llr")?.step === step);
      if (!amplitude && !soft) continue;
      yield {
        place: inputOf(step, "allocation"),
        message: amplitude
          ? `Cannot make decisions on symbols that ${scaler.id} scaled by an unknown factor`
          : `Cannot compute LLRs of symbols that ${scaler.id} scaled by an unknown factor`,
        hint: `Wire allocation to ${scaler.id}.allocation`,
        step,
        allocation: true,
      };
    } else if (amplitude && recipe.choices(scaler, "target_power").values.some((v) => toNumber(v as number) !== 1)) {
      yield {
        place,
        message: `Cannot make decisions on QAM symbols that ${scaler.id} scaled: the decision levels hold for power 1`,
        hint: "Set target_power to 1.0, or vary snr_db instead",
        step,
        allocation: false,
      };
    }
  }
}

/** The delayed CSI and the decoder of a recipe with both. */
function nrOverDelayedCsi(recipe: LintView): { csi: LintStep; decoder: LintStep } | null {
  const [csi] = recipe.ofOp(DELAYED_CSI);
  const [decoder] = recipe.ofOp("channel.nr_ldpc_decoder");
  return csi && decoder ? { csi, decoder } : null;
}

/** Required sources of the inputs of the delivery metric. */
const DELIVERED: readonly { port: string; ops: readonly string[]; output: string }[] = [
  { port: "actual_state", ops: [DELAYED_CSI], output: "actual_state" },
  { port: "allocation", ops: ALLOCATORS, output: "allocation" },
  { port: "decoder_report", ops: ["channel.nr_ldpc_decoder"], output: "report" },
  { port: "tx_symbols", ops: ALLOCATORS, output: "symbols" },
];

const comesFrom = (wire: Wire, ops: readonly string[], output: string) =>
  ops.includes(wire.step.op) && wire.output === output;

export const POWER_RULES: readonly Rule[] = [
  {
    code: "delayed_csi_water_filling_policy_invalid",
    *find(recipe) {
      for (const step of recipe.ofOp(...ALLOCATORS)) {
        const wire = recipe.source(step, "channel_state");
        if (!wire || !comesFrom(wire, [DELAYED_CSI], "transmitter_csi")) continue;
        if (!recipe.takes(step, "policy", "water_filling")) continue;
        yield {
          place: paramOf(step, "policy"),
          message: `Cannot use the policy water_filling on delayed CSI: it treats the state as the true one`,
          hint: `Use ${list(CAUSAL)}`,
          step,
        };
      }
    },
  },
  {
    code: "csi_power_policy_state_missing",
    replaces: ["params_conflict", "input_missing"],
    *find(recipe) {
      for (const step of recipe.ofOp(...ALLOCATORS)) {
        if (Object.hasOwn(step.inputs, "channel_state")) continue;
        const policy = recipe.choices(step, "policy").values.find((name) => !WITHOUT_STATE.includes(String(name)));
        if (policy === undefined) continue;
        yield {
          place: inputOf(step, "channel_state"),
          message: `Cannot use the policy ${policy} without a channel state`,
          hint: `Wire channel_state, or set policy to ${list(WITHOUT_STATE)}`,
          step,
        };
      }
    },
  },
  learnedFile("learned_power_checkpoint_path_missing", "path", /\S/, "Name the file"),
  learnedFile(
    "learned_power_checkpoint_sha_missing",
    "digest",
    /^[0-9a-f]{64}$/,
    "Set its SHA-256, 64 lower-case hexadecimal digits",
  ),
  learnedNeeds(
    "learned_power_granularity_invalid",
    "granularity",
    "per_subcarrier",
    "its scores are distributed over the subcarriers of a state",
  ),
  learnedNeeds(
    "learned_power_budget_invalid",
    "budget_mode",
    "fixed_average",
    "its scores are projected onto the budget",
  ),
  {
    code: "delayed_csi_nr_receiver_processing_invalid",
    *find(recipe) {
      if (!nrOverDelayedCsi(recipe)) return;
      for (const step of recipe.ofOp("wireless.channel")) {
        if (!recipe.takes(step, "receiver_processing", "none")) continue;
        yield {
          place: paramOf(step, "receiver_processing"),
          message:
            "Cannot decode NR LDPC over delayed CSI without matched receiver processing: LLRs need equalised symbols",
          hint: "Set receiver_processing to matched",
          step,
        };
      }
    },
  },
  {
    code: "delayed_csi_nr_delivery_metric_missing",
    *find(recipe) {
      const link = nrOverDelayedCsi(recipe);
      if (!link || recipe.ofOp(DELIVERY).length > 0) return;
      yield {
        place: ["steps", link.decoder.index],
        message:
          "Cannot determine the delivery of NR LDPC over delayed CSI: no step counts delivered blocks and resource elements",
        hint: `Add a step with ${DELIVERY}`,
        step: link.decoder,
      };
    },
  },
  {
    code: "delayed_csi_nr_delivery_metric_invalid",
    *find(recipe) {
      if (!nrOverDelayedCsi(recipe)) return;
      for (const step of recipe.ofOp(DELIVERY)) {
        for (const { port, ops, output } of DELIVERED) {
          const wire = recipe.source(step, port);
          if (!wire || comesFrom(wire, ops, output)) continue;
          const [right] = recipe.ofOp(...ops);
          yield {
            place: inputOf(step, port),
            message: `Cannot take ${port} of a delivery from ${wire.step.id}.${wire.output}`,
            hint: `Wire ${right ? right.id : list(ops)}.${output}`,
            step,
          };
        }
      }
    },
  },
  { code: "reference_snr_with_variable_power", severity: "warning", find: variablePower },
  {
    code: "power_allocation_not_undone",
    *find(recipe) {
      for (const { allocation, ...finding } of unscaled(recipe)) if (allocation) yield finding;
    },
  },
  {
    code: "symbol_scale_not_undone",
    *find(recipe) {
      for (const { allocation, ...finding } of unscaled(recipe)) if (!allocation) yield finding;
    },
  },
];

/** Link mistakes: differing modulations, missing noise, parameters without effect. */
import type { Place } from "../../contract/error.ts";
import { canonicalJson } from "../../contract/json.ts";
import type { LayerKind } from "../../contract/transforms.ts";
import { isNumber, toNumber, type Value } from "../../contract/value.ts";
import { BITS_PER_SYMBOL } from "../../numeric/link/modulations.ts";
import { unambiguous } from "../../numeric/antenna/range_doppler.ts";
import { top } from "./streams.ts";
import { type Choices, type Finding, inputOf, type LintStep, type LintView, opOf, paramOf, type Rule } from "./view.ts";
import { BIT_LINKS, DEMODULATORS, list, MODULATORS, SYMBOL_LINKS } from "./wiring.ts";

const WIDTHS: ReadonlyMap<Value, number> = new Map(Object.entries(BITS_PER_SYMBOL));
const QPSK: Choices = { values: ["qpsk"], dimension: null };

/** Nonlinear operations on the envelope of a waveform. */
const DISTORTIONS = ["hardware.power_amplifier", "hardware.envelope_clip"];

/** Layers behind which shaped amplitudes are no bits of the stream: codes that are not systematic, and scramblers. */
const UNSHAPING: readonly LayerKind[] = [
  "repetition",
  "ldpc",
  "polar",
  "convolutional",
  "turbo",
  "small_block",
  "unequal",
  "scrambled",
];

/** Demodulators with their matching modulators. */
const PAIRS: Readonly<Record<string, readonly string[]>> = {
  "demodulation.digital_demodulate": ["modulation.digital_modulate"],
  "demodulation.identity_demodulate": ["modulation.identity_modulate"],
  "demodulation.constellation_demapper": ["modulation.learned_constellation"],
  "demodulation.neural_receiver_adapter": ["modulation.digital_modulate"],
  "demodulation.phase_tracking_receiver_adapter": ["modulation.qpsk_pilot_modulate"],
};

/** Values of `a` that some variant combines with another value of `b`. */
function differing(a: Choices, b: Choices): Value | undefined {
  if (a.dimension !== null && a.dimension === b.dimension) return undefined;
  return a.values.find((value) => b.values.some((other) => other !== value));
}

/** Demodulators with the modulator of their symbols. */
function* demodulations(recipe: LintView): Iterable<{ step: LintStep; modulator: LintStep }> {
  for (const step of recipe.ofOp(...DEMODULATORS)) {
    const stream = recipe.stream(step, "rx_symbols");
    const layer = stream && top(stream);
    if (layer?.kind === "symbols") yield { step, modulator: layer.step };
  }
}

function* mismatched(recipe: LintView): Iterable<Finding> {
  const loaded = recipe.steps.some((step) => recipe.takes(step, "transport_mode", "allocation_aware_bit_loading"));
  for (const { step, modulator } of demodulations(recipe)) {
    const expected = PAIRS[step.op];
    if (!expected.includes(modulator.op)) {
      yield {
        place: opOf(step),
        message: `Cannot read the symbols of ${modulator.op} with ${step.op}`,
        hint: `Use ${list(DEMODULATORS.filter((op) => PAIRS[op].includes(modulator.op)))}`,
        step,
      };
      continue;
    }
    // With bit loading the allocation determines the mapping of each symbol.
    if (modulator.op !== "modulation.digital_modulate" || loaded) continue;
    const sent = recipe.choices(modulator, "modulation");
    const fixed = step.op === "demodulation.neural_receiver_adapter" ? QPSK : recipe.choices(step, "modulation");
    const known = (choices: Choices) => ({ ...choices, values: choices.values.filter((value) => value !== "auto") });
    const wrong = differing(known(fixed), known(sent));
    if (wrong === undefined) continue;
    yield {
      place: step.op === "demodulation.neural_receiver_adapter" ? opOf(step) : paramOf(step, "modulation"),
      message: `Cannot read ${wrong} where ${modulator.id} sends ${sent.values.join(", ")}`,
      hint: step.op === "demodulation.neural_receiver_adapter"
        ? "Neural receivers read QPSK; send qpsk"
        : "Leave modulation at auto, which reads the mapping from the symbols",
      step,
    };
  }
}

/** Parameters of wireless.channel and wireless.digital_link that only some presets use. */
const OFDM = ["ofdm_tdl", "ofdm_cdl", "urban_micro"];
const CHECKED_PARAMS: Readonly<Record<string, readonly string[]>> = {
  fading_scope: ["flat_rayleigh", "mimo_flat"],
  interferers: ["interference_awgn"],
  interference_sir_db: ["interference_awgn"],
  tx_antennas: ["mimo_flat"],
  rx_antennas: ["mimo_flat"],
  ofdm_fft_size: OFDM,
  num_ofdm_symbols: OFDM,
  subcarrier_spacing_khz: OFDM,
  tdl_model: ["ofdm_tdl", "ofdm_cdl"],
  delay_spread_ns: ["ofdm_tdl", "ofdm_cdl"],
  normalize_channel: OFDM,
};
/** Delay spread times the distance of pilots in Hz at which neighbouring pilots have the correlation 0.85 (exponential). */
const WIDEST_PILOT_SPACING = 0.1;
const MOVING_CHANNELS = ["wireless.mimo_ofdm_channel", "wireless.multipath_waveform"];
const PRESET_LINKS = ["wireless.channel", "wireless.digital_link"];
const IDENTITY_LINKS = ["channel.identity_link", "channel.identity_symbol_link"];
const NOISE_PARAMS = ["snr_db", "noise_variance", "noise_mode", "interference_sir_db"];

function* ignoredNoise(recipe: LintView): Iterable<Finding> {
  for (const step of recipe.ofOp(...IDENTITY_LINKS)) {
    const bits = step.op === "channel.identity_link";
    for (const param of NOISE_PARAMS) {
      const varied = recipe.matrixParams(step)[param] !== undefined;
      if (!varied && !step.authored.has(param)) continue;
      yield {
        place: varied ? ["metadata", "matrix", "step_params", step.id, param] : paramOf(step, param),
        message: `Cannot set ${param} on ${step.op}: it passes ${bits ? "bits" : "symbols"} without noise`,
        hint: bits ? "Use wireless.digital_link for noise on a bit link" : "Use wireless.channel for noise on symbols",
        step,
      };
    }
  }
  if (recipe.ofOp(...PRESET_LINKS, "channel.capacity_oracle_digital_link").length > 0) return;
  const [link] = recipe.ofOp(...IDENTITY_LINKS);
  const { snr_db: snr, noise_variance: variance } = recipe.recipe.metadata;
  for (const [key, value] of [["snr_db", snr], ["noise_variance", variance]] as const) {
    if (!link || !isNumber(value)) continue;
    yield {
      severity: "warning",
      place: ["metadata", key],
      message: `metadata.${key} has no effect: the only link ${link.op} has no noise`,
      hint: "Use wireless.channel, or remove it",
    };
  }
}

/** Operations that give equalised symbols, with their noise variance. */
const EQUALIZED: readonly string[] = ["demodulation.ofdm_equalize", "demodulation.mimo_detect"];

function* assumedVariance(recipe: LintView): Iterable<Finding> {
  const read = new Set(recipe.steps.flatMap((step) => {
    const wire = recipe.source(step, "llr");
    return wire?.output === "llr" ? [wire.step] : [];
  }));
  for (const { step } of demodulations(recipe)) {
    if (!read.has(step) || Object.hasOwn(step.inputs, "channel_state")) continue;
    if (passes(recipe, step, ({ op }) => op === "wireless.channel" || EQUALIZED.includes(op))) continue;
    yield {
      place: inputOf(step, "rx_symbols"),
      message: `${step.id} uses the noise variance 1: its symbols carry no value from a noisy channel`,
      hint: "The LLRs keep their signs, but their scale is arbitrary; send the symbols through wireless.channel",
      step,
    };
  }
}

/** Place of a parameter written by the author, else by the matrix. */
const written = (step: LintStep, param: string): Place =>
  step.authored.has(param) ? paramOf(step, param) : ["metadata", "matrix", "step_params", step.id, param];

/** Where a parameter is written, or the operation whose default it is. */
const writtenOr = (recipe: LintView, step: LintStep, param: string): Place =>
  recipe.chosen(step, param) ? written(step, param) : opOf(step);

/** The largest number that a parameter has in some variant; -∞ without one. */
const largest = (recipe: LintView, step: LintStep, param: string): number =>
  Math.max(...recipe.choices(step, param).values.filter(isNumber).map(toNumber));

/** Pilots between which a selective channel changes too much for interpolation. */
function* widePilots(recipe: LintView): Iterable<Finding> {
  const selective = recipe.ofOp("wireless.channel", "wireless.mimo_ofdm_channel").find((one) =>
    one.op === "wireless.channel"
      ? recipe.is(one, "channel", "ofdm_tdl", "ofdm_cdl")
      : recipe.is(one, "channel_model", "tdl", "cdl")
  );
  if (selective === undefined) return;
  const spread = largest(recipe, selective, "delay_spread_ns");
  const turn = largest(recipe, selective, "subcarrier_spacing_khz") * spread * 1e-6;
  for (const step of recipe.ofOp("modulation.ofdm_pilot_insert")) {
    const comb = recipe.is(step, "pattern", "comb"), ports = largest(recipe, step, "port_count");
    if (!comb && !recipe.is(step, "pattern", "nr_dmrs_type1")) continue;
    // DM-RS has every other subcarrier; ports of a pair share the mean of two pilots.
    const spacing = comb ? largest(recipe, step, "pilot_spacing") : ports > 1 ? 4 : 2;
    if (!(spacing * turn > WIDEST_PILOT_SPACING)) continue;
    yield {
      place: comb ? writtenOr(recipe, step, "pilot_spacing") : opOf(step),
      message: comb
        ? `Pilots ${spacing} subcarriers apart cannot follow a channel with a delay spread of ${spread} ns`
        : `DM-RS of ${ports} ports, ${spacing} subcarriers a value, cannot follow a delay spread of ${spread} ns`,
      hint: comb
        ? `Set pilot_spacing to ${Math.max(1, Math.floor(WIDEST_PILOT_SPACING / turn))} or less`
        : `Set subcarrier_spacing_khz or delay_spread_ns of ${selective.id} lower${
          ports > 1 ? ", or use one port" : ""
        }`,
      step,
    };
  }
}

/** Targets that a range-Doppler map shows at another range or velocity. */
function* aliasedTargets(recipe: LintView): Iterable<Finding> {
  for (const step of recipe.ofOp("source.isac_echo_scenario")) {
    const of = (param: string) => largest(recipe, step, param), spacingHz = of("subcarrier_spacing_khz") * 1e3;
    const span = unambiguous({
      spacingHz,
      symbolSeconds: (1 + of("cyclic_prefix_fraction")) / spacingHz,
      carrierHz: of("carrier_frequency_ghz") * 1e9,
    });
    const beyond = [
      { param: "range_max_m", limit: span.range, span: `0 to ${span.range.toFixed(0)} m` },
      { param: "velocity_max_mps", limit: span.velocity / 2, span: `±${(span.velocity / 2).toFixed(0)} m/s` },
    ].filter(({ param, limit }) => of(param) > limit);
    for (const { param, limit, span } of beyond) {
      yield {
        place: writtenOr(recipe, step, param),
        message: `Targets of ${step.id} repeat in a range-Doppler map: its ${
          param === "range_max_m" ? "ranges" : "velocities"
        } are unambiguous in ${span}`,
        hint: `Set ${param} to ${Math.floor(limit)} or less, or change subcarrier_spacing_khz`,
        step,
      };
    }
  }
}

/** As a parameter that is inactive by its contract: an error, and a warning where a matrix varies the channel. */
function* ignoredParams(recipe: LintView): Iterable<Finding> {
  for (const step of recipe.ofOp(...PRESET_LINKS)) {
    const presets = recipe.choices(step, "channel").values;
    const severity = recipe.matrixParams(step).channel === undefined ? "error" : "warning";
    for (const [param, users] of Object.entries(CHECKED_PARAMS)) {
      if (!recipe.chosen(step, param) || presets.length === 0) continue;
      if (presets.some((preset) => users.includes(String(preset)))) continue;
      yield {
        severity,
        place: written(step, param),
        message: `${param} has no effect on the channel ${presets.join(", ")}`,
        hint: `It applies to ${list(users)}`,
        step,
      };
    }
  }
  for (const step of recipe.ofOp(...PRESET_LINKS, ...MOVING_CHANNELS)) {
    if (!recipe.chosen(step, "mobility_kmh") || recipe.takes(step, "channel_state_mode", "explicit")) continue;
    if (recipe.takes(step, "time_variation", "doppler")) continue;
    yield {
      severity: recipe.matrixParams(step).channel === undefined ? "error" : "warning",
      place: written(step, "mobility_kmh"),
      message: "mobility_kmh has no effect: the gains of this channel are constant within a block",
      hint: step.op === "wireless.digital_link"
        ? "Remove it, or use wireless.channel with time_variation doppler"
        : step.op === "wireless.channel"
        ? "Set time_variation to doppler, wire a state of wireless.ofdm_channel_state, or remove it"
        : "Set time_variation to doppler, or remove it",
      step,
    };
  }
}

/** Whether a step between the received symbols and the modulator satisfies a condition. */
function passes(recipe: LintView, step: LintStep, wanted: (step: LintStep) => boolean): boolean {
  for (let wire = recipe.source(step, "rx_symbols"); wire !== undefined;) {
    if (wanted(wire.step)) return true;
    if (MODULATORS.includes(wire.step.op)) return false;
    wire = recipe.source(wire.step, "rx_symbols") ?? recipe.source(wire.step, "symbols");
  }
  return false;
}

/** Dependent steps with the same authored seed: signal and noise would use one sequence. */
function* sharedSeeds(recipe: LintView): Iterable<Finding> {
  const bySeed = new Map<string, LintStep[]>();
  for (const step of recipe.steps) {
    if (!step.authored.has("seed") || recipe.matrixParams(step).seed !== undefined) continue;
    const seed = canonicalJson(step.params.seed ?? null);
    if (step.params.seed !== null) bySeed.set(seed, [...bySeed.get(seed) ?? [], step]);
  }
  for (const [seed, steps] of bySeed) {
    for (const step of steps.slice(1)) {
      const upstream = recipe.ancestors(step);
      const other = steps.find((earlier) => upstream.has(earlier));
      if (other === undefined) continue;
      yield {
        place: paramOf(step, "seed"),
        message: `${step.id} draws the same random numbers as ${other.id} before it: both have the seed ${seed}`,
        hint: "Remove the seeds, so that each step derives its own from metadata.seed",
        step,
      };
    }
  }
}

function* repeatedLabels(recipe: LintView): Iterable<Finding> {
  const seen = new Map<string, LintStep>();
  for (const step of recipe.ofOp("metrics.bit_error_rate", "metrics.block_error_rate")) {
    const label = recipe.value(step, "label");
    if (typeof label !== "string") continue;
    const first = seen.get(label);
    if (first === undefined) seen.set(label, step);
    else {
      yield {
        place: paramOf(step, "label"),
        message: `${first.id} and ${step.id} both report channel.${label}: tables cannot distinguish them`,
        hint: "Give each its own label, such as coded.ber and payload.ber",
        step,
      };
    }
  }
}

export const LINK_RULES: readonly Rule[] = [
  { code: "modulation_mismatch", find: mismatched },
  {
    code: "modulation_order_mismatch",
    severity: "warning",
    *find(recipe) {
      for (const step of recipe.ofOp("modulation.digital_modulate")) {
        const stream = recipe.stream(step, "bits");
        const encoder = stream && top(stream)?.kind === "ldpc" ? top(stream)!.step : undefined;
        if (!encoder) continue;
        const bits = recipe.choices(encoder, "num_bits_per_symbol");
        const sent = recipe.choices(step, "modulation");
        const order = { ...sent, values: sent.values.flatMap((name) => WIDTHS.get(name) ?? []) };
        const wrong = differing(bits, order);
        if (wrong === undefined) continue;
        yield {
          place: paramOf(encoder, "num_bits_per_symbol"),
          message: `${encoder.id} matches its rate to ${wrong} bits per symbol, and ${step.id} sends ${
            order.values.join(", ")
          }: the interleaver of TS 38.212 is defined for another modulation`,
          hint: `Set num_bits_per_symbol to ${order.values[0]}`,
          step: encoder,
        };
      }
    },
  },
  {
    code: "shaping_not_systematic",
    *find(recipe) {
      for (const step of recipe.ofOp("modulation.digital_modulate")) {
        const layers = recipe.is(step, "modulation", "shaped") ? recipe.stream(step, "bits")?.layers ?? [] : [];
        const matcher = layers.findIndex(({ kind }) => kind === "distribution");
        const broken = matcher < 0 ? undefined : layers.slice(matcher + 1).find(({ kind }) => UNSHAPING.includes(kind));
        if (broken === undefined) continue;
        yield {
          place: opOf(broken.step),
          message: `${broken.step.id} does not keep the amplitudes of ${
            layers[matcher].step.id
          }: ${step.id} sends others`,
          hint: "Use a systematic code that sends all its bits, such as channel.ldpc_encoder",
          step: broken.step,
        };
      }
    },
  },
  {
    code: "shaped_columns_mismatch",
    *find(recipe) {
      for (const order of recipe.ofOp("channel.block_interleaver")) {
        const layers = recipe.is(order, "kind", "shaped") ? recipe.stream(order, "bits")?.layers ?? [] : [];
        const matcher = layers.find(({ kind }) => kind === "distribution")?.step;
        if (matcher === undefined) continue;
        const { values, dimension } = recipe.choices(matcher, "modulation");
        const needed: Choices = { values: values.map((name) => WIDTHS.get(name) ?? name), dimension };
        const wrong = differing(recipe.choices(order, "columns"), needed);
        if (wrong === undefined) continue;
        const bits = needed.values.join(" or ");
        yield {
          place: paramOf(order, "columns"),
          message: `${order.id} arranges symbols of ${wrong} bits, those of ${matcher.id} have ${bits}`,
          hint: `Set columns to ${bits}`,
          step: order,
        };
      }
    },
  },
  {
    code: "fixed_noise_variance_missing",
    replaces: ["params_conflict"],
    *find(recipe) {
      for (const step of recipe.ofOp(...PRESET_LINKS)) {
        if (
          !recipe.is(step, "noise_mode", "fixed_variance") || recipe.choices(step, "noise_variance").values.length > 0
        ) {
          continue;
        }
        yield {
          place: paramOf(step, "noise_variance"),
          message: "Cannot use a fixed noise variance without a value",
          hint: "Set noise_variance, or noise_mode to snr_at_unit_power",
          step,
        };
      }
    },
  },
  {
    code: "snr_on_bit_link_ignored",
    replaces: ["params_invalid", "operation_params_schema_invalid", "matrix_definition_invalid"],
    find: ignoredNoise,
  },
  { code: "noise_variance_assumed", severity: "warning", find: assumedVariance },
  {
    code: "channel_param_ignored",
    onRun: true,
    find: ignoredParams,
  },
  {
    code: "interference_without_interferers",
    severity: "warning",
    *find(recipe) {
      for (const step of recipe.ofOp(...PRESET_LINKS)) {
        if (!recipe.is(step, "channel", "interference_awgn") || !recipe.is(step, "interferers", 0)) continue;
        yield {
          place: paramOf(step, "interferers"),
          message: `${step.id} is plain AWGN: interference_awgn has no interferers`,
          hint: "Set interferers to 1 or more, or channel to awgn",
          step,
        };
      }
    },
  },
  {
    code: "distortion_undersampled",
    severity: "warning",
    *find(recipe) {
      for (const step of recipe.ofOp(...DISTORTIONS)) {
        if (recipe.is(step, "model", "ideal")) continue;
        let wire = recipe.source(step, "signal");
        while (wire?.step.op.startsWith("hardware.")) wire = recipe.source(wire.step, "signal");
        const waveform = wire?.step;
        if (waveform?.op !== "modulation.ofdm_waveform" || !recipe.is(waveform, "oversampling", 1)) continue;
        yield {
          place: paramOf(waveform, "oversampling"),
          message:
            `${step.id} distorts samples of ${waveform.id} without oversampling: distortion beyond the band folds back`,
          hint: `Set oversampling of ${waveform.id} to 4`,
          step: waveform,
        };
      }
    },
  },
  {
    code: "fading_not_equalized",
    severity: "warning",
    *find(recipe) {
      for (const { step } of demodulations(recipe)) {
        if (step.op !== "demodulation.digital_demodulate") continue;
        const unequalized = (from: LintStep) =>
          from.op === "wireless.channel" && recipe.is(from, "channel", "flat_rayleigh", ...OFDM) &&
          recipe.is(from, "receiver_processing", "none");
        if (passes(recipe, step, (from) => EQUALIZED.includes(from.op))) continue;
        if (!passes(recipe, step, unequalized)) continue;
        yield {
          place: inputOf(step, "rx_symbols"),
          message: `${step.id} makes decisions on faded symbols of unknown phase: about half of its bits are wrong`,
          hint: "Set receiver_processing to matched, or use a receiver that estimates the channel",
          step,
        };
      }
    },
  },
  {
    code: "channel_estimate_unused",
    severity: "warning",
    *find(recipe) {
      for (const step of recipe.ofOp("model.ofdm_channel_estimator")) {
        const used = recipe.steps.some((reader) =>
          Object.keys(reader.inputs).some((port) => recipe.source(reader, port)?.step === step)
        );
        if (used) continue;
        yield {
          place: opOf(step),
          message: `${step.id} estimates a channel that no step uses`,
          hint: "Wire its estimate to demodulation.ofdm_equalize or demodulation.mimo_detect",
          step,
        };
      }
      for (const step of recipe.ofOp("model.ofdm_channel_estimator")) {
        const given = recipe.source(step, "pilot_estimate");
        if (given === undefined || recipe.takes(step, "method", "given")) continue;
        yield {
          place: writtenOr(recipe, step, "method"),
          message: `${step.id} does not use the estimate of ${given.step.id}: its method is ${
            recipe.choices(step, "method").values.join(", ")
          }`,
          hint: "Set method to given, or remove the input pilot_estimate",
          step,
        };
      }
    },
  },
  {
    code: "pilot_spacing_too_wide",
    severity: "warning",
    find: widePilots,
  },
  {
    code: "targets_beyond_unambiguous_span",
    severity: "warning",
    find: aliasedTargets,
  },
  {
    code: "surface_phases_not_closed_form",
    *find(recipe) {
      for (const step of recipe.ofOp("model.ris_phase_optimizer")) {
        const from = recipe.source(step, "problem")?.step;
        if (from?.op !== "source.ris_scenario" || !recipe.is(step, "mode", "closed_form")) continue;
        const antennas = recipe.choices(from, "tx_antennas").values.find((value) => toNumber(value as number) > 1);
        if (antennas === undefined) continue;
        yield {
          place: written(from, "tx_antennas"),
          message: `${step.id} has no closed form for the ${antennas} transmit antennas of ${from.id}`,
          hint: `Set mode of ${step.id} to alternating`,
          step: from,
        };
      }
    },
  },
  {
    code: "precoder_antennas_conflict",
    *find(recipe) {
      for (const step of recipe.ofOp("model.mu_mimo_precoder")) {
        const scenario = recipe.source(step, "problem")?.step;
        if (scenario?.op !== "source.mu_mimo_scenario") continue;
        const [users, rx, tx] = ["users", "rx_antennas", "tx_antennas"].map((param) => recipe.value(scenario, param))
          .map((value) => isNumber(value) ? toNumber(value) : NaN);
        if (recipe.takes(step, "mode", "zf", "wmmse") && rx > 1) {
          yield {
            place: written(step, "mode"),
            message: `Cannot precode for users with ${rx} antennas by zf or wmmse`,
            hint: "Set mode to block_diagonalization",
            step,
          };
        } else if (recipe.takes(step, "mode", "zf", "block_diagonalization") && users * rx > tx) {
          yield {
            place: written(step, "mode"),
            message: `Cannot remove the interference of ${users * rx} receive antennas with ${tx} transmit antennas`,
            hint: `Set mode to rzf, or tx_antennas of ${scenario.id} to ${users * rx} or more`,
            step,
          };
        }
      }
    },
  },
  {
    code: "channel_enabled_mismatch",
    severity: "warning",
    *find(recipe) {
      const { channel_enabled: enabled } = recipe.recipe.metadata;
      if (typeof enabled !== "boolean") return;
      const [noisy] = recipe.ofOp(...PRESET_LINKS, "channel.capacity_oracle_digital_link");
      const [ideal] = recipe.ofOp(...IDENTITY_LINKS);
      const contradicted = enabled ? (noisy ? undefined : ideal) : noisy;
      if (!contradicted) return;
      yield {
        place: ["metadata", "channel_enabled"],
        message: enabled
          ? `The recipe records a channel, but ${contradicted.id} is an ideal link`
          : `The recipe records that there is no channel, but ${contradicted.id} is one`,
        hint: `Set channel_enabled to ${!enabled}, or change ${contradicted.id}`,
        step: contradicted,
      };
    },
  },
  { code: "seed_repeated", severity: "warning", find: sharedSeeds },
  { code: "metric_label_repeated", severity: "warning", find: repeatedLabels },
  {
    code: "rate_count_fixed_point_missing",
    severity: "warning",
    *find(recipe) {
      const point = recipe.recipe.metadata.rate_count_fixed_point ?? null;
      if (point !== null || recipe.ofOp(...SYMBOL_LINKS, ...BIT_LINKS).length === 0) return;
      yield {
        place: ["metadata", "rate_count_fixed_point"],
        message: "The recipe does not declare where its rate is counted",
        hint: `Set metadata.rate_count_fixed_point to ${countingPoint(recipe)}`,
      };
    },
  },
  {
    code: "rate_count_fixed_point_invalid",
    severity: "warning",
    *find(recipe) {
      const point = recipe.recipe.metadata.rate_count_fixed_point ?? null;
      if (point === null) return;
      const [id, output, ...rest] = typeof point === "string" ? point.split(".") : [];
      const step = id === undefined ? undefined : recipe.step(id);
      // The step id alone suffices for a single output.
      const outputs = Object.keys(step?.contract?.output_kinds ?? {});
      if (output === undefined ? outputs.length === 1 : rest.length === 0 && outputs.includes(output)) return;
      yield {
        place: ["metadata", "rate_count_fixed_point"],
        message: "The point where the rate is counted is not an output of this recipe",
        hint: `Name an output, such as ${countingPoint(recipe)}`,
      };
    },
  },
];

/** The usual counting point of a recipe's rate. */
function countingPoint(recipe: LintView): string {
  const boundary = recipe.step("payload_bit_boundary") ?? recipe.step("tx_symbol_boundary");
  if (boundary) return `${boundary.id}.${boundary.op === "channel.symbol_boundary" ? "symbols" : "bits"}`;
  for (const link of recipe.ofOp(...SYMBOL_LINKS, ...BIT_LINKS)) {
    const sent = link.inputs.bits ?? link.inputs.symbols;
    if (sent !== undefined) return sent;
  }
  return "the output that is sent";
}

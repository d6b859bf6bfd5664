/** Values that contradict each other or the usual range of their unit. */
import type { Place } from "../../contract/error.ts";
import { isNumber, toNumber } from "../../contract/value.ts";
import { cdlProfile, PROFILE_MODELS, tdlProfile } from "../../numeric/channel/delay_profile.ts";
import { isCode } from "./streams.ts";
import { type LintStep, type LintView, opOf, paramOf, type Rule } from "./view.ts";

/** Usual values of parameters by their unit: a value outside was probably given in another unit. */
interface Usual {
  name: RegExp;
  low: number;
  high: number;
  /** Unit, and the unit that the value may have with its factor. */
  unit: string;
  others: readonly (readonly [string, number])[];
}
const USUAL: readonly Usual[] = [
  { name: /(^|_)snr_db$|^snr$|^interference_sir_db$/, low: -60, high: 120, unit: "dB", others: [] },
  {
    name: /^(delay_spread|maximum_delay)_ns$/,
    low: 0.01,
    high: 1e6,
    unit: "ns",
    others: [["seconds", 1e9], ["microseconds", 1e3]],
  },
  {
    name: /^carrier_frequency_ghz$/,
    low: 1e-3,
    high: 1e4,
    unit: "GHz",
    others: [["Hz", 1e-9], ["MHz", 1e-3]],
  },
  { name: /^subcarrier_spacing_khz$/, low: 0.1, high: 1e5, unit: "kHz", others: [["Hz", 1e-3], ["MHz", 1e3]] },
  { name: /^(bandwidth|sample_rate)_mhz$/, low: 1e-4, high: 1e5, unit: "MHz", others: [["Hz", 1e-6], ["GHz", 1e3]] },
  { name: /^mobility_kmh$/, low: 0, high: 3e4, unit: "km/h", others: [] },
  { name: /^altitude_km$/, low: 0, high: 1e5, unit: "km", others: [["m", 1e-3]] },
];

/** Place of a value of a parameter: in the step, or in the matrix that varies it. */
function* valuesOf(recipe: LintView, step: LintStep): Iterable<{ param: string; value: number; place: Place }> {
  for (const param of Object.keys(step.params)) {
    if (!recipe.chosen(step, param)) continue;
    const { values, dimension } = recipe.choices(step, param);
    for (const [index, value] of values.entries()) {
      if (!isNumber(value)) continue;
      yield {
        param,
        value: toNumber(value),
        place: dimension === null ? paramOf(step, param) : ["metadata", "matrix", "dimensions", dimension, index],
      };
    }
  }
}

const number = (recipe: LintView, step: LintStep, param: string): number => {
  const value = recipe.value(step, param);
  return isNumber(value) ? toNumber(value) : NaN;
};

/** Rounds to six digits, so that 300.00000000000006 reads 300. */
const short = (value: number) => `${Number(value.toPrecision(6))}`;

/** Delay of the last path of a channel on samples, in samples; null without one. */
function lastPath(recipe: LintView, channel: LintStep): number | null {
  const taps = recipe.value(channel, "taps");
  if (Array.isArray(taps) && taps.length > 0) {
    return Math.max(...taps.map((tap) => Array.isArray(tap) && isNumber(tap[0]) ? toNumber(tap[0]) : 0));
  }
  const model = recipe.value(channel, "tdl_model"), spread = number(recipe, channel, "delay_spread_ns");
  const rate = number(recipe, channel, "sample_rate_mhz");
  if (typeof model !== "string" || !(spread >= 0) || !(rate > 0)) return null;
  const clusters = recipe.is(channel, "channel_model", "cdl") && (PROFILE_MODELS as readonly string[]).includes(model);
  const profileOf = clusters ? cdlProfile : tdlProfile;
  const { delays, powers } = profileOf(model as "A", { delaySpread: spread * 1e-9, normalise: true });
  // Paths 30 dB below the strongest cause less interference than the noise of any usual link.
  const strongest = Math.max(...powers);
  return Math.max(
    ...delays.map((delay, tap) => powers[tap] < strongest * 1e-3 ? 0 : Math.floor(delay * rate * 1e6 + 0.5)),
  );
}

export const VALUE_RULES: readonly Rule[] = [
  {
    code: "value_implausible",
    severity: "warning",
    onRun: true,
    *find(recipe) {
      for (const step of recipe.steps) {
        for (const { param, value, place } of valuesOf(recipe, step)) {
          const usual = USUAL.find(({ name }) => name.test(param));
          if (usual === undefined || value === 0 || (value >= usual.low && value <= usual.high)) continue;
          const other = usual.others.find(([, factor]) => value * factor >= usual.low && value * factor <= usual.high);
          yield {
            place,
            message: `${param} of ${short(value)} ${usual.unit} is implausible: usual are ${short(usual.low)} to ${
              short(usual.high)
            } ${usual.unit}`,
            hint: other === undefined
              ? `${param} is in ${usual.unit}`
              : `Write ${short(value * other[1])}, if the value is in ${other[0]}`,
            step,
          };
        }
      }
    },
  },
  {
    code: "block_size_mismatch",
    severity: "warning",
    *find(recipe) {
      for (const step of recipe.ofOp("metrics.block_error_rate")) {
        const size = number(recipe, step, "block_size"), stream = recipe.stream(step, "candidate");
        const before = [...recipe.ancestors(step)];
        const [encoder, ...more] = before.filter(({ op }) => op === "channel.nr_ldpc_encoder");
        // Packets and codes that are still there have block sizes of their own.
        if (!encoder || more.length > 0 || !stream || stream.layers.some(isCode)) continue;
        if (before.some(({ op }) => op.startsWith("channel.packetize"))) continue;
        if (Object.hasOwn(encoder.inputs, "format")) continue;
        const block = number(recipe, encoder, "transport_block_size_bits");
        if (!(size > 0) || !(block > 0) || size === block) continue;
        yield {
          place: recipe.chosen(step, "block_size") ? paramOf(step, "block_size") : opOf(step),
          message: `${step.id} counts blocks of ${size} bits, and ${encoder.id} sends transport blocks of ${block}: ` +
            "its rate is not the BLER of the code",
          hint: `Set block_size to ${block}`,
          step,
        };
      }
    },
  },
  {
    // The estimators refuse it as well, for problems of other steps.
    code: "params_conflict",
    *find(recipe) {
      for (const step of recipe.ofOp("model.ls_channel_estimator", "model.channel_estimator_adapter")) {
        const from = recipe.source(step, "problem")?.step;
        if (from?.op !== "demodulation.ofdm_pilot_observation" || !recipe.takes(from, "example", "grid")) continue;
        if (recipe.is(step, "mode", "learned_artifact")) continue;
        yield {
          place: recipe.chosen(from, "example") ? paramOf(from, "example") : opOf(from),
          message:
            `Cannot estimate with ${step.id} from the whole grids of ${from.id}: it interpolates over one OFDM symbol`,
          hint: `Set example of ${from.id} to ofdm_symbol, or estimate by a trained artifact`,
          step,
        };
      }
    },
  },
  {
    code: "matched_before_estimator",
    severity: "warning",
    onRun: true,
    *find(recipe) {
      for (const step of recipe.ofOp("model.ofdm_channel_estimator", "demodulation.ofdm_pilot_observation")) {
        const channel = recipe.source(step, "rx_symbols")?.step;
        if (channel?.op !== "wireless.channel" || !recipe.takes(channel, "receiver_processing", "matched")) continue;
        if (recipe.is(channel, "channel", "awgn", "interference_awgn")) continue;
        yield {
          place: recipe.chosen(channel, "receiver_processing")
            ? paramOf(channel, "receiver_processing")
            : opOf(channel),
          message:
            `${channel.id} removes the channel with its true gains before ${step.id} estimates it: the estimate ` +
            "is that of no channel",
          hint: `Set receiver_processing of ${channel.id} to none`,
          step: channel,
        };
      }
    },
  },
  {
    code: "estimator_spacing_mismatch",
    severity: "warning",
    *find(recipe) {
      for (const step of recipe.ofOp("model.ofdm_channel_estimator")) {
        // Only this method uses the spacing.
        if (!recipe.takes(step, "method", "lmmse")) continue;
        const channel = [...recipe.ancestors(step)].find(({ op }) =>
          ["wireless.channel", "wireless.mimo_ofdm_channel"].includes(op)
        );
        if (!channel) continue;
        const assumed = number(recipe, step, "subcarrier_spacing_khz");
        const used = number(recipe, channel, "subcarrier_spacing_khz");
        if (!(assumed > 0) || !(used > 0) || assumed === used) continue;
        yield {
          place: recipe.chosen(step, "subcarrier_spacing_khz") ? paramOf(step, "subcarrier_spacing_khz") : opOf(step),
          message: `${step.id} assumes subcarriers ${short(assumed)} kHz apart, and those of ${channel.id} are ${
            short(used)
          } kHz apart`,
          hint: `Set subcarrier_spacing_khz of ${step.id} to ${short(used)}`,
          step,
        };
      }
    },
  },
  {
    code: "paths_beyond_cyclic_prefix",
    severity: "warning",
    *find(recipe) {
      for (const channel of recipe.ofOp("wireless.multipath_waveform")) {
        const waveform = [...recipe.ancestors(channel)].find(({ op }) => op === "modulation.ofdm_waveform");
        if (!waveform) continue;
        const prefix = number(recipe, waveform, "cp_length") * number(recipe, waveform, "oversampling");
        const last = lastPath(recipe, channel);
        if (last === null || !(last > prefix)) continue;
        const given = recipe.chosen(channel, "taps");
        yield {
          place: given ? paramOf(channel, "taps") : opOf(channel),
          message: `A path of ${channel.id} arrives ${last} samples late, and the cyclic prefix of ${waveform.id} has ${
            short(prefix)
          }: OFDM symbols interfere`,
          hint: `Set cp_length of ${waveform.id} to ${
            Math.ceil(last / number(recipe, waveform, "oversampling"))
          } or more, or shorten the channel`,
          step: channel,
        };
      }
    },
  },
];

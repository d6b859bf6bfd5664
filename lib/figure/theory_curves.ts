/**
 * Selects closed-form curves for measured series. A curve is drawn only for the exact measured quantity: a bit error
 * rate of an uncoded link of known steps over AWGN or flat Rayleigh fading, with x its Es/N0 or Eb/N0 in dB. Unknown
 * operations count as changing the error rate.
 */
import { isNumber, isObject, type JsonObject, toNumber } from "../contract/value.ts";
import { bitErrorRateAwgn, bitErrorRateRayleigh } from "../numeric/link/theory.ts";
import { BITS_PER_SYMBOL, type Modulation } from "../numeric/link/modulations.ts";

/** Modulations as figures name them. */
export const MODULATION_NAMES: Readonly<Record<string, string>> = {
  bpsk: "BPSK",
  qpsk: "QPSK",
  qam16: "16QAM",
  qam64: "64QAM",
  qam256: "256QAM",
} satisfies Record<Modulation, string>;

/** Operations that do not change bit errors, and decide symbol by symbol. */
const TRANSPARENT = new Set([
  "source.random_bits",
  "channel.bit_boundary",
  "channel.bit_count_match",
  "channel.symbol_boundary",
  "channel.symbol_count_match",
  "channel.symbol_power_identity",
  "channel.identity_encoder",
  "channel.identity_decoder",
  "channel.communication_resource_accounting",
  "channel.communication_resource_accounting.v2",
  "channel.communication_resource_accounting.v3",
  "channel.payload_passthrough_encoder",
  "channel.payload_passthrough_decoder",
  "modulation.digital_modulate",
  "demodulation.digital_demodulate",
  "wireless.channel",
]);

const BIT_ERROR_RATES = new Set(["channel.ber", "channel.payload.ber", "channel.coded.ber"]);

/** An uncoded link with a known error rate. */
export interface UncodedLink {
  modulation: Modulation;
  channel: "awgn" | "flat_rayleigh";
  snrDb: number;
}

/** Repetition by a factor of one is no code. */
function leavesErrorsAlone(op: string, { params }: JsonObject): boolean {
  if (op === "channel.repetition_encoder") return isObject(params) && params.factor === 1;
  // The decoder uses the factor of the encoder.
  if (op === "channel.repetition_decoder") return isObject(params) && (params.factor === 0 || params.factor === 1);
  return TRANSPARENT.has(op) || op.startsWith("metrics.");
}

/**
 * The link of a recipe, or null without a closed-form error rate.
 * @param recipe effective, with defaults
 */
export function uncodedLink(recipe: JsonObject | null): UncodedLink | null {
  const steps = Array.isArray(recipe?.steps) ? recipe.steps.filter(isObject) : [];
  const operations = steps.map(({ op }) => String(op));
  if (steps.some((step, i) => !leavesErrorsAlone(operations[i], step))) return null;
  const only = (op: string) => {
    const found = steps.filter((step) => step.op === op);
    return found.length === 1 && isObject(found[0].params) ? found[0].params : null;
  };
  const [modulator, channel] = [only("modulation.digital_modulate"), only("wireless.channel")];
  if (modulator === null || channel === null) return null;
  const { modulation } = modulator;
  const plain = (channel.channel === "awgn" || channel.channel === "flat_rayleigh") &&
    channel.noise_mode === "snr_at_unit_power" && channel.receiver_processing === "matched" &&
    channel.channel_state_mode === "none" && isNumber(channel.snr_db);
  if (!plain || typeof modulation !== "string" || !(modulation in MODULATION_NAMES)) return null;
  return {
    modulation: modulation as Modulation,
    channel: channel.channel as UncodedLink["channel"],
    snrDb: toNumber(channel.snr_db as number),
  };
}

export interface TheoryCurve {
  label: string;
  points: { x: number; y: number }[];
  /** Indices of the series that it is the expectation of. */
  series: number[];
}

/** Number of points, enough for a smooth line in print. */
const POINTS = 81;

/**
 * The closed-form curves for measured points.
 * @param points plotted x and its link, null for an unknown link; one list per series
 * @returns one curve per pair of modulation and channel, in the order of the series; a series with an unknown link has
 *   none
 */
export function theoryCurves(
  metric: string,
  series: readonly (readonly { x: number; link: UncodedLink | null }[])[],
): TheoryCurve[] {
  if (!BIT_ERROR_RATES.has(metric)) return [];
  const known = series.flatMap((points, index) => {
    const first = points[0]?.link;
    if (!first) return [];
    // Es/N0 less x: 0, or the bits of a symbol in dB where x is Eb/N0.
    const offset = [0, 10 * Math.log10(BITS_PER_SYMBOL[first.modulation])].find((offset) =>
      points.every(({ x, link }) =>
        link?.modulation === first.modulation && link.channel === first.channel &&
        Math.abs(link.snrDb - x - offset) < 1e-9
      )
    );
    return offset === undefined ? [] : [{ ...first, index, offset }];
  });
  const xs = series.flat().map(({ x }) => x);
  const low = Math.min(...xs), high = Math.max(...xs);
  const curves = new Map<string, TheoryCurve>();
  for (const { modulation, channel, index, offset } of known) {
    const label = `Theory: ${MODULATION_NAMES[modulation]}, ${channel === "awgn" ? "AWGN" : "Rayleigh"}`;
    curves.get(label)?.series.push(index);
    if (curves.has(label) || !(high > low)) continue;
    const rate = channel === "awgn" ? bitErrorRateAwgn : bitErrorRateRayleigh;
    const points = Array.from({ length: POINTS }, (_, i) => {
      const x = Number((low + (high - low) * i / (POINTS - 1)).toPrecision(12));
      // Twelve digits: the last ones of exp differ between machines.
      return { x, y: Number(rate(modulation, 10 ** ((x + offset) / 10)).toPrecision(12)) };
    });
    curves.set(label, { label, points, series: [index] });
  }
  return [...curves.values()];
}

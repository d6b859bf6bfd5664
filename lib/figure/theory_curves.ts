/**
 * Selects closed-form curves for measured series. A curve is drawn only where the wires prove what the metric compares: bits
 * before the modulator with their hard decisions, or bits before a repetition code with the majority of their copies, over
 * AWGN or flat Rayleigh fading, with x the Es/N0 or Eb/N0 of the link in dB. An unknown operation on these wires gives none.
 */
import { isNumber, isObject, type JsonObject, toNumber } from "../contract/value.ts";
import { bitErrorRateAwgn, bitErrorRateMajority, bitErrorRateRayleigh } from "../numeric/link/theory.ts";
import { BITS_PER_SYMBOL, type Modulation } from "../numeric/link/modulations.ts";

/** Modulations as figures name them. */
export const MODULATION_NAMES: Readonly<Record<string, string>> = {
  bpsk: "BPSK",
  qpsk: "QPSK",
  qam16: "16QAM",
  qam64: "64QAM",
  qam256: "256QAM",
} satisfies Record<Modulation, string>;

/** Operations that pass the bits or symbols of their one input on. */
const TRANSPARENT = new Set([
  "channel.bit_boundary",
  "channel.symbol_boundary",
  "channel.symbol_power_identity",
  "channel.identity_encoder",
  "channel.identity_decoder",
  "channel.payload_passthrough_encoder",
  "channel.payload_passthrough_decoder",
]);
const ENCODER = "channel.repetition_encoder", DECODER = "channel.repetition_decoder";
const NORMALIZER = "channel.symbol_power_normalize";

/** A link with a known bit error rate. */
export interface KnownLink {
  modulation: Modulation;
  channel: "awgn" | "flat_rayleigh";
  snrDb: number;
  /** Copies of each bit before the modulator. */
  copies: number;
  /** Whether the majority of the copies is compared. */
  majority: boolean;
}

interface Step {
  id: string;
  op: string;
  inputs: JsonObject;
  params: JsonObject;
}

const number = (value: unknown): number | null => isNumber(value as number) ? toNumber(value as number) : null;

function passesOn({ op, params }: Step): boolean {
  if (op === ENCODER || op === DECODER) return number(params.factor) === 1;
  // Symbols of one amplitude, see below.
  if (op === NORMALIZER) return number(params.target_power) === 1;
  return TRANSPARENT.has(op);
}

/**
 * The link behind a bit error rate of a recipe, or null without a closed form.
 * @param recipe effective, with defaults
 * @param metric `channel.ber` where one step reports it, or `<step>:channel.ber`
 */
export function knownLink(recipe: JsonObject | null, metric: string): KnownLink | null {
  const steps = (Array.isArray(recipe?.steps) ? recipe.steps : []).filter(isObject).map((step): Step => ({
    id: String(step.id),
    op: String(step.op),
    inputs: isObject(step.inputs) ? step.inputs : {},
    params: isObject(step.params) ? step.params : {},
  }));
  /** The step and the wire where the values of a wire come from. */
  const origin = (wire: unknown): { step: Step; wire: string } | null => {
    if (typeof wire !== "string") return null;
    const step = steps.find(({ id }) => id === wire.slice(0, wire.indexOf(".")));
    if (step === undefined) return null;
    const wired = Object.values(step.inputs);
    return wired.length === 1 && passesOn(step) ? origin(wired[0]) : { step, wire };
  };
  const [name, ...owner] = metric.split(":").reverse();
  const reports = steps.filter(({ id, op, params }) =>
    op === "metrics.bit_error_rate" && name === `channel.${params.label ?? "ber"}` &&
    (owner.length === 0 || owner[0] === id)
  );
  if (reports.length !== 1) return null;

  const compared = origin(reports[0].inputs.candidate);
  const majority = compared?.step.op === DECODER ? compared.step : null;
  const demapper = majority === null ? compared : origin(majority.inputs.coded_bits);
  if (demapper?.step.op !== "demodulation.digital_demodulate" || !demapper.wire.endsWith(".bits")) return null;
  const channel = Object.keys(demapper.step.inputs).length === 1 ? origin(demapper.step.inputs.rx_symbols)?.step : null;
  if (channel?.op !== "wireless.channel" || Object.keys(channel.inputs).length !== 1) return null;
  const mapper = origin(channel.inputs.symbols)?.step;
  if (mapper?.op !== "modulation.digital_modulate") return null;
  const { modulation } = mapper.params, demapped = demapper.step.params.modulation;
  if (typeof modulation !== "string" || !Object.hasOwn(MODULATION_NAMES, modulation)) return null;
  if (demapped !== "auto" && demapped !== modulation) return null;

  const mapped = origin(mapper.inputs.bits), encoder = mapped?.step.op === ENCODER ? mapped.step : null;
  const copies = encoder === null ? 1 : number(encoder.params.factor)!;
  const sent = majority === null || encoder === null ? mapped : origin(encoder.inputs.bits);
  if (sent === null || origin(reports[0].inputs.reference)?.wire !== sent.wire) return null;
  if (majority !== null && ![0, copies].includes(number(majority.params.factor)!)) return null;

  const { channel: preset, noise_mode, receiver_processing, channel_state_mode, fading_scope } = channel.params;
  const snrDb = number(channel.params.snr_db);
  if (preset !== "awgn" && preset !== "flat_rayleigh" || snrDb === null) return null;
  if (noise_mode !== "snr_at_unit_power" || receiver_processing !== "matched" || channel_state_mode !== "none") {
    return null;
  }
  // All bits of BPSK and QPSK err alike. The others need fair bits and the mapped power, an even split needs fair bits.
  const alike = modulation === "bpsk" || modulation === "qpsk", fair = sent.step.op === "source.random_bits";
  if (!alike && (!fair || copies > 1 || steps.some(({ op }) => op === NORMALIZER))) return null;
  const decided = majority !== null && copies > 1;
  if (decided && (copies % 2 === 0 && !fair || preset === "flat_rayleigh" && fading_scope !== "symbol")) return null;
  return { modulation: modulation as Modulation, channel: preset, snrDb, copies, majority: decided };
}

export interface TheoryCurve {
  label: string;
  /** Of the formula. */
  source: string;
  points: { x: number; y: number }[];
  /** Indices of the series that it is the expectation of. */
  series: number[];
}

/** The sources of the formulas of some curves, which go with their figure. */
export function theorySource(curves: readonly TheoryCurve[]): { theory?: string } {
  const sources = new Set(curves.map(({ source }) => source));
  return sources.size === 0 ? {} : { theory: [...sources].join("; ") };
}

function sourceOf({ modulation, channel, majority }: KnownLink): string {
  if (channel === "awgn") return "Cho and Yoon 2002, eq. 14-16";
  return majority && modulation === "qpsk" ? "Simon and Alouini 2005, 5.4.1" : "Proakis and Salehi 2008, 13.3";
}

/** Number of points, enough for a smooth line in print. */
const POINTS = 81;

/**
 * The closed-form curves for measured points.
 * @param series plotted x and its link, null for an unknown link; one list per series
 * @returns one curve per kind of link, in the order of the series; a series with an unknown link has none
 */
export function theoryCurves(
  series: readonly (readonly { x: number; link: KnownLink | null }[])[],
): TheoryCurve[] {
  const known = series.flatMap((points, index) => {
    const first = points[0]?.link;
    if (!first) return [];
    const { modulation, channel, copies, majority } = first;
    // Es/N0 less x: 0, or the payload bits of a symbol in dB where x is Eb/N0.
    const offset = [0, 10 * Math.log10(BITS_PER_SYMBOL[modulation] / copies)].find((offset) =>
      points.every(({ x, link }) =>
        link?.modulation === modulation && link.channel === channel && link.copies === copies &&
        link.majority === majority && Math.abs(link.snrDb - x - offset) < 1e-9
      )
    );
    return offset === undefined ? [] : [{ ...first, index, offset }];
  });
  const xs = series.flat().map(({ x }) => x);
  const low = Math.min(...xs), high = Math.max(...xs);
  const curves = new Map<string, TheoryCurve>();
  for (const { index, offset, ...link } of known) {
    const { modulation, channel, copies, majority } = link;
    const label = `Theory: ${MODULATION_NAMES[modulation]}, ${channel === "awgn" ? "AWGN" : "Rayleigh"}${
      majority ? `, majority of ${copies}` : ""
    }`;
    curves.get(label)?.series.push(index);
    if (curves.has(label) || !(high > low)) continue;
    const plain = channel === "awgn" ? bitErrorRateAwgn : bitErrorRateRayleigh;
    const rate = (esN0: number) =>
      majority ? bitErrorRateMajority(modulation as "bpsk" | "qpsk", channel, esN0, copies) : plain(modulation, esN0);
    const points = Array.from({ length: POINTS }, (_, i) => {
      const x = Number((low + (high - low) * i / (POINTS - 1)).toPrecision(12));
      // Twelve digits: the last ones of exp differ between machines.
      return { x, y: Number(rate(10 ** ((x + offset) / 10)).toPrecision(12)) };
    });
    curves.set(label, { label, source: sourceOf(link), points, series: [index] });
  }
  return [...curves.values()];
}

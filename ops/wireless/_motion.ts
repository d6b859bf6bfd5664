/**
 * Gains that move in time: one continuous realisation over a stream, evaluated at start_time_s and later. Slots of one stream
 * continue each other: they name the same stream, and each starts where the one before it ended.
 */
import { type ParameterProblem, usedWhen, z } from "../api.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import {
  DOPPLER_SPECTRA,
  maximumDopplerHz,
  type Motion,
  PROFILE_MODELS,
  type TdlModel,
} from "../../lib/numeric/channel/delay_profile.ts";
import { Generator } from "../../lib/numeric/random/random.ts";

/** Marks a parameter that only a motion uses. */
export const IN_MOTION = { "x-svc-effective-when": { time_variation: "doppler" } };
/** Marks the delay spread: other profiles have delays of their own. */
export const OF_DELAY_SPREAD = usedWhen({ tdl_model: [...PROFILE_MODELS] });
const OF_TRAIN = { ...IN_MOTION, ...usedWhen({ tdl_model: "HST" }, { unit: "m" }) };

export const MOTION_PARAMS = {
  time_variation: z.enum(["static", "doppler"]).optional()
    .describe(
      "static (default): gains constant within a block; doppler: gains that move at mobility_kmh without a break",
    ),
  doppler_spectrum: z.enum(DOPPLER_SPECTRA).default("jakes").meta(IN_MOTION)
    .describe("spectrum of the 20 waves of a tap: jakes for all directions, or flat; cdl has that of its rays"),
  start_time_s: z.number().min(0).max(1e6).default(0).meta({ ...IN_MOTION, "x-svc-ui": { unit: "s" } })
    .describe("time of the first sample in s"),
  stream: z.string().min(1).max(200).optional().meta(IN_MOTION)
    .describe(
      "name that seeds the fading in place of the step; slots with one name and successive start times are continuous",
    ),
  hst_site_distance_m: z.number().positive().max(1e6).default(700).meta(OF_TRAIN)
    .describe("twice the distance along the track from the train to the first site at time 0 in m, D_s of HST"),
  hst_track_distance_m: z.number().positive().max(1e6).default(150).meta(OF_TRAIN)
    .describe("distance of the sites from the track in m, D_min of HST"),
};

export type MotionParams = z.output<z.ZodObject<typeof MOTION_PARAMS>>;

export const isMoving = ({ time_variation }: MotionParams): boolean => time_variation === "doppler";

/** Everything of a motion but its samples. */
export type Moving = Omit<Motion, "samples"> & { start: number; stream: string | undefined };

/** The motion of a receiver; null for a static channel. @param interval seconds from one sample to the next */
export function movingOf(
  params: MotionParams & { mobility_kmh?: number; carrier_frequency_ghz: number; tdl_model: TdlModel },
  interval: number,
): Moving | null {
  if (!isMoving(params)) return null;
  const { mobility_kmh: mobility = 3 } = params;
  const passing = {
    speed: mobility / 3.6,
    siteDistance: params.hst_site_distance_m,
    trackDistance: params.hst_track_distance_m,
  };
  return {
    dopplerHz: maximumDopplerHz(mobility, params.carrier_frequency_ghz),
    interval,
    start: params.start_time_s,
    spectrum: params.doppler_spectrum,
    stream: params.stream,
    ...(params.tdl_model === "HST" ? { passing } : {}),
  };
}

/**
 * Draws the fading of a stream in parts, each from a copy of one generator, so that all parts belong to one realisation.
 * @param draw the part of `samples` samples from a start; it draws the same values for every part
 */
export function realisationOf<T>(
  { stream, ...moving }: Moving,
  generator: Generator,
  draw: (motion: Motion, generator: Generator) => T,
): (first: number, samples: number) => T {
  const named = stream === undefined ? undefined : Generator.seeded(BigInt(`0x${sha256Hex(stream).slice(0, 32)}`));
  const fading = (named ?? generator).copy();
  // The step's own generator draws the noise next: it goes past the values of the fading.
  if (named === undefined) draw({ ...moving, samples: 1 }, generator);
  return (first, samples) => draw({ ...moving, start: moving.start + first * moving.interval, samples }, fading.copy());
}

/** Conflicts of the profile of a tapped delay line, or of clusters. */
export function profileProblems(
  { tdl_model: model, ...motion }: MotionParams & { tdl_model: TdlModel },
  clusters: boolean,
): ParameterProblem[] {
  if (clusters && !(PROFILE_MODELS as readonly string[]).includes(model)) {
    return [{
      place: ["tdl_model"],
      message: `Cannot use ${model} for clusters: it is a tapped delay line of TS 38.101-4`,
      hint: "Set tdl_model to A, B, C, D or E",
    }];
  }
  return model === "HST" && !isMoving(motion)
    ? [{
      place: ["tdl_model"],
      message: "Cannot use HST without a motion: its tap is the Doppler shift of a train",
      hint: "Set time_variation to doppler",
    }]
    : [];
}

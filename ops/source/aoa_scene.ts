/**
 * Angles of far-field sources, in degrees from the broadside of an array: uniform between two limits, or given ones.
 * Several sources of an example are at least minimum_separation_deg apart and ascending; their powers and the correlation
 * of their signals travel in the metadata, to wireless.ula_array_observation.
 *
 * Shapes: scene float64 [example], or [example, source] for more than one source. Draws: uniform angles [example]; for
 * more than one source uniform angles [source] per example, repeated until the separation holds.
 */
import { defineOperation, float, type ParameterProblem, seedParameter, SvcError, usedWhen, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { AOA_SCENE } from "../_aoa.ts";

const MOST_SOURCES = 64;
/** Draws of one example until its sources are apart. */
const MOST_TRIES = 1000;

const angleParameter = (fallback: number, angle_mode: string) =>
  z.number().min(-90).max(90).default(fallback).meta({
    "x-svc-ui": { unit: "degree" },
    "x-svc-used-when": { angle_mode },
  });

const PARAMS = z.strictObject({
  example_count: z.int().positive().default(16).describe("number of examples"),
  angle_mode: z.enum(["random_uniform", "fixed"]).default("random_uniform")
    .describe("angles drawn uniformly, or given"),
  angle_min_deg: angleParameter(-60, "random_uniform").describe("least angle from broadside in degrees"),
  angle_max_deg: angleParameter(60, "random_uniform").describe("largest angle from broadside in degrees"),
  source_angle_deg: angleParameter(0, "fixed").describe("angle in degrees; 0 is broadside"),
  source_count: z.int().min(1).max(MOST_SOURCES).optional()
    .describe("sources of an example; default 1, or the number of source_angles_deg")
    .meta(usedWhen({ angle_mode: "random_uniform" })),
  minimum_separation_deg: z.number().min(0).max(180).optional()
    .describe("least distance of drawn sources in degrees; default 10")
    .meta(usedWhen({ angle_mode: "random_uniform" }, { unit: "degree" })),
  source_angles_deg: z.array(z.number().min(-90).max(90)).max(MOST_SOURCES).optional()
    .describe("angles of all sources in degrees, instead of drawn ones; default none"),
  source_correlation: z.number().min(0).max(1).optional()
    .describe("correlation coefficient of each pair of signals, 1 for coherent sources; default 0"),
  source_powers_db: z.array(z.number().min(-200).max(200)).max(MOST_SOURCES).optional()
    .describe("power of each source in dB above snr_db of the array; default 0"),
  seed: seedParameter(0, { angle_mode: "random_uniform" }),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "source.aoa_scene",
  name: "Far-field direction-of-arrival scenes",
  description: "Draws directions of arrival of one or several sources",
  outputs: { scene: AOA_SCENE },
  params: PARAMS,
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  check(params) {
    const { angle_min_deg: low, angle_max_deg: high } = params, given = givenAngles(params);
    const sources = sourceCount(params), problems: ParameterProblem[] = [];
    if (low > high) {
      problems.push({
        message: `Cannot draw angles from ${low} to ${high} degrees`,
        place: ["angle_min_deg"],
        hint: "Set angle_min_deg to at most angle_max_deg",
      });
    }
    for (const name of ["source_angles_deg", "source_powers_db"] as const) {
      const { length } = params[name] ?? [];
      if (length === 0 || length === sources) continue;
      problems.push({
        message: `Cannot use ${length} values of ${name} for ${sources} sources`,
        place: [name],
        hint: "Set source_count to their number",
      });
    }
    if (sources === 1 || given.length > 0) return problems;
    if (params.angle_mode === "fixed") {
      problems.push({
        message: `Cannot place ${sources} sources at one angle`,
        place: ["angle_mode"],
        hint: "Set source_angles_deg",
      });
    } else if ((sources - 1) * separation(params) > high - low) {
      problems.push({
        message: `Cannot place ${sources} sources ${separation(params)} degrees apart from ${low} to ${high} degrees`,
        place: ["minimum_separation_deg"],
        hint: "Use fewer sources, a smaller separation or wider limits",
      });
    }
    return problems;
  },
  estimate: (params) => ({ scene: [["float64", ...shapeOf(params)]] }),
  run({ params, generator }) {
    const { example_count: examples } = params, sources = sourceCount(params), given = givenAngles(params);
    const powers = params.source_powers_db?.length ? params.source_powers_db : Array<number>(sources).fill(0);
    // Given powers follow their angles into the ascending order.
    const order = Array.from({ length: sources }, (_, i) => i);
    if (given.length > 0) order.sort((p, q) => given[p] - given[q] || p - q);
    const facts = {
      source_count: sources,
      source_powers_db: order.map((i) => float(powers[i])),
      source_correlation: float(params.source_correlation ?? 0),
    };
    const stated = sources > 1 || (params.source_powers_db?.length ?? 0) > 0;
    const angles = anglesOf(params, order.map((i) => given[i]), generator);
    return {
      outputs: {
        scene: {
          array: ndarray("float64", angles, shapeOf(params)),
          metadata: {
            example_count: examples,
            angle_mode: given.length > 0 ? "fixed" : params.angle_mode,
            unit: "degree",
            ...(stated ? facts : {}),
          },
        },
      },
    };
  },
});

const givenAngles = ({ source_angles_deg: given }: Params): number[] => given ?? [];
const sourceCount = (params: Params): number => params.source_count ?? (givenAngles(params).length || 1);
const shapeOf = (params: Params): number[] =>
  sourceCount(params) === 1 ? [params.example_count] : [params.example_count, sourceCount(params)];
const separation = ({ minimum_separation_deg: least }: Params): number => least ?? 10;

/** Angles [example, source]. @param given ascending, of one example; drawn angles when it is empty */
function anglesOf(params: Params, given: number[], generator: Generator): Float64Array<ArrayBuffer> {
  const { example_count: examples, angle_min_deg: low, angle_max_deg: high } = params, sources = sourceCount(params);
  const drawn = (count: number) => (generator.random(count) as Float64Array).map((u) => low + (high - low) * u);
  const fixed = givenAngles(params).length > 0
    ? given
    : params.angle_mode === "fixed"
    ? [params.source_angle_deg]
    : null;
  const angles = new Float64Array(examples * sources);
  if (fixed === null && sources === 1) {
    angles.set(drawn(examples));
    return angles;
  }
  for (let example = 0; example < examples; example++) {
    angles.set(fixed ?? separated(() => drawn(sources), separation(params)), example * sources);
  }
  return angles;
}

/** @throws SvcError `params_conflict` when no draw has the separation */
function separated(draw: () => Float64Array, least: number): Float64Array {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const angles = draw().sort();
    if (angles.every((angle, i) => i === 0 || angle - angles[i - 1] >= least)) return angles;
  }
  throw new SvcError("params_conflict", `Cannot draw sources ${least} degrees apart in ${MOST_TRIES} tries`, {
    hint: "Use fewer sources, a smaller minimum_separation_deg or wider limits",
  });
}

/**
 * Range-Doppler maps of OFDM echoes, and the ranges and velocities of their peaks. Formulas: lib/numeric/antenna/range_doppler.ts.
 *
 * Peaks are taken by falling power, each blanks ±guard_cells bins cyclically. `largest` takes target_count of them; `ca_cfar`
 * takes the cells above the threshold only, target_count at most, and leaves the other rows at 0. `refine` moves a peak to the
 * vertex of a parabola in dB, axis by axis. The false-alarm probability of `ca_cfar` holds for cells of white noise and the
 * rectangular window; a hann window makes neighbouring resolution cells dependent.
 *
 * Shapes: echo complex64 [example, subcarrier, symbol] -> map float32 [example, range bin, Doppler bin], estimate float64
 * [example, target, 2] (see ../_range_doppler.ts).
 */
import { defineOperation, float, messageOf, type Metrics, SvcError, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  cfarCells,
  cfarSpan,
  ECHO_WINDOWS,
  RangeDopplerTransform,
  refinePeak,
  strongestCells,
  unambiguous,
} from "../../lib/numeric/antenna/range_doppler.ts";
import { notExported } from "../_backends.ts";
import {
  ECHO_ESTIMATE,
  echoFrame,
  FRAME_KEYS,
  frameMetadata,
  OFDM_ECHO,
  RANGE_DOPPLER_MAP,
  targetsArtifact,
} from "../_range_doppler.ts";

const PARAMS = z.strictObject({
  window: z.enum(ECHO_WINDOWS).default("rectangular").describe("window over subcarriers and over symbols"),
  zero_pad_factor: z.int().min(1).max(64).default(4).describe("bins of a resolution cell, on both axes"),
  target_count: z.int().positive().default(1).describe("peaks of an example, at most for ca_cfar"),
  guard_cells: z.int().nonnegative().default(6).describe("bins around a peak that belong to it"),
  refine: z.boolean().default(false).describe("interpolate between bins"),
  detector: z.enum(["largest", "ca_cfar"]).default("largest").describe(
    "the strongest peaks, or those above the threshold of a cell-averaging CFAR detector",
  ),
  false_alarm_probability: z.number().gt(0).lt(1).default(1e-4).describe("of a cell of noise")
    .meta({ "x-svc-used-when": { detector: "ca_cfar" } }),
});

export default defineOperation({
  id: "model.range_doppler_map",
  name: "Range-Doppler map",
  description: "Transforms OFDM echoes to range-Doppler maps and estimates the targets at their peaks",
  inputs: { echo: [OFDM_ECHO] },
  outputs: { map: RANGE_DOPPLER_MAP, estimate: ECHO_ESTIMATE },
  params: PARAMS,
  differentiability: notExported("torch", "stop", "Peaks are chosen"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { estimate: { keys: [...FRAME_KEYS] } },
  estimate: ({ zero_pad_factor: p, target_count: t }, { echo: { shape } }) =>
    shape === undefined ? {} : {
      map: [["float32", shape[0], p * shape[1], p * shape[2]]],
      estimate: [["float64", shape[0], t, 2], ["float64", shape[0], t]],
    },
  run({ inputs, params, progress }) {
    const arrays = arraysOf(inputs.echo), shape = ["example", "subcarrier", "symbol"];
    const received = arrays.read("complex64", shape), reference = arrays.read("complex64", shape, "reference");
    const [examples, subcarriers, symbols] = shape.map((name) => arrays.size(name));
    const { zero_pad_factor: padding, guard_cells: guard, target_count: count } = params;
    const { frame, noise } = echoFrame(inputs.echo, subcarriers, symbols);
    checkWindow(params, subcarriers, symbols);
    const transform = new RangeDopplerTransform(subcarriers, symbols, padding, params.window);
    const { rangeBins: rows, dopplerBins: columns } = transform, span = unambiguous(frame);
    const rangeStep = span.range / rows, velocityStep = span.velocity / columns, rest = Math.floor(columns / 2);
    const maps = new Float32Array(examples * rows * columns), stride = 2 * subcarriers * symbols;
    const places = new Float64Array(2 * examples * count), powers = new Float64Array(examples * count);
    let above = 0;
    for (let example = 0; example < examples; example++) {
      const own = (array: Float32Array) => array.subarray(example * stride, (example + 1) * stride);
      const map = { power: mapOf(transform, own(received), own(reference)), rows, columns };
      maps.set(map.power, example * rows * columns);
      const eligible = params.detector === "ca_cfar"
        ? cfarCells(map, { padding, guard, probability: params.false_alarm_probability })
        : undefined;
      above += eligible?.reduce((sum, cell) => sum + cell, 0) ?? 0;
      const peaks = strongestCells(map, { count, guard, eligible });
      if (peaks.length < count && eligible === undefined) {
        throw new SvcError(
          "params_conflict",
          `Cannot find ${count} peaks in ${rows} × ${columns} bins with guards of ±${guard}`,
          {
            hint: `Lower guard_cells or target_count; ${peaks.length} fit`,
          },
        );
      }
      peaks.forEach((peak, i) => {
        const at = example * count + i, { row, column, power } = params.refine ? refinePeak(map, peak) : peak;
        places.set([row * rangeStep, (column - rest) * velocityStep], 2 * at);
        powers[at] = power;
      });
      progress(example + 1, examples, { unit: "examples" });
    }
    const metrics: Metrics = params.detector === "ca_cfar" ? { "isac.cfar_crossing_rate": above / maps.length } : {};
    return {
      outputs: {
        map: {
          array: ndarray("float32", maps, [examples, rows, columns]),
          metadata: {
            example_count: examples,
            range_step_m: float(rangeStep),
            velocity_step_mps: float(velocityStep),
          },
        },
        estimate: targetsArtifact(places, powers, examples, frameMetadata(frame, noise)),
      },
      metrics,
    };
  },
});

/** @throws SvcError `params_conflict` when the window of the CFAR detector is larger than the map */
function checkWindow(
  { detector, guard_cells, zero_pad_factor }: z.output<typeof PARAMS>,
  subcarriers: number,
  symbols: number,
) {
  const span = cfarSpan(guard_cells, zero_pad_factor);
  if (detector !== "ca_cfar" || span <= Math.min(subcarriers, symbols)) return;
  throw new SvcError(
    "params_conflict",
    `Cannot train on ${span} resolution cells of a frame of ${subcarriers} subcarriers and ${symbols} symbols`,
    { hint: "Lower guard_cells, or use a larger frame" },
  );
}

/** @throws SvcError `boundary_value_invalid` for a reference with a zero */
function mapOf(transform: RangeDopplerTransform, received: Float32Array, reference: Float32Array): Float64Array {
  try {
    return transform.run(received, reference);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", messageOf(error));
  }
}

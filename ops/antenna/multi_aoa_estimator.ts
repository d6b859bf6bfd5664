/**
 * Directions of arrival of several sources at a uniform linear array, by MUSIC, root-MUSIC, ESPRIT, Capon or Bartlett;
 * formulas: lib/numeric/antenna/several_directions.ts. R = XXᴴ/N, averaged over the subarrays of spatial_smoothing_subarray antennas
 * and with J R* J when asked for; coherent sources need one of the two.
 *
 * The number of sources is source_count, or the order by AIC or MDL of each example; an order of 0 still gives one angle. Rows
 * with fewer angles than others, and spectra with fewer peaks than sources, repeat the strongest one. Angles are
 * ascending within the valid part of a row.
 *
 * Shapes: problem complex64 [example, antenna, snapshot] -> estimate float64 [example, source], degrees, with the companions
 * source_count (valid angles of the row) and order (by the criterion), int32 [example].
 */
import { defineOperation, float, SvcError, z } from "../api.ts";
import { REPORT } from "../../lib/contract/kinds.ts";
import { reportResult } from "../../lib/artifact/values.ts";
import { sampleCovariance } from "../../lib/numeric/antenna/array_response.ts";
import { hermitianEigen } from "../../lib/numeric/linalg/hermitian_eigen.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { type Directions, isSingular, SpectrumSearch } from "../../lib/numeric/antenna/array_spectrum.ts";
import {
  esprit,
  forwardBackward,
  rootMusic,
  sourceOrder,
  spatiallySmoothed,
} from "../../lib/numeric/antenna/several_directions.ts";
import { AOA_ESTIMATE, AOA_OBSERVATION, AOA_PROBLEM, arrayProblemOf, gridOfStep } from "../_aoa.ts";
import { executed, notExported } from "../_backends.ts";

const MODES = ["music", "root_music", "esprit", "capon", "bartlett"] as const;

export default defineOperation({
  id: "model.multi_aoa_estimator",
  name: "Direction finding of several sources",
  description: "Estimates the number and the directions of arrival of several sources",
  inputs: { problem: [AOA_PROBLEM, AOA_OBSERVATION] },
  outputs: { estimate: AOA_ESTIMATE, report: REPORT },
  params: z.strictObject({
    mode: z.enum(MODES).default("music").describe("method"),
    source_count: z.int().min(0).max(1023).default(0).describe(
      "number of sources; 0 takes the order of order_criterion",
    ),
    order_criterion: z.enum(["mdl", "aic"]).default("mdl").describe("criterion of the number of sources"),
    grid_step_deg: z.number().min(0.001).max(90).default(0.25).describe("angular step of the spectra in degrees")
      .meta({ "x-svc-ui": { unit: "degree" }, "x-svc-used-when": { mode: ["music", "capon", "bartlett"] } }),
    esprit_variant: z.enum(["ls", "tls"]).default("ls").describe("least squares or total least squares")
      .meta({ "x-svc-used-when": { mode: "esprit" } }),
    forward_backward: z.boolean().default(false).describe("average the covariance with its reversed conjugate"),
    spatial_smoothing_subarray: z.int().min(0).max(1024).default(0)
      .describe("antennas of the subarrays whose covariances are averaged; 0 for none"),
    diagonal_loading: z.number().min(0).default(0).describe(
      "share of the mean eigenvalue that Capon adds to the diagonal",
    )
      .meta({ "x-svc-used-when": { mode: "capon" } }),
  }),
  differentiability: notExported("numpy", "stop", "Peaks, roots and orders are searched"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-4, rtol: 0 } },
  formats: { artifact: "npz", tensor: "none" },
  materializations: MODES.flatMap((mode) => executed("numpy", `numpy_${mode}_directions`, { mode })),
  inputMetadataRequirements: { problem: { all_of: ["element_spacing_wavelengths"] } },
  estimate({ source_count: sources }, { problem: { shape } }) {
    if (shape === undefined) return {};
    const [examples, antennas] = shape;
    // Without a count at most one source less than antennas is found.
    return {
      estimate: sources === 0
        ? 8 * examples * antennas
        : [["float64", examples, sources], ["int32", examples], ["int32", examples]],
    };
  },
  run({ inputs, params, progress }) {
    const { examples, antennas, snapshots, received, spacing } = arrayProblemOf(inputs.problem);
    const { mode, spatial_smoothing_subarray: subarray, source_count: wanted } = params, size = subarray || antennas;
    const parts = [
      ...(params.forward_backward ? ["forward_backward"] : []),
      ...(subarray > 0 ? [`spatial_smoothing_${subarray}`] : []),
    ];
    if (size > antennas) {
      throw new SvcError("params_conflict", `Cannot take subarrays of ${size} antennas from ${antennas}`, {
        hint: `Set spatial_smoothing_subarray to at most ${antennas}`,
      });
    }
    if (Math.max(wanted, 1) >= size) {
      throw new SvcError("params_conflict", `Cannot find ${Math.max(wanted, 1)} sources with ${size} antennas`, {
        hint: "A covariance of M antennas separates at most M - 1 sources",
      });
    }
    const gridded = mode === "music" || mode === "capon" || mode === "bartlett";
    const search = gridded ? new SpectrumSearch(gridOfStep(params.grid_step_deg), size, spacing) : undefined;
    const orders = new Int32Array(examples), counts = new Int32Array(examples), found: Directions[] = [];
    for (let example = 0, stride = 2 * antennas * snapshots; example < examples; example++) {
      let r = sampleCovariance(received.subarray(example * stride, (example + 1) * stride), antennas, snapshots);
      if (subarray > 0) r = spatiallySmoothed(r, antennas, subarray);
      if (params.forward_backward) r = forwardBackward(r, size);
      const eigen = hermitianEigen(r, size);
      orders[example] = sourceOrder(eigen.values, snapshots, params.order_criterion);
      const count = counts[example] = wanted || Math.max(1, orders[example]);
      if (search === undefined) {
        found.push(
          mode === "root_music"
            ? rootMusic(eigen, size, count, spacing)
            : esprit(eigen, size, count, { spacing, variant: params.esprit_variant }),
        );
      } else {
        const loading = params.diagonal_loading * eigen.values.reduce((sum, value) => sum + value, 0) / size;
        if (mode === "capon" && isSingular(eigen.values, loading)) {
          throw new SvcError("params_conflict", `Cannot invert the covariance of example ${example}: it is singular`, {
            hint: "Set diagonal_loading above 0, or use at least as many snapshots as antennas",
          });
        }
        found.push(search.peaks(search.spectrum(eigen, mode as "music" | "capon" | "bartlett", count, loading), count));
      }
      progress(example + 1, examples, { unit: "examples" });
    }
    const width = wanted || Math.max(1, ...counts), angles = new Float64Array(examples * width);
    found.forEach(({ angles: own, strongest }, example) => {
      angles.fill(strongest, example * width, (example + 1) * width);
      angles.set(own, example * width);
    });
    const missing = found.reduce((sum, one) => sum + one.missing, 0);
    const estimator = [mode === "esprit" ? `${mode}_${params.esprit_variant}` : mode, ...parts].join("+");
    const { outputs: { report } } = reportResult("model.multi_aoa_estimator", {}, {
      facts: {
        estimator,
        example_count: examples,
        source_count: wanted,
        order_criterion: params.order_criterion,
        orders: Array.from(orders),
        missing_peaks: missing,
      },
    });
    return {
      outputs: {
        estimate: {
          array: ndarray("float64", angles, [examples, width]),
          companions: {
            source_count: ndarray("int32", counts, [examples]),
            order: ndarray("int32", orders, [examples]),
          },
          metadata: {
            example_count: examples,
            unit: "degree",
            estimator,
            order_criterion: params.order_criterion,
            missing_peaks: missing,
            ...(gridded ? { grid_step_deg: float(params.grid_step_deg) } : {}),
          },
        },
        report,
      },
    };
  },
});

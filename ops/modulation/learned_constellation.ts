/**
 * Bit-to-symbol mapper with any constellation as a trainable component:
 *
 *     qam                 Gray mapping of TS 38.211: the start of a training, and its baseline
 *     points              2^K points of the recipe, by label
 *     learned_artifact    label_bits [symbol, K] -> points_ri [symbol, 2], asked once for all 2^K labels
 *
 * The points are scaled to unit mean power over equally likely labels; a label has its first bit highest. Bits are zero-padded
 * to a whole symbol. The output `constellation` gives the points to a demapper.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / K)], constellation complex64 [2^K].
 *
 * Source: Stark, Ait Aoudia and Hoydis, Joint Learning of Geometric and Probabilistic Constellation Shaping, 2019.
 */
import { artifactKind, BITS, CODED_BITS, CONSTELLATION, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { artifactParameters, defineSlot, SvcError, z } from "../api.ts";
import { bitsOf, symbolsArtifact } from "../../lib/artifact/values.ts";
import { grayPoints, labelBits, MAXIMUM_WIDTH, normalizedPoints } from "../../lib/numeric/link/constellation.ts";
import { mapToPoints } from "../../lib/numeric/link/modulation.ts";
import { MODULATION_BY_BITS } from "../../lib/numeric/link/modulations.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { MODULATED, modulatedMetadata } from "../_symbol_items.ts";

export default defineSlot({
  id: "modulation.learned_constellation",
  name: "Learned constellation mapper",
  description: "Maps bits onto the points of a trained, given or QAM constellation of unit mean power",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { symbols: MODULATED, constellation: artifactKind(CONSTELLATION, { bits_per_symbol: "count" }) },
  params: {
    bits_per_symbol: z.int().min(1).max(MAXIMUM_WIDTH).default(4).describe("number of bits K; 2^K points"),
    points: z.array(z.array(z.number().min(-1e6).max(1e6)).min(2).max(2)).max(2 ** MAXIMUM_WIDTH).default([])
      .describe("mode points: [real, imaginary] of each label, at any scale"),
    ...artifactParameters("constellation"),
  },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "onnx" },
  outputMetadataGuarantees: { symbols: { from: "bits" } },
  estimate(params, { bits: { bytes, shape } }) {
    const width = Number(params.bits_per_symbol);
    return {
      constellation: [["complex64", 2 ** width]],
      symbols: shape === undefined ? 8 * bytes / width : [["complex64", Math.ceil(shape[0] / width)]],
    };
  },
  gradient: "full",
  exports: { torch: "trainable_constellation" },
  twin: true,
  mode: { default: "qam" },
  read: ({ inputs }) => bitsOf(inputs.bits),
  modes: {
    qam: {
      implementation: "gray_qam_points",
      run: (_, { params }): ArrayLike<number> => grayPoints(MODULATION_BY_BITS[params.bits_per_symbol]),
    },
    points: { implementation: "given_points", run: (_, { params }) => params.points.flat() },
  },
  learned: {
    component: { id: "mapper", role: "constellation", entrypoint: "constellation" },
    inputs: { label_bits: ["symbol", "bits_per_symbol"] },
    outputs: { points_ri: ["symbol", 2] },
    meaning: {
      label_bits: "bits of all labels in order, 0 or 1, the first bit highest",
      points_ri: "real and imaginary part of the point of each label, at any scale",
    },
    rows: 2 ** MAXIMUM_WIDTH,
    async run(_, call, { params: { bits_per_symbol: width } }) {
      const labels = ndarray("float32", Float32Array.from(labelBits(width)), [2 ** width, width]);
      return (await call({ label_bits: labels })).points_ri.data;
    },
  },
  result(points, bits, { inputs, params: { bits_per_symbol } }) {
    const constellation = normalized(points);
    const metadata = modulatedMetadata(inputs.bits.metadata, bits.length, "constellation", bits_per_symbol);
    return {
      outputs: {
        symbols: symbolsArtifact(mapToPoints(bits, constellation), metadata),
        constellation: { array: ndarray("complex64", constellation), metadata: { bits_per_symbol } },
      },
    };
  },
  check({ mode, bits_per_symbol: width, points }) {
    if (mode === "qam" && MODULATION_BY_BITS[width] === undefined) {
      const hint = "Use 1, 2, 4, 6 or 8, or mode points";
      return [{ message: `Cannot make a Gray QAM of ${width} bits per symbol`, place: ["bits_per_symbol"], hint }];
    }
    if (mode !== "points" || points.length === 2 ** width) return [];
    return [{
      message: `Cannot map ${width} bits to ${points.length} points`,
      place: ["points"],
      hint: `Give ${2 ** width} points, or another bits_per_symbol`,
    }];
  },
});

/** @throws SvcError `operation_failed` for points without power */
function normalized(points: ArrayLike<number>): Float32Array<ArrayBuffer> {
  try {
    return normalizedPoints(points);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("operation_failed", error.message, { hint: "Two points must differ, or one be away from 0" });
  }
}

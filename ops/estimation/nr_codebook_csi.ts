/**
 * CSI report of NR by the Type I single-panel codebook (lib/numeric/antenna/nr_codebook.ts) or the enhanced Type II codebook
 * (nr_codebook_two.ts): rank, precoding matrix and CQI of each grid.
 *
 *     choice    type_1: rank and i1 for the band, i2 for each subband, of largest mean log2 det(I + HWWᴴHᴴ/N0) over the subcarriers;
 *               enhanced_type_2: the rank of largest mean, for the strongest right singular vectors of each subband
 *     CQI       the largest row with an efficiency of at most the mutual information of its modulation at the effective Es/N0 of all
 *               layers and subcarriers after linear MMSE, less cqi_margin_db; 0 without one
 *     cosine    mean over subcarriers of the largest |vᴴw|/‖w‖ of a layer, v the strongest right singular vector; sgcs of its square
 *     bits      csi.report_bits with rank and the 4 bits of a CQI, csi.precoder_bits without the CQI
 *     perfect   spectral efficiency of the strongest right singular vectors of every subcarrier, at equal powers and the best rank
 *
 * The state must be without a precoder: a layer is an antenna port, and H = √ports·G has unit mean gain. Ports are those of one
 * polarisation, then those of the other.
 *
 * Shapes: state complex64 [grid, subcarrier, rx, port] -> precoder complex64 [grid, subcarrier, port, layer], 0 beyond the rank;
 * companions rank and cqi int32 [grid], for type_1 pmi int32 [grid, i11 i12 i13 and i2 of each subband]. Draws nothing.
 *
 * Source: TS 38.214 V17, 5.2.2.1, 5.2.2.2.1 and 5.2.2.2.5.
 */
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { reportResult } from "../../lib/artifact/values.ts";
import { artifactKind, REPORT } from "../../lib/contract/kinds.ts";
import { codebookProblem, type Panel, reportBits, typeOneCodebook } from "../../lib/numeric/antenna/nr_codebook.ts";
import { MOST_SUBBANDS, reportTypeTwo, typeTwoProblem } from "../../lib/numeric/antenna/nr_codebook_two.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { cholesky, gram, inverseLower, matrixProduct } from "../../lib/numeric/linalg/linear_algebra.ts";
import { svd } from "../../lib/numeric/linalg/svd.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { bitInterleavedStatistics, effectiveSnrDb } from "../../lib/numeric/link/link_adaptation.ts";
import { elementCapacity } from "../../lib/numeric/link/link_abstraction.ts";
import { MODULATION_BY_BITS } from "../../lib/numeric/link/modulations.ts";
import { cqiRows, efficiency, MCS_TABLES, type McsTable } from "../../lib/numeric/link/nr_transport_format.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { MIMO_STATE, noiseOf } from "../_ofdm_grid.ts";
import { defineOperation, type Metrics, SvcError, z } from "../api.ts";

const CQI_BITS = 4;
const PRECODER = artifactKind("channel.nr_precoder.numpy", { max_rank: "count" });

export default defineOperation({
  id: "model.nr_codebook_csi",
  name: "NR codebook CSI report",
  description: "Chooses rank, precoding matrix and CQI from the Type I single-panel codebook of NR",
  inputs: { channel_state: [MIMO_STATE] },
  outputs: { precoder: PRECODER, report: REPORT },
  params: z.strictObject({
    codebook: z.enum(["type_1", "enhanced_type_2"]).default("type_1").describe("codebook of the precoding matrix"),
    param_combination: z.int().min(1).max(6).default(6).meta({ "x-svc-used-when": { codebook: "enhanced_type_2" } })
      .describe("paramCombination-r16: beams, delays and coefficients of the enhanced Type II codebook"),
    n1: z.int().min(1).max(16).default(2).describe("antennas of one polarisation in the first dimension, N1"),
    n2: z.int().min(1).max(4).default(1).describe("antennas of one polarisation in the second dimension, N2"),
    max_rank: z.int().min(1).max(4).default(2).describe("largest number of layers"),
    subband_subcarriers: z.int().min(0).max(4096).default(0)
      .describe("subcarriers of a subband with a matrix of its own; 0 is one for the band"),
    cqi_table: z.enum(MCS_TABLES).default("table_1").describe("CQI table of TS 38.214 5.2.2.1"),
    cqi_margin_db: z.number().min(-10).max(20).default(0).meta({ "x-svc-ui": { unit: "dB" } })
      .describe("Es/N0 in dB that the CQI leaves for the loss of a code"),
  }),
  equivalence: { type: "numerical", tolerance: { atol: 1e-5, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { precoder: { keys: ["max_rank"] } },
  estimate: (_params, { channel_state: { bytes } }) => ({ precoder: bytes, report: 4096 }),
  check({ n1, n2, max_rank, codebook, param_combination }) {
    const second = codebook === "enhanced_type_2";
    const problem = codebookProblem({ n1, n2 }, second ? 1 : max_rank) ??
      (second ? typeTwoProblem({ n1, n2 }, max_rank, param_combination) : undefined);
    return problem === undefined ? [] : [{ place: ["max_rank"], message: `Cannot build the codebook: ${problem}` }];
  },
  run({ inputs, params, progress }) {
    const arrays = arraysOf(inputs.channel_state), panel = { n1: params.n1, n2: params.n2 };
    const g = arrays.read("complex64", ["grid", "subcarrier", "rx", "port"]), noise = noiseOf(inputs.channel_state);
    const [grids, width, rx, ports] = ["grid", "subcarrier", "rx", "port"].map((axis) => arrays.size(axis));
    if (ports !== 2 * params.n1 * params.n2) {
      throw new SvcError(
        "params_conflict",
        `Cannot report ${ports} ports by a codebook of ${2 * params.n1 * params.n2}`,
        {
          hint:
            "Set n1 and n2 to half of the transmit antennas, and precoding of the channel to none with a layer for each antenna",
        },
      );
    }
    if (noise === 0) throw new SvcError("boundary_value_invalid", "Cannot report a channel without noise");
    const most = Math.min(params.max_rank, rx), size = rx * ports, subband = params.subband_subcarriers || width;
    const bands = Math.ceil(width / subband), out = new Float32Array(2 * grids * width * ports * params.max_rank);
    const ranks = new Int32Array(grids), cqis = new Int32Array(grids), pmi = new Int32Array(grids * (3 + bands));
    const first = params.codebook === "type_1";
    if (!first && bands > MOST_SUBBANDS) {
      throw new SvcError(
        "params_conflict",
        `Cannot report ${bands} subbands: the codebook has at most ${MOST_SUBBANDS}`,
        {
          hint: "Set subband_subcarriers higher",
        },
      );
    }
    const codebooks = first ? Array.from({ length: most }, (_, i) => typeOneCodebook(panel, i + 1)) : [];
    const shape = { rx, ports, snr: 1 / noise, subband, bands };
    const scores = { cosines: [] as number[], squares: [] as number[], rates: [] as number[], perfect: [] as number[] };
    const bits: number[] = [];
    for (let grid = 0; grid < grids; grid++) {
      const channels = Array.from({ length: width }, (_, k) => {
        const from = 2 * (grid * width + k) * size;
        return Float64Array.from(g.subarray(from, from + 2 * size), (value) => value * Math.sqrt(ports));
      });
      const best = first
        ? chosen(channels, codebooks, panel, shape)
        : chosenTypeTwo(channels, most, panel, params.param_combination, shape);
      const { rank, matrices } = best,
        effective = channels.map((h, k) => matrixProduct(h, matrices[Math.floor(k / subband)], rx, ports, rank));
      ranks[grid] = rank;
      cqis[grid] = cqiOf(effective, {
        rx,
        rank,
        snr: 1 / noise,
        table: params.cqi_table,
        marginDb: params.cqi_margin_db,
      });
      pmi.set(best.indices, grid * (3 + bands));
      scores.rates.push(best.rate / width);
      const perfect = new Float64Array(most);
      channels.forEach((h, k) => {
        const { values, v } = svd(h, rx, ports), columns = Math.min(rx, ports);
        for (let r = 1; r <= most; r++) {
          for (let i = 0; i < r; i++) perfect[r - 1] += Math.log2(1 + values[i] ** 2 / (r * noise)) / width;
        }
        const matrix = matrices[Math.floor(k / subband)];
        let cosine = 0;
        for (let layer = 0; layer < rank; layer++) {
          let real = 0, imaginary = 0;
          for (let p = 0; p < ports; p++) {
            const a = 2 * p * columns, b = 2 * (p * rank + layer);
            real += v[a] * matrix[b] + v[a + 1] * matrix[b + 1];
            imaginary += v[a] * matrix[b + 1] - v[a + 1] * matrix[b];
          }
          cosine = Math.max(cosine, Math.hypot(real, imaginary) * Math.sqrt(rank));
          for (let p = 0; p < ports; p++) {
            const to = 2 * (((grid * width + k) * ports + p) * params.max_rank + layer), from = 2 * (p * rank + layer);
            out[to] = matrix[from];
            out[to + 1] = matrix[from + 1];
          }
        }
        scores.cosines.push(cosine);
        scores.squares.push(cosine ** 2);
      });
      scores.perfect.push(Math.max(...perfect));
      bits.push(Math.ceil(Math.log2(most)) + CQI_BITS + best.bits);
      progress(grid + 1, grids, { unit: "grids" });
    }
    const metrics: Metrics = grids === 0 ? {} : {
      "csi.cosine_similarity": mean(scores.cosines),
      "csi.sgcs": mean(scores.squares),
      "csi.spectral_efficiency_bps_hz": mean(scores.rates),
      "csi.perfect_spectral_efficiency_bps_hz": mean(scores.perfect),
      "csi.mean_rank": mean(ranks),
      "csi.mean_cqi": mean(cqis),
      "csi.report_bits": mean(bits),
      "csi.precoder_bits": mean(bits) - CQI_BITS,
    };
    const { outputs: { report } } = reportResult("model.nr_codebook_csi", metrics, {
      facts: { grid_count: grids, ports },
    });
    return {
      outputs: {
        report,
        precoder: {
          array: ndarray("complex64", out, [grids, width, ports, params.max_rank]),
          companions: {
            rank: ndarray("int32", ranks, [grids]),
            cqi: ndarray("int32", cqis, [grids]),
            ...(first ? { pmi: ndarray("int32", pmi, [grids, 3 + bands]) } : {}),
          },
          metadata: { max_rank: params.max_rank },
        },
      },
      metrics,
    };
  },
});

type Codebooks = ReturnType<typeof typeOneCodebook>[];

interface Shape {
  rx: number;
  ports: number;
  snr: number;
  subband: number;
  bands: number;
}

/** A matrix for each subband, interleaved [port, layer]. */
interface Chosen {
  /** Sum over the subcarriers. */
  rate: number;
  rank: number;
  matrices: Float64Array[];
  bits: number;
  /** i11, i12, i13 and i2 of each subband; empty for the enhanced Type II codebook. */
  indices: number[];
}

function rateOf(h: Float64Array, matrix: Float64Array, rank: number, { rx, ports, snr }: Shape): number {
  const effective = Float32Array.from(matrixProduct(h, matrix, rx, ports, rank));
  return elementCapacity(effective, 0, { rx, layers: rank, snr });
}

/** Rank and matrices of the largest sum of log2 det over the subcarriers. */
function chosen(channels: Float64Array[], codebooks: Codebooks, panel: Panel, shape: Shape): Chosen {
  const { subband, bands } = shape;
  let best: Chosen | undefined;
  codebooks.forEach((groups, index) => {
    const rank = index + 1, own = reportBits(panel, rank);
    for (const { i11, i12, i13, words: all } of groups) {
      const rates = all.map(({ matrix }) => {
        const sums = new Float64Array(bands);
        channels.forEach((h, k) => sums[Math.floor(k / subband)] += rateOf(h, matrix, rank, shape));
        return sums;
      });
      const words = Array.from(
        { length: bands },
        (_, band) => all.reduce((a, b) => rates[b.i2][band] > rates[a.i2][band] ? b : a),
      );
      const rate = words.reduce((sum, { i2 }, band) => sum + rates[i2][band], 0);
      if (best !== undefined && rate <= best.rate) continue;
      const indices = [i11, i12, i13, ...words.map(({ i2 }) => i2)], bits = own.band + own.subband * bands;
      best = { rate, rank, matrices: words.map(({ matrix }) => matrix), bits, indices };
    }
  });
  return best!;
}

/** Rank of the largest sum of log2 det; the vectors of a subband are the strongest right singular ones of its stacked channels. */
function chosenTypeTwo(
  channels: Float64Array[],
  most: number,
  panel: Panel,
  combination: number,
  shape: Shape,
): Chosen {
  const { rx, ports, subband, bands } = shape;
  const strongest = Array.from({ length: bands }, (_, band) => {
    const own = channels.slice(band * subband, (band + 1) * subband), rows = own.length * rx;
    const stacked = new Float64Array(2 * rows * ports), columns = Math.min(rows, ports);
    own.forEach((h, i) => stacked.set(h, 2 * i * rx * ports));
    const { v } = svd(stacked, rows, ports);
    return Array.from(
      { length: most },
      (_, layer) => Float64Array.from({ length: 2 * ports }, (_, i) => v[2 * ((i >> 1) * columns + layer) + i % 2]),
    );
  });
  const all = Array.from({ length: most }, (_, index): Chosen => {
    const rank = index + 1, layers = Array.from({ length: rank }, (_, l) => strongest.map((vectors) => vectors[l]));
    const { vectors, bits } = reportTypeTwo(panel, layers, combination);
    const matrices = Array.from({ length: bands }, (_, band) =>
      Float64Array.from(
        { length: 2 * ports * rank },
        (_, i) => vectors[(i >> 1) % rank][band][2 * Math.floor(i / (2 * rank)) + i % 2] / Math.sqrt(rank),
      ));
    const rate = channels.reduce((sum, h, k) => sum + rateOf(h, matrices[Math.floor(k / subband)], rank, shape), 0);
    return { rate, rank, matrices, bits, indices: [] };
  });
  return all.reduce((a, b) => b.rate > a.rate ? b : a);
}

/** CQI of effective channels [rx, layer] after linear MMSE: Es/N0 of a layer 1/[(I + snr·GᴴG)⁻¹] - 1. */
function cqiOf(
  effective: Float64Array[],
  { rx, rank, snr, table, marginDb }: { rx: number; rank: number; snr: number; table: McsTable; marginDb: number },
): number {
  const snrs = effective.flatMap((matrix) => {
    const a = gram(matrix, rx, rank);
    for (let i = 0; i < a.length; i++) a[i] *= snr;
    for (let i = 0; i < rank; i++) a[2 * (i * rank + i)] += 1;
    const inverse = inverseLower(cholesky(a, rank), rank);
    return Array.from({ length: rank }, (_, layer) => {
      let error = 0;
      for (let i = layer; i < rank; i++) {
        error += inverse[2 * (i * rank + layer)] ** 2 + inverse[2 * (i * rank + layer) + 1] ** 2;
      }
      return Math.max(1 / error - 1, 1e-12);
    });
  });
  const known = new Map<number, number>(),
    capacityOf = (bitsPerSymbol: number) => {
      if (!known.has(bitsPerSymbol)) {
        const modulation = MODULATION_BY_BITS[bitsPerSymbol], snrDb = effectiveSnrDb(modulation, snrs) - marginDb;
        known.set(bitsPerSymbol, bitInterleavedStatistics(modulation, dbToLinear(snrDb)).capacity);
      }
      return known.get(bitsPerSymbol)!;
    };
  return cqiRows(table).findLastIndex((row) => efficiency(row) <= capacityOf(row[0])) + 1;
}

/** The codebooks against the tables of TS 38.214, and reports against channels with a known answer. */
import assert from "node:assert/strict";
import nrCodebookCsi from "../../../ops/estimation/nr_codebook_csi.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { codebookProblem, reportBits, typeOneCodebook } from "../../../lib/numeric/antenna/nr_codebook.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { gram } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";

const near = (a: unknown, b: number, tolerance = 1e-5) =>
  assert.ok(Math.abs(Number(a) - b) < tolerance, `${a} is not ${b}`);

/** A state [grid, subcarrier, rx, port] with unit mean gain per antenna pair of the values, which a port of P has over √P. */
function stateOf(h: ArrayLike<number>, shape: number[], snrDb: number) {
  const ports = shape[3], values = Float32Array.from(h, (value) => value / Math.sqrt(ports));
  return {
    kind: "channel.mimo_channel_state.numpy",
    array: ndarray("complex64", values, shape),
    metadata: { noise_variance: float(10 ** (-snrDb / 10)), layers: ports, rx_antennas: shape[2] },
  };
}

async function report(h: ArrayLike<number>, shape: number[], snrDb: number, params: JsonObject) {
  const { outputs: { precoder }, metrics } = await runOperation(nrCodebookCsi, {
    inputs: { channel_state: stateOf(h, shape, snrDb) },
    params,
  });
  const of = (name: string) =>
    precoder.arrayNames.includes(name) ? Array.from(precoder.array(name).data as Int32Array) : undefined;
  return { precoder, metrics, rank: of("rank"), cqi: of("cqi"), pmi: of("pmi") };
}

Deno.test("two ports have the matrices of table 5.2.2.2.1-1", () => {
  const s = Math.SQRT1_2,
    words = (layers: number) =>
      typeOneCodebook({ n1: 1, n2: 1 }, layers).flatMap((group) => group.words.map(({ matrix }) => [...matrix]));
  const one = [[s, 0, s, 0], [s, 0, 0, s], [s, 0, -s, 0], [s, 0, 0, -s]];
  const two = [[0.5, 0, 0.5, 0, 0.5, 0, -0.5, 0], [0.5, 0, 0.5, 0, 0, 0.5, 0, -0.5]];
  for (const [found, expected] of [[words(1), one], [words(2), two]]) {
    assert.equal(found.length, expected.length);
    found.forEach((word, i) => word.forEach((value, at) => near(value, expected[i][at], 1e-12)));
  }
});

Deno.test("every matrix has orthogonal layers of equal power, the numbers of indices are those of the tables", () => {
  // Values of i11, i12 and i13, from O1 = O2 = 4 and tables 5.2.2.2.1-3 and -4.
  const cases: [number, number, number, number][] = [
    [2, 1, 1, 8],
    [2, 1, 2, 8 * 2],
    [2, 1, 3, 8],
    [2, 1, 4, 8],
    [4, 1, 1, 16],
    [4, 1, 2, 16 * 4],
    [4, 1, 3, 16 * 3],
    [6, 1, 4, 24 * 4],
    [2, 2, 2, 64 * 4],
    [2, 2, 4, 64 * 3],
    [3, 2, 3, 12 * 8 * 4],
    [4, 2, 2, 128 * 4],
    // 16 ports and more: half of the values of i11, four of i13.
    [8, 1, 3, 16 * 4],
    [4, 2, 4, 8 * 8 * 4],
    [6, 2, 3, 12 * 8 * 4],
  ];
  for (const [n1, n2, layers, count] of cases) {
    const groups = typeOneCodebook({ n1, n2 }, layers);
    assert.equal(groups.length, count, `${n1} ${n2} ${layers}`);
    for (const { matrix } of groups.flatMap(({ words }) => words)) {
      gram(matrix, 2 * n1 * n2, layers).forEach((value, i) =>
        near(value, i % (2 * (layers + 1)) === 0 ? 1 / layers : 0, 1e-12)
      );
    }
  }
  assert.deepEqual(reportBits({ n1: 4, n2: 2 }, 2), { band: 4 + 3 + 2, subband: 1 });
  assert.deepEqual(reportBits({ n1: 2, n2: 1 }, 1), { band: 3, subband: 2 });
  assert.deepEqual(reportBits({ n1: 4, n2: 2 }, 3), { band: 3 + 3 + 2, subband: 1 });
  assert.ok(codebookProblem({ n1: 5, n2: 1 }, 1) && codebookProblem({ n1: 1, n2: 1 }, 3));
  assert.equal(codebookProblem({ n1: 8, n2: 1 }, 4), undefined);
});

Deno.test("four layers of 16 ports have the columns of table 5.2.2.2.1-8", () => {
  const groups = typeOneCodebook({ n1: 4, n2: 2 }, 4), [l, m, p, n] = [3, 5, 1, 1];
  const { matrix } = groups.find(({ i11, i12, i13 }) => i11 === l && i12 === m && i13 === p)!.words[n];
  // ṽ of 2 x 2 antennas: [1, u, e, e·u] with u = e^{j2πm/8} and e = e^{j4πl/16}; θ = e^{jπ/4}, φ = j. Phases in turns.
  const v = [0, m / 8, 2 * l / 16, 2 * l / 16 + m / 8];
  const signs = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]],
    turns = [0, p / 8, n / 4, n / 4 + p / 8];
  for (let port = 0; port < 16; port++) {
    for (let layer = 0; layer < 4; layer++) {
      const angle = 2 * Math.PI * (v[port % 4] + turns[port >> 2]), sign = signs[port >> 2][layer] / 8;
      near(matrix[2 * (port * 4 + layer)], sign * Math.cos(angle), 1e-12);
      near(matrix[2 * (port * 4 + layer) + 1], sign * Math.sin(angle), 1e-12);
    }
  }
});

Deno.test("a channel along a beam is reported by that beam, without loss", async () => {
  // Beam l = 5 of 16 with the co-phasing j, as the tables write it: e^{j2π·5·n/16} and j times it.
  const h = new Float64Array(16);
  for (let port = 0; port < 8; port++) {
    const angle = 2 * Math.PI * 5 * (port % 4) / 16 + (port < 4 ? 0 : Math.PI / 2);
    // The channel is the conjugate of the precoder.
    [h[2 * port], h[2 * port + 1]] = [Math.cos(angle), -Math.sin(angle)];
  }
  const found = await report(h, [1, 1, 1, 8], 10, { n1: 4, max_rank: 1 });
  assert.deepEqual(found.pmi, [5, 0, 0, 1]);
  near(found.metrics["csi.cosine_similarity"], 1);
  near(found.metrics["csi.sgcs"], 1);
  near(found.metrics["csi.spectral_efficiency_bps_hz"], Math.log2(1 + 8 * 10));
  near(found.metrics["csi.perfect_spectral_efficiency_bps_hz"], Math.log2(1 + 8 * 10));
  // 80 = 19 dB carries the largest CQI of table 1, 5.5547 bit per symbol.
  assert.deepEqual([found.rank, found.cqi], [[1], [15]]);
  near(found.metrics["csi.report_bits"], 0 + 4 + 4 + 2);
});

Deno.test("orthogonal ports carry two layers at high and one at low Es/N0", async () => {
  // H = I: one layer has |h w|² = 1 for every w, two have 1/2 each: log2(1 + s) against 2·log2(1 + s/2).
  const identity = [1, 0, 0, 0, 0, 0, 1, 0], params = { n1: 1, max_rank: 2 };
  const high = await report(identity, [1, 1, 2, 2], 20, params);
  assert.deepEqual(high.rank, [2]);
  near(high.metrics["csi.spectral_efficiency_bps_hz"], 2 * Math.log2(1 + 50));
  // All gain in one direction: rank 2 would waste half of the power.
  const flat = await report([1, 0, 1, 0, 1, 0, 1, 0], [1, 1, 2, 2], 20, params);
  assert.deepEqual(flat.rank, [1]);
  near(flat.metrics["csi.spectral_efficiency_bps_hz"], Math.log2(1 + 400));
  assert.deepEqual((await report(identity, [1, 1, 2, 2], -30, params)).cqi, [0]);
});

Deno.test("over drawn channels the codebook stays below the singular vectors, and subbands gain on it", async () => {
  const grids = 20, width = 4, h = Generator.seeded(3).complexNormal64(grids * width * 2 * 4, 1);
  const shape = [grids, width, 2, 4], params = { n1: 2, max_rank: 2 };
  const band = await report(h, shape, 10, params),
    fine = await report(h, shape, 10, { ...params, subband_subcarriers: 1 });
  const [wide, narrow, perfect] = [
    band.metrics["csi.spectral_efficiency_bps_hz"],
    fine.metrics["csi.spectral_efficiency_bps_hz"],
    band.metrics["csi.perfect_spectral_efficiency_bps_hz"],
  ].map(Number);
  assert.ok(wide < narrow && narrow < perfect, `${wide} ${narrow} ${perfect}`);
  assert.deepEqual([...fine.precoder.array("pmi").shape], [grids, 7]);
  assert.ok(Number(band.metrics["csi.sgcs"]) < Number(band.metrics["csi.cosine_similarity"]));
  await refuses("params_conflict", () => report(h, shape, 10, { n1: 4 }));
  const large = Generator.seeded(4).complexNormal64(4 * 16, 1);
  assert.deepEqual((await report(large, [1, 1, 4, 16], 30, { n1: 8, max_rank: 4 })).rank, [4]);
});

/** Two paths of 8 ports: beams of one rotation, with other co-phasing and delay; interleaved [subcarrier, port]. */
function twoPaths(width: number): Float64Array {
  const h = new Float64Array(2 * width * 8);
  for (let k = 0; k < width; k++) {
    // Beams 1 and 9 of 16 are orthogonal; the second path has half of the amplitude and a delay of one turn over the band.
    for (
      const { beam, amplitude, turn } of [{ beam: 1, amplitude: 1, turn: 0 }, {
        beam: 9,
        amplitude: 0.5,
        turn: k / width,
      }]
    ) {
      for (let port = 0; port < 8; port++) {
        const angle = 2 * Math.PI * (beam * (port % 4) / 16 + turn + (port < 4 ? 0 : beam / 8)),
          at = 2 * (k * 8 + port);
        h[at] += amplitude * Math.cos(angle);
        h[at + 1] -= amplitude * Math.sin(angle);
      }
    }
  }
  return h;
}

const SECOND = { n1: 4, max_rank: 1, codebook: "enhanced_type_2", subband_subcarriers: 1 };

Deno.test("two paths on beams and delays of the enhanced Type II codebook are reported without loss", async () => {
  const width = 8, found = await report(twoPaths(width), [1, width, 1, 8], 10, { ...SECOND, param_combination: 2 });
  // Their amplitudes 1 and 1/2, co-phasings and delays are values of its tables: phases e^{j2π·k/16}, p2 = 2^{-k/2}.
  near(found.metrics["csi.sgcs"], 1, 1e-5);
  const first = await report(twoPaths(width), [1, width, 1, 8], 10, { n1: 4, max_rank: 1, subband_subcarriers: 1 });
  assert.ok(Number(first.metrics["csi.sgcs"]) < 0.9, `${first.metrics["csi.sgcs"]}`);
  // i11 2, i12 ceil(log2 C(4, 2)) = 3, one of 7 delays 3, 2·2·2 places, 4 + 7·3 for four coefficients, 2 for the strongest, CQI 4.
  near(found.metrics["csi.report_bits"], 2 + 3 + 3 + 8 + 4 + 7 * 3 + 2 + 4);
});

Deno.test("richer combinations report drawn channels better, more so than Type I, with more bits", async () => {
  // Correlated in frequency: four taps, so that few delays hold most of the power.
  const grids = 10, width = 16, generator = Generator.seeded(5), h = new Float64Array(2 * grids * width * 2 * 8);
  for (let grid = 0; grid < grids; grid++) {
    const taps = generator.complexNormal64(4 * 16, 1 / 4);
    for (let k = 0; k < width; k++) {
      for (let i = 0; i < 64; i++) {
        const turn = -2 * Math.PI * k * Math.floor(i / 16) / width, to = 2 * ((grid * width + k) * 16 + i % 16);
        h[to] += taps[2 * i] * Math.cos(turn) - taps[2 * i + 1] * Math.sin(turn);
        h[to + 1] += taps[2 * i] * Math.sin(turn) + taps[2 * i + 1] * Math.cos(turn);
      }
    }
  }
  const shape = [grids, width, 2, 8],
    of = async (params: JsonObject) => {
      const { metrics } = await report(h, shape, 10, { ...SECOND, max_rank: 2, ...params });
      return ["csi.sgcs", "csi.spectral_efficiency_bps_hz", "csi.report_bits"].map((name) => Number(metrics[name]));
    };
  const one = await of({ codebook: "type_1" }),
    low = await of({ param_combination: 1 }),
    high = await of({ param_combination: 6 });
  for (const [worse, better] of [[one, high], [low, high]]) {
    worse.forEach((value, i) => assert.ok(value < better[i], `${i}: ${value} ${better[i]}`));
  }
  await refuses("params_conflict", () => report(h, shape, 10, { ...SECOND, n1: 4, max_rank: 3 }));
  await refuses("params_conflict", () => report(h.slice(0, 2 * 20 * 16), [1, 20, 2, 8], 10, SECOND));
});

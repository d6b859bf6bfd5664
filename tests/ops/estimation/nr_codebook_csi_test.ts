/** The Type I codebook against the tables of TS 38.214, and reports against channels with a known answer. */
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
  const of = (name: string) => Array.from(precoder.array(name).data as Int32Array);
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
  assert.ok(codebookProblem({ n1: 5, n2: 1 }, 1) && codebookProblem({ n1: 8, n2: 1 }, 3));
  assert.equal(codebookProblem({ n1: 8, n2: 1 }, 2), undefined);
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
  await refuses("params_conflict", () => report(h, shape, 10, { n1: 8, max_rank: 3 }));
});

/** The permutation-equivariant network: by hand, and under reordering. */
import assert from "node:assert/strict";
import { type DeepSet, deepSetProblem, deepSetScores, type DenseLayer } from "../../../lib/numeric/linalg/deep_set.ts";

const layer = (inputs: number, outputs: number, weight: number[], bias: number[]): DenseLayer => ({
  inputs,
  outputs,
  weight: Float64Array.from(weight),
  bias: Float64Array.from(bias),
});

Deno.test("scores by hand: rectified embedding, its mean, and a linear end", () => {
  // e = max([x - 1, -x], 0); s = 2 e0 - e1 + 10 mean(e0) + 100 mean(e1) - 3.
  const network: DeepSet = {
    phi: [layer(1, 2, [1, -1], [-1, 0])],
    rho: [layer(4, 1, [2, -1, 10, 100], [-3])],
  };
  assert.equal(deepSetProblem(network), null);
  // e of 3, 0 and -2: (2, 0), (0, 0), (0, 2); means 2/3 each.
  const scores = deepSetScores(network, Float64Array.of(3, 0, -2));
  const common = 110 * 2 / 3 - 3;
  [4, 0, -2].forEach((own, k) => assert.ok(Math.abs(scores[k] - own - common) < 1e-12));
});

Deno.test("reordering the elements reorders the scores, and nothing else", () => {
  const cosines = (count: number, salt: number) => Array.from({ length: count }, (_, i) => Math.cos(7 * i + salt));
  const network: DeepSet = {
    phi: [layer(2, 5, cosines(10, 1), cosines(5, 2)), layer(5, 3, cosines(15, 3), cosines(3, 4))],
    rho: [layer(6, 4, cosines(24, 5), cosines(4, 6)), layer(4, 1, cosines(4, 7), [0.5])],
  };
  assert.equal(deepSetProblem(network), null);
  const rows = Array.from({ length: 7 }, (_, k) => cosines(2, 8 + k));
  const straight = deepSetScores(network, Float64Array.from(rows.flat()));
  const turned = deepSetScores(network, Float64Array.from(rows.toReversed().flat()));
  assert.ok(new Set(straight).size > 1);
  straight.toReversed().forEach((score, k) => assert.ok(Math.abs(score - turned[k]) < 1e-12));
});

Deno.test("layers that do not fit are told apart", () => {
  const [one, two] = [layer(1, 2, [1, 1], [0, 0]), layer(4, 1, [1, 1, 1, 1], [0])];
  assert.match(deepSetProblem({ phi: [], rho: [two] })!, /no layers/);
  assert.match(deepSetProblem({ phi: [one, one], rho: [two] })!, /layers 0 and 1 of phi/);
  assert.match(deepSetProblem({ phi: [one], rho: [one, two] })!, /do not fit/);
  assert.match(deepSetProblem({ phi: [layer(1, 1, [1], [0])], rho: [two] })!, /mean/);
  assert.match(deepSetProblem({ phi: [one], rho: [layer(4, 2, [1, 1, 1, 1, 1, 1, 1, 1], [0, 0])] })!, /one score/);
});

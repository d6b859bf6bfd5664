/** The assignment is the best of all permutations. */
import assert from "node:assert/strict";
import { assign } from "../../../lib/numeric/linalg/assignment.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

/** Least sum over all ways to give each row another column. */
function least(cost: number[][], used = 0, row = 0): number {
  if (row === cost.length) return 0;
  let best = Infinity;
  cost[row].forEach((one, column) => {
    if ((used >> column & 1) === 0) best = Math.min(best, one + least(cost, used | 1 << column, row + 1));
  });
  return best;
}

Deno.test("an assignment costs as little as the best permutation, also with more rows than columns", () => {
  const generator = Generator.seeded(5);
  for (const [rows, columns] of [[1, 1], [2, 2], [3, 5], [5, 5], [6, 6], [5, 2], [4, 7]]) {
    for (let trial = 0; trial < 20; trial++) {
      const cost = generator.uniform(-3, 9, rows * columns), found = assign(cost, rows, columns);
      const pairs = [...found].flatMap((column, row) => column < 0 ? [] : [[row, column]]);
      assert.equal(pairs.length, Math.min(rows, columns));
      assert.equal(new Set(pairs.map(([, column]) => column)).size, pairs.length);
      const total = pairs.reduce((sum, [row, column]) => sum + cost[row * columns + column], 0);
      const matrix = Array.from({ length: rows }, (_, r) => [...cost.subarray(r * columns, (r + 1) * columns)]);
      const wide = rows <= columns ? matrix : matrix[0].map((_, c) => matrix.map((row) => row[c]));
      assert.ok(Math.abs(total - least(wide)) < 1e-12, `${rows} × ${columns}: ${total}`);
    }
  }
  assert.deepEqual([...assign([], 0, 3)], []);
  assert.deepEqual([...assign([], 2, 0)], [-1, -1]);
  assert.throws(() => assign([1, 2, 3], 2, 2), RangeError);
});

import assert from "node:assert/strict";
import { energy, meanPower, powers } from "../../../lib/numeric/linalg/complex.ts";

Deno.test("powers and energy of complex values", () => {
  const values = Float64Array.of(1, 2, -3, 0.5);
  assert.deepEqual(powers(values), Float64Array.of(5, 9.25));
  assert.equal(energy(values), 14.25);
  assert.equal(meanPower(values), 7.125);
});

/** Recipes of beam patterns, reflecting surfaces and link budgets against their laws. */
import assert from "node:assert/strict";
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";

const RECIPES = new URL("../../recipes/", import.meta.url);
const { session } = sharedSession({ projectRoot: ROOT_PATH });
const near = (a: number, b: number, within: number) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);
const textOf = (name: string) => Deno.readTextFile(new URL(`${name}.yaml`, RECIPES));

/** A metric of points of a matrix, in their order. */
async function measured(recipe: string, points: string[], metric: string): Promise<number[]> {
  const { rows } = await (await session()).recipes.runMatrix(await textOf(recipe), { points });
  return rows.map(({ status, metrics }) => {
    assert.equal(status, "completed");
    const value = Object.assign({}, ...Object.values(metrics))[metric];
    assert.ok(isNumber(value), `${metric} was not measured`);
    return toNumber(value);
  });
}

Deno.test("twice the elements of a surface give 6 dB, and phases of 1 and 2 bits lose sinc²(2^-b)", async () => {
  // Each with continuous phases, then with 1 and 2 bits.
  const [half] = await measured("ris_gain", ["elements=128"], "ris.gain_db");
  const [full, ...quantised] = await measured("ris_gain", ["elements=256"], "ris.gain_db");
  // The mean power of the direct path over 500 exponential draws is known to 1/sqrt(500), 0.19 dB; two of them, three deviations.
  const within = 3 * 0.19 * Math.SQRT2;
  near(full - half, 20 * Math.log10(2), within);
  assert.equal(quantised.length, 2);
  quantised.forEach((gain, index) => {
    const x = Math.PI / 2 ** (index + 1);
    near(gain - full, 20 * Math.log10(Math.sin(x) / x), within);
  });
});

Deno.test("beams of the recipe are as narrow as 0.886 λ/(N d cos θ), with sidelobes of -13.26 dB", async () => {
  const metric = (points: string[], name: string) => measured("beampattern_mrt", points, `beampattern.${name}`);
  const [wide, narrow] = await metric(["tx_antennas=32", "tx_antennas=96"], "half_power_width_deg");
  near(wide / narrow, 3, 0.02);
  // 1/cos θ is 1 … 1.31 for the centres 0°, 35° and -40° of the directions; their spread is 5°.
  const broadside = 0.886 * 2 / 96 * 180 / Math.PI;
  assert.ok(narrow > broadside && narrow < 1.35 * broadside, `${narrow}`);
  near((await metric(["tx_antennas=96"], "peak_sidelobe_db"))[0], -13.26, 0.01);
});

Deno.test("the budget of the recipe has 6.6 dB at 30°, as the sum by hand for the set-up of 3GPP TR 38.821", async () => {
  const text = await textOf("leo_link_budget"), { recipes } = await session();
  const { summary } = await recipes.run(text.replace(/elevation_deg: \[.*\]/, "elevation_deg: [30.0]"));
  const [{ metrics }] = summary.steps as { metrics: JsonObject }[];
  near(toNumber(metrics["ntn.cnr_db_min"] as number), 6.6, 0.05);
});

/**
 * A matrix of 256 points over the shipped digital image link of 20 steps: expanding (every point compiled), and planning
 * every point.
 *
 *     deno run -A tests/bench/matrix_bench.ts
 */
import { fileURLToPath } from "node:url";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { planMatrix } from "../../lib/plan/plan_matrix.ts";
import { expandMatrix } from "../../lib/recipe/expand_matrix.ts";
import { readRecipeFile } from "../../lib/recipe/read.ts";
import { createRegistry } from "../../ops/registry.ts";
import { ms, row, sized, time } from "./measure.ts";

const POINTS = sized(256, 3);
const RUNS = 15;

const registry = await createRegistry();
const file = new URL("../../recipes/recipe_starters/image_protected_digital_awgn.yaml", import.meta.url);
const { value, locate } = await readRecipeFile(fileURLToPath(file));
const { matrix } = (value as JsonObject).metadata as { matrix: { dimensions: JsonObject } };
matrix.dimensions = { snr_db: Array.from({ length: POINTS }, (_, n) => float(n / 8 - 10)) };

const expand = () => expandMatrix(value, { registry, locate });
const expansion = expand();
const steps = expansion.recipe!.steps.length;
if (expansion.status !== "valid" || expansion.points.length !== POINTS || steps !== 20) {
  throw new Error("The recipe of the benchmark does not expand");
}
const plan = async () => {
  const planned = await planMatrix(expansion, { registry });
  if (planned.status !== "planned") throw new Error("The points of the benchmark do not plan");
};

const expanding = await time(RUNS, expand), planning = await time(RUNS, plan);
console.log(
  `${POINTS} points x ${steps} steps, medians of ${RUNS} runs; the plan cache holds 128, so every plan is made anew`,
);
row("expand: compile the recipe and every point", ms(expanding), `${ms(expanding / POINTS)} a point`);
row("plan every point", ms(planning), `${ms(planning / POINTS)} a point`);
row("together", ms(expanding + planning), "aim: under 500 ms");

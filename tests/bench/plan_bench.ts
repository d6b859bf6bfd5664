/**
 * Planning a recipe of 200 steps: fifty links of source, boundary, modulator and power normaliser.
 *
 *     deno run -A tests/bench/plan_bench.ts
 */
import { Registry } from "../../lib/contract/registry.ts";
import type { Operation } from "../../lib/contract/operation.ts";
import { PlanCache } from "../../lib/plan/cache.ts";
import { planRecipe } from "../../lib/plan/planner.ts";
import { compileRecipe } from "../../lib/recipe/compile.ts";
import relay from "../../ops/channel/relay.ts";
import powerNormalize from "../../ops/channel/symbol_power_normalize.ts";
import modulate from "../../ops/modulation/digital_modulate.ts";
import randomBits from "../../ops/source/random_bits.ts";
import { ms, row, time } from "./measure.ts";

const [bitBoundary] = relay;

const registry = new Registry();
const operation = (value: Operation, path: string) => ({
  operation: value,
  moduleUrl: new URL(path, import.meta.url).href,
});
registry.register([
  operation(bitBoundary, "../../ops/channel/relay.ts"),
  operation(powerNormalize, "../../ops/channel/symbol_power_normalize.ts"),
  operation(modulate, "../../ops/modulation/digital_modulate.ts"),
  operation(randomBits, "../../ops/source/random_bits.ts"),
]);

const steps = Array.from({ length: 50 }, (_, index) => [
  { id: `data_${index}`, op: "source.random_bits", params: { bit_count: 64 + index } },
  { id: `boundary_${index}`, op: "channel.bit_boundary", inputs: { bits: `data_${index}.bits` } },
  { id: `modulator_${index}`, op: "modulation.digital_modulate", inputs: { bits: `boundary_${index}.bits` } },
  { id: `power_${index}`, op: "channel.symbol_power_normalize", inputs: { symbols: `modulator_${index}.symbols` } },
]).flat();
const recipe = { name: "two_hundred_steps", metadata: { seed: 23 }, steps };

const compilation = compileRecipe(recipe, { mode: "strict", registry });
const warm = new PlanCache();
const first = await planRecipe(compilation, { registry, cache: warm, singleRun: true });
if (first.status !== "planned" || first.plan.steps.length !== 200) {
  throw new Error("The recipe of the benchmark does not plan");
}

row("compile 200 steps", ms(await time(30, () => compileRecipe(recipe, { mode: "strict", registry }))));
for (const [name, options] of [["cache bypassed", { usePlanCache: false }], ["cache hit", { cache: warm }]] as const) {
  const planning = await time(30, () => planRecipe(compilation, { registry, singleRun: true, ...options }));
  row(`plan 200 steps, ${name}`, ms(planning));
}

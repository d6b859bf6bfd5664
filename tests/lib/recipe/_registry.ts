/** A small registry for the tests of the compiler. */
import { defineOperation } from "../../../lib/contract/define.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { seedParameter } from "../../../lib/contract/schema.ts";
import { z } from "../../../lib/contract/zod.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import type { Compilation, CompileMode } from "../../../lib/recipe/types.ts";

const source = defineOperation({
  id: "source.random_bits",
  name: "Random bits",
  outputs: { bits: "channel.payload_bits.numpy" },
  params: z.strictObject({ bit_count: z.int().min(1).default(1024), seed: seedParameter(7) }),
  threadSafe: true,
  run: () => ({ outputs: { bits: {} } }),
});

const channel = defineOperation({
  id: "wireless.channel",
  name: "Channel",
  inputs: { symbols: ["channel.payload_bits.numpy"] },
  outputs: { rx_symbols: "channel.payload_bits.numpy" },
  params: z.strictObject({
    noise_mode: z.enum(["snr_at_unit_power", "fixed_variance"]).default("snr_at_unit_power"),
    snr_db: z.number().default(12).meta({ "x-svc-effective-when": { noise_mode: "snr_at_unit_power" } }),
    noise_variance: z.number().min(1e-12).default(1).meta({ "x-svc-effective-when": { noise_mode: "fixed_variance" } }),
    seed: seedParameter(),
  }),
  threadSafe: true,
  run: () => ({ outputs: { rx_symbols: {} } }),
});

const nested = defineOperation({
  id: "test.nested",
  name: "Nested parameters",
  outputs: { report: "metrics.report" },
  params: z.strictObject({
    label: z.string(),
    grid: z.strictObject({
      size: z.int().default(8),
      rows: z.array(z.strictObject({ gain: z.number().default(1), taps: z.array(z.int()).default([1, 2]) })).default(
        [],
      ),
    }).default({ size: 4 } as never),
    limit: z.strictObject({ value: z.number(), unit: z.string().default("dB") }).nullable().default(null),
  }),
  threadSafe: true,
  run: () => ({ outputs: { report: {} } }),
});

/** Operations with a default seed, a seed without default, conditional, nested and required parameters. */
export const registry = new Registry();
registry.register([source, channel, nested].map((operation) => ({ operation, moduleUrl: "file:///test" })));

/** Compiles a text, with locations. */
export function compileText(text: string, mode: CompileMode = "strict", file = "recipe.yaml"): Compilation {
  const { value, locate } = readRecipeText(text, { file });
  return compileRecipe(value, { mode, registry, locate });
}

/** The findings as `code path line:column`. */
export function findings(compilation: Compilation): string[] {
  return compilation.diagnostics.map((item) =>
    `${item.code} ${item.path}` + (item.location ? ` ${item.location.line}:${item.location.column}` : "")
  );
}

/**
 * Lint of a recipe of 200 steps: fourteen protected links beside each other, each evaluated and accounted for.
 *
 *     deno run -A tests/bench/lint_bench.ts
 *
 * Aim: below 50 ms.
 */
import { lintRecipe } from "../../lib/plan/lint.ts";
import { compileRecipe } from "../../lib/recipe/compile.ts";
import { createRegistry } from "../../ops/registry.ts";
import { ms, row, time } from "./measure.ts";

const registry = await createRegistry();

/** One link of fifteen steps. */
const link = (n: number) => {
  const at = (id: string, output = "bits") => `${id}_${n}.${output}`;
  const steps: [string, string, Record<string, unknown>, Record<string, string>][] = [
    ["data", "source.random_bits", { bit_count: 1024 }, {}],
    ["payload", "channel.bit_boundary", {}, { bits: at("data") }],
    ["packetizer", "channel.packetize_crc32", {}, { bits: at("payload") }],
    ["encoder", "channel.repetition_encoder", {}, { bits: at("packetizer") }],
    ["sent", "channel.bit_boundary", {}, { bits: at("encoder", "coded_bits") }],
    ["modulator", "modulation.digital_modulate", {}, { bits: at("sent") }],
    ["power", "channel.symbol_power_normalize", {}, { symbols: at("modulator", "symbols") }],
    ["channel", "wireless.channel", { snr_db: 6.5 }, { symbols: at("power", "symbols") }],
    ["demodulator", "demodulation.digital_demodulate", {}, { rx_symbols: at("channel", "rx_symbols") }],
    ["received", "channel.bit_boundary", {}, { bits: at("demodulator") }],
    ["decoder", "channel.repetition_decoder", {}, { coded_bits: at("received") }],
    ["check", "channel.crc32_check", {}, { bits: at("decoder") }],
    ["ber", "metrics.bit_error_rate", { label: `${n}.ber` }, { reference: at("data"), candidate: at("check") }],
    ["bler", "metrics.block_error_rate", { label: `${n}.bler` }, { reference: at("data"), candidate: at("check") }],
    ["resources", "channel.communication_resource_accounting", {}, {
      payload_bits: at("payload"),
      framed_bits: at("packetizer"),
      coded_bits: at("sent"),
      symbols: at("power", "symbols"),
    }],
  ];
  return steps.map(([id, op, params, inputs]) => ({ id: `${id}_${n}`, op, params, inputs }));
};

const steps = Array.from({ length: 14 }, (_, n) => link(n)).flat().slice(0, 200);
const compile = () =>
  compileRecipe({ name: "links", metadata: { seed: 23, rate_count_fixed_point: "payload_0.bits" }, steps }, {
    mode: "strict",
    registry,
  });
const compilation = compile();
const report = lintRecipe(compilation, { registry });
if (report.error_count > 0 || compilation.effective?.steps.length !== 200) throw new Error("The recipe must be sound");

const cold = performance.now();
lintRecipe(compile(), { registry });
row("compile and lint 200 steps, first", ms(performance.now() - cold));
row("lint 200 steps", ms(await time(30, () => lintRecipe(compilation, { registry }))), "aim: below 50 ms");
row("compile and lint 200 steps", ms(await time(30, () => lintRecipe(compile(), { registry }))));

/** Findings of lint: every case of the folder lint/ changes a recipe that has no findings. */
import assert from "node:assert/strict";
import { REPORT } from "../../../lib/contract/kinds.ts";
import { lintRecipe } from "../../../lib/plan/lint.ts";
import { RULES } from "../../../lib/plan/lint/rules.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { lintGroups, lintRecipeOf, type Recipe } from "./lint_recipes.ts";
import { standIn } from "./toy.ts";

const registry = await createRegistry();
const backends = { benchmark_run: [], dataset_capture: [], differentiable_export: ["torch"] };
const exported = standIn("test.only_exported", { outputs: { report: REPORT }, backends });
registry.register([{ operation: exported, moduleUrl: "file:///test.ts" }]);

/** Steps beside a link, whose outputs have the kinds of those of the link. */
const ASIDE: Recipe["steps"] = [
  { id: "bits", op: "source.random_bits" },
  { id: "coded", op: "channel.nr_ldpc_encoder", inputs: { bits: "bits.bits" } },
  { id: "side", op: "modulation.digital_modulate", inputs: { bits: "coded.coded_bits" } },
  { id: "air", op: "wireless.channel", inputs: { symbols: "side.symbols" } },
  { id: "soft", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "air.rx_symbols" } },
  { id: "other_state", op: "wireless.ofdm_channel_state", inputs: { symbols: "side.symbols" } },
];

/** Findings as `severity code at place: hint`. */
function findings(recipe: Recipe): string[] {
  const { issues, status } = lintRecipe(compileRecipe(recipe, { mode: "strict", registry }), {
    registry,
    strict: true,
  });
  assert.equal(status, issues.some(({ severity }) => severity === "error") ? "failed" : "passed");
  return issues.map(({ severity, code, path, hint }) => {
    const place = path.replace(/^\$\.steps\[(\d+)\]/, (_all, index) => recipe.steps[index].id);
    return `${severity} ${code} at ${place}: ${hint}`;
  });
}

for (const [group, { cases, miswired = [] }] of lintGroups()) {
  Deno.test(`${group}: no finding without a change`, () => assert.deepEqual(findings(lintRecipeOf(group)), []));
  for (const { title, finds = [], ...change } of cases) {
    Deno.test(`${group}: ${title}`, () => {
      // Some changes leave a step without readers.
      const expected = (line: string) => line.includes(" step_without_effect ");
      const found = findings(lintRecipeOf(group, change)).filter((line) => finds.some(expected) || !expected(line));
      const shortened = found.map((line, index) => {
        const [place, hint] = (finds[index] ?? "").split(/: (.*)/s);
        return line.startsWith(`${place}: `) && line.slice(place.length + 2).includes(hint) ? finds[index] : line;
      });
      assert.deepEqual(shortened, finds);
    });
  }
  for (const change of miswired) {
    const input = Object.keys(change.wire!).at(-1)!, source = change.wire![input];
    Deno.test(`${group}: ${input} from ${source}`, () => {
      const { [input]: _source, ...wire } = change.wire!;
      const wrong = (recipe: Recipe) =>
        findings(recipe).flatMap((line) => line.match(/^error input_reference_invalid at (\S+):/)?.[1] ?? []);
      const [right, miswired] = [{ ...change, wire }, change].map((each) => {
        const recipe = lintRecipeOf(group, each);
        return { ...recipe, steps: [...ASIDE, ...recipe.steps] };
      });
      assert.deepEqual([wrong(right), wrong(miswired)], [[], [input.replace(".", ".inputs.")]]);
    });
  }
}

Deno.test("every rule has a case", () => {
  // That of side channels needs an adapter and has a file of its own.
  const tried = new Set(["side_channel_possible"]);
  for (const { cases } of lintGroups().values()) {
    for (const { finds = [] } of cases) for (const line of finds) tried.add(line.split(" ")[1]);
  }
  assert.deepEqual(RULES.map(({ code }) => code).filter((code) => !tried.has(code)), []);
});

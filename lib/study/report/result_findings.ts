/** Findings on a whole result: comparisons without the power to differ, and compared methods with unequal channel uses. */
import { type Diagnostic, diagnostic } from "../../contract/error.ts";
import { toNumber } from "../../contract/value.ts";
import { numberText } from "../../figure/number_text.ts";
import { pairsNeeded } from "../pack/compare.ts";
import { channelUseRemark } from "../pack/equal_uses.ts";
import type { BenchmarkResult } from "../pack/types.ts";
import { recipeRows } from "../rows/stored_rows.ts";

export function resultFindings(result: BenchmarkResult): Diagnostic[] {
  const warning = { severity: "warning" } as const;
  const power = powerRemark(result), uses = channelUseRemark(result, recipeRows(result));
  return [
    ...(power === null ? [] : [diagnostic("comparison_underpowered", ["comparisons"], power, warning)]),
    ...(uses === null ? [] : [diagnostic("channel_uses_differ", ["recipes"], uses, warning)]),
  ];
}

/**
 * What keeps every comparison from being told apart, whatever the numbers: an exact test of n pairs cannot give less
 * than 2 / 2^n, and the correction multiplies that. Null where nothing does.
 */
function powerRemark({ comparisons }: BenchmarkResult): string | null {
  const tested = comparisons.filter(({ p_method }) => p_method === "sign_flip");
  if (tested.length === 0 || tested.some(({ distinguishable }) => distinguishable)) return null;
  const level = 1 - toNumber(tested[0].confidence_level);
  const most = Math.max(...tested.map(({ n }) => n)), needed = pairsNeeded(tested.length, level);
  if (most >= needed) return null;
  return `${most} pairs cannot distinguish ${tested.length} comparisons at ${
    numberText(level)
  }: at least ${needed} are needed`;
}

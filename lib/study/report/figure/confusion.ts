/** The confusion matrices of a result: the counts of its reports, summed over replicates, by method and Es/N0 bin. */
import { SvcError } from "../../../contract/error.ts";
import { isNumber, isObject, type JsonObject, toNumber } from "../../../contract/value.ts";
import { type Confusion, confusionOf } from "../../../figure/confusion_of.ts";
import { numberText } from "../../../figure/number_text.ts";
import type { MatrixFigure } from "../../../figure/types.ts";
import { canonicalJson } from "../../../contract/json.ts";
import { completedRows } from "../../rows/estimates.ts";
import type { Draft } from "./types.ts";

/** A confusion matrix of one method, of all its frames or of one Es/N0 bin. */
interface Part extends Confusion {
  method: string;
  /** Lower end of the bin and its text; null for a report without Es/N0 bins. */
  bin: { low: number; text: string } | null;
}

/** The matrices of a report: one for each of its `snr_bins`, or the total one. */
function partsOf(method: string, report: JsonObject): Part[] {
  const whole = confusionOf(report);
  if (whole === null) return [];
  const bins = (Array.isArray(report.snr_bins) ? report.snr_bins : []).flatMap((bin): Part[] => {
    if (!isObject(bin) || !isNumber(bin.snr_low_db) || !isNumber(bin.snr_high_db)) return [];
    const own = confusionOf(bin), [low, high] = [bin.snr_low_db, bin.snr_high_db].map(toNumber);
    if (own === null || own.counts.length !== whole.counts.length) return [];
    const text = `${numberText(low, "unicode")} to ${numberText(high, "unicode")} dB`;
    return [{ ...own, labels: whole.labels, method, bin: { low, text } }];
  });
  return bins.length > 0 ? bins : [{ ...whole, method, bin: null }];
}

function added(parts: readonly Confusion[]): number[][] {
  const [{ counts }] = parts;
  return counts.map((row, i) => row.map((_, j) => parts.reduce((sum, other) => sum + other.counts[i][j], 0)));
}

/**
 * A matrix for every method and Es/N0 bin, or the sum of all.
 * @throws SvcError `usage_invalid` without a matrix in the reports, or with different classes
 */
export function confusionFigure({ result, groups, base, evidence }: Draft): MatrixFigure {
  let rows = 0;
  const labelOf = new Map(groups.flatMap(({ label, recipes }) => recipes.map(({ id }) => [id, label] as const)));
  const sums = new Map<string, Part>();
  for (const row of completedRows(result, new Set(labelOf.keys()))) {
    const found = evidence.reports(row).flatMap((report) => partsOf(labelOf.get(row.id)!, report));
    if (found.length > 0) rows++;
    for (const part of found) {
      const key = canonicalJson([part.method, part.bin?.text ?? null, part.labels]), sum = sums.get(key);
      sums.set(key, sum === undefined ? part : { ...part, counts: added([sum, part]) });
    }
  }
  const parts = groups.flatMap(({ label }) => [...sums.values()].filter(({ method }) => method === label));
  if (parts.length === 0) {
    throw new SvcError("usage_invalid", "Cannot plot a confusion matrix: no report of a completed row holds one", {
      hint: "The evaluation has to write confusion_matrix into its report",
    });
  }
  const [{ labels }] = parts;
  if (parts.some((other) => other.labels.join("\0") !== labels.join("\0"))) {
    throw new SvcError("usage_invalid", "Cannot add up confusion matrices of different classes", {
      hint: "Choose recipes of one kind with --recipe",
    });
  }
  const names = [...new Set(parts.map(({ method }) => method))];
  const bins = [...new Map(parts.map(({ bin }) => [bin?.text ?? "", bin])).values()]
    .sort((a, b) => (a?.low ?? -Infinity) - (b?.low ?? -Infinity));
  const panels = names.flatMap((row) =>
    bins.flatMap((bin) => {
      const own = parts.filter((part) => part.method === row && part.bin?.text === bin?.text);
      return own.length === 0 ? [] : [{ row, column: bin?.text ?? "", counts: added(own) }];
    })
  );
  const { name, id, version } = result.benchmark;
  const whose = names.length === 1 ? [names[0]] : [];
  const several = panels.length > 1 && bins.length > 1 ? ["by Es/N0"] : [];
  return {
    type: "confusion-matrix",
    form: "matrix",
    title: "Confusion matrix",
    subtitle: [
      `${name || id}, version ${version}`,
      ...whose,
      `${rows} ${rows === 1 ? "row" : "rows"} added up`,
      ...several,
    ].join(" · "),
    source: base.source,
    labels,
    counts: added(parts),
    ...(panels.length > 1 ? { panels } : {}),
  };
}

/** What reports hold beside their metrics: confusion matrices, lists of errors, transmissions of blocks, rates of users. */
import { isObject, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { type Confusion, confusionOf } from "../../../lib/figure/confusion_of.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import type { Figure } from "../../../lib/figure/types.ts";
import { Chart } from "../../charts/chart.tsx";
import { errorFigure, errorLists } from "../../charts/errors.ts";
import { deliveriesFigure, deliveriesOf } from "../../charts/harq.ts";
import { userRatesFigure, userRatesOf } from "../../charts/users.ts";
import { sourceOf } from "./parts.tsx";
import type { Report } from "./use_reports.ts";
import { view } from "./view.tsx";

interface Named extends Confusion {
  label: string;
}

/** The matrix of a report, and those of its ranges of Es/N0 where it separates them. */
function confusionsOf({ document }: Report): Named[] {
  const whole = confusionOf(document);
  if (whole === null) return [];
  const bins = Array.isArray(document.snr_bins) ? document.snr_bins.filter(isObject) : [];
  const parts = bins.flatMap((bin): Named[] => {
    const found = confusionOf({ ...bin, class_names: whole.labels });
    if (found === null) return [];
    const [low, high] = ["snr_low_db", "snr_high_db"].map((key) => bin[key]);
    const end = (value: unknown) => numberText(toNumber(value as number), "unicode");
    const label = low === null || low === undefined
      ? "unknown"
      : high === null || high === undefined || toNumber(high as number) === toNumber(low as number)
      ? `${end(low)} dB`
      : `${end(low)} to ${end(high)} dB`;
    return [{ ...found, label }];
  });
  return [{ ...whole, label: "all" }, ...(parts.length > 1 ? parts : [])];
}

/** The ids of options that are the places in a list. */
const placesOf = (texts: readonly string[]) => texts.map((text, at) => [String(at), text] as const);

/** The first confusion matrix of a run, by ranges of Es/N0. */
export const CONFUSIONS = view({
  title: "Confusion",
  matches: ({ reports }) => reports.filter(({ document }) => confusionOf(document) !== null).slice(0, 1),
  keyOf: ({ artifact }) => artifact.path,
  options: { label: "Es/N0", of: (report) => placesOf(confusionsOf(report).map(({ label }) => label)) },
  figure(_, { item, option, summary }) {
    const { labels, counts, label } = confusionsOf(item)[Number(option)];
    return (
      <Chart
        figure={{
          form: "matrix",
          type: "confusion-matrix",
          title: `Confusion matrix of ${item.artifact.step}`,
          subtitle: label === "all" ? "" : `Es/N0 ${label}`,
          source: sourceOf(summary, item.artifact),
          labels,
          counts,
        }}
      />
    );
  },
});

/** A figure of each report that holds something; null without. */
const figures = <Found,>(
  title: string,
  found: (document: JsonObject) => Found | null,
  figureOf: (found: Found, facts: Pick<Figure, "subtitle" | "source">) => Figure,
) =>
  view({
    title,
    matches({ reports }) {
      const own = reports.filter(({ document }) => found(document) !== null);
      return own.length === 0 ? [] : [own];
    },
    keyOf: (reports) => reports.map(({ artifact }) => artifact.path).join(" "),
    figure: (_, { item, summary }) => (
      <>
        {item.map(({ artifact, document }) => {
          const facts = { subtitle: artifact.step, source: sourceOf(summary, artifact) };
          return <Chart key={artifact.path} figure={figureOf(found(document)!, facts)} />;
        })}
      </>
    ),
  });

export const DELIVERIES = figures(
  "Retransmissions",
  deliveriesOf,
  (found, facts) => deliveriesFigure(found, { title: "Blocks by delivering transmission", ...facts }),
);
export const USER_RATES = figures(
  "Users",
  userRatesOf,
  (found, facts) => userRatesFigure(found, { title: "Rate per user", ...facts }),
);

/** Lists of errors, one at a time. */
export const ERRORS = view({
  title: "Errors",
  matches: ({ reports }) =>
    reports.flatMap((report) => errorLists(report.document).map((list) => ({ artifact: report.artifact, list }))),
  keyOf: ({ artifact, list }) => `${artifact.path} ${list.title}`,
  menu: { label: "Error", textOf: ({ list }) => list.title },
  figure: (_, { item: { artifact, list }, summary }) => (
    <Chart
      figure={errorFigure(list, { subtitle: `${list.values.length} examples`, source: sourceOf(summary, artifact) })}
    />
  ),
});

/** What reports hold beside their metrics: confusion matrices, lists of errors, transmissions of blocks. */
import { isObject, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { type Confusion, confusionOf } from "../../../lib/figure/confusion_of.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import type { Figure } from "../../../lib/figure/types.ts";
import { Chart } from "../../charts/chart.tsx";
import { errorFigure, type ErrorList, errorLists } from "../../charts/errors.ts";
import { deliveriesFigure, deliveriesOf } from "../../charts/harq.ts";
import { useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { Select } from "../../parts.tsx";
import { sourceOf, ViewPanel } from "./parts.tsx";

/** A report with the artifact that it is. */
export interface Report {
  artifact: Artifact;
  document: JsonObject;
}

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

export const hasConfusion = ({ document }: Report): boolean => confusionOf(document) !== null;

export function ConfusionView({ report, summary }: { report: Report; summary: RunSummary }) {
  const [chosen, setChosen] = useState("0");
  const all = confusionsOf(report), { labels, counts, label } = all[Number(chosen)] ?? all[0];
  return (
    <ViewPanel
      title="Confusion"
      controls={all.length > 1
        ? (
          <Select
            label="Es/N0"
            value={chosen}
            options={all.map((one, i) => [String(i), one.label] as const)}
            onChoose={setChosen}
          />
        )
        : undefined}
    >
      <Chart
        figure={{
          form: "matrix",
          type: "confusion-matrix",
          title: `Confusion matrix of ${report.artifact.step}`,
          subtitle: label === "all" ? "" : `Es/N0 ${label}`,
          source: sourceOf(summary, report.artifact),
          labels,
          counts,
        }}
      />
    </ViewPanel>
  );
}

/** A figure of each report. */
export function ReportFigures({ title, reports, summary, figureOf }: {
  title: string;
  reports: Report[];
  summary: RunSummary;
  figureOf(document: JsonObject, facts: Pick<Figure, "subtitle" | "source">): Figure;
}) {
  return (
    <ViewPanel title={title}>
      {reports.map(({ artifact, document }) => (
        <Chart
          key={artifact.path}
          figure={figureOf(document, { subtitle: artifact.step, source: sourceOf(summary, artifact) })}
        />
      ))}
    </ViewPanel>
  );
}

export const hasDeliveries = ({ document }: Report): boolean => deliveriesOf(document) !== null;

export const DeliveryView = ({ reports, summary }: { reports: Report[]; summary: RunSummary }) => (
  <ReportFigures
    title="Retransmissions"
    reports={reports}
    summary={summary}
    figureOf={(document, facts) =>
      deliveriesFigure(deliveriesOf(document)!, { title: "Blocks by delivering transmission", ...facts })}
  />
);

export const hasErrors = ({ document }: Report): boolean => errorLists(document).length > 0;

export function ErrorView({ reports, summary }: { reports: Report[]; summary: RunSummary }) {
  const [chosen, setChosen] = useState("0");
  const lists = reports.flatMap((report) =>
    errorLists(report.document).map((list): [Report, ErrorList] => [report, list])
  );
  const [report, list] = lists[Number(chosen)] ?? lists[0];
  return (
    <ViewPanel
      title="Errors"
      controls={lists.length > 1
        ? (
          <Select
            label="Error"
            value={chosen}
            options={lists.map(([, { title }], i) => [String(i), title] as const)}
            onChoose={setChosen}
          />
        )
        : undefined}
    >
      <Chart
        figure={errorFigure(list, {
          subtitle: `${list.values.length} examples`,
          source: sourceOf(summary, report.artifact),
        })}
      />
    </ViewPanel>
  );
}

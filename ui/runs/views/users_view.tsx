/** Rates per user of a downlink, and the schedule of its slots. */
import { Chart } from "../../charts/chart.tsx";
import { scheduleFigure, SLOTS_SHOWN, userRatesFigure, userRatesOf } from "../../charts/users.ts";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { readBlock } from "../fetch_array.ts";
import { Wait } from "../../parts.tsx";
import { IndexChoice, metadataNumber, sourceOf, ViewPanel } from "./parts.tsx";
import { type Report, ReportFigures } from "./report_views.tsx";

export const hasUserRates = ({ document }: Report): boolean => userRatesOf(document) !== null;

export const UserRatesView = ({ reports, summary }: { reports: Report[]; summary: RunSummary }) => (
  <ReportFigures
    title="Users"
    reports={reports}
    summary={summary}
    figureOf={(document, facts) => userRatesFigure(userRatesOf(document)!, { title: "Rate per user", ...facts })}
  />
);

export function ScheduleView({ schedule, summary }: { schedule: Artifact; summary: RunSummary }) {
  const [page, setPage] = useState(0);
  const { value, ...wait } = useLoaded((signal) => readBlock(schedule, [], signal), schedule.path);
  const figure = useMemo(() => {
    if (value === null) return null;
    const policy = String(schedule.metadata.policy ?? "").replaceAll("_", " ");
    return scheduleFigure(value.real, value.shape[1], {
      title: "Users of each slot",
      subtitle: [schedule.step, policy].filter(Boolean).join(" · "),
      source: sourceOf(summary, schedule),
      users: metadataNumber(schedule, "user_count") ?? 1,
      first: page * SLOTS_SHOWN,
    });
  }, [value, page]);
  const pages = Math.ceil((schedule.shape?.[0] ?? 0) / SLOTS_SHOWN);
  return (
    <ViewPanel
      title="Schedule"
      controls={
        <IndexChoice label={`Slots in steps of ${SLOTS_SHOWN}`} count={pages} value={page} onChoose={setPage} />
      }
    >
      {figure === null ? <Wait of={wait} what="the schedule" /> : <Chart figure={figure} />}
    </ViewPanel>
  );
}

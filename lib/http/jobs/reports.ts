/** Reports on their way to the main thread: the progress of a step not more often than anybody can follow. */
import type { Report } from "./types.ts";

/** Between two reports of one step's progress, in milliseconds. */
const PROGRESS_INTERVAL_MS = 100;

/**
 * Wraps a receiver of reports.
 * @returns `add` passes reports on, and keeps the latest progress of a step back until its time has come; `close` drops
 *   the kept part, since the end of the step reports more
 */
export function throttledReports(
  receive: (report: Report) => void,
): { add(report: Report): void; close(): void } {
  const sentAt = new Map<string, number>();
  const kept = new Map<string, ReturnType<typeof setTimeout>>();
  const drop = (step: string) => {
    clearTimeout(kept.get(step));
    kept.delete(step);
  };
  const progress = (step: string, report: Report) => {
    drop(step);
    const wait = (sentAt.get(step) ?? -Infinity) + PROGRESS_INTERVAL_MS - performance.now();
    const pass = () => {
      kept.delete(step);
      sentAt.set(step, performance.now());
      receive(report);
    };
    if (wait <= 0) pass();
    else kept.set(step, setTimeout(pass, wait));
  };
  return {
    add(report) {
      const step = String(report.fields?.step_id ?? "");
      if (report.kind === "step_progress" && report.fields?.status === "running") return progress(step, report);
      drop(step);
      receive(report);
    },
    close() {
      for (const step of [...kept.keys()]) drop(step);
    },
  };
}

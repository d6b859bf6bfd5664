/** The events of a job, as they come. */
import { get } from "../api.ts";
import { Table } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { type JobEvent, onEvent } from "../state/events.ts";

export function Log({ jobId, none = "This recipe has not run yet." }: { jobId: string | null; none?: string }) {
  const [events, setEvents] = useState<readonly JobEvent[] | null>(null);
  useEffect(() => {
    if (jobId === null) return;
    const stop = new AbortController();
    const add = (more: readonly JobEvent[]) =>
      setEvents((before) => {
        const bySeq = new Map([...before ?? [], ...more].map((event) => [event.seq, event]));
        return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
      });
    get("/api/run-jobs/:job_id", { params: { job_id: jobId }, signal: stop.signal }).then(
      ({ events }) => add(events),
      () => setEvents([]),
    );
    const leave = onEvent((event) => event.job_id === jobId && add([event]));
    return () => {
      stop.abort();
      leave();
    };
  }, [jobId]);
  if (jobId === null) return <p class="muted">{none}</p>;
  if (events === null) return <p class="muted">Reading the events</p>;
  if (events.length === 0) return <p class="muted">The server keeps no events of this job.</p>;
  return (
    <Table
      look="log"
      rows={events}
      keyOf={({ seq }) => String(seq)}
      columns={[
        ["Time", ({ time }) => time.slice(11, 23), "mono small"],
        ["Event", ({ kind }) => kind, "mono small"],
        ["Message", ({ level, message }) => (
          <>
            {level !== "info" && <span class="tag" data-tone={level === "error" ? "error" : "warn"}>{level}</span>}
            {message}
          </>
        )],
      ]}
    />
  );
}

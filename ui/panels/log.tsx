/** The events of the last run, as they come. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get } from "../api.ts";
import { useEffect, useState } from "../preact.ts";
import type { Copy } from "../state/copies.ts";
import { type JobEvent, onEvent } from "../state/events.ts";

export function Log({ copy }: { copy: Copy }) {
  const [events, setEvents] = useState<readonly JobEvent[] | null>(null);
  const { jobId } = copy;
  useEffect(() => {
    if (jobId === null) return;
    setEvents(null);
    const stop = new AbortController();
    const add = (more: readonly JobEvent[]) =>
      setEvents((before) => {
        const bySeq = new Map([...before ?? [], ...more].map((event) => [event.seq, event]));
        return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
      });
    get<JsonObject>(`/api/run-jobs/${jobId}`, stop.signal).then(
      ({ events }) => add(events as unknown as JobEvent[]),
      () => setEvents([]),
    );
    const leave = onEvent((event) => event.job_id === jobId && add([event]));
    return () => {
      stop.abort();
      leave();
    };
  }, [jobId]);
  if (jobId === null) return <p class="muted">This recipe was not run yet.</p>;
  if (events === null) return <p class="muted">Reading the events</p>;
  if (events.length === 0) return <p class="muted">The server has no events of this job any more.</p>;
  return (
    <table class="log">
      <thead>
        <tr>
          <th>Time</th>
          <th>Event</th>
          <th>Message</th>
        </tr>
      </thead>
      <tbody>
        {events.map(({ seq, time, kind, level, message }) => (
          <tr key={seq}>
            <td class="mono small">{time.slice(11, 23)}</td>
            <td class="mono small">{kind}</td>
            <td>
              {level !== "info" && <span class="tag" data-tone={level === "error" ? "error" : "warn"}>{level}</span>}
              {message}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

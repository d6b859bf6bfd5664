/** The events of a job, as they come. */
import { get, Problem } from "../api.ts";
import { Table, Wait } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { type JobEvent, onEvent } from "../state/events.ts";
import { useLoaded } from "../state/fetched.ts";

/** The events that the server keeps of a job: none of one that it has forgotten. @throws Problem */
async function eventsOf(jobId: string, signal: AbortSignal): Promise<readonly JobEvent[]> {
  try {
    return (await get("/api/run-jobs/:job_id", { params: { job_id: jobId }, signal })).events;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return [];
    throw error;
  }
}

export function Log({ jobId, none = "This recipe has not run yet." }: { jobId: string | null; none?: string }) {
  const [live, setLive] = useState<readonly JobEvent[]>([]);
  useEffect(
    () => onEvent((event) => event.job_id === jobId && setLive((before) => [...before, event])),
    [jobId],
  );
  const kept = useLoaded((signal) => eventsOf(jobId!, signal), jobId);
  if (jobId === null) return <p class="muted">{none}</p>;
  const come = [...kept.value ?? [], ...live.filter(({ job_id }) => job_id === jobId)];
  if (kept.value === null && come.length === 0) return <Wait of={kept} what="the events" />;
  if (come.length === 0) return <p class="muted">The server keeps no events of this job.</p>;
  const events = [...new Map(come.map((event) => [event.seq, event])).values()].sort((a, b) => a.seq - b.seq);
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

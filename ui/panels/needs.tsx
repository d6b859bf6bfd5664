/** What Run will need, beside its button. Loaded when a recipe was checked. */
import { bytesText, secondsText } from "../runs/amounts.ts";
import { useEffect } from "../preact.ts";
import { type Copy, validate } from "../state/copies.ts";
import { jobOf } from "../state/summaries.ts";

/** Memory and disk space by the plans, and time by runs before; what is not known is said. */
export function NeedsText({ copy }: { copy: Copy }) {
  const needs = copy.verdict?.estimate ?? null;
  const ran = jobOf(copy)?.state === "completed" ? copy.jobId : null;
  // The first run of a recipe gives an estimate of the next one.
  useEffect(() => {
    if (ran !== null && needs?.seconds === null) validate(copy.id);
  }, [ran]);
  if (needs === null) return null;
  const { runs, seconds, memory_bytes, disk_bytes, rough } = needs;
  const parts = [
    runs > 1 ? `${runs} runs` : null,
    seconds === null ? "no estimate of time" : `${rough ? "roughly" : "about"} ${secondsText(seconds)}`,
    memory_bytes === null ? "no estimate of memory" : `${bytesText(memory_bytes)} memory`,
    disk_bytes === null ? null : `${bytesText(disk_bytes)} disk`,
  ].filter((part) => part !== null);
  return (
    <span
      class="small muted needs"
      title={"Memory and disk space by the plan. Time of all runs one after another, as runs of this recipe with data of " +
        "the same size took before; roughly: in proportion to the data of other sizes. Files decide what has no estimate, or there is no run before."}
    >
      {parts.join(" · ")}
    </span>
  );
}

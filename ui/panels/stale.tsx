/** One line above a result of another recipe: the change since, and the ways to agree again. */
import { ask } from "../api.ts";
import { changesText } from "../form/result_form.ts";
import { Dialog } from "../parts.tsx";
import { useState } from "../preact.ts";
import { type Copy, edit, textOf } from "../state/copies.ts";
import { isEnded } from "../state/events.ts";
import { useLoaded } from "../state/fetched.ts";
import type { Stale } from "../state/ran.ts";
import { startRun } from "../state/runs.ts";
import { attempt, whyNotRun } from "./bar.tsx";
import { Changes } from "./changes.tsx";

export function StaleLine({ copy, stale: { job, ran } }: { copy: Copy; stale: Stale }) {
  const [open, setOpen] = useState(false);
  const { value, problem } = useLoaded(
    (signal) => ask("/api/recipe/diff", { a: ran!, b: copy.recipe }, { signal }),
    ran === null ? null : `${job.job_id} ${textOf(copy)}`,
  );
  const changes = value?.changes ?? [];
  const said = `Result of an earlier version${problem === null ? changesText(changes) : `. ${problem}`}`;
  return (
    <div class="notice row stale-line" data-tone="warn" role="status">
      {ran === null
        ? <span>The server does not have the recipe of this result: it may belong to another version.</span>
        : <span class={problem === null ? "change" : undefined} title={said}>{said}</span>}
      {isEnded(job.state) && (
        <button
          type="button"
          disabled={whyNotRun(copy) !== null}
          onClick={() => attempt(() => startRun(copy))}
        >
          Run again
        </button>
      )}
      {ran !== null && (
        <>
          <button type="button" onClick={() => setOpen(true)}>Show changes</button>
          <button type="button" onClick={() => edit(copy.id, ran)}>Take that version back</button>
        </>
      )}
      {open && (
        <Dialog title="Changes since the run" onClose={() => setOpen(false)}>
          <Changes changes={changes} a="Of the result" b="Now" />
        </Dialog>
      )}
    </div>
  );
}

/** The failure of a run: its step as the way to the block, the reason, and what the checks found about that step. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { type Diagnostic, problemText } from "../api.ts";
import { Diagnostics, Shown, Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { address, go } from "../router.ts";
import { centreView } from "../state/centre_view.ts";
import { type Copy, openCopy, stepsOf, update } from "../state/copies.ts";
import { type Job, variantRuns } from "../state/events.ts";
import { useFetched } from "../state/fetched.ts";
import type { RunSummary } from "./documents.ts";
import { json } from "./fetch_artifact.ts";

interface FailureProps {
  summary: RunSummary;
  /** The open recipe: its block is shown where it has the step; else the recipe of the run is opened. */
  copy?: Copy;
}

/** The step that failed, and the code of its error. */
function failureOf({ failure, steps }: RunSummary): { failed: string | null; code: string | null } {
  const { code = null, step_id = null }: JsonObject = isObject(failure) ? failure : {};
  return {
    failed: steps.find(({ status }) => status === "failed")?.id ?? step_id as string | null,
    code: code as string | null,
  };
}

/** The warnings of a run about the step that failed, and the others. */
export function warningsOf(summary: RunSummary): { remedies: Diagnostic[]; others: Diagnostic[] } {
  const { failed } = failureOf(summary), all = (summary.warnings ?? []) as Diagnostic[];
  const isRemedy = ({ step_id }: Diagnostic) => failed !== null && step_id === failed;
  return { remedies: all.filter(isRemedy), others: all.filter((one) => !isRemedy(one)) };
}

export function Failure({ summary, copy }: FailureProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const { run_id, error } = summary, { failed, code } = failureOf(summary), { remedies } = warningsOf(summary);
  if (error === undefined) return null;
  const isOpen = copy !== undefined && stepsOf(copy.recipe).some(({ id }) => id === failed);
  const show = async () => {
    try {
      const shown = isOpen ? copy : openCopy(await json<JsonObject>(`runs/${run_id}/recipe.authored.json`));
      centreView.value = "Graph";
      update(shown.id, { selected: failed });
      go("editor");
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return (
    <div class="notice stack failure" data-tone="error" role="alert">
      <p>
        {failed !== null && <strong>{failed} failed.</strong>} {error}{" "}
        {code !== null && <code class="small muted">{code}</code>}
      </p>
      {remedies.length > 0 && <Diagnostics label="Findings on the failed block" items={remedies} />}
      {failed !== null && (
        <p>
          <button type="button" onClick={show}>
            {isOpen ? `Show the block ${failed}` : `Open as recipe at ${failed}`}
          </button>
        </p>
      )}
      <Trouble text={problem} />
    </div>
  );
}

/** The first variant of a sweep that failed, and the count of the others. */
export function FailedVariants({ job }: { job: Job }) {
  const failed = Object.values(variantRuns(job)).filter(({ status }) => status === "failed")
    .sort((a, b) => a.index - b.index);
  const runId = failed[0]?.run_id ?? null;
  const found = useFetched(runId === null ? null : "/api/runs/:run_id", { params: { run_id: runId ?? "" } });
  if (runId === null) return <Trouble text={reasonOf(job)} />;
  return (
    <>
      <p>
        <a href={address("runs", [runId])}>Variant {failed[0].index} failed</a>
        {failed.length > 1 && `, and ${failed.length - 1} more`}
      </p>
      <Shown of={found} what="the failed run">{({ summary }) => <Failure summary={summary} />}</Shown>
    </>
  );
}

/** The error of a job in words; null where it has none. */
export const reasonOf = ({ error }: Job): string | null =>
  error === null ? null : [error.detail ?? error.message ?? error.code, error.hint].filter(Boolean).join(". ");

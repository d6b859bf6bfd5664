/** What Run will need, beside its button. Loaded when a recipe was checked. */
import { hasMatrix, matrixFacts } from "../../lib/contract/matrix_edits.ts";
import { secondsOf } from "../runs/filter.ts";
import { bytesText, secondsText } from "../runs/amounts.ts";
import { jobOf, useSummary } from "../state/summaries.ts";
import type { Copy } from "../state/copies.ts";

/** What Run will need: memory and disk space by the plan, time as the run before took it. */
export function NeedsText({ copy }: { copy: Copy }) {
  const summary = useSummary(jobOf(copy)), needs = copy.verdict?.needs ?? null;
  if (needs === null || needs.unknown) return null;
  const runs = hasMatrix(copy.recipe) ? matrixFacts(copy.recipe).count : 1;
  const seconds = summary?.status === "completed" ? secondsOf(summary) : null;
  const parts = [
    runs > 1 ? `${runs} runs` : null,
    seconds === null ? null : `about ${secondsText(runs * seconds)}`,
    `${bytesText(needs.memory_bytes)} memory`,
    `${bytesText(runs * needs.disk_bytes)} disk`,
  ].filter((part) => part !== null);
  return (
    <span
      class="small muted needs"
      title="Memory and disk space by the plan; time as the run before took it, one after another"
    >
      {parts.join(" · ")}
    </span>
  );
}

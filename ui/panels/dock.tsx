/** Below the recipe: problems, the latest run, the plan, the log. */
import { connection, type Diagnostic } from "../api.ts";
import { Tabs } from "../parts.tsx";
import { lazy, useEffect, useRef, useState } from "../preact.ts";
import { centreView } from "../state/centre_view.ts";
import { type Copy, foundIn, textOf, unreadOf, validate } from "../state/copies.ts";
import { isEnded, variantRuns } from "../state/events.ts";
import { jobOf } from "../state/summaries.ts";
import { CheckMode } from "./check_mode.tsx";

const Findings = lazy(() => import("./findings.tsx"), "Loading the view");
const Log = lazy(() => import("./log.tsx").then(({ Log }) => Log), "Loading the view");
const Plan = lazy(() => import("./plan.tsx").then(({ Plan }) => Plan), "Loading the view");
const Results = lazy(() => import("./results.tsx").then(({ Results }) => Results), "Loading the view");

const PANELS = ["Problems", "Results", "Plan", "Log"] as const;

export function Dock({ copy }: { copy: Copy }) {
  const [panel, setPanel] = useState<typeof PANELS[number]>("Problems");
  const { id, jobId } = copy, job = jobOf(copy), ended = job !== undefined && isEnded(job.state);
  const [opened, setOpened] = useState<string | null | undefined>();
  const isSweeping = job?.kind === "matrix" && !ended;
  const failed = isSweeping && Object.values(variantRuns(job)).some(({ status }) => status === "failed");
  // A sweep in the matrix has the height for its curve, until a variant fails or a panel is chosen.
  const isShown = isSweeping || job?.kind === "matrix" && job.state === "completed" && centreView.value === "Matrix";
  const before = useRef({ id, jobId, running: false });
  // A run that ends shows its result; a recipe that has run before does not.
  useEffect(() => {
    const seen = before.current;
    if (failed || ended && seen.id === id && (seen.running || seen.jobId !== jobId)) setPanel("Results");
    before.current = { id, jobId, running: job !== undefined && !ended };
  }, [id, jobId, job?.state, failed]);
  const found = foundIn(copy), count = found.filter(isProblem).length + unreadOf(copy).length;
  // What has nothing to tell is its tabs, until one is pressed; pressed again, they close it.
  const quiet = panel === "Problems" && found.length + count === 0, isOpen = opened === jobId;
  const folded = !isOpen && (quiet || isShown && !failed && copy.verdict?.valid !== false);
  const said = panel === "Problems" && saidOf(copy, found.length, count);
  return (
    <section
      class="dock"
      aria-label="Below the graph"
      data-quiet={folded || quiet ? "" : undefined}
    >
      <div class="dock-head">
        <Tabs
          label="Panels"
          value={panel}
          options={PANELS.map((name) =>
            [name, name === "Problems" && count > 0 ? `Problems (${count})` : name] as const
          )}
          onChoose={(name) => (setPanel(name), setOpened(name === panel && isOpen ? undefined : jobId))}
        />
        {said && <span class="muted">{said}</span>}
      </div>
      <div class="dock-body" role="tabpanel" aria-label={panel} tabindex={0} hidden={folded}>
        {panel === "Problems" && <CheckMode onChoose={() => validate(copy.id)} />}
        {panel === "Problems" && found.length + count > 0 && <Findings copy={copy} />}
        {panel === "Plan" && <Plan copy={copy} />}
        {panel === "Results" && <Results copy={copy} />}
        {panel === "Log" && <Log key={copy.jobId} jobId={copy.jobId} />}
      </div>
    </section>
  );
}

const isProblem = ({ severity }: Diagnostic) => severity !== "info";

/** The state of the check in one line; none where the problems are listed. */
function saidOf(copy: Copy, found: number, count: number): string | false {
  const { verdict } = copy;
  if (verdict === null) return "Checking";
  if (verdict.text !== textOf(copy) && connection.value === "lost") {
    return `Not checked: the server does not answer. The check before found ${found} problems.`;
  }
  return count === 0 && "No problems: the recipe is valid.";
}

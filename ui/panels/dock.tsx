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
  const [opened, setOpened] = useState<string | null>(null);
  const isSweeping = job?.kind === "matrix" && !ended;
  const failed = isSweeping && Object.values(variantRuns(job)).some(({ status }) => status === "failed");
  // A sweep in the matrix has the height for its curve, until a variant fails or a panel is chosen.
  const isShown = isSweeping || job?.kind === "matrix" && job.state === "completed" && centreView.value === "Matrix";
  const folded = isShown && !failed && opened !== jobId && copy.verdict?.valid !== false;
  const before = useRef({ id, jobId, running: false });
  // A run that ends shows its result; a recipe that has run before does not.
  useEffect(() => {
    const seen = before.current;
    if (failed || ended && seen.id === id && (seen.running || seen.jobId !== jobId)) setPanel("Results");
    before.current = { id, jobId, running: job !== undefined && !ended };
  }, [id, jobId, job?.state, failed]);
  const found = foundIn(copy), count = found.filter(isProblem).length + unreadOf(copy).length;
  return (
    <section
      class="dock"
      aria-label="Below the graph"
      data-quiet={folded || panel === "Problems" && found.length + count === 0 ? "" : undefined}
    >
      <Tabs
        label="Panels"
        value={panel}
        options={PANELS.map((name) => [name, name === "Problems" && count > 0 ? `Problems (${count})` : name] as const)}
        onChoose={(name) => (setPanel(name), setOpened(jobId))}
      />
      <div class="dock-body" role="tabpanel" aria-label={panel} tabindex={0} hidden={folded}>
        {panel === "Problems" && <Problems copy={copy} found={found} count={count} />}
        {panel === "Plan" && <Plan copy={copy} />}
        {panel === "Results" && <Results copy={copy} />}
        {panel === "Log" && <Log key={copy.jobId} jobId={copy.jobId} />}
      </div>
    </section>
  );
}

const isProblem = ({ severity }: Diagnostic) => severity !== "info";

function Problems({ copy, found, count }: { copy: Copy; found: readonly Diagnostic[]; count: number }) {
  const { verdict } = copy;
  const said = verdict === null
    ? "Checking"
    : verdict.text !== textOf(copy) && connection.value === "lost"
    ? `Not checked: the server does not answer. The check before found ${found.length} problems.`
    : count === 0 && "No problems: the recipe is valid.";
  return (
    <>
      <CheckMode onChoose={() => validate(copy.id)} />
      {said && <p class="muted">{said}</p>}
      {found.length + count > 0 && <Findings copy={copy} />}
    </>
  );
}

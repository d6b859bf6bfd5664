/** Below the recipe: problems, the latest run, the plan, the log. */
import { connection, type Diagnostic } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { asCustom } from "../form/replacement.ts";
import { Table, Tabs, toneOf } from "../parts.tsx";
import { lazy, Suspense, useState } from "../preact.ts";
import { address } from "../router.ts";
import { directionText, measuredText } from "../runs/metrics.ts";
import { type Copy, edit, stepsOf, textOf, update, validate } from "../state/copies.ts";
import type { Job } from "../state/events.ts";
import { statesOf } from "../state/runs.ts";
import { jobOf, metricOf, type Summary, useSummary } from "../state/summaries.ts";
import { headlineMetrics } from "./headline.ts";
import { CacheOutcome, Plan } from "./plan.tsx";
import { CheckMode } from "./raw.tsx";
import { RunCommand } from "./run_command.tsx";

const Log = lazy(() => import("./log.tsx").then(({ Log }) => Log));

const PANELS = ["Problems", "Results", "Plan", "Log"] as const;

export function Dock({ copy }: { copy: Copy }) {
  const [panel, setPanel] = useState<typeof PANELS[number]>("Problems");
  const count = (copy.verdict?.diagnostics.length ?? 0) + Object.keys(copy.unread).length;
  return (
    <section class="dock" aria-label="Below the graph">
      <Tabs
        label="Panels"
        value={panel}
        options={PANELS.map((name) => [name, name === "Problems" && count > 0 ? `Problems (${count})` : name] as const)}
        onChoose={setPanel}
      />
      <div class="dock-body" role="tabpanel" aria-label={panel} tabindex={0}>
        {panel === "Problems" && <Problems copy={copy} />}
        {panel === "Results" && <Results copy={copy} />}
        {panel === "Plan" && <Plan copy={copy} />}
        {panel === "Log" && (
          <Suspense fallback={<p class="muted">Loading the log</p>}>
            <Log copy={copy} />
          </Suspense>
        )}
      </div>
    </section>
  );
}

const isProblem = ({ severity }: Diagnostic) => severity !== "info";

function Problems({ copy }: { copy: Copy }) {
  const { verdict } = copy, unread = Object.entries(copy.unread);
  const found = verdict?.diagnostics ?? [], stale = verdict !== null && verdict.text !== textOf(copy);
  return (
    <>
      <CheckMode onChoose={() => validate(copy.id)} />
      {verdict === null && <p class="muted">Checking</p>}
      {verdict !== null && stale && connection.value === "lost"
        ? (
          <p class="muted">
            Not checked: the server does not answer. The check before found {found.length} problems.
          </p>
        )
        : verdict !== null && !found.some(isProblem) && unread.length === 0 && (
          <p class="muted">No problems: the recipe is valid.</p>
        )}
      <ul>
        {unread.map(([field, { stepId, param, message }]) => (
          <li key={field} class="row">
            <span class="tag" data-tone="error">error</span>
            <button type="button" class="quiet mono" onClick={() => showField(copy, stepId, param)}>
              {stepId === "" ? param : `${stepId}.${param}`}
            </button>
            <span>{message}</span>
          </li>
        ))}
        {found.map((one, index) => (
          <li key={index}>
            <Finding copy={copy} one={one} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Selects a block and goes to one of its fields. */
function showField(copy: Copy, stepId: string, param: string | undefined): void {
  update(copy.id, { selected: stepId === "" ? null : stepId });
  const field = stepId === "" ? `recipe-${param}` : `param-${stepId}-${param}`;
  if (param !== undefined) setTimeout(() => document.getElementById(field)?.focus(), 50);
}

function Finding({ copy, one }: { copy: Copy; one: Diagnostic }) {
  const match = /^\/steps\/(\d+)(?:\/params\/([^/]+))?/.exec(one.pointer ?? "");
  const step = match === null ? undefined : stepsOf(copy.recipe)[Number(match[1])];
  return (
    <div class="row">
      <span class="tag" data-tone={toneOf(one)}>{one.severity}</span>
      {step !== undefined && (
        <button
          type="button"
          class="quiet mono"
          onClick={() => showField(copy, step.id, match?.[2])}
        >
          {[step.id, match?.[2]].filter(Boolean).join(".")}
        </button>
      )}
      <span>{one.message} {one.hint ? <span class="muted">· {one.hint}</span> : null}</span>
      <code class="small muted">{one.code}</code>
      {one.code === "execution_profile_mismatch" && (
        <button
          type="button"
          class="small"
          title="Sets the profile custom, with based_on"
          onClick={() => edit(copy.id, asCustom(copy.recipe))}
        >
          Make it custom
        </button>
      )}
    </div>
  );
}

function Results({ copy }: { copy: Copy }) {
  const job = jobOf(copy), summary = useSummary(job);
  if (job === undefined) {
    return (
      <div class="stack">
        <p class="muted">
          This recipe has not run yet. <kbd>Ctrl+Enter</kbd> runs it; its metrics are shown here.
        </p>
        <RunCommand copy={copy} />
      </div>
    );
  }
  return (
    <>
      <RunLine job={job} summary={summary} />
      <RunError copy={copy} job={job} />
      {summary !== null && <Metrics copy={copy} summary={summary} />}
    </>
  );
}

function RunLine({ job: { state, run_id }, summary }: { job: Job; summary: Summary | null }) {
  const { mode, parallel_workers } = summary?.execution ?? {};
  return (
    <p class="row">
      <strong>{state}</strong>
      {run_id !== null && <a class="mono" href={address("runs", [run_id])}>{run_id}</a>}
      {summary !== null && (
        <>
          <span class="muted">{mode === "parallel" ? `parallel with ${parallel_workers} workers` : String(mode)}</span>
          <CacheOutcome summary={summary} />
        </>
      )}
      {run_id !== null && <CopyCommand command={commandOf("runs", "show", run_id)} />}
    </p>
  );
}

function RunError({ copy, job: { error } }: { copy: Copy; job: Job }) {
  if (error === null) return null;
  const failed = [...statesOf(copy) ?? []].find(([, { state }]) => state === "failed")?.[0];
  return (
    <div class="notice row" data-tone="error">
      {failed !== undefined && (
        <button
          type="button"
          class="quiet mono"
          onClick={() => update(copy.id, { selected: failed })}
        >
          {failed}
        </button>
      )}
      <span>{String(error.detail ?? error.message ?? error.code)}</span>
      {error.hint != null && <span class="muted">{String(error.hint)}</span>}
    </div>
  );
}

function Metrics({ copy, summary }: { copy: Copy; summary: Summary }) {
  const headline = headlineMetrics(copy), units = new Map(headline.map(({ id, unit }) => [id, unit]));
  const rows = summary.steps.flatMap(({ id, metrics, metadata }) =>
    Object.entries(metrics).filter(([name]) => !name.startsWith("timing.")).map(([name, value]) => ({
      id,
      name,
      value,
      text: measuredText({ metrics, metadata }, name),
    }))
  );
  return (
    <>
      <dl class="headline">
        {headline.filter(({ id }) => metricOf(summary, id) !== undefined).map(({ id, unit, direction }) => (
          <div key={id}>
            <dt>{id}</dt>
            <dd title={String(metricOf(summary, id)!.value)}>
              {metricOf(summary, id)!.text} <span class="unit">{unit ?? ""}</span>
            </dd>
            <dd class="small muted">{directionText(direction)}</dd>
          </div>
        ))}
      </dl>
      {rows.length > 0 && (
        <Table
          rows={rows}
          keyOf={({ id, name }) => `${id} ${name}`}
          columns={[
            ["Step", ({ id }) => id, "mono"],
            ["Metric", ({ name }) => name, "mono"],
            ["Value", ({ text }) => text, "number mono", ({ value }) => String(value)],
            ["Unit", ({ name }) => units.get(name) ?? ""],
          ]}
        />
      )}
    </>
  );
}

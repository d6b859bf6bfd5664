/** Below the recipe: problems, the latest run, the plan, the log. */
import { connection, type Diagnostic } from "../api.ts";
import { useState } from "../preact.ts";
import { asCustom } from "../form/replacement.ts";
import { address } from "../router.ts";
import { walkTabs } from "../tabs.ts";
import { type Copy, edit, stepsOf, textOf, update, validate } from "../state/copies.ts";
import { checkMode } from "../state/settings.ts";
import { jobOf, metricOf, useSummary } from "../state/summaries.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { statesOf } from "../state/runs.ts";
import { Log } from "./log.tsx";
import { measuredText } from "../runs/metrics.ts";
import { headlineMetrics } from "./matrix.tsx";
import { CacheOutcome, Plan } from "./plan.tsx";
import { RunCommand } from "./run_command.tsx";

const PANELS = ["Problems", "Results", "Plan", "Log"] as const;

export function Dock({ copy }: { copy: Copy }) {
  const [panel, setPanel] = useState<typeof PANELS[number]>("Problems");
  const count = (copy.verdict?.diagnostics.length ?? 0) + Object.keys(copy.unread).length;
  return (
    <section class="dock" aria-label="Below the graph">
      <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={(event) => walkTabs(event)}>
        {PANELS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={panel === name}
            tabindex={panel === name ? 0 : -1}
            onClick={() => setPanel(name)}
          >
            {name}
            {name === "Problems" && count > 0 ? ` (${count})` : ""}
          </button>
        ))}
      </div>
      <div class="dock-body" role="tabpanel" aria-label={panel} tabindex={0}>
        {panel === "Problems" && <Problems copy={copy} />}
        {panel === "Results" && <Results copy={copy} />}
        {panel === "Plan" && <Plan copy={copy} />}
        {panel === "Log" && <Log copy={copy} />}
      </div>
    </section>
  );
}

function Problems({ copy }: { copy: Copy }) {
  const { verdict } = copy, unread = Object.entries(copy.unread);
  const found = verdict?.diagnostics ?? [], stale = verdict !== null && verdict.text !== textOf(copy);
  return (
    <>
      <label class="row small">
        Check
        <select
          value={checkMode.value}
          onChange={(event) => {
            checkMode.value = event.currentTarget.value as "strict" | "compat";
            validate(copy.id);
          }}
        >
          <option value="strict">strict, as runs are</option>
          <option value="compat">compat, as older recipes are read</option>
        </select>
      </label>
      {verdict === null && <p class="muted">Being checked</p>}
      {verdict !== null && stale && connection.value === "lost"
        ? (
          <p class="muted">
            Not checked since the server does not answer;{" "}
            {found.length === 0 ? "there was nothing to mend before." : "this was found before:"}
          </p>
        )
        : verdict !== null && found.length + unread.length === 0 && (
          <p class="muted">Nothing to mend: the recipe is valid.</p>
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
  const tone = one.severity === "warning" ? "warn" : one.severity === "info" ? undefined : "error";
  return (
    <div class="row">
      <span class="tag" data-tone={tone}>{one.severity ?? "error"}</span>
      {step === undefined
        ? null
        : (
          <button type="button" class="quiet mono" onClick={() => showField(copy, step.id, match?.[2])}>
            {step.id}
            {match![2] ? `.${match![2]}` : ""}
          </button>
        )}
      <span>{one.message} {one.hint ? <span class="muted">· {one.hint}</span> : null}</span>
      <code class="small muted">{one.code}</code>
      {one.code === "execution_profile_mismatch" && (
        <button
          type="button"
          class="small"
          title="The recipe claims no standard topology any more, and says which one it is based on"
          onClick={() => edit(copy.id, asCustom(copy.recipe))}
        >
          Make it custom
        </button>
      )}
    </div>
  );
}

function NotRunYet({ copy }: { copy: Copy }) {
  return (
    <div class="stack">
      <p class="muted">
        This recipe was not run yet. <kbd>Ctrl+Enter</kbd> runs it; what it measures stands here then.
      </p>
      <RunCommand copy={copy} />
    </div>
  );
}

function Results({ copy }: { copy: Copy }) {
  const job = jobOf(copy), summary = useSummary(job);
  if (job === undefined) return <NotRunYet copy={copy} />;
  const failed = [...statesOf(copy) ?? []].find(([, { state }]) => state === "failed")?.[0];
  const headline = headlineMetrics(copy.verdict?.specs ?? null),
    units = new Map(headline.map(({ id, unit }) => [id, unit]));
  const rows = (summary?.steps ?? []).flatMap(({ id, metrics, metadata }) =>
    Object.entries(metrics).filter(([name]) => !name.startsWith("timing.")).map(([name, value]) => ({
      id,
      name,
      value,
      text: measuredText({ metrics, metadata }, name),
    }))
  );
  return (
    <>
      <p class="row">
        <strong>{job.state}</strong>
        {job.run_id !== null && <a class="mono" href={address("runs", [job.run_id])}>{job.run_id}</a>}
        {summary?.execution !== undefined && (
          <span class="muted">
            {summary.execution.mode}
            {summary.execution.mode === "parallel" ? ` with ${summary.execution.parallel_workers} workers` : ""}
          </span>
        )}
        {summary !== null && <CacheOutcome summary={summary} />}
        {job.run_id !== null && <CopyCommand command={commandOf("runs", "show", job.run_id)} />}
      </p>
      {job.error !== null && (
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
          <span>{String(job.error.detail ?? job.error.message ?? job.error.code)}</span>
          {job.error.hint !== undefined && job.error.hint !== null && (
            <span class="muted">{String(job.error.hint)}</span>
          )}
        </div>
      )}
      {summary !== null && (
        <dl class="headline">
          {headline.filter(({ id }) => metricOf(summary, id) !== undefined).map(({ id, unit, direction }) => (
            <div key={id}>
              <dt>{id}</dt>
              <dd title={String(metricOf(summary, id)!.value)}>
                {metricOf(summary, id)!.text} <span class="unit">{unit ?? ""}</span>
              </dd>
              <dd class="small muted">{direction?.replaceAll("_", " ")}</dd>
            </div>
          ))}
        </dl>
      )}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Step</th>
              <th>Metric</th>
              <th class="number">Value</th>
              <th>Unit</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, name, value, text }) => (
              <tr key={`${id} ${name}`}>
                <td class="mono">{id}</td>
                <td class="mono">{name}</td>
                <td class="number mono" title={String(value)}>{text}</td>
                <td>{units.get(name) ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

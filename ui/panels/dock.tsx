/** Below the graph: problems, the latest run, the plan, the raw text. */
import { prettyJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { type Diagnostic, get, post, Problem } from "../api.ts";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { type Copy, edit, keepRaw, stepsOf, textOf, update } from "../state/copies.ts";
import { isEnded, jobs } from "../state/events.ts";

const PANELS = ["Problems", "Results", "Plan", "Raw JSON"] as const;

export function Dock({ copy }: { copy: Copy }) {
  const [panel, setPanel] = useState<typeof PANELS[number]>("Problems");
  const count = (copy.verdict?.diagnostics.length ?? 0) + Object.keys(copy.unread).length;
  return (
    <section class="dock" aria-label="Below the graph">
      <div class="tabs" role="tablist" aria-label="Panels">
        {PANELS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={panel === name}
            onClick={() => setPanel(name)}
          >
            {name}
            {name === "Problems" && count > 0 ? ` (${count})` : ""}
          </button>
        ))}
      </div>
      <div class="dock-body" role="tabpanel" aria-label={panel}>
        {panel === "Problems" && <Problems copy={copy} />}
        {panel === "Results" && <Results copy={copy} />}
        {panel === "Plan" && <Plan copy={copy} />}
        {panel === "Raw JSON" && <Raw copy={copy} />}
      </div>
    </section>
  );
}

function Problems({ copy }: { copy: Copy }) {
  const { verdict } = copy;
  if (verdict === null) return <p class="muted">Being checked</p>;
  if (verdict.diagnostics.length === 0) return <p class="muted">Nothing to mend: the recipe is valid.</p>;
  return (
    <ul>
      {verdict.diagnostics.map((one, index) => (
        <li key={index}>
          <Finding copy={copy} one={one} />
        </li>
      ))}
    </ul>
  );
}

function Finding({ copy, one }: { copy: Copy; one: Diagnostic }) {
  const match = /^\/steps\/(\d+)(?:\/params\/([^/]+))?/.exec(one.pointer ?? "");
  const step = match === null ? undefined : stepsOf(copy.recipe)[Number(match[1])];
  const follow = () => {
    update(copy.id, { selected: step!.id });
    if (match![2] !== undefined) {
      setTimeout(() => document.getElementById(`param-${step!.id}-${match![2]}`)?.focus(), 50);
    }
  };
  const tone = one.severity === "warning" ? "warn" : one.severity === "info" ? undefined : "error";
  return (
    <div class="row">
      <span class="tag" data-tone={tone}>{one.severity ?? "error"}</span>
      {step === undefined
        ? null
        : <button type="button" class="quiet mono" onClick={follow}>{step.id}{match![2] ? `.${match![2]}` : ""}
        </button>}
      <span>{one.message}{one.hint ? <span class="muted">· {one.hint}</span> : null}</span>
      <code class="small muted">{one.code}</code>
    </div>
  );
}

function Results({ copy }: { copy: Copy }) {
  const job = copy.jobId === null ? undefined : jobs.value.get(copy.jobId);
  const [summary, setSummary] = useState<JsonObject | null>(null);
  const ended = job !== undefined && isEnded(job.state), runId = job?.run_id ?? null;
  useEffect(() => {
    setSummary(null);
    if (!ended || runId === null) return;
    const stop = new AbortController();
    get<{ summary: JsonObject }>(`/api/runs/${encodeURIComponent(runId)}`, stop.signal).then(
      ({ summary }) => setSummary(summary),
      () => {},
    );
    return () => stop.abort();
  }, [ended, runId]);
  if (job === undefined) return <p class="muted">This recipe was not run yet.</p>;
  const steps = (summary?.steps ?? []) as unknown as { id: string; metrics: Record<string, unknown> }[];
  const rows = steps.flatMap(({ id, metrics }) =>
    Object.entries(metrics).filter(([name]) => !name.startsWith("timing.")).map(([name, value]) => ({
      id,
      name,
      value,
    }))
  );
  return (
    <>
      <p class="row">
        <strong>{job.state}</strong>
        {runId !== null && <a class="mono" href={address("runs", [runId])}>{runId}</a>}
        {job.error !== null && <span class="tag" data-tone="error">{String(job.error.detail ?? job.error.code)}</span>}
      </p>
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Step</th>
              <th>Metric</th>
              <th class="number">Value</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, name, value }) => (
              <tr key={`${id} ${name}`}>
                <td class="mono">{id}</td>
                <td class="mono">{name}</td>
                <td class="number mono">{String(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Plan({ copy }: { copy: Copy }) {
  const [plan, setPlan] = useState<JsonObject | null>(null), [problem, setProblem] = useState<string | null>(null);
  const text = textOf(copy);
  useEffect(() => {
    const stop = new AbortController();
    setProblem(null);
    post("/api/recipe/plan", { recipe: copy.recipe }, { signal: stop.signal }).then(setPlan, (error) => {
      if (error instanceof Problem) setProblem(error.message);
    });
    return () => stop.abort();
  }, [text]);
  if (problem !== null) return <p class="notice" data-tone="error">{problem}</p>;
  if (plan === null) return <p class="muted">Planning</p>;
  const { steps } = plan.plan as unknown as {
    steps: { step_id: string; operation_id: string; backend: string; implementation: string }[];
  };
  const cache = plan.cache as JsonObject;
  return (
    <>
      <p>
        Plan cache: <strong>{String(cache.outcome)}</strong>, {String(cache.reason)}
      </p>
      <table>
        <thead>
          <tr>
            <th>Step</th>
            <th>Operation</th>
            <th>Backend</th>
            <th>Implementation</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.step_id}>
              <td class="mono">{step.step_id}</td>
              <td class="mono">{step.operation_id}</td>
              <td>{step.backend}</td>
              <td>{step.implementation}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Raw({ copy }: { copy: Copy }) {
  const [problem, setProblem] = useState<string | null>(null);
  const text = copy.rawDraft ?? prettyJson(copy.recipe);
  const apply = async () => {
    setProblem(null);
    try {
      const { parseJson } = await import("../../lib/contract/json.ts");
      const { recipe } = await post<{ recipe: JsonObject }>("/api/recipe/validate", {
        recipe: parseJson(text) as JsonObject,
        mode: "strict",
      });
      edit(copy.id, recipe);
      keepRaw(copy.id, null);
    } catch (error) {
      setProblem(
        error instanceof Problem
          ? error.diagnostics.map(({ message }) => message).join("; ") || error.message
          : `Cannot read this as JSON: ${(error as Error).message}`,
      );
    }
  };
  return (
    <div class="stack raw">
      <div class="row">
        <button type="button" class="primary" disabled={copy.rawDraft === null} onClick={apply}>Apply</button>
        <button type="button" disabled={copy.rawDraft === null} onClick={() => keepRaw(copy.id, null)}>Discard</button>
        {problem !== null && <span class="tag" data-tone="error" role="alert">{problem}</span>}
      </div>
      <label class="hidden-text" for="raw">Recipe as JSON</label>
      <textarea
        id="raw"
        class="mono"
        spellcheck={false}
        rows={14}
        value={text}
        onInput={(event) => keepRaw(copy.id, event.currentTarget.value)}
      />
    </div>
  );
}

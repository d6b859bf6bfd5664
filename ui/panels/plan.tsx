/** How the recipe would run: what binds each step, and what the plan cache did for the last run. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { type Diagnostic, post, Problem } from "../api.ts";
import { useEffect, useState } from "../preact.ts";
import { type Copy, textOf } from "../state/copies.ts";
import { planCache } from "../state/settings.ts";
import { Diagnostics } from "./notices.tsx";
import { RunCommand } from "./run_command.tsx";
import { jobOf, type Summary, useSummary } from "../state/summaries.ts";

/** Reasons of the plan cache in words; a miss names the member of the key that differs. */
const REASONS: Readonly<Record<string, string>> = {
  live: "a plan of the same recipe and operations was there",
  joined: "another run was making the same plan",
  disabled: "it was switched off for this run",
  first_plan: "there was no plan of a recipe of this name yet",
  evicted: "the plan had made room for newer ones",
  effective_recipe_sha256: "the recipe changed",
  operation_registry_sha256: "the operations changed",
  planner_validation_sha256: "the rules of planning changed",
  runner: "it is planned for another runner",
  backend: "another backend was asked for",
  implementation: "another implementation was asked for",
  enforce_execution_profile: "the profile is enforced otherwise",
};

/** What the plan cache did for a run: its outcome and why. */
export function CacheOutcome({ summary }: { summary: Summary }) {
  const { outcome, reason } = summary.execution_plan?.cache ?? {};
  if (outcome === undefined) return null;
  return (
    <span>
      Plan cache: <strong>{outcome}</strong>, {REASONS[reason!] ?? reason} <code class="small muted">{reason}</code>
    </span>
  );
}

export function Plan({ copy }: { copy: Copy }) {
  const [plan, setPlan] = useState<JsonObject | null>(null), [problem, setProblem] = useState<string | null>(null);
  const text = textOf(copy), summary = useSummary(jobOf(copy));
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
  return (
    <>
      <Diagnostics items={plan.diagnostics as unknown as Diagnostic[]} />
      <p class="row">
        {summary === null
          ? <span class="muted">The plan cache tells what it did once this recipe has run.</span>
          : <CacheOutcome summary={summary} />}
        <RunCommand copy={copy} />
        {planCache.value === "off" && <span class="tag">the next run plans anew: the cache is off</span>}
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

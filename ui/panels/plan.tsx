/** The plan of the recipe: the binding of each step, and the outcome of the plan cache for the last run. */
import { Diagnostics, Shown, Table } from "../parts.tsx";
import { ask } from "../api.ts";
import { runtimesText } from "../runtimes.ts";
import { type Copy, textOf } from "../state/copies.ts";
import { useLoaded } from "../state/fetched.ts";
import { planCache } from "../state/settings.ts";
import { jobOf, type Summary, useSummary } from "../state/summaries.ts";
import { RunCommand } from "./run_command.tsx";

/** Reasons of the plan cache in words; a miss names the member of the key that differs. */
const REASONS: Readonly<Record<string, string>> = {
  live: "a plan of the same recipe and operations was kept",
  joined: "another run was making the same plan",
  disabled: "it was off for this run",
  first_plan: "no plan of a recipe of this name was kept",
  evicted: "the plan was removed for newer ones",
  effective_recipe_sha256: "the recipe changed",
  operation_registry_sha256: "the operations changed",
  planner_validation_sha256: "the rules of planning changed",
  runner: "the runner changed",
  backend: "the backend changed",
  implementation: "the implementation changed",
  enforce_execution_profile: "the enforcement of the profile changed",
};

/** How the latest run was planned and executed. */
function LatestRun({ summary: { execution, execution_plan: { cache } } }: { summary: Summary }) {
  const { mode, parallel_workers } = execution ?? {};
  return (
    <span>
      Latest run: {mode === "parallel" ? `parallel with ${parallel_workers} workers` : String(mode)}
      {cache !== undefined && (
        <>
          . Plan cache: <strong>{cache.outcome}</strong>, {REASONS[cache.reason] ?? cache.reason}{" "}
          <code class="small muted">{cache.reason}</code>
        </>
      )}
    </span>
  );
}

export function Plan({ copy }: { copy: Copy }) {
  const summary = useSummary(jobOf(copy));
  const plan = useLoaded((signal) => ask("/api/recipe/plan", { recipe: copy.recipe }, { signal }), textOf(copy));
  return (
    <Shown of={plan} what="the plan">
      {({ plan: { steps }, diagnostics }) => (
        <>
          <Diagnostics items={diagnostics} />
          <p class="row">
            {summary === null
              ? <span class="muted">The outcome of the plan cache is shown after a run of this recipe.</span>
              : <LatestRun summary={summary} />}
            <RunCommand copy={copy} />
            {planCache.value === "off" && <span class="tag">the cache is off: the next run plans again</span>}
          </p>
          <Table
            rows={steps}
            keyOf={({ step_id }) => step_id}
            columns={[
              ["Step", ({ step_id }) => step_id, "mono"],
              ["Operation", ({ operation_id }) => operation_id, "mono"],
              ["Runs in", ({ backend }) => runtimesText([backend]), "", ({ backend }) => backend],
              ["Implementation", ({ implementation }) => implementation],
            ]}
          />
        </>
      )}
    </Shown>
  );
}

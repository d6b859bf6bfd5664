/** One pack: its protocol, what validation finds in it, and its run as a matrix that fills while it goes. */
import { type Diagnostic, get } from "../../api.ts";
import { Page } from "../../frame.tsx";
import { Diagnostics, Digest, Pending } from "../../panels/notices.tsx";
import { StateMark } from "../../panels/state_mark.tsx";
import { useEffect, useState } from "../../preact.ts";
import { address, place, refine } from "../../router.ts";
import {
  cancelBenchmark,
  type Cell,
  followBenchmark,
  matrices,
  type Matrix,
  startBenchmark,
} from "../../state/benchmarks.ts";
import type { Job } from "../../state/events.ts";
import { useFetched } from "../../state/fetched.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { shownNumber } from "../../panels/number.ts";

interface PackDocument {
  status: string;
  name: string;
  pack: JsonObject | null;
  sha256: string | null;
  replication: JsonObject | null;
  recipes: { id: string; label: string; role: string; path: string; skip_reason: string | null }[];
  diagnostics: Diagnostic[];
}

export function PackPage({ name }: { name: string }) {
  const found = useFetched<PackDocument>(`/api/benchmarks/pack?path=${encodeURIComponent(name)}`);
  const jobId = place.value.query.get("job");
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (jobId !== null) followBenchmark(jobId).catch((error) => setProblem(error.message));
  }, [jobId]);
  useEffect(() => {
    // A run of this pack that is going on already is shown without being asked for.
    if (jobId !== null || found.data === null) return;
    get<{ jobs: Job[] }>("/api/benchmark-jobs").then(({ jobs }) => {
      const going = jobs.find(({ state, recipe_name }) =>
        (state === "running" || state === "queued") && recipe_name === found.data!.name
      );
      if (going !== undefined) refine({ job: going.job_id });
    }, () => {});
  }, [found.data]);
  if (found.data === null) {
    return (
      <Page title="Benchmark pack">
        <Pending of={found} what="the pack and every recipe in it" />
      </Page>
    );
  }
  const { pack, status, diagnostics, recipes, sha256, replication } = found.data;
  const title = String(pack?.name ?? name), matrix = jobId === null ? undefined : matrices.value.get(jobId);
  return (
    <Page title={title} actions={<a href={address("benchmarks")}>All packs</a>}>
      <p>
        <StateMark state={status} /> <code class="muted">{name}</code>
      </p>
      {problem !== null && <p class="notice" data-tone="error" role="alert">{problem}</p>}
      {pack !== null && (
        <dl class="facts">
          <dt>Version</dt>
          <dd>{String(pack.version)}, {String(pack.benchmark_tier ?? pack.tier ?? "smoke")}</dd>
          <dt>Data set</dt>
          <dd>{named(pack.dataset)}</dd>
          <dt>Task</dt>
          <dd>{named(pack.task)}</dd>
          <dt>Metrics</dt>
          <dd>{(pack.metrics as JsonObject[] | undefined ?? []).map(named).join(", ")}</dd>
          <dt>Replicates</dt>
          <dd>{replication === null ? "1, with the seeds of the recipes" : shownNumber(replication.replicates)}</dd>
          <dt>SHA-256</dt>
          <dd>
            <Digest text={sha256} />
          </dd>
        </dl>
      )}
      {diagnostics.length > 0 && (
        <section aria-labelledby="findings">
          <h2 id="findings">Validation</h2>
          <Diagnostics items={diagnostics} />
        </section>
      )}
      {status === "valid" && <RunBar name={name} matrix={matrix} jobId={jobId} onProblem={setProblem} />}
      <section aria-labelledby="recipes">
        <h2 id="recipes">Recipes</h2>
        <div class="scroll" role="group" aria-label="Recipes" tabindex={0}>
          <table>
            <thead>
              <tr>
                <th>Recipe</th>
                <th>Role</th>
                <th>File</th>
                {matrix && <th>Replicates, live</th>}
              </tr>
            </thead>
            <tbody>
              {recipes.map((recipe) => (
                <tr key={recipe.id}>
                  <td>
                    {recipe.label}
                    <div class="mono small muted">{recipe.id}</div>
                  </td>
                  <td>{recipe.skip_reason === null ? recipe.role : `skipped: ${recipe.skip_reason}`}</td>
                  <td class="mono small">{recipe.path}</td>
                  {matrix && (
                    <td>
                      <Cells cells={matrix.rows.get(recipe.id)} replicates={matrix.replicates} />
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </Page>
  );
}

const named = (value: unknown): string =>
  typeof value === "string" ? value : String((value as JsonObject | undefined)?.id ?? "–");

interface RunBarProps {
  name: string;
  matrix: Matrix | undefined;
  jobId: string | null;
  onProblem(problem: string | null): void;
}

function RunBar({ name, matrix, jobId, onProblem }: RunBarProps) {
  const [replicates, setReplicates] = useState(""), [goOn, setGoOn] = useState(false);
  const going = matrix !== undefined && matrix.ended === null;
  const wrong = replicates !== "" && !/^[1-9]\d*$/.test(replicates);
  const act = async (work: () => Promise<unknown>) => {
    onProblem(null);
    try {
      await work();
    } catch (error) {
      onProblem((error as Error).message);
    }
  };
  const cells = [...matrix?.rows.values() ?? []].flatMap((row) => [...row.values()]);
  const done = cells.filter(({ state }) => state !== "running").length;
  return (
    <div class="panel row run-bar">
      <label class="row">
        Replicates
        <input
          size={6}
          inputMode="numeric"
          placeholder="as packed"
          value={replicates}
          aria-invalid={wrong}
          aria-describedby={wrong ? "replicates-wrong" : undefined}
          onInput={(event) => setReplicates(event.currentTarget.value.trim())}
        />
      </label>
      {wrong && <span id="replicates-wrong" class="state" data-tone="error">Give a whole number above zero</span>}
      <label class="row">
        <input type="checkbox" checked={goOn} onChange={(event) => setGoOn(event.currentTarget.checked)} />
        Go on behind a row that failed
      </label>
      {going ? <button type="button" onClick={() => act(() => cancelBenchmark(jobId!))}>Cancel</button> : (
        <button
          type="button"
          class="primary"
          disabled={wrong}
          onClick={() =>
            act(async () => {
              const job = await startBenchmark(name, {
                ...(replicates === "" ? {} : { replicates: Number(replicates) }),
                ...(goOn ? { continue_on_error: true } : {}),
              });
              refine({ job });
            })}
        >
          Run the pack
        </button>
      )}
      {matrix !== undefined && (
        <span class="row">
          <StateMark state={matrix.ended ?? "running"} />
          <span class="muted">{done} rows done</span>
          {matrix.resultId !== null && <a href={address("benchmarks", ["result", matrix.resultId])}>Open the result</a>}
        </span>
      )}
    </div>
  );
}

const GLYPHS: Readonly<Record<string, string>> = { running: "●", completed: "✓", failed: "✕", skipped: "–" };

/** A box a replicate: empty, running, done, failed; told in words as well. */
function Cells({ cells, replicates }: { cells: ReadonlyMap<number, Cell> | undefined; replicates: number }) {
  const states = Array.from({ length: replicates }, (_, index) => cells?.get(index)?.state ?? "waiting");
  const count = (state: string) => states.filter((other) => other === state).length;
  const words = [...new Set(states)].map((state) => `${count(state)} ${state.replaceAll("_", " ")}`).join(", ");
  return (
    <span class="row">
      <span class="cells" aria-hidden="true">
        {states.slice(0, 40).map((state, index) => (
          <span key={index} data-state={state}>{GLYPHS[state] ?? (state === "waiting" ? "" : "✕")}</span>
        ))}
      </span>
      <span class="small muted">{words}</span>
    </span>
  );
}

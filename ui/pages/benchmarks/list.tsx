/** The packs of the project and of the program, and the results that were stored. */
import { Page } from "../../frame.tsx";
import { Pending } from "../../panels/notices.tsx";
import { StateMark } from "../../panels/state_mark.tsx";
import { useState } from "../../preact.ts";
import { address, go } from "../../router.ts";
import { useFetched } from "../../state/fetched.ts";

interface PackRow {
  name: string;
  id: string | null;
  title: string | null;
  suite: string | null;
  task: string | null;
  tier: string | null;
  recipes: number;
  path: string | null;
  problem?: string;
}

interface ResultRow {
  result_id: string;
  benchmark_id: string;
  status: string;
  rows: number;
  completed_rows: number;
  created_at_utc: string;
}

export function PackList() {
  const packs = useFetched<{ packs: PackRow[] }>("/api/benchmarks/packs");
  const results = useFetched<{ results: ResultRow[] }>("/api/benchmarks/results");
  const [ticked, setTicked] = useState<string[]>([]);
  const tick = (id: string, on: boolean) =>
    setTicked(on ? [...ticked, id].slice(-2) : ticked.filter((other) => other !== id));
  return (
    <Page title="Benchmarks">
      <section aria-labelledby="packs">
        <h2 id="packs">Packs</h2>
        {packs.data === null
          ? <Pending of={packs} what="the packs" />
          : packs.data.packs.length === 0
          ? <p class="empty">No packs. Put one into benchmarks/</p>
          : (
            <div class="scroll" role="group" aria-label="Packs" tabindex={0}>
              <table>
                <thead>
                  <tr>
                    <th>Pack</th>
                    <th>Suite</th>
                    <th>Task</th>
                    <th>Tier</th>
                    <th class="number">Recipes</th>
                    <th>From</th>
                  </tr>
                </thead>
                <tbody>
                  {packs.data.packs.map((pack) => (
                    <tr key={pack.name}>
                      <td>
                        <a href={address("benchmarks", ["pack", pack.name])}>{pack.title ?? pack.name}</a>
                        <div class="mono small muted">{pack.name}</div>
                        {pack.problem && <StateMark state="invalid" word={pack.problem} />}
                      </td>
                      <td>{pack.suite ?? "–"}</td>
                      <td>{pack.task ?? "–"}</td>
                      <td>{pack.tier ?? "–"}</td>
                      <td class="number">{pack.recipes}</td>
                      <td>{pack.path === null ? "built-in" : <code>{pack.path}</code>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
      </section>
      <section aria-labelledby="results">
        <div class="row spread">
          <h2 id="results">Results</h2>
          <span class="row">
            <button
              type="button"
              disabled={ticked.length !== 2}
              onClick={() => go("benchmarks", ["compare"], { a: ticked[0], b: ticked[1] })}
            >
              Compare
            </button>
            {ticked.length !== 2 && <span class="small muted">Tick two results to compare them</span>}
          </span>
        </div>
        {results.data === null
          ? <Pending of={results} what="the results" />
          : results.data.results.length === 0
          ? <p class="empty">No results yet. Open a pack and run it</p>
          : (
            <div class="scroll" role="group" aria-label="Results" tabindex={0}>
              <table>
                <thead>
                  <tr>
                    <th>
                      <span class="hidden-text">Compare</span>
                    </th>
                    <th>Result</th>
                    <th>State</th>
                    <th class="number">Rows completed</th>
                    <th>Created (UTC)</th>
                  </tr>
                </thead>
                <tbody>
                  {results.data.results.map((row) => (
                    <tr key={row.result_id}>
                      <td>
                        <input
                          type="checkbox"
                          aria-label={`Compare ${row.result_id}`}
                          checked={ticked.includes(row.result_id)}
                          onChange={(event) => tick(row.result_id, event.currentTarget.checked)}
                        />
                      </td>
                      <td class="mono">
                        <a href={address("benchmarks", ["result", row.result_id])}>{row.result_id}</a>
                      </td>
                      <td>
                        <StateMark state={row.status} />
                      </td>
                      <td class="number">{row.completed_rows} of {row.rows}</td>
                      <td class="mono">{row.created_at_utc.slice(0, 19).replace("T", " ")}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
      </section>
    </Page>
  );
}

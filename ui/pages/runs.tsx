/** What was run: a list that loads as it is scrolled. */
import { get } from "../api.ts";
import { Page } from "../frame.tsx";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";

interface RunRow {
  run_id: string;
  status: string;
  recipe_name: string;
  created_at_utc: string;
  completed_at_utc: string | null;
}

export default function Runs() {
  const [runs, setRuns] = useState<RunRow[] | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    get<{ runs: RunRow[] }>("/api/runs?limit=100", stop.signal).then(({ runs }) => setRuns(runs), () => {});
    return () => stop.abort();
  }, []);
  return (
    <Page title="Runs">
      {runs === null ? <p class="empty">Reading the runs</p> : runs.length === 0
        ? (
          <p class="empty">
            Nothing was run yet. <a href={address("editor")}>Open a recipe</a> and press Run.
          </p>
        )
        : (
          <table>
            <thead>
              <tr>
                <th>Run</th>
                <th>Recipe</th>
                <th>State</th>
                <th>Created (UTC)</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.run_id}>
                  <td class="mono">
                    <a href={address("runs", [run.run_id])}>{run.run_id}</a>
                  </td>
                  <td>{run.recipe_name}</td>
                  <td>{run.status}</td>
                  <td class="mono">{run.created_at_utc}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
    </Page>
  );
}

/** Two results of benchmarks, metric by metric: only what differs, unless all is asked for. */
import type { Value } from "../../../lib/contract/value.ts";
import { Page } from "../../frame.tsx";
import { Pending } from "../../panels/notices.tsx";
import { shownEstimate, shownNumber } from "../../panels/number.ts";
import { address, place, refine } from "../../router.ts";
import { useFetched } from "../../state/fetched.ts";

interface Difference {
  recipe_id: string;
  metric: string;
  a: Value;
  b: Value;
  a_ci: Value[] | null;
  b_ci: Value[] | null;
  difference: Value;
  relative: Value;
  verdict: string;
}

interface Diff {
  a: string;
  b: string;
  same_pack: boolean;
  equal: boolean;
  metrics: Difference[];
}

export function ComparePage({ a, b }: { a: string; b: string }) {
  const found = useFetched<Diff>(
    a === "" || b === "" ? null : `/api/benchmarks/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`,
  );
  if (found.data === null) {
    return (
      <Page title="Compare results">
        {a === "" || b === ""
          ? (
            <p class="empty">
              Two results are needed. <a href={address("benchmarks")}>Choose them</a>
            </p>
          )
          : <Pending of={found} what="both results" />}
      </Page>
    );
  }
  const all = place.value.query.get("differences") === "all";
  const { metrics, equal, same_pack } = found.data;
  const shown = all ? metrics : metrics.filter(({ verdict }) => verdict !== "equal");
  return (
    <Page title="Compare results" actions={<a href={address("benchmarks")}>All results</a>}>
      <dl class="facts">
        <dt>A</dt>
        <dd class="mono">{a}</dd>
        <dt>B</dt>
        <dd class="mono">{b}</dd>
      </dl>
      {!same_pack && (
        <p class="notice" data-tone="warn">The two are of different packs, or of different versions of one.</p>
      )}
      <label class="row">
        <input
          type="checkbox"
          checked={!all}
          onChange={(event) => refine({ differences: event.currentTarget.checked ? undefined : "all" })}
        />
        Only differences
      </label>
      {equal && !all && <p class="empty">Every number is the same</p>}
      {shown.length > 0 && (
        <div class="scroll" role="group" aria-label="Differences" tabindex={0}>
          <table>
            <thead>
              <tr>
                <th>Recipe</th>
                <th>Metric</th>
                <th class="number">A</th>
                <th class="number">B</th>
                <th class="number">B − A</th>
                <th class="number">Relative</th>
                <th>Verdict</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <tr key={`${row.recipe_id} ${row.metric}`}>
                  <td class="mono">{row.recipe_id}</td>
                  <td class="mono">{row.metric}</td>
                  <Measured value={row.a} interval={row.a_ci} />
                  <Measured value={row.b} interval={row.b_ci} />
                  <td class="number">{shownNumber(row.difference)}</td>
                  <td class="number">{shownNumber(row.relative)}</td>
                  <td>{row.verdict.replaceAll("_", " ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

function Measured({ value, interval }: { value: Value; interval: Value[] | null }) {
  return (
    <td class="number">
      {value === null && interval !== null
        ? shownEstimate(null, null, null, interval[1])
        : shownEstimate(value, interval?.[0], interval?.[1])}
    </td>
  );
}

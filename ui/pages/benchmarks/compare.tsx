/** Two results of benchmarks, metric by metric: only differences, unless all metrics are chosen. */
import type { Value } from "../../../lib/contract/value.ts";
import { Facts, OnlyDifferences, Page, Shown, Table, Trouble } from "../../parts.tsx";
import { address, place } from "../../router.ts";
import { estimateOf, valueText } from "../../runs/metrics.ts";
import { useFetched } from "../../state/fetched.ts";

export function ComparePage({ a, b }: { a: string; b: string }) {
  const complete = a !== "" && b !== "";
  const found = useFetched(complete ? "/api/benchmarks/compare" : null, { query: { a, b } });
  const all = place.value.query.get("differences") === "all";
  return (
    <Page title="Compare results" actions={<a href={address("benchmarks")}>All results</a>}>
      {!complete ? <p class="empty">Choose two results under Benchmarks.</p> : (
        <Shown of={found} what="both results">
          {({ metrics, equal, same_pack }) => {
            const rows = all ? metrics : metrics.filter(({ verdict }) => verdict !== "equal");
            return (
              <>
                <Facts of={[["A", a], ["B", b]]} mono="mono" />
                {!same_pack && (
                  <Trouble tone="warn" text="The results are of different packs, or of different versions of a pack." />
                )}
                <OnlyDifferences all={all} />
                {equal && !all && <p class="empty">All numbers are equal</p>}
                {rows.length > 0 && (
                  <Table
                    label="Differences"
                    rows={rows}
                    columns={[
                      ["Recipe", ({ recipe_id }) => recipe_id, "mono"],
                      ["Metric", ({ metric }) => metric, "mono"],
                      ["A", (row) => <Measured value={row.a} interval={row.a_ci} />, "number"],
                      ["B", (row) => <Measured value={row.b} interval={row.b_ci} />, "number"],
                      ["B − A", ({ difference }) => valueText(difference), "number"],
                      ["Relative", ({ relative }) => valueText(relative), "number"],
                      ["Verdict", ({ verdict }) => verdict.replaceAll("_", " ")],
                    ]}
                  />
                )}
              </>
            );
          }}
        </Shown>
      )}
    </Page>
  );
}

function Measured({ value, interval }: { value: Value; interval: readonly Value[] | null }) {
  return (
    <>
      {value === null && interval !== null
        ? estimateOf(null, null, null, interval[1])
        : estimateOf(value, interval?.[0], interval?.[1])}
    </>
  );
}

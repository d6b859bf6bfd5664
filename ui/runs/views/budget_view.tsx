/** A satellite link budget over the elevation. */
import { budgetFigure, budgetQuantities } from "../../charts/budget.ts";
import { Chart } from "../../charts/chart.tsx";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { readBlock } from "../fetch_array.ts";
import { Select, Wait } from "../../parts.tsx";
import { metadataNumber, sourceOf, ViewPanel } from "./parts.tsx";

export function BudgetView({ budget, summary }: { budget: Artifact; summary: RunSummary }) {
  const columns = Array.isArray(budget.metadata.columns) ? budget.metadata.columns.map(String) : [];
  const quantities = budgetQuantities(columns), [chosen, setChosen] = useState("cnr_db");
  const column = quantities.some(([id]) => id === chosen) ? chosen : quantities[0]?.[0];
  const { value, ...wait } = useLoaded((signal) => readBlock(budget, [], signal), budget.path);
  const figure = useMemo(() => {
    if (value === null || column === undefined) return null;
    const altitude = metadataNumber(budget, "altitude_km"), carrier = metadataNumber(budget, "carrier_frequency_ghz");
    const subtitle = [altitude === null ? "" : `Orbit at ${altitude} km`, carrier === null ? "" : `${carrier} GHz`];
    return budgetFigure(value.real, columns, column, {
      subtitle: subtitle.filter(Boolean).join(" · "),
      source: sourceOf(summary, budget),
    });
  }, [value, column]);
  if (column === undefined) return null;
  return (
    <ViewPanel
      title="Link budget"
      controls={<Select label="Quantity" value={column} options={quantities} onChoose={setChosen} />}
    >
      {figure === null ? <Wait of={wait} what="the link budget" /> : <Chart figure={figure} />}
    </ViewPanel>
  );
}

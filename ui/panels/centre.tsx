/** The middle of the editor: the graph, or the recipe as text, as a matrix, as specifications. */
import { Graph } from "../graph/graph.tsx";
import { matrixFacts } from "../form/matrix.ts";
import { isGeneric } from "../form/presentation.ts";
import { signal } from "../preact.ts";
import { type Copy, update } from "../state/copies.ts";
import type { StepState } from "../state/runs.ts";
import { jobOf, shapeOf, useSummary } from "../state/summaries.ts";
import { Matrix } from "./matrix.tsx";
import { Raw } from "./raw.tsx";
import { Specs } from "./specs.tsx";
import { walkTabs } from "../tabs.ts";
import { TaskForm } from "./task_form.tsx";

const VIEWS = ["Graph", "Matrix", "Raw JSON", "Specs"] as const;
export type CentreView = typeof VIEWS[number];
const centreView = signal<CentreView>("Graph");

interface Props {
  copy: Copy;
  problems: ReadonlyMap<string, number>;
  states?: ReadonlyMap<string, StepState>;
}

export function Centre({ copy, problems, states }: Props) {
  const view = centreView.value, { count } = matrixFacts(copy.recipe);
  const summary = useSummary(jobOf(copy));
  const outputs = new Map(
    (summary?.steps ?? []).flatMap(({ id, outputs }) =>
      Object.entries(outputs ?? {}).map(([port, facts]) =>
        [`${id}.${port}`, `${facts.kind} ${shapeOf(facts)}`] as const
      )
    ),
  );
  return (
    <section class="centre" aria-label="Recipe">
      <div class="tabs" role="tablist" aria-label="Views of the recipe" onKeyDown={(event) => walkTabs(event)}>
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={view === name}
            tabindex={view === name ? 0 : -1}
            onClick={() => centreView.value = name}
          >
            {name === "Graph" && isGeneric(copy.recipe) ? "Blocks" : name}
            {name === "Matrix" && count > 0 ? ` (${count})` : ""}
            {name === "Raw JSON" && copy.rawDraft !== null ? " *" : ""}
          </button>
        ))}
      </div>
      <div
        class="centre-body"
        data-view={view}
        role="tabpanel"
        aria-label={view}
        tabindex={view === "Specs" ? 0 : undefined}
      >
        {view === "Graph" && !isGeneric(copy.recipe) && <TaskForm copy={copy} />}
        {view === "Graph" && (
          <Graph
            recipe={copy.recipe}
            selected={copy.selected}
            states={states}
            problems={problems}
            outputs={outputs}
            onSelect={(id) => update(copy.id, { selected: id })}
            onOpen={() => document.querySelector<HTMLElement>(".inspector input, .inspector select")?.focus()}
          />
        )}
        {view === "Matrix" && <Matrix copy={copy} />}
        {view === "Raw JSON" && <Raw copy={copy} />}
        {view === "Specs" && <Specs copy={copy} />}
      </div>
    </section>
  );
}

/** The middle of the editor: the graph, or the recipe as text, as a matrix, as specifications. */
import { Graph } from "../graph/graph.tsx";
import { lazy, signal, Suspense } from "../preact.ts";
import { type Copy, update } from "../state/copies.ts";
import type { StepState } from "../state/runs.ts";

const VIEWS = ["Graph"] as const;
export type CentreView = typeof VIEWS[number];
export const centreView = signal<CentreView>("Graph");

interface Props {
  copy: Copy;
  problems: ReadonlyMap<string, number>;
  states?: ReadonlyMap<string, StepState>;
}

export function Centre({ copy, problems, states }: Props) {
  const view = centreView.value;
  return (
    <section class="centre" aria-label="Recipe">
      <div class="tabs" role="tablist" aria-label="Views of the recipe">
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={view === name}
            onClick={() => centreView.value = name}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="centre-body" data-view={view}>
        {view === "Graph" && (
          <Graph
            recipe={copy.recipe}
            selected={copy.selected}
            states={states}
            problems={problems}
            onSelect={(id) => update(copy.id, { selected: id })}
            onOpen={() => document.querySelector<HTMLElement>(".inspector input, .inspector select")?.focus()}
          />
        )}
      </div>
    </section>
  );
}

/** The middle of the editor: the graph, or the recipe as text, as a matrix, as specifications. */
import { Graph } from "../graph/graph.tsx";
import { useThumbnails } from "../graph/use_thumbnails.ts";
import { matrixFacts } from "../../lib/contract/matrix_edits.ts";
import { isGeneric } from "../form/presentation.ts";
import { Tabs } from "../parts.tsx";
import { lazy, useState } from "../preact.ts";
import { CENTRE_VIEWS, type CentreView, centreView } from "../state/centre_view.ts";
import { type Copy, update } from "../state/copies.ts";
import type { Stale } from "../state/ran.ts";
import type { StepState } from "../state/runs.ts";
import { jobOf, shapeOf, useSummary } from "../state/summaries.ts";
import { focusField } from "./focus_field.ts";
import { TaskForm } from "./task_form.tsx";

const CodeDialog = lazy(() => import("./replace.tsx").then(({ CodeDialog }) => CodeDialog));
const Matrix = lazy(() => import("./matrix.tsx").then(({ Matrix }) => Matrix), "Loading the view");
const Raw = lazy(() => import("./raw.tsx").then(({ Raw }) => Raw), "Loading the view");
const StaleLine = lazy(() => import("./stale.tsx").then(({ StaleLine }) => StaleLine), "Loading the view");
const Specs = lazy(() => import("./specs.tsx").then(({ Specs }) => Specs), "Loading the view");

/** Opens the choice of the link's code. */
function CodeButton({ copy }: { copy: Copy }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>Code …</button>
      {open && <CodeDialog copy={copy} onClose={() => setOpen(false)} />}
    </>
  );
}

interface Props {
  copy: Copy;
  problems: ReadonlyMap<string, number>;
  states?: ReadonlyMap<string, StepState>;
  /** The shown result, where it belongs to another recipe. */
  stale: Stale | null;
}

export function Centre({ copy, problems, states, stale }: Props) {
  const view = centreView.value, { count } = matrixFacts(copy.recipe);
  const textOf = (name: CentreView): string => {
    if (name === "Graph" && isGeneric(copy.recipe)) return "Blocks";
    if (name === "Matrix" && count > 0) return `Matrix (${count})`;
    return name === "Raw JSON" && copy.rawDraft !== null ? "Raw JSON *" : name;
  };
  const summary = useSummary(jobOf(copy));
  const thumbnails = useThumbnails(view === "Graph" ? summary : null);
  const outputs = new Map(
    (summary?.steps ?? []).flatMap(({ id, outputs }) =>
      Object.entries(outputs ?? {}).map(([port, facts]) =>
        [`${id}.${port}`, `${facts.kind} ${shapeOf(facts)}`] as const
      )
    ),
  );
  return (
    <section class="centre" aria-label="Recipe">
      <Tabs
        label="Views of the recipe"
        value={view}
        options={CENTRE_VIEWS.map((name) => [name, textOf(name)] as const)}
        onChoose={(name) => centreView.value = name}
      />
      {stale !== null && <StaleLine copy={copy} stale={stale} />}
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
            thumbnails={thumbnails}
            actions={<CodeButton copy={copy} />}
            onSelect={(id) => update(copy.id, { selected: id })}
            onOpen={() => focusField(".inspector input, .inspector select")}
          />
        )}
        {view === "Matrix" && <Matrix copy={copy} />}
        {view === "Specs" && <Specs copy={copy} />}
        {view === "Raw JSON" && <Raw copy={copy} />}
      </div>
    </section>
  );
}

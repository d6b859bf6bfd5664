/**
 * The training workbench: the blocks of a recipe that can be trained and the reasons why others cannot, the routes of
 * gradients, the captured data, the identities of scenario and plan, and the export of a project, which is watched below.
 */
import type { JsonObject } from "../../lib/contract/value.ts";
import { ask, type Diagnostic, findingsOf, get } from "../api.ts";
import { Diagnostics, Page, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { place, refine } from "../router.ts";
import { loadContracts } from "../state/contracts.ts";
import { active, copies, nameOf, openDefault } from "../state/copies.ts";
import { useFetched, useLoaded } from "../state/fetched.ts";
import { inspect, type Inspection, keepDraft, keptDraft, NEW_PLAN, type PlanDraft } from "../state/training.ts";
import { Blocks } from "./training/blocks.tsx";
import { CapturePlan } from "./training/capture_plan.tsx";
import { PlanGraph } from "./training/graph.tsx";
import { Identities, Routes } from "./training/outcome.tsx";
import { Export, Projects } from "./training/projects.tsx";

/** The pause after a change before the server is asked again. */
const PAUSE_MS = 200;

export default function Training() {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => void Promise.all([loadContracts(), openDefault()]).catch((error) => setProblem(error.message)), []);
  const wanted = place.value.query.get("of");
  const copy = copies.value.find(({ id }) => `copy:${id}` === wanted) ?? (wanted === null ? active() : null);
  const source = wanted ?? (copy === null ? null : `copy:${copy.id}`);
  const read = useLoaded((signal) => recipeOf(source!, signal), source?.startsWith("copy:") ? null : source);
  const recipe = source?.startsWith("copy:") ? copy?.recipe ?? null : read.value;
  return (
    <Page title="Training">
      <Trouble text={problem ?? read.problem} />
      <p class="muted">
        Training runs outside svc: this view derives a plan, captures the data, and exports the project for a trainer.
      </p>
      <Source chosen={source} />
      {source === null || recipe === null
        ? (
          <p class="empty" aria-busy={problem === null}>
            {problem === null ? "Reading the recipe" : "No recipe is shown"}
          </p>
        )
        : <Workbench key={source} source={source} recipe={recipe} />}
      <Projects recipe={recipe} copy={copy} />
    </Page>
  );
}

/** The recipe of a file or of a template. @throws Problem */
async function recipeOf(source: string, signal: AbortSignal): Promise<JsonObject> {
  const [kind, name] = [source.slice(0, source.indexOf(":")), source.slice(source.indexOf(":") + 1)];
  const { recipe } = kind === "file"
    ? await get("/api/recipe", { query: { path: name }, signal })
    : await ask("/api/recipe-templates/instantiate", { template_id: name }, { signal });
  return recipe;
}

/** The choice of a recipe: an open one, a file of the project, or a template. */
function Source({ chosen }: { chosen: string | null }) {
  const templates = useFetched("/api/recipe-templates").value?.templates ?? [];
  const files = useFetched("/api/recipes").value?.recipes ?? [];
  const groups: [label: string, options: (readonly [value: string, text: string])[]][] = [
    ["Open recipes", copies.value.map((copy) => [`copy:${copy.id}`, nameOf(copy)])],
    ["Recipe files", files.map(({ path }) => [`file:${path}`, path])],
    ["Templates", templates.filter(({ available }) => available).map(({ id, label }) => [`template:${id}`, label])],
  ];
  return (
    <p class="row nowrap">
      <label for="training-source">Derive from</label>
      <select
        id="training-source"
        value={chosen ?? ""}
        onChange={(event) => refine({ of: event.currentTarget.value })}
      >
        {chosen === null && <option value="">Choose a recipe</option>}
        {groups.map(([label, options]) => (
          <optgroup key={label} label={label}>
            {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
          </optgroup>
        ))}
      </select>
    </p>
  );
}

function Workbench({ source, recipe }: { source: string; recipe: JsonObject }) {
  const [draft, setDraft] = useState<PlanDraft>(() => keptDraft(source));
  const [inspection, setInspection] = useState<Inspection | null>(null);
  const [findings, setFindings] = useState<readonly Diagnostic[]>([]);
  /** The recipe and the draft of the last answer. */
  const [answered, setAnswered] = useState<readonly unknown[]>([]);
  const asking = answered[0] !== recipe || answered[1] !== draft;
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() =>
      inspect(recipe, draft, stop.signal).then((found) => {
        setInspection(found);
        setFindings([]);
        setAnswered([recipe, draft]);
      }, (error) => {
        if (stop.signal.aborted) return;
        setAnswered([recipe, draft]);
        setFindings(findingsOf(error));
      }), PAUSE_MS);
    return () => (clearTimeout(timer), stop.abort());
  }, [recipe, draft]);
  // At once: a page that is closed now has its plan when it is opened again.
  const take = (next: PlanDraft) => (keepDraft(source, next), setDraft(next));
  const change = (part: Partial<PlanDraft>) => take({ ...draft, ...part });
  const nothing = draft.selected !== null && draft.selected.length === 0;
  const sound = findings.length === 0 && !nothing && !asking;
  return (
    <div aria-busy={asking}>
      {findings.length > 0 && (
        <section class="notice" data-tone="error" aria-label="Problems of the plan">
          <Diagnostics items={findings} />
          <button type="button" onClick={() => take(NEW_PLAN)}>Reset the plan</button>
        </section>
      )}
      {inspection === null ? findings.length === 0 && <p class="empty" aria-busy="true">Inspecting the recipe</p> : (
        <>
          <Identities inspection={inspection} />
          <PlanGraph recipe={recipe} inspection={inspection} />
          <Blocks inspection={inspection} draft={draft} change={change} />
          {nothing && <p class="notice" data-tone="warn">Choose at least one block to train.</p>}
          <Routes inspection={inspection} draft={draft} change={change} />
          <CapturePlan recipe={recipe} inspection={inspection} draft={draft} change={change} />
          {inspection.selected_steps.length > 0 && (
            <Export recipe={recipe} inspection={inspection} draft={draft} change={change} sound={sound} />
          )}
        </>
      )}
    </div>
  );
}

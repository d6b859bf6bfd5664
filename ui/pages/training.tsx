/**
 * The training workbench: which blocks of a recipe can be trained and why others cannot, the routes of gradients, what is
 * captured, the identities of scenario and plan, and the export of a project, which is watched below.
 */
import type { JsonObject } from "../../lib/contract/value.ts";
import { type Diagnostic, get, post, Problem } from "../api.ts";
import { Page } from "../frame.tsx";
import { Diagnostics } from "../panels/notices.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, place, refine } from "../router.ts";
import { loadContracts } from "../state/contracts.ts";
import { active, copies, listFiles, nameOf, restore } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";
import { inspect, type Inspection, keepDraft, keptDraft, NEW_PLAN, type PlanDraft } from "../state/training.ts";
import { Blocks } from "./training/blocks.tsx";
import { CapturePlan } from "./training/capture_plan.tsx";
import { Identities, Routes } from "./training/outcome.tsx";
import { Export, Projects } from "./training/projects.tsx";

/** The pause after a change before the server is asked again. */
const PAUSE_MS = 200;

export default function Training() {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => void Promise.all([loadContracts(), restore()]).catch((error) => setProblem(error.message)), []);
  const wanted = place.value.query.get("of");
  const copy = copies.value.find(({ id }) => `copy:${id}` === wanted) ?? (wanted === null ? active() : null);
  const source = wanted ?? (copy === null ? null : `copy:${copy.id}`);
  const recipe = useRecipe(source, copy?.recipe ?? null, setProblem);
  return (
    <Page title="Training">
      {problem !== null && <p class="notice" data-tone="error" role="alert">{problem}</p>}
      <p class="muted">
        Training happens elsewhere: this view derives a plan, captures the data, and exports the project that a trainer
        works in.
        {copy !== null && (
          <>
            {" "}The open recipe is <a href={address("editor")}>{nameOf(copy)}</a>.
          </>
        )}
      </p>
      <Source chosen={source} />
      {source === null || recipe === null
        ? <p class="empty">{problem === null ? "Reading the recipe" : "No recipe is shown"}</p>
        : <Workbench key={source} source={source} recipe={recipe} />}
      <Projects />
    </Page>
  );
}

interface Template {
  id: string;
  label: string;
  available: boolean;
}

/** Any recipe can be chosen: one that is open, a file of the project, or a template. */
function Source({ chosen }: { chosen: string | null }) {
  const templates = useFetched<{ templates: Template[] }>("/api/recipe-templates");
  const [files, setFiles] = useState<string[]>([]);
  useEffect(() => void listFiles().then((found) => setFiles(found.map(({ path }) => path)), () => {}), []);
  return (
    <p class="row">
      <label for="training-source">Derive from</label>
      <select
        id="training-source"
        value={chosen ?? ""}
        onChange={(event) => refine({ of: event.currentTarget.value })}
      >
        {chosen === null && <option value="">Choose a recipe</option>}
        <optgroup label="Open recipes">
          {copies.value.map((copy) => <option key={copy.id} value={`copy:${copy.id}`}>{nameOf(copy)}</option>)}
        </optgroup>
        <optgroup label="Files of the project">
          {files.map((path) => <option key={path} value={`file:${path}`}>{path}</option>)}
        </optgroup>
        <optgroup label="Templates">
          {(templates.data?.templates ?? []).filter(({ available }) => available).map(({ id, label }) => (
            <option key={id} value={`template:${id}`}>{label}</option>
          ))}
        </optgroup>
      </select>
    </p>
  );
}

/** The recipe behind a choice; null while it is read. */
function useRecipe(
  source: string | null,
  open: JsonObject | null,
  onProblem: (message: string | null) => void,
): JsonObject | null {
  const [read, setRead] = useState<{ source: string; recipe: JsonObject } | null>(null);
  useEffect(() => {
    if (source === null || source.startsWith("copy:")) return onProblem(null);
    const [kind, name] = [source.slice(0, source.indexOf(":")), source.slice(source.indexOf(":") + 1)];
    const asked: Promise<{ recipe: JsonObject }> = kind === "file"
      ? get<{ recipe: JsonObject }>(`/api/recipe?path=${encodeURIComponent(name)}`)
      : post<{ recipe: JsonObject }>("/api/recipe-templates/instantiate", { template_id: name });
    asked.then(({ recipe }) => (setRead({ source, recipe }), onProblem(null)), (error) => onProblem(error.message));
  }, [source]);
  return source?.startsWith("copy:") ? open : read?.source === source ? read.recipe : null;
}

function Workbench({ source, recipe }: { source: string; recipe: JsonObject }) {
  const [draft, setDraft] = useState<PlanDraft>(() => keptDraft(source));
  const [inspection, setInspection] = useState<Inspection | null>(null);
  const [findings, setFindings] = useState<readonly Diagnostic[]>([]);
  const [asking, setAsking] = useState(true);
  useEffect(() => {
    const stop = new AbortController();
    setAsking(true);
    keepDraft(source, draft);
    const timer = setTimeout(() =>
      inspect(recipe, draft, stop.signal).then((found) => {
        setInspection(found);
        setFindings([]);
        setAsking(false);
      }, (error) => {
        if (stop.signal.aborted) return;
        setAsking(false);
        setFindings(findingsOf(error));
      }), PAUSE_MS);
    return () => (clearTimeout(timer), stop.abort());
  }, [recipe, draft]);
  const change = (part: Partial<PlanDraft>) => setDraft({ ...draft, ...part });
  const nothing = draft.selected !== null && draft.selected.length === 0;
  const sound = findings.length === 0 && !nothing && !asking;
  return (
    <div aria-busy={asking}>
      {findings.length > 0 && (
        <section class="notice" data-tone="error" aria-label="Problems of the plan">
          <Diagnostics items={findings} />
          <button type="button" onClick={() => setDraft(NEW_PLAN)}>Begin the plan anew</button>
        </section>
      )}
      {inspection === null ? findings.length === 0 && <p class="empty">Looking at the recipe</p> : (
        <>
          <Identities inspection={inspection} />
          <Blocks inspection={inspection} draft={draft} change={change} />
          {nothing && <p class="notice" data-tone="warn">Tick at least one block to train.</p>}
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

function findingsOf(error: Error): readonly Diagnostic[] {
  if (error instanceof Problem && error.diagnostics.length > 0) return error.diagnostics;
  const code = error instanceof Problem ? error.code : "internal_error";
  return [{ code, message: error.message, hint: error instanceof Problem ? error.hint : null }];
}

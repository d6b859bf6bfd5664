/** One run: its results, its artifacts, and its provenance. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { messageOf } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Page, StateMark, Tabs, Wait } from "../parts.tsx";
import { type ComponentType, lazy, useEffect, useState } from "../preact.ts";
import { address, go } from "../router.ts";
import { loadContracts } from "../state/contracts.ts";
import { openCopy } from "../state/copies.ts";
import { onEvent } from "../state/events.ts";
import { useFetched, useLoaded } from "../state/fetched.ts";
import { endOf, submit } from "../state/runs.ts";
import { Artifacts } from "./artifacts.tsx";
import type { RunDocuments } from "./documents.ts";
import { json } from "./fetch_artifact.ts";
import { secondsOf } from "./filter.ts";
import { RunMarks } from "./marks.tsx";
import { secondsText } from "./amounts.ts";
import { loadMetrics, timeText } from "./metrics.ts";
import { Log } from "../panels/log.tsx";
import { isVariantId, nameByRecipe } from "./run_name.ts";
import { Plan } from "./plan.tsx";
import { Provenance } from "./provenance.tsx";
import { RecipeView } from "./recipe_view.tsx";
import { Summary } from "./summary.tsx";
import { Timeline } from "./timeline.tsx";

const Signals = lazy(() => import("./signals.tsx"), "Loading the view");
const RunGraph = lazy(() => import("./run_graph.tsx"), "Loading the view");

const PARTS: Readonly<Record<string, ComponentType<{ documents: RunDocuments }>>> = {
  Summary,
  Graph: RunGraph,
  Signals,
  Artifacts,
  Timeline,
  Recipe: RecipeView,
  Plan,
  Provenance,
  Log: ({ documents: { summary } }) => (
    <Log jobId={summary.job_id} none="The command line ran this recipe: the server has no events of it." />
  ),
};
const TABS = Object.keys(PARTS).map((label) => [label.toLowerCase(), label] as const);

export default function RunDetail({ runId, tab }: { runId: string; tab: string }) {
  const found = useFetched("/api/runs/:run_id", { params: { run_id: runId } }), documents = found.value;
  useEffect(() => {
    loadMetrics().catch(() => {});
    loadContracts().catch(() => {});
  }, []);
  useEffect(() => {
    document.title = `${runId} · svc`;
  }, [runId]);
  const name = documents?.summary.recipe_name ?? "";
  const recipe = useLoaded(
    (signal) => isVariantId(name) ? json<JsonObject>(`runs/${runId}/recipe.json`, signal) : Promise.resolve(null),
    `${runId} ${name}`,
  );
  // An active run is read again with each of its steps.
  const executing = documents?.summary.status === "running";
  useEffect(() => {
    if (!executing) return;
    return onEvent(({ kind, job_id }) => {
      if (job_id === documents?.summary.job_id && /^(step_completed|step_failed|job_.*)$/.test(kind)) found.again();
    });
  }, [executing]);
  if (documents === null) {
    return (
      <Page key="wait" title={runId} actions={<a href={address("runs")}>All runs</a>}>
        <Wait of={found} what="the run" />
      </Page>
    );
  }
  const { summary } = documents, label = TABS.find(([id]) => id === tab)?.[1], Part = PARTS[label ?? ""];
  return (
    <Page title={nameByRecipe(summary.recipe_name, recipe.value)} actions={<Actions documents={documents} />}>
      <p class="row run-line">
        <StateMark state={summary.status} />
        <span class="mono">{summary.run_id}</span>
        <span class="muted">{timeText(summary.created_at_utc)} UTC</span>
        <span class="muted">{secondsText(secondsOf(summary))}</span>
      </p>
      <RunMarks key={runId} runId={runId} />
      <Tabs
        label="Parts of the run"
        value={tab}
        options={TABS}
        onChoose={(id) => go("runs", id === "summary" ? [runId] : [runId, id])}
      />
      <div class="run-part" role="tabpanel" aria-label={label}>
        {Part === undefined ? <p class="empty">There is no part named {tab}.</p> : <Part documents={documents} />}
      </div>
    </Page>
  );
}

function Actions({ documents: { summary } }: { documents: RunDocuments }) {
  const [note, setNote] = useState("");
  const perform = async (what: string, act: (recipe: JsonObject) => unknown) => {
    try {
      await act(await json<JsonObject>(`runs/${summary.run_id}/recipe.authored.json`));
    } catch (error) {
      setNote(`Cannot ${what}: ${messageOf(error)}`);
    }
  };
  const open = () => perform("open the recipe", (recipe) => (openCopy(recipe), go("editor")));
  const again = () =>
    perform("run the recipe again", async (recipe) => {
      const { job_id } = await submit(recipe);
      setNote("Running");
      const { run_id } = await endOf(job_id);
      setNote("");
      if (run_id !== null) go("runs", [run_id]);
    });
  return (
    <>
      <span class="muted small" role="status">{note}</span>
      <button type="button" class="primary" onClick={open}>Open as recipe</button>
      <button type="button" disabled={note === "Running"} onClick={again}>Re-run</button>
      <a class="button" href={address("compare", [], { runs: summary.run_id })}>Compare</a>
      <CopyCommand command={commandOf("runs", "show", summary.run_id)} />
    </>
  );
}

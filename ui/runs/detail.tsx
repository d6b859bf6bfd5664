/** One run: what came out, what it left, and how it came about. */
import { parseJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { get, Problem, text as fetchText } from "./fetch_artifact.ts";
import { Page } from "../frame.tsx";
import { lazy, Suspense, useEffect, useState } from "../preact.ts";
import { address, go } from "../router.ts";
import { loadContracts } from "../state/contracts.ts";
import { openCopy } from "../state/copies.ts";
import { onEvent } from "../state/events.ts";
import { Artifacts } from "./artifacts.tsx";
import { loadMetrics, secondsText, timeText } from "./metrics.ts";
import { Plan } from "./plan.tsx";
import { Provenance } from "./provenance.tsx";
import { RecipeView } from "./recipe_view.tsx";
import { StateMark } from "./state_mark.tsx";
import { walkTabs } from "../tabs.ts";
import { Summary } from "./summary.tsx";
import type { RunDocuments } from "./documents.ts";
import { Timeline } from "./timeline.tsx";

const Media = lazy(() => import("./media.tsx"));
const RunGraph = lazy(() => import("./run_graph.tsx"));

const TABS = [
  ["summary", "Summary"],
  ["graph", "Graph"],
  ["media", "Media"],
  ["artifacts", "Artifacts"],
  ["timeline", "Timeline"],
  ["recipe", "Recipe"],
  ["plan", "Plan"],
  ["provenance", "Provenance"],
] as const;

export default function RunDetail({ runId, tab }: { runId: string; tab: string }) {
  const [documents, setDocuments] = useState<RunDocuments | null>(null),
    [problem, setProblem] = useState<Problem | null>(null);
  const [refresh, setRefresh] = useState(0);
  useEffect(() => {
    loadMetrics().catch(() => {});
    loadContracts().catch(() => {});
  }, []);
  useEffect(() => {
    const stop = new AbortController();
    get<RunDocuments>(`/api/runs/${encodeURIComponent(runId)}`, stop.signal).then((found) => {
      setDocuments(found);
      setProblem(null);
    }, (error) => {
      if (error instanceof Problem) setProblem(error);
    });
    document.title = `${runId} · svc`;
    return () => stop.abort();
  }, [runId, refresh]);
  // A run that goes on is read again with every step of it.
  const executing = documents?.summary.status === "running";
  useEffect(() => {
    if (!executing) return;
    return onEvent(({ kind, job_id }) => {
      if (job_id === documents?.summary.job_id && /^(step_completed|step_failed|job_.*)$/.test(kind)) {
        setRefresh((count) => count + 1);
      }
    });
  }, [executing]);

  if (documents === null) {
    return (
      <Page title={runId}>
        {problem === null
          ? <p class="empty" aria-busy="true">Reading the run</p>
          : (
            <div class="notice" data-tone="error" role="alert">
              <p>{problem.message}</p>
              <p>
                <button type="button" onClick={() => setRefresh(refresh + 1)}>Try again</button>{" "}
                <a href={address("runs")}>To the runs</a>
              </p>
            </div>
          )}
      </Page>
    );
  }
  const { summary } = documents;
  const recipeName = String(summary.recipe_name ?? "");
  return (
    <Page title={recipeName} actions={<Actions documents={documents} />}>
      <p class="row run-line">
        <StateMark state={summary.status} />
        <span class="mono">{summary.run_id}</span>
        <span class="muted">{timeText(summary.created_at_utc)} UTC</span>
        <span class="muted">
          {secondsText(
            summary.completed_at_utc === null
              ? null
              : (Date.parse(summary.completed_at_utc) - Date.parse(summary.created_at_utc)) / 1000,
          )}
        </span>
      </p>
      <div class="tabs" role="tablist" aria-label="Parts of the run" onKeyDown={(event) => walkTabs(event)}>
        {TABS.map(([id, label]) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-controls="run-part"
            aria-selected={tab === id}
            tabIndex={tab === id ? 0 : -1}
            onClick={() => go("runs", id === "summary" ? [runId] : [runId, id])}
          >
            {label}
          </button>
        ))}
      </div>
      <div class="run-part" id="run-part" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Suspense fallback={<p class="empty">Loading the view</p>}>
          {tab === "summary" && <Summary documents={documents} />}
          {tab === "graph" && <RunGraph documents={documents} />}
          {tab === "media" && <Media documents={documents} />}
          {tab === "artifacts" && <Artifacts documents={documents} />}
          {tab === "timeline" && <Timeline documents={documents} />}
          {tab === "recipe" && <RecipeView documents={documents} />}
          {tab === "plan" && <Plan documents={documents} />}
          {tab === "provenance" && <Provenance documents={documents} />}
          {!TABS.some(([id]) => id === tab) && <p class="empty">There is no part named {tab}.</p>}
        </Suspense>
      </div>
    </Page>
  );
}

function Actions({ documents: { summary } }: { documents: RunDocuments }) {
  const [note, setNote] = useState("");
  const open = async () => {
    try {
      const recipe = parseJson(await fetchText(`runs/${summary.run_id}/recipe.authored.json`));
      if (!isObject(recipe)) throw new Error("it holds no mapping");
      openCopy(recipe as JsonObject);
      go("editor");
    } catch (error) {
      setNote(`Cannot open the recipe: ${(error as Error).message}`);
    }
  };
  const copy = async () => {
    const command = `svc runs show ${summary.run_id}`;
    try {
      await navigator.clipboard.writeText(command);
      setNote(`Copied: ${command}`);
    } catch {
      setNote(command);
    }
  };
  return (
    <>
      <span class="muted small" role="status">{note}</span>
      <button type="button" class="primary" onClick={open}>Open as recipe</button>
      <a class="button" href={address("compare", [], { runs: summary.run_id })}>Compare</a>
      <button type="button" onClick={copy}>Copy CLI command</button>
    </>
  );
}

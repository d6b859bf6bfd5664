/** The editor: open recipes as tabs, the outline, the graph, the inspector, and what the server says below. */
import type { Diagnostic } from "../api.ts";
import { Problem } from "../api.ts";
import { Graph } from "../graph/graph.tsx";
import { Inspector } from "../panels/inspector.tsx";
import { Outline } from "../panels/outline.tsx";
import { Dock } from "../panels/dock.tsx";
import { useEffect, useState } from "../preact.ts";
import { provideCommands } from "../palette.tsx";
import { address } from "../router.ts";
import { contracts, loadContracts } from "../state/contracts.ts";
import {
  active,
  activeId,
  closeCopy,
  copies,
  type Copy,
  duplicate,
  isUnsaved,
  nameOf,
  redo,
  restore,
  save,
  stepsOf,
  undo,
  update,
} from "../state/copies.ts";
import { isEnded, jobs } from "../state/events.ts";
import { cancelRun, startRun, stepStates } from "../state/runs.ts";
import { planCache, WORKERS, workers } from "../state/settings.ts";

/** Problems by step. */
export function problemsByStep(copy: Copy): ReadonlyMap<string, number> {
  const steps = stepsOf(copy.recipe), found = new Map<string, number>();
  for (const { step_id, pointer, severity } of copy.verdict?.diagnostics ?? []) {
    if (severity === "info") continue;
    const id = step_id ?? steps[Number(/^\/steps\/(\d+)/.exec(pointer ?? "")?.[1])]?.id;
    if (id !== undefined) found.set(id, (found.get(id) ?? 0) + 1);
  }
  return found;
}

export default function Editor() {
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    Promise.all([loadContracts(), restore()]).catch((error) => setFailure(error.message));
    return provideCommands(commands);
  }, []);
  useEffect(() => {
    globalThis.addEventListener("keydown", shortcuts as EventListener);
    return () => globalThis.removeEventListener("keydown", shortcuts as EventListener);
  }, []);
  const copy = active();
  if (failure !== null) return <div class="empty" role="alert">{failure}</div>;
  if (copy === null || contracts.value.size === 0) {
    return (
      <div class="empty">
        {contracts.value.size === 0 ? "Reading the operations" : (
          <>
            No recipe is open. <a href={address("templates")}>Start from a template</a>
          </>
        )}
      </div>
    );
  }
  const problems = problemsByStep(copy), states = copy.jobId === null ? undefined : stepStates.value.get(copy.jobId);
  return (
    <div class="editor">
      <h1 class="hidden-text">Editor</h1>
      <Bar copy={copy} />
      <Outline copy={copy} problems={problems} states={states} />
      <div class="centre">
        <Graph
          recipe={copy.recipe}
          selected={copy.selected}
          states={states}
          problems={problems}
          onSelect={(id) => update(copy.id, { selected: id })}
          onOpen={() => document.querySelector<HTMLElement>(".inspector input, .inspector select")?.focus()}
        />
      </div>
      <Inspector copy={copy} />
      <Dock copy={copy} />
    </div>
  );
}

function Bar({ copy }: { copy: Copy }) {
  const [problem, setProblem] = useState<string | null>(null);
  const job = copy.jobId === null ? undefined : jobs.value.get(copy.jobId);
  const running = job !== undefined && !isEnded(job.state);
  const reason = whyNotRun(copy);
  const act = (work: () => unknown) => async () => {
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Problem ? `${error.message}${error.hint ? `. ${error.hint}` : ""}` : String(error));
    }
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Open recipes" class="row">
        {copies.value.map((other) => (
          <button
            key={other.id}
            type="button"
            role="tab"
            aria-selected={other.id === copy.id}
            onClick={() => activeId.value = other.id}
          >
            {nameOf(other)}
            {isUnsaved(other) ? " *" : ""}
            {isUnsaved(other) && <span class="hidden-text">(not saved)</span>}
          </button>
        ))}
      </div>
      <button type="button" class="quiet" aria-label={`Close ${nameOf(copy)}`} onClick={() => closeCopy(copy.id)}>
        ✕
      </button>
      <a class="small" href={address("templates")}>New</a>
      <span class="row end-tools">
        <button type="button" onClick={() => duplicate(copy)}>Duplicate</button>
        <button type="button" disabled={copy.past.length === 0} onClick={() => undo(copy.id)}>Undo</button>
        <button type="button" disabled={copy.future.length === 0} onClick={() => redo(copy.id)}>Redo</button>
        <button type="button" onClick={act(() => save(copy))}>Save</button>
        <label class="row">
          <span class="small muted">Workers</span>
          <select
            value={workers.value}
            onChange={(event) => workers.value = event.currentTarget.value as typeof workers.value}
          >
            {WORKERS.map((count) => <option key={count} value={count}>{count === "1" ? "Sequential" : count}</option>)}
          </select>
        </label>
        <label class="row small">
          <input
            type="checkbox"
            checked={planCache.value === "on"}
            onChange={(event) => planCache.value = event.currentTarget.checked ? "on" : "off"}
          />
          Plan cache
        </label>
        {running ? <button type="button" onClick={act(() => cancelRun(copy.jobId!))}>Cancel</button> : (
          <button
            type="button"
            class="primary"
            disabled={reason !== null}
            title={reason ?? undefined}
            onClick={act(() => startRun(copy))}
          >
            Run
          </button>
        )}
        {reason !== null && <span class="small muted">{reason}</span>}
      </span>
      {problem !== null && <span class="tag" data-tone="error" role="alert">{problem}</span>}
    </div>
  );
}

function whyNotRun(copy: Copy): string | null {
  if (copy.verdict === null) return "Being checked";
  const errors = copy.verdict.diagnostics.filter((one: Diagnostic) =>
    one.severity !== "warning" && one.severity !== "info"
  );
  if (!copy.verdict.valid) return `${errors.length} ${errors.length === 1 ? "problem" : "problems"} to mend first`;
  const metadata = copy.recipe.metadata as Record<string, unknown> | undefined;
  return metadata?.matrix === undefined ? null : "A matrix runs from its tab below";
}

function shortcuts(event: KeyboardEvent): void {
  const copy = active();
  if (copy === null || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase(), typing = (event.target as Element).matches("input, textarea, select");
  if (key === "s") save(copy).catch(() => {});
  else if (key === "enter" && whyNotRun(copy) === null) startRun(copy).catch(() => {});
  else if (key === "." && copy.jobId !== null) cancelRun(copy.jobId).catch(() => {});
  else if (key === "z" && !typing) event.shiftKey ? redo(copy.id) : undo(copy.id);
  else if (key === "d") duplicate(copy);
  else return;
  event.preventDefault();
}

/** Blocks and their parameters, for the palette. */
function commands() {
  const copy = active();
  if (copy === null) return [];
  return stepsOf(copy.recipe).flatMap(({ id, op }) => {
    const contract = contracts.value.get(op);
    const select = () => {
      location.hash = address("editor");
      update(copy.id, { selected: id });
    };
    return [
      { kind: "Block", text: id, detail: contract?.name ?? op, run: select },
      ...Object.keys((contract?.params_schema.properties ?? {}) as object).map((name) => ({
        kind: "Parameter",
        text: name,
        detail: id,
        run() {
          select();
          setTimeout(() => document.getElementById(`param-${id}-${name}`)?.focus(), 100);
        },
      })),
    ];
  });
}

/** The editor: open recipes as tabs, the outline, the graph, the inspector, and the panels below. */
import { attempt, Bar, OpenDialog, openFiles, runAll, runNow } from "../panels/bar.tsx";
import { saveNow } from "../panels/save_now.ts";
import { Centre } from "../panels/centre.tsx";
import { Inspector } from "../panels/inspector.tsx";
import { Outline } from "../panels/outline.tsx";
import { Dock } from "../panels/dock.tsx";
import { signal, useEffect, useLayoutEffect, useRef, useState, whenReachable } from "../preact.ts";
import { type Command, provideCommands } from "../palette.tsx";
import { address } from "../router.ts";
import { contracts, loadContracts } from "../state/contracts.ts";
import {
  active,
  activeId,
  copies,
  type Copy,
  duplicate,
  openDefault,
  redo,
  stepsOf,
  undo,
  unreadOf,
} from "../state/copies.ts";
import { jobs } from "../state/events.ts";
import { useStale } from "../state/ran.ts";
import { cancelRun, catchUp, statesOf, stepStates } from "../state/runs.ts";
import { divider, Splitter } from "../split.tsx";

const LEFT = divider("left", 196, 120, 480),
  RIGHT = divider("right", 320, 220, 720),
  DOCK = divider("dock", 220, 60, 640);

/** The commands of the palette, which come after the editor. */
const commandsOf = signal<() => Command[]>(() => []);

const commandsPart = () => import("../panels/commands.ts");

/** Problems by step. */
function problemsByStep(copy: Copy): ReadonlyMap<string, number> {
  const steps = stepsOf(copy.recipe), found = new Map<string, number>();
  const count = (id: string | null | undefined) => id && found.set(id, (found.get(id) ?? 0) + 1);
  for (const { step_id, pointer, severity } of copy.verdict?.diagnostics ?? []) {
    if (severity !== "info") count(step_id ?? steps[Number(/^\/steps\/(\d+)/.exec(pointer ?? "")?.[1])]?.id);
  }
  for (const [, { stepId }] of unreadOf(copy)) count(stepId);
  return found;
}

/** Reads what the editor needs before it shows a recipe. */
export const begin = () => Promise.all([loadContracts(), openDefault()]);

export default function Editor() {
  const [failure, setFailure] = useState<string | null>(null), [opening, setOpening] = useState(false);
  const [ready, setReady] = useState(false);
  const start = () => {
    setFailure(null);
    begin().then(() => setReady(true), (error) => setFailure(error.message));
  };
  useLayoutEffect(() => {
    start();
    const withdraw = provideCommands(() => commandsOf.value());
    whenReachable(commandsPart).then(({ commands }) => commandsOf.value = commands);
    return withdraw;
  }, []);
  useEffect(() => {
    globalThis.addEventListener("keydown", shortcuts as EventListener);
    return () => globalThis.removeEventListener("keydown", shortcuts as EventListener);
  }, []);
  const copy = active();
  if (failure !== null) {
    return (
      <div class="empty">
        <h1 class="hidden-text">Editor</h1>
        <p role="alert">{failure}</p>
        <button type="button" onClick={start}>Try again</button>
      </div>
    );
  }
  if (copy === null || contracts.value.size === 0) {
    return (
      <div class="empty">
        <h1 class="hidden-text">Editor</h1>
        {contracts.value.size === 0 ? "Reading the operations" : !ready ? "Opening the recipe" : (
          <>
            No recipe is open. <a href={address("templates")}>Start from a template</a> or{" "}
            <button type="button" onClick={() => setOpening(true)}>open a file</button>
            {opening && <OpenDialog onClose={() => setOpening(false)} />}
          </>
        )}
      </div>
    );
  }
  return <Desk copy={copy} />;
}

function Desk({ copy }: { copy: Copy }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    element.current!.style.cssText =
      `--left:${LEFT.size.value}px;--right:${RIGHT.size.value}px;--dock:${DOCK.size.value}px`;
  }, [LEFT.size.value, RIGHT.size.value, DOCK.size.value]);
  const { jobId } = copy, job = jobId === null ? undefined : jobs.value.get(jobId);
  useEffect(() => {
    // After a reload the job is known, and the states of its steps are not.
    if (jobId !== null && job !== undefined && !stepStates.value.has(jobId)) catchUp(jobId).catch(() => {});
  }, [jobId, job === undefined]);
  const problems = problemsByStep(copy), states = statesOf(copy), stale = useStale(copy);
  return (
    <div class="editor" ref={element} data-stale={stale === null ? undefined : ""}>
      <h1 class="hidden-text">Editor</h1>
      <Bar copy={copy} />
      <Outline copy={copy} problems={problems} states={states} />
      <Splitter label="Width of the outline" of={LEFT} side="left" />
      <Centre copy={copy} problems={problems} states={states} stale={stale} />
      <Splitter label="Width of the inspector" of={RIGHT} side="right" />
      <Inspector copy={copy} />
      <Splitter label="Height of the panels below" of={DOCK} side="below" />
      <Dock copy={copy} />
    </div>
  );
}

function shortcuts(event: KeyboardEvent): void {
  const copy = active();
  if (copy === null || document.querySelector("dialog[open]") !== null) return;
  if (event.altKey && /^[1-9]$/.test(event.key)) {
    const chosen = copies.value[Number(event.key) - 1];
    if (chosen === undefined) return;
    activeId.value = chosen.id;
  } else if (event.key === "F8") {
    commandsPart().then(({ nextProblem }) => nextProblem(copy, problemsByStep(copy), event.shiftKey ? -1 : 1));
  } else if (!(event.ctrlKey || event.metaKey) || !command(copy, event)) return;
  event.preventDefault();
}

/** Performs the command of Ctrl with a key; false where there is none. */
function command(copy: Copy, event: KeyboardEvent): boolean {
  // In a text field the undo of the browser stays.
  const key = event.key.toLowerCase(),
    typing = (event.target as Element).matches("input[type=text], textarea, .cm-content");
  if (key === "s") attempt(() => saveNow(copy));
  else if (key === "enter") {
    attempt(() => event.shiftKey ? runAll() : runNow(copy));
  } else if (key === "." && copy.jobId !== null) attempt(() => cancelRun(copy.jobId!));
  else if (key === "z" && !typing) event.shiftKey ? redo(copy.id) : undo(copy.id);
  else if (key === "d") duplicate(copy);
  else if (key === "o") openFiles();
  else if (key === "j") document.querySelector<HTMLElement>(".dock [role=tab][aria-selected=true]")?.focus();
  else return false;
  return true;
}

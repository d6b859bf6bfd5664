/** Above the editor: the open recipes as tabs, the actions on the present one, and the options of its runs. */
import { connection, problemText } from "../api.ts";
import { Check, Close, Select } from "../parts.tsx";
import { lazy, signal, whenReachable } from "../preact.ts";
import { address } from "../router.ts";
import { nameByRecipe } from "../runs/run_name.ts";
import {
  active,
  activeId,
  closeCopy,
  conflict,
  copies,
  type Copy,
  duplicate,
  isUnsaved,
  nameOf,
  redo,
  revert,
  undo,
  unreadOf,
} from "../state/copies.ts";
import { isEnded, jobs } from "../state/events.ts";
import { toast } from "../toast.tsx";
import { saveNow } from "./save_now.ts";
import { cancelRun, startRun, stopping } from "../state/runs.ts";
import { isRunning, sequence, stopSequence } from "../state/sequence.ts";
import { planCache, stopAfterFailure, WORKERS, workers } from "../state/settings.ts";

/** Loaded when one of them is opened. */
const dialogs = () => import("./files.tsx");
export const OpenDialog = lazy(() => dialogs().then(({ OpenDialog }) => OpenDialog));
const SaveAsDialog = lazy(() => dialogs().then(({ SaveAsDialog }) => SaveAsDialog));
const OtherTabs = lazy(() => import("./other_tabs.tsx").then(({ OtherTabs }) => OtherTabs));
const NeedsText = lazy(() => import("./needs.tsx").then(({ NeedsText }) => NeedsText));
const ConflictDialog = lazy(() => dialogs().then(({ ConflictDialog }) => ConflictDialog));

/** The problem of the last action, with the recipe that was shown then. */
const trouble = signal<{ copyId: string | undefined; text: string } | null>(null);

/** The changes of the last edit of the graph. */
export const said = signal<{ copyId: string; text: string } | null>(null);

/** Performs an action and shows its problem beside the recipe that is shown now. */
export async function attempt(work: () => unknown): Promise<void> {
  const copyId = active()?.id;
  trouble.value = said.value = null;
  try {
    await work();
  } catch (error) {
    trouble.value = { copyId, text: problemText(error) };
  }
}

/** @throws Error with the reason where it cannot be run */
export function runNow(copy: Copy): Promise<unknown> {
  const reason = whyNotRun(copy);
  if (reason !== null) throw new Error(`Cannot run: ${reason}`);
  return startRun(copy);
}

/** Runs all open recipes one after another. What runs a sequence is loaded with the first one. */
export const runAll = async (): Promise<void> =>
  (await whenReachable(() => import("../state/run_sequence.ts"))).runInSequence(copies.value);

const CHECKING = "Checking";

export function whyNotRun(copy: Copy): string | null {
  if (connection.value === "lost") return "The server does not answer";
  const unread = unreadOf(copy).length;
  if (copy.verdict === null && unread === 0) return CHECKING;
  const errors = unread +
    (copy.verdict?.diagnostics ?? []).filter(({ severity }) => severity !== "warning" && severity !== "info").length;
  if (copy.verdict?.valid === false || errors > 0) {
    return `${errors} ${errors === 1 ? "problem" : "problems"} to fix first`;
  }
  return null;
}

const OPEN = { files: signal(false), saveAs: signal(false) };
export const openFiles = () => OPEN.files.value = true;
export const openSaveAs = () => OPEN.saveAs.value = true;

export function Bar({ copy }: { copy: Copy }) {
  return (
    <header class="bar">
      <div class="tabs">
        <div role="tablist" aria-label="Open recipes" class="row">
          {copies.value.map((other) => <RecipeTab key={other.id} copy={other} selected={other.id === copy.id} />)}
        </div>
        <Close
          label={`Close ${nameOf(copy)}`}
          onClick={() => toast(`Closed ${nameOf(copy)}${isUnsaved(copy) ? ", not saved" : ""}`, closeCopy(copy.id))}
        />
        <a class="button" href={address("templates")}>New from template</a>
        <button type="button" onClick={openFiles}>Open file</button>
      </div>
      <Tools copy={copy} />
      <SequenceStrip />
      <OtherTabs />
      {trouble.value?.copyId === copy.id && (
        <p class="notice row spread" data-tone="error" role="alert">
          <span>{trouble.value.text}</span>
          <Close label="Close the message" onClick={() => trouble.value = null} />
        </p>
      )}
      {said.value?.copyId === copy.id && (
        <p class="notice row spread" role="status">
          <span>{said.value.text}</span>
          <Close label="Close the changes" onClick={() => said.value = null} />
        </p>
      )}
      {OPEN.files.value && <OpenDialog onClose={() => OPEN.files.value = false} />}
      {OPEN.saveAs.value && <SaveAsDialog copy={copy} onClose={() => OPEN.saveAs.value = false} />}
      {conflict.value !== null && <ConflictDialog />}
    </header>
  );
}

function RecipeTab({ copy, selected }: { copy: Copy; selected: boolean }) {
  const state = copy.jobId === null ? undefined : jobs.value.get(copy.jobId)?.state;
  return (
    <button
      type="button"
      role="tab"
      aria-selected={selected}
      tabindex={selected ? 0 : -1}
      title={copy.file?.path ?? "not in a file yet"}
      onClick={() => activeId.value = copy.id}
      onKeyDown={(event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (by === undefined) return;
        const all = copies.value, next = all[(all.indexOf(copy) + by + all.length) % all.length];
        activeId.value = next.id;
        const list = event.currentTarget.parentElement!;
        (list.children[all.indexOf(next)] as HTMLElement).focus();
      }}
    >
      {nameByRecipe(nameOf(copy), copy.recipe)}
      {isUnsaved(copy) && <span aria-hidden="true">*</span>}
      {isUnsaved(copy) && <span class="hidden-text">(not saved)</span>}
      {state !== undefined && <span class="small muted">{state}</span>}
    </button>
  );
}

const SWITCHES = [["Plan cache", planCache], ["Stop after failure", stopAfterFailure]] as const;

function Tools({ copy }: { copy: Copy }) {
  const job = copy.jobId === null ? undefined : jobs.value.get(copy.jobId);
  const running = job !== undefined && !isEnded(job.state);
  const reason = whyNotRun(copy);
  return (
    <div class="tools row">
      <button type="button" disabled={copy.past.length === 0} onClick={() => undo(copy.id)}>Undo</button>
      <button type="button" disabled={copy.future.length === 0} onClick={() => redo(copy.id)}>Redo</button>
      <button type="button" onClick={() => duplicate(copy)}>Duplicate</button>
      <button type="button" onClick={() => attempt(() => saveNow(copy))}>Save</button>
      <button type="button" onClick={openSaveAs}>Save as</button>
      <button
        type="button"
        disabled={copy.file === null}
        title={copy.file === null ? "This recipe is in no file yet" : `Read ${copy.file.path} again`}
        onClick={() => attempt(() => revert(copy))}
      >
        Revert
      </button>
      <span class="row end-tools">
        <Select
          label={<span class="small muted">Workers</span>}
          value={workers.value}
          options={WORKERS.map((count) => [count, count === "1" ? "Sequential" : count] as const)}
          onChoose={(count) => workers.value = count}
        />
        {SWITCHES.map(([label, of]) => (
          <Check
            key={label}
            label={label}
            look="small"
            checked={of.value === "on"}
            onChange={(on) => of.value = on ? "on" : "off"}
          />
        ))}
        <span class="needs-place">
          <NeedsText copy={copy} />
        </span>
        <button
          type="button"
          disabled={isRunning()}
          title="Runs all open recipes and their variants, one after another"
          onClick={() => attempt(runAll)}
        >
          Run all
        </button>
        {running
          ? (
            <button type="button" onClick={() => attempt(() => cancelRun(copy.jobId!))}>
              {stopping.value.has(job.job_id) ? "Canceling after the running operation" : "Cancel"}
            </button>
          )
          : (
            <button
              type="button"
              class="primary"
              disabled={reason !== null}
              aria-describedby={reason === null ? undefined : "why-not-run"}
              onClick={() => attempt(() => startRun(copy))}
            >
              Run
            </button>
          )}
        {reason !== null && (
          // What goes again in a moment takes no place, or the blocks below would move.
          <span id="why-not-run" class={reason === CHECKING ? "hidden-text" : "small muted"}>{reason}</span>
        )}
      </span>
    </div>
  );
}

/** The progress of a sequence of runs. */
function SequenceStrip() {
  const present = sequence.value;
  if (present === null) return null;
  const { items, at } = present;
  const done = items.filter(({ state }) => state === "completed").length;
  const failed = items.filter(({ state }) => !["completed", "waiting", "running", "not started"].includes(state));
  return (
    <p class="notice row spread" data-tone={failed.length > 0 ? "warn" : undefined}>
      <span>
        {at === null ? "Sequence ended" : `Run ${at + 1} of ${items.length}: ${items[at].label}`} · {done} completed
        {failed.map(({ label, state }) => ` · ${label} ${state}`).join("")}
        {items.some(({ state }) => state === "not started")
          ? ` · ${items.filter(({ state }) => state === "not started").length} not started`
          : ""}
      </span>
      {at === null
        ? <button type="button" onClick={() => sequence.value = null}>Close</button>
        : <button type="button" onClick={stopSequence}>{present.stopping ? "Stopping" : "Stop"}</button>}
    </p>
  );
}

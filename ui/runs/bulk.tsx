/** Actions on the selected runs: compare, export, prune, remove. */
import { post, problemText } from "../api.ts";
import { csvText } from "../charts/csv.ts";
import { Dialog, Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { go } from "../router.ts";
import { saveText } from "../state/files.ts";
import { mark } from "../state/marks.ts";
import { toast } from "../toast.tsx";
import type { RunRow } from "./filter.ts";
import { bytesText } from "./amounts.ts";

const MOST_COMPARED = 256;
/** Runs that the dialog names. */
const MOST_NAMED = 12;

/** A way to free space. */
interface Reduction {
  path: "/api/runs/prune" | "/api/runs/remove";
  verb: string;
  done: string;
  effect: string;
}

const PRUNE: Reduction = {
  path: "/api/runs/prune",
  verb: "Prune",
  done: "Pruned",
  effect: "Documents and digests stay; svc runs restore makes the artifacts again.",
};
const REMOVE: Reduction = {
  path: "/api/runs/remove",
  verb: "Remove",
  done: "Removed",
  effect: "This cannot be undone.",
};

interface Props {
  rows: readonly RunRow[];
  ticked: ReadonlySet<string>;
  onClear(): void;
  /** Called when runs were pruned or removed. */
  onChanged(): void;
}

export function Bulk({ rows, ticked, onClear, onChanged }: Props) {
  const [problem, setProblem] = useState<string | null>(null), [tag, setTag] = useState("");
  const ids = [...ticked], runs = ids.length === 1 ? "1 run" : `${ids.length} runs`;
  const [asked, setAsked] = useState<Reduction & { freed: string } | null>(null);
  const attempt = (work: () => Promise<void>) => {
    setProblem(null);
    work().catch((error) => setProblem(problemText(error)));
  };
  const consider = (reduction: Reduction) =>
    attempt(async () => {
      const { freed_bytes } = await post(reduction.path, { ids, dry_run: true });
      setAsked({ ...reduction, freed: bytesText(Number(freed_bytes)) });
    });
  const reduce = ({ path, done, freed }: Reduction & { freed: string }) =>
    attempt(async () => {
      setAsked(null);
      await post(path, { ids });
      toast(`${done} ${runs}, ${freed} freed`);
      onClear();
      onChanged();
    });
  return (
    <div class="compare-bar row" role="region" aria-label="Chosen runs">
      <strong>{ticked.size} chosen</strong>
      <button
        type="button"
        class="primary"
        disabled={ticked.size < 2}
        onClick={() => go("compare", [], { runs: ids.slice(0, MOST_COMPARED).join(",") })}
      >
        Compare
      </button>
      {ticked.size < 2 && <span class="muted">Choose one more to compare.</span>}
      {ticked.size > MOST_COMPARED && <span class="muted">The first {MOST_COMPARED} will be compared.</span>}
      <button
        type="button"
        onClick={() => saveText(runsCsv(rows.filter(({ run_id }) => ticked.has(run_id))), "runs.csv", "text/csv")}
      >
        Export CSV
      </button>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          mark(ids, { add_tags: tag.split(/[\s,]+/).filter(Boolean) }).then(
            () => setTag(""),
            (error) => setProblem(problemText(error)),
          );
        }}
      >
        <label for="bulk-tag">Tag</label>
        <input id="bulk-tag" class="short-text" value={tag} onInput={(event) => setTag(event.currentTarget.value)} />
        <button type="submit" disabled={tag.trim() === ""}>Add</button>
      </form>
      <button type="button" onClick={() => consider(PRUNE)}>Prune …</button>
      <button type="button" onClick={() => consider(REMOVE)}>Remove …</button>
      <button type="button" onClick={onClear}>Clear</button>
      <Trouble text={problem} />
      {asked !== null && (
        <Dialog title={`${asked.verb} ${runs}`} onClose={() => setAsked(null)}>
          <p>This frees {asked.freed}. {asked.effect}</p>
          <ul class="mono small">
            {ids.slice(0, MOST_NAMED).map((id) => <li key={id}>{id}</li>)}
            {ids.length > MOST_NAMED && <li>and {ids.length - MOST_NAMED} more</li>}
          </ul>
          <p class="row">
            <button type="button" class="primary" onClick={() => reduce(asked)}>{asked.verb}</button>
            <button type="button" onClick={() => setAsked(null)}>Keep</button>
          </p>
        </Dialog>
      )}
    </div>
  );
}

/** A line for each run, with every metric. */
function runsCsv(rows: readonly RunRow[]): string {
  const metrics = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics ?? {})))].sort();
  const facts = ["run_id", "recipe_name", "status", "task_id", "created_at_utc", "effective_recipe_sha256"] as const;
  return csvText({
    columns: [...facts, ...metrics],
    rows: rows.map((row) => [
      ...facts.map((name) => String(row[name] ?? "")),
      ...metrics.map((name) => String(row.metrics?.[name] ?? "")),
    ]),
  });
}

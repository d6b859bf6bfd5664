/** Actions on the selected runs: compare, export, prune, remove. */
import { post, problemText } from "../api.ts";
import { csvText } from "../charts/csv.ts";
import { Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { go } from "../router.ts";
import { saveText } from "../state/files.ts";
import { mark } from "../state/marks.ts";
import { toast } from "../toast.tsx";
import type { RunRow } from "./filter.ts";
import { bytesText } from "./amounts.ts";

const MOST_COMPARED = 256;
/** A way to free space, and what is said after it. */
const PRUNE = { path: "/api/runs/prune", done: "Pruned" } as const;
const REMOVE = { path: "/api/runs/remove", done: "Removed" } as const;

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
  const attempt = (work: () => Promise<void>) => {
    setProblem(null);
    work().catch((error) => setProblem(problemText(error)));
  };
  const reduce = ({ path, done }: typeof PRUNE | typeof REMOVE) =>
    attempt(async () => {
      const { size_bytes, removal } = await post(path, { ids, undoable: true });
      const undo = async () => {
        try {
          await post("/api/runs/undo", { removal });
          toast(`Put back ${runs}`);
        } catch (error) {
          toast(problemText(error));
        }
        onChanged();
      };
      toast(`${done} ${runs}, ${bytesText(Number(size_bytes))}`, removal === undefined ? undefined : () => void undo());
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
      <button type="button" title="Deletes the artifacts; documents and digests stay" onClick={() => reduce(PRUNE)}>
        Prune
      </button>
      <button type="button" onClick={() => reduce(REMOVE)}>Remove</button>
      <button type="button" onClick={onClear}>Clear</button>
      <Trouble text={problem} />
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

/** Stars, tags and notes of runs, and named views of their list, as the server keeps them. */
import { get, post, problemText, type Reply } from "../api.ts";
import { signal } from "../preact.ts";

type Marks = Reply<"/api/runs/marks">;
export type Mark = Marks["runs"][string];

const NONE: Mark = { starred: false, tags: [], note: "" };

export const marks = signal<Pick<Marks, "runs" | "views">>({ runs: {}, views: {} });

export const markOf = (runId: string): Mark => marks.value.runs[runId] ?? NONE;

/** One request at a time: a late reply never replaces a newer one. */
let last: Promise<unknown> = Promise.resolve();
function inTurn(ask: () => Promise<Marks>): Promise<void> {
  const turn = last.then(async () => void (marks.value = await ask()));
  last = turn.catch(() => {});
  return turn;
}

/** @throws Problem */
export const loadMarks = (): Promise<void> => inTurn(() => get("/api/runs/marks"));

interface Change {
  starred?: boolean;
  add_tags?: string[];
  remove_tags?: string[];
  note?: string;
}

/** @throws Problem */
export const mark = (ids: readonly string[], change: Change): Promise<void> =>
  inTurn(() => post("/api/runs/marks", { ids: [...ids], ...change }));

/** Keeps the query of a list under a name; null removes it. @throws Problem */
export const keepView = (name: string, query: string | null): Promise<void> =>
  inTurn(() => post("/api/runs/views", { name, query }));

/** The problem of the last star. */
export const starProblem = signal<string | null>(null);

/** Sets or removes the star of a run, and shows a problem in `starProblem`. */
export const star = (runId: string): Promise<void> =>
  mark([runId], { starred: !markOf(runId).starred }).then(
    () => void (starProblem.value = null),
    (error) => void (starProblem.value = problemText(error)),
  );

/** Stars, tags and notes of runs, and named views of their list, as the server keeps them. */
import { get, post, problemText, type Reply } from "../api.ts";
import { signal } from "../preact.ts";

type Marks = Reply<"/api/runs/marks">;
export type Mark = Marks["runs"][string];

const NONE: Mark = { starred: false, tags: [], note: "" };

export const marks = signal<Pick<Marks, "runs" | "views">>({ runs: {}, views: {} });

export const markOf = (runId: string): Mark => marks.value.runs[runId] ?? NONE;

/** @throws Problem */
export const loadMarks = async (): Promise<void> => void (marks.value = await get("/api/runs/marks"));

interface Change {
  starred?: boolean;
  add_tags?: string[];
  remove_tags?: string[];
  note?: string;
}

/** @throws Problem */
export const mark = async (ids: readonly string[], change: Change): Promise<void> =>
  void (marks.value = await post("/api/runs/marks", { ids: [...ids], ...change }));

/** Keeps the query of a list under a name; null removes it. @throws Problem */
export const keepView = async (name: string, query: string | null): Promise<void> =>
  void (marks.value = await post("/api/runs/views", { name, query }));

/** The problem of the last star. */
export const starProblem = signal<string | null>(null);

/** Sets or removes the star of a run, and shows a problem in `starProblem`. */
export const star = (runId: string): Promise<void> =>
  mark([runId], { starred: !markOf(runId).starred }).then(
    () => void (starProblem.value = null),
    (error) => void (starProblem.value = problemText(error)),
  );

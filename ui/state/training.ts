/** A training plan in the making, what the server says of it, and the projects that were exported. */
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { get, headers, post } from "../api.ts";

export interface Tap {
  id: string;
  from: string;
  /** Whether the whole array of a run is one record. */
  record?: "run";
}

/** What a person has chosen; null leaves it to the server. */
export interface PlanDraft {
  /** Null for all that can be. */
  selected: string[] | null;
  losses: string[];
  objective: string;
  framework: string;
  /** Null for what the server suggests. */
  taps: Tap[] | null;
  total: number;
  shares: { train: number; validation: number; test: number };
  seedMode: string;
  matrixMode: string;
}

export const NEW_PLAN: PlanDraft = {
  selected: null,
  losses: [],
  objective: "",
  framework: "torch",
  taps: null,
  total: 1000,
  shares: { train: 80, validation: 10, test: 10 },
  seedMode: "increment_run_seed",
  matrixMode: "inherit",
};

/** The plan as the server takes it. */
function planDocument(draft: PlanDraft): JsonObject {
  return {
    selected_steps: draft.selected ?? [],
    loss_steps: draft.losses,
    objective: draft.objective.trim(),
    framework: draft.framework,
    dataset_capture: {
      split_plan: { total_samples: draft.total, percentages: { ...draft.shares } },
      ...(draft.taps === null ? {} : { taps: draft.taps.map((tap) => ({ ...tap })) }),
      ...(draft.seedMode === NEW_PLAN.seedMode ? {} : { seed_mode: draft.seedMode }),
      ...(draft.matrixMode === NEW_PLAN.matrixMode ? {} : { matrix_mode: draft.matrixMode }),
    },
  };
}

export interface Boundary {
  step_id: string;
  op: string;
  name: string;
  selectable: boolean;
  reason: string | null;
  built_in_fine_tuning: boolean;
  portable_replacement: boolean;
  differentiability: { gradient?: string; framework?: string; exportable?: boolean };
  slot: JsonObject | null;
  partners: string[];
}

export interface Route {
  from_step: string;
  loss_step: string;
  open: boolean;
  support: { step_id: string; op: string; passes: boolean; reason: string | null }[];
  blocked_by: string[];
}

export interface Inspection {
  recipe: string;
  scenario_sha256: string;
  training_plan_sha256: string;
  status: string;
  recommendations: { id: string; reason: string }[];
  boundaries: Boundary[];
  selected_steps: string[];
  evaluation_sinks: { step_id: string; op: string; name: string; reached_from: string[] }[];
  routes: Route[];
  suggested_taps: (Tap & { purpose: string })[];
  training_plan: { dataset_capture: { taps: Tap[] } };
}

export const inspect = (recipe: JsonObject, draft: PlanDraft, signal?: AbortSignal) =>
  post<Inspection & JsonObject>(
    "/api/recipe/differentiable-inspect",
    { recipe, training_plan: planDocument(draft) },
    { signal },
  );

export interface CaptureJob {
  split: string;
  state: "missing" | "captured" | "outdated";
  requested_samples: number;
  captured_samples: number;
  expected_taps: string[];
}

export interface Project {
  path: string;
  id: string;
  recipe: string;
  identities: { scenario_sha256: string; training_plan_sha256: string };
  training: { status: string; framework: string; objective: string };
  capture_jobs: CaptureJob[];
  components: { id: string; path: string; present: boolean }[];
  files: { path: string; state: string }[];
  others: string[];
}

/** @returns where the project lies */
export async function exportProject(
  recipe: JsonObject,
  draft: PlanDraft,
  options: { out: string; force: boolean },
): Promise<string> {
  const made = await post<{ out: string } & JsonObject>("/api/recipe/differentiable-export", {
    recipe,
    training_plan: planDocument(draft),
    force: options.force,
    ...(options.out.trim() === "" ? {} : { out: options.out.trim() }),
  });
  return made.out;
}

export const listProjects = async (signal?: AbortSignal) =>
  (await get<{ projects: Project[] }>("/api/workbench/exported-projects", signal)).projects;

/**
 * Watches a project until it is stopped; a connection that ends comes back after a while.
 *
 * @returns stops it
 */
export function watchProject(path: string, onView: (project: Project) => void): () => void {
  const stop = new AbortController();
  const AGAIN_MS = 2000;
  const listen = async () => {
    try {
      const response = await fetch(`/api/workbench/exported-project-watch?path=${encodeURIComponent(path)}`, {
        headers: headers({ accept: "text/event-stream" }),
        signal: stop.signal,
      });
      if (!response.ok || response.body === null) return;
      let rest = "";
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
        const parts = (rest + value).split("\n\n");
        rest = parts.pop()!;
        for (const part of parts) {
          const data = part.split("\n").find((line) => line.startsWith("data: "))?.slice(6);
          if (data !== undefined) onView(parseJson(data) as unknown as Project);
        }
      }
    } catch {
      // The page was left, or the server went; the latter is tried again.
    }
    if (!stop.signal.aborted) setTimeout(listen, AGAIN_MS);
  };
  listen();
  return () => stop.abort();
}

const KEY = "svc.training_plan ";

/** Keeps a draft for as long as the tab lives. */
export function keepDraft(source: string, draft: PlanDraft): void {
  try {
    sessionStorage.setItem(KEY + source, canonicalJson(draft as unknown as JsonObject));
  } catch {
    // A full or forbidden storage costs the draft at a reload, nothing else.
  }
}

export function keptDraft(source: string): PlanDraft {
  const text = sessionStorage.getItem(KEY + source);
  const value = text === null ? null : parseJson(text);
  return isObject(value) ? { ...NEW_PLAN, ...value as unknown as PlanDraft } : NEW_PLAN;
}

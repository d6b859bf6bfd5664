/** A draft of a training plan, its inspection by the server, and the exported projects. */
import { parseJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { ask, post, Problem, type Reply, type ReplyOf, send } from "../api.ts";
import { contracts } from "./contracts.ts";
import { stepsOf } from "./copies.ts";
import { eventsOf } from "./stream.ts";

export type Tap = {
  id: string;
  from: string;
  /** Whether the whole array of a run is one record. */
  record?: "run";
};

/** The choices of a person; null leaves a choice to the server. */
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

export type Inspection = ReplyOf<"post", "/api/recipe/differentiable-inspect">;
export type Boundary = Inspection["boundaries"][number];
export type Project = Reply<"/api/workbench/exported-projects">["projects"][number];

export const inspect = (recipe: JsonObject, draft: PlanDraft, signal?: AbortSignal): Promise<Inspection> =>
  ask("/api/recipe/differentiable-inspect", { recipe, training_plan: planDocument(draft) }, { signal });

/** @returns the path of the project */
export async function exportProject(
  recipe: JsonObject,
  draft: PlanDraft,
  { out, force }: { out: string; force: boolean },
): Promise<string> {
  const made = await post("/api/recipe/differentiable-export", {
    recipe,
    training_plan: planDocument(draft),
    force,
    ...(out.trim() === "" ? {} : { out: out.trim() }),
  });
  return made.out;
}

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
      const request = { query: { path }, headers: { accept: "text/event-stream" }, signal: stop.signal };
      const { body } = await send("/api/workbench/exported-project-watch", request);
      for await (const { data } of eventsOf(body!)) onView(parseJson(data) as Project);
    } catch (error) {
      // The server refused; an interrupted connection is opened again.
      if (error instanceof Problem) return;
    }
    if (!stop.signal.aborted) setTimeout(listen, AGAIN_MS);
  };
  listen();
  return () => stop.abort();
}

/** An artifact of the store that a project's networks became. */
export type Packaged = ReplyOf<"post", "/api/workbench/exported-project-package">;

/** Seals the networks of a project and imports them. */
export const packageProject = (path: string): Promise<Packaged> =>
  post("/api/workbench/exported-project-package", { path });

/** A recipe whose steps with a fitting component run the artifact; null where no step has one. */
export function bound(recipe: JsonObject, { artifact_package_sha256, operations }: Packaged): JsonObject | null {
  const steps = stepsOf(recipe);
  if (!steps.some(({ op }) => operations.includes(op))) return null;
  return {
    ...recipe,
    steps: steps.map((step) => {
      if (!operations.includes(step.op)) return step;
      const { artifact_manifest_path: _, ...binding } =
        contracts.value.get(step.op)!.trained_artifact_abi!.binding_params;
      return { ...step, params: { ...step.params, ...binding, artifact_package_sha256, artifact_manifest_path: "" } };
    }),
  };
}

const KEY = "svc.training_plan ";

/** Keeps a draft for as long as the tab lives. */
export function keepDraft(source: string, draft: PlanDraft): void {
  try {
    sessionStorage.setItem(KEY + source, JSON.stringify(draft));
  } catch {
    // A full or forbidden storage costs the draft at a reload, nothing else.
  }
}

export function keptDraft(source: string): PlanDraft {
  const text = sessionStorage.getItem(KEY + source);
  return text === null ? NEW_PLAN : { ...NEW_PLAN, ...JSON.parse(text) as PlanDraft };
}

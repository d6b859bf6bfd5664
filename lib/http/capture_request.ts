/** A capture as a request describes it, and as its job performs it. */
import { relative, sep } from "node:path";
import type { Split } from "../capture/config.ts";
import { SvcError } from "../contract/error.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import type { Session } from "../api/session.ts";
import { type RecipeSource, sourceOf } from "./recipe_file.ts";
import { CAPTURES_FOLDER, newPlace, projectFolder } from "./training_paths.ts";

/** The body of a request. */
export type CaptureRequest = RecipeSource & {
  project_path?: string;
  split?: Split;
  training_plan?: JsonObject;
  samples?: number;
  max_bytes?: number;
  out?: string;
  force?: boolean;
};

/** The request of a job. */
export type AdmittedCapture = {
  /** Null for a project. */
  recipe: Value;
  /** Folder of the project relative to the state directory, or null. */
  project: string | null;
  training_plan: JsonObject | null;
  split: Split;
  samples: number;
  /** Largest size of the arrays of the split in bytes, or null. */
  max_bytes: number | null;
  /** Relative to the state directory. */
  out: string;
  force: boolean;
  name: string;
};

/** Checks a request. @throws SvcError with every problem of the recipe, the plan and the configuration */
export async function admitCapture(session: Session, request: CaptureRequest): Promise<AdmittedCapture> {
  const { training, workspace } = session;
  const { recipe, path, project_path, training_plan, split, samples, max_bytes = null, out, force = false } = request;
  if ([recipe, path, project_path].filter((item) => item !== undefined).length !== 1) {
    throw new SvcError(
      "body_field_missing",
      "Cannot choose what to capture: send one of recipe, path and project_path",
    );
  }
  if (project_path === undefined) {
    const source = await sourceOf(session, request);
    const { config, name, place } = await training.prepareCapture(source, { plan: training_plan, split, samples });
    return {
      recipe: source.value,
      project: null,
      training_plan: training_plan ?? null,
      split: config.split,
      samples: config.samples,
      max_bytes,
      out: out === undefined ? place : newPlace(workspace, CAPTURES_FOLDER, out).shown,
      force,
      name,
    };
  }
  const foreign = (["training_plan", "out"] as const).find((key) => request[key] !== undefined);
  if (split === undefined) {
    throw new SvcError("body_field_missing", "Cannot choose the split of the project", { hint: "Send split" });
  }
  if (foreign !== undefined) {
    throw new SvcError("body_unknown_field", `Cannot use ${foreign} with a project: its capture recipes declare it`);
  }
  const folder = projectFolder(workspace, project_path);
  const prepared = await training.prepareProject(folder, { split, samples });
  const inside = (place: string) => relative(workspace.stateDir, place).split(sep).join("/");
  return {
    recipe: null,
    project: inside(folder),
    training_plan: null,
    split,
    samples: prepared.config.samples,
    max_bytes,
    out: inside(prepared.out),
    force,
    name: prepared.name,
  };
}

/** A capture as a request describes it, and as its job performs it. */
import { relative, sep } from "node:path";
import type { Split } from "../capture/config.ts";
import { SvcError } from "../contract/error.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import type { Session } from "../api/session.ts";
import { type RecipeSource, sourceOf } from "./recipe_file.ts";
import { CAPTURES_FOLDER, newPlace } from "../capture/places.ts";

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

/** The request of a job: fields of `training.capture`, or with `project` of `training.captureProject`. */
export type AdmittedCapture = JsonObject & {
  recipe?: Value;
  project?: string;
  training_plan?: JsonObject;
  out: string;
};

/** Checks a request. @throws SvcError with every problem of the recipe, the plan and the configuration */
export async function admitCapture(
  session: Session,
  { recipe, path, project_path, ...request }: CaptureRequest,
): Promise<{ name: string; request: AdmittedCapture }> {
  const { training, workspace } = session, { out, ...how } = request;
  const { training_plan: plan, split, samples } = how;
  if ([recipe, path, project_path].filter((item) => item !== undefined).length !== 1) {
    throw new SvcError(
      "body_field_missing",
      "Cannot choose what to capture: send one of recipe, path and project_path",
    );
  }
  if (project_path === undefined) {
    const source = await sourceOf(session, { recipe, path });
    const { config, name, place } = await training.prepareCapture(source, { plan, split, samples });
    const shown = out === undefined ? place : newPlace(workspace, CAPTURES_FOLDER, out).shown;
    const { split: own, samples: count } = config;
    return { name, request: { ...how, recipe: source.value, split: own, samples: count, out: shown } };
  }
  const foreign = (["training_plan", "out"] as const).find((key) => request[key] !== undefined);
  if (split === undefined) {
    throw new SvcError("body_field_missing", "Cannot choose the split of the project", { hint: "Send split" });
  }
  if (foreign !== undefined) {
    throw new SvcError("body_unknown_field", `Cannot use ${foreign} with a project: its capture recipes declare it`);
  }
  const prepared = await training.prepareProject(project_path, { split, samples, confined: true });
  const { name, config } = prepared, shown = relative(workspace.stateDir, prepared.out).split(sep).join("/");
  return { name, request: { ...how, project: project_path, samples: config.samples, out: shown } };
}

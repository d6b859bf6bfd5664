/** A capture as a request asks for it, and as a job performs it. */
import { relative, sep } from "node:path";
import { captureConfigFor } from "../capture/derive.ts";
import type { Split } from "../capture/config.ts";
import { prepareCapture } from "../capture/prepare.ts";
import { projectCapture } from "../capture/project.ts";
import { SvcError } from "../contract/error.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { readTrainingPlan, trainingPlanSha256 } from "../training/training_plan.ts";
import { readRecipeAt } from "./recipe_file.ts";
import type { Library } from "./service.ts";
import { CAPTURES_FOLDER, newPlace, projectFolder } from "./training_paths.ts";

/** The body of a request. */
export interface CaptureRequest {
  recipe?: Value;
  path?: string;
  project_path?: string;
  split?: string;
  training_plan?: Value;
  samples?: number;
  out?: string;
  force?: boolean;
}

/** What a job is made of; plain data. */
export interface AdmittedCapture extends JsonObject {
  recipe: Value;
  config: Value;
  training_plan_sha256: string | null;
  split: string;
  samples: number;
  /** Relative to the state directory. */
  out: string;
  force: boolean;
  name: string;
}

/** Checks a request. @throws SvcError for all that is wrong with it */
export async function admitCapture(library: Library, request: CaptureRequest): Promise<AdmittedCapture> {
  const { workspace, readiness } = library;
  const { recipe, path, project_path, training_plan, samples, out, force = false } = request;
  const named = [recipe, path, project_path].filter((item) => item !== undefined);
  if (named.length !== 1) {
    throw new SvcError(
      "body_field_missing",
      "Cannot tell what to capture: send recipe, path or project_path, one of them",
    );
  }
  const split = request.split as Split | undefined;
  const registry = await library.registry();
  if (project_path !== undefined) {
    const foreign = (["training_plan", "out"] as const).find((key) => request[key] !== undefined);
    if (split === undefined || foreign !== undefined) {
      throw split === undefined
        ? new SvcError("body_field_missing", "Cannot tell which split of the project to capture", {
          hint: "Send split",
        })
        : new SvcError("body_unknown_field", `Cannot use ${foreign} with a project: its capture recipes say it`);
    }
    const { raw, out: place } = projectCapture(projectFolder(workspace, project_path), split);
    const { config, name } = await prepareCapture({ raw, registry, readiness, split, samples });
    return {
      recipe: raw,
      config: null,
      training_plan_sha256: null,
      split,
      samples: config.samples,
      out: relative(workspace.stateDir, place).split(sep).join("/"),
      force,
      name,
    };
  }
  const { value: raw, locate } = path === undefined
    ? { value: recipe!, locate: undefined }
    : await readRecipeAt(workspace, path);
  const plan = training_plan === undefined ? undefined : readTrainingPlan(training_plan);
  const config = captureConfigFor(raw, { registry, locate, plan });
  const prepared = await prepareCapture({ raw, locate, config, registry, readiness, split, samples });
  return {
    recipe: raw,
    config,
    training_plan_sha256: plan === undefined ? null : trainingPlanSha256(plan),
    split: prepared.config.split,
    samples: prepared.config.samples,
    out: out === undefined ? prepared.place : newPlace(workspace, CAPTURES_FOLDER, out).shown,
    force,
    name: prepared.name,
  };
}

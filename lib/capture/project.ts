/** Training projects on the disk: exported files, captured splits, trained networks. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { checkValue } from "../contract/schema.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { readRecipeText } from "../recipe/read.ts";
import { type Split, SPLITS } from "./config.ts";
import { unsafeName } from "../training/member_names.ts";
import { readCaptureSchema } from "./folder.ts";

export const PROJECT_FILE = "project_manifest.yaml";
const PROJECT_KIND = "svc.training_interface_bundle";

const text: JsonObject = { type: "string", minLength: 1 };
const digest: JsonObject = { type: "string", pattern: "^[0-9a-f]{64}$" };
const object = (properties: JsonObject): JsonObject => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});
const list = (items: JsonObject): JsonObject => ({ type: "array", minItems: 1, items });

/** The fields read from a manifest; projects are not trusted. */
const MANIFEST_SCHEMA: JsonObject = object({
  kind: { type: "string", const: PROJECT_KIND },
  version: { type: "integer", const: 1 },
  id: text,
  recipe: text,
  identities: object({ scenario_sha256: digest, training_plan_sha256: digest }),
  capture_jobs: list(object({
    split: { type: "string", enum: [...SPLITS] },
    recipe_path: text,
    output_dir: text,
    requested_samples: { type: "integer" },
    expected_taps: list(text),
    recipe_file_sha256: digest,
  })),
  trained_artifacts: list(object({ components: list(object({ id: text, path: text })) })),
  training: { type: "object" },
  evaluation: { type: "object" },
  files: { type: "object", additionalProperties: digest },
});

/** The manifest of a project, or null where a folder is none. */
export function readProjectManifest(folder: string): JsonObject | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(join(folder, PROJECT_FILE));
  } catch {
    return null;
  }
  try {
    const { value } = readRecipeText(text, { file: PROJECT_FILE });
    return isObject(value) && checkValue(MANIFEST_SCHEMA, value, [], { code: "training_project_changed" }).length === 0
      ? value
      : null;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return null;
  }
}

/** A capture that a project asks for. */
export interface CaptureJob extends JsonObject {
  split: Split;
  recipe_path: string;
  output_dir: string;
  requested_samples: number;
  expected_taps: string[];
  recipe_file_sha256: string;
}

/** @throws SvcError `training_project_not_found` */
function manifestOf(folder: string, shown: string): JsonObject {
  const manifest = readProjectManifest(folder);
  if (manifest !== null) return manifest;
  throw new SvcError("training_project_not_found", `Cannot find a training project in ${shown}`, {
    hint: `Its ${PROJECT_FILE} is written by svc differentiable export`,
  });
}

/**
 * The capture recipe of a split of a project, and the place of the split.
 * @throws SvcError `training_project_not_found`; `training_project_changed` when the recipe is not the one that was exported
 */
export function projectCapture(folder: string, split: Split): { raw: Value; out: string; job: CaptureJob } {
  const jobs = manifestOf(folder, folder).capture_jobs as CaptureJob[];
  const job = jobs.find((item) => item.split === split);
  // An export writes these names and no others; what leads elsewhere was not exported.
  if (job?.recipe_path !== `capture_${split}_recipe.yaml` || job.output_dir !== `data/${split}`) {
    throw changed(`Cannot capture ${split}: the manifest of the project names no such capture`);
  }
  for (const place of [job.recipe_path, "data", job.output_dir]) {
    if (!lstatSync(join(folder, place), { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    throw changed(`Cannot capture ${split}: ${place} is a symbolic link`);
  }
  const path = join(folder, job.recipe_path);
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    throw changed(`Cannot read ${job.recipe_path} of the project`, error);
  }
  if (sha256Hex(text) !== job.recipe_file_sha256) {
    throw changed(`Cannot capture ${split}: ${job.recipe_path} is not the file that was exported`);
  }
  return { raw: readRecipeText(text, { file: job.recipe_path }).value, out: join(folder, job.output_dir), job };
}

const changed = (message: string, cause?: unknown) =>
  new SvcError("training_project_changed", message, {
    hint: "Export the project again with --force, or capture the recipe by its own path",
    cause,
  });

/** The present state of a project. */
export interface ProjectView extends JsonObject {
  schema_version: 1;
  path: string;
  id: string;
  recipe: string;
  identities: { scenario_sha256: string; training_plan_sha256: string };
  training: JsonObject;
  evaluation: JsonObject;
  /** Planned and captured records. */
  capture_jobs: (CaptureJob & { state: "missing" | "captured" | "outdated"; captured_samples: number })[];
  /** Components and whether their files are there, at the top or in the package that `train.py` writes. */
  components: { id: string; path: string; present: boolean }[];
  /** Losses of the epochs so far, of the last ones where there are many. */
  curve: { epoch: number; train_loss: number; validation_loss: number }[];
  /** Whether the trainer left a state to resume from. */
  checkpoint: boolean;
  /** The folder that is packaged: networks put there, or sealed by `svc artifact package`. */
  package: { path: string; state: "missing" | "exported" | "sealed" };
  /** Exported files. */
  files: { path: string; state: "unchanged" | "changed" | "missing" }[];
  /** Other files and folders at the top. */
  others: string[];
}

/**
 * Looks at a project.
 * @param shown the path as the view gives it
 * @throws SvcError `training_project_not_found`
 */
export function viewTrainingProject(folder: string, shown = folder): ProjectView {
  const manifest = manifestOf(folder, shown);
  const identities = manifest.identities as ProjectView["identities"];
  const jobs = (manifest.capture_jobs as CaptureJob[]).map((job): ProjectView["capture_jobs"][number] => {
    const schema = readCaptureSchema(join(folder, "data", job.split));
    if (schema === null) return { ...job, state: "missing", captured_samples: 0 };
    const fits = schema.scenario_sha256 === identities.scenario_sha256 &&
      schema.training_plan_sha256 === identities.training_plan_sha256;
    return {
      ...job,
      state: fits ? "captured" : "outdated",
      captured_samples: Number(schema.captured_samples),
      number_of_shards: schema.number_of_shards,
    };
  });
  const exported = manifest.files as { [path: string]: string };
  const files = Object.entries(exported).map(([path, sha256]) => ({ path, state: stateOf(folder, path, sha256) }));
  const [{ components }] = manifest.trained_artifacts as { components: { id: string; path: string }[] }[];
  const known = new Set([...Object.keys(exported).map((path) => path.split("/")[0]), PROJECT_FILE, "data"]);
  return {
    schema_version: 1,
    path: shown,
    id: String(manifest.id),
    recipe: String(manifest.recipe),
    identities,
    training: manifest.training as JsonObject,
    evaluation: manifest.evaluation as JsonObject,
    capture_jobs: jobs,
    components: components.map((item) => ({
      ...item,
      present: unsafeName(item.path) === null &&
        ["", "package"].some((place) => existsSync(join(folder, place, item.path))),
    })),
    curve: curveOf(folder),
    checkpoint: existsSync(join(folder, "checkpoint.pt")),
    package: packageOf(folder, components),
    files,
    others: readdirSync(folder).filter((name) => !known.has(name)).sort(),
  };
}

/** Larger files are no curve of `train.py`. */
const MAX_CURVE_BYTES = 1 << 20, MAX_EPOCHS = 1000;

/** Rows of `curve.csv` with all three numbers; a file that is being written gives what is whole. */
function curveOf(folder: string): ProjectView["curve"] {
  const path = join(folder, "curve.csv"), info = lstatSync(path, { throwIfNoEntry: false });
  if (!info?.isFile() || info.size > MAX_CURVE_BYTES) return [];
  const [head, ...lines] = Deno.readTextFileSync(path).trim().split(/\r?\n/).map((line) => line.split(","));
  const at = ["epoch", "train_loss", "validation_loss"].map((name) => head.indexOf(name));
  return lines.flatMap((cells) => {
    const [epoch, train_loss, validation_loss] = at.map((index) => Number(cells[index] || NaN));
    return [epoch, train_loss, validation_loss].every(Number.isFinite) ? [{ epoch, train_loss, validation_loss }] : [];
  }).slice(-MAX_EPOCHS);
}

function packageOf(folder: string, components: readonly { path: string }[]): ProjectView["package"] {
  const inside = join(folder, "package"), isOwn = lstatSync(inside, { throwIfNoEntry: false })?.isDirectory() === true;
  const [place, path] = isOwn ? [inside, "package"] : [folder, "."];
  const whole = components.every((item) => unsafeName(item.path) === null && existsSync(join(place, item.path)));
  const state = !whole ? "missing" : existsSync(join(place, "trained_artifact.yaml")) ? "sealed" : "exported";
  return { path, state };
}

function stateOf(folder: string, path: string, sha256: string): "unchanged" | "changed" | "missing" {
  try {
    if (!lstatSync(join(folder, path)).isFile() || unsafeName(path) !== null) return "changed";
    return sha256Hex(Deno.readFileSync(join(folder, path))) === sha256 ? "unchanged" : "changed";
  } catch {
    return "missing";
  }
}

/** Views of the projects below `training_projects/` of a state directory, by name. */
export function listTrainingProjects(stateDir: string): ProjectView[] {
  const root = join(stateDir, "training_projects");
  if (!existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readProjectManifest(join(root, entry.name)) !== null)
    .map(({ name }) => name).sort()
    .map((name) => viewTrainingProject(join(root, name), `training_projects/${name}`));
}

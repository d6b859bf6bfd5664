/** Training projects on the disk: exported files, captured splits, trained networks. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { digest, documentCheck, mapping } from "../contract/document.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { readRecipeText } from "../recipe/read.ts";
import { type Split, SPLITS } from "./config.ts";
import { unsafeName } from "../training/member_names.ts";
import { readCaptureSchema } from "./folder.ts";

export const PROJECT_FILE = "project_manifest.yaml";
const PROJECT_KIND = "svc.training_interface_bundle";

const text = z.string().min(1);

const captureJob = z.object({
  split: z.enum(SPLITS),
  recipe_path: text,
  output_dir: text,
  requested_samples: z.int(),
  expected_taps: z.array(text).min(1),
  recipe_file_sha256: digest,
});
/** A capture that a project asks for. */
export type CaptureJob = z.infer<typeof captureJob>;

/** The fields read from a manifest; projects are not trusted. */
const projectManifest = z.object({
  kind: z.literal(PROJECT_KIND),
  version: z.literal(1),
  id: text,
  recipe: text,
  identities: z.object({ scenario_sha256: digest, training_plan_sha256: digest }),
  capture_jobs: z.array(captureJob).min(1),
  trained_artifacts: z.array(z.object({ components: z.array(z.object({ id: text, path: text })).min(1) })).min(1),
  training: mapping,
  evaluation: mapping,
  files: z.record(z.string(), digest),
});
type ProjectManifest = z.infer<typeof projectManifest>;
const checkForm = documentCheck(projectManifest, "training_project_changed");

/** The manifest of a project, or null where a folder is none. */
export function readProjectManifest(folder: string): ProjectManifest | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(join(folder, PROJECT_FILE));
  } catch {
    return null;
  }
  try {
    const { value } = readRecipeText(text, { file: PROJECT_FILE });
    return checkForm(value).length === 0 ? value as unknown as ProjectManifest : null;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return null;
  }
}

/** @throws SvcError `training_project_not_found` */
function manifestOf(folder: string, shown: string): ProjectManifest {
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
  const job = manifestOf(folder, folder).capture_jobs.find((item) => item.split === split);
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
  identities: ProjectManifest["identities"];
  training: JsonObject;
  evaluation: JsonObject;
  /** Planned and captured records. */
  capture_jobs: (CaptureJob & {
    state: "missing" | "captured" | "outdated";
    captured_samples: number;
    number_of_shards?: Value;
  })[];
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
  const { identities, files: exported } = manifest;
  const jobs = manifest.capture_jobs.map((job): ProjectView["capture_jobs"][number] => {
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
  const files = Object.entries(exported).map(([path, sha256]) => ({ path, state: stateOf(folder, path, sha256) }));
  const [{ components }] = manifest.trained_artifacts;
  const known = new Set([...Object.keys(exported).map((path) => path.split("/")[0]), PROJECT_FILE, "data"]);
  return {
    schema_version: 1,
    path: shown,
    id: manifest.id,
    recipe: manifest.recipe,
    identities,
    training: manifest.training,
    evaluation: manifest.evaluation,
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

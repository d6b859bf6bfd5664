/**
 * The data of an overlay: the images, the candidate and the reference of a metrics step, found by the recipe of the bundle.
 * The candidate is drawn on the input images of its model, the reference on its own.
 */
import { invalid } from "../artifact/array_block.ts";
import { readFile } from "../artifact/inside.ts";
import { decodeArtifact, type DecodedArtifact } from "../artifact/codec.ts";
import { IMAGES } from "../contract/kinds.ts";
import { SvcError } from "../contract/error.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { findArtifact } from "../run/artifact_file.ts";
import { RECIPE_FILE } from "../run/documents.ts";
import { readDocument } from "../run/read.ts";
import { showRun } from "../run/store.ts";
import type { Workspace } from "../run/workspace.ts";

/** Files are read whole. */
const MAX_BYTES = 1 << 30;

export type Side = "candidate" | "reference";

export interface Layer {
  /** Step and port, as recipes write them. */
  name: string;
  artifact: DecodedArtifact;
  images: DecodedArtifact;
}

/** The sides of a comparison; without a metrics step there is a candidate alone. */
export type Layers = Partial<Record<Side, Layer>>;

interface Step {
  id: string;
  op: string;
  inputs: Record<string, string>;
  /** Port to kind and path of the written artifacts. */
  outputs: Record<string, { kind: string; path: string }>;
}

/**
 * Finds both sides of a run.
 * @param wanted run id, or a unique beginning of it
 * @param kind of the artifacts that are drawn
 * @param options.metrics operation that compares two of them
 * @param options.step id of the step that compares; the first one when left out
 * @param options.sides which of them are read
 * @throws SvcError `run_not_found`, `artifact_not_found`, `artifact_invalid`
 */
export function findLayers(
  workspace: Workspace,
  wanted: string,
  kind: string,
  { metrics, step, sides }: { metrics: string; step?: string; sides: readonly Side[] },
): Layers {
  const { run_id, directory, summary } = showRun(workspace, wanted);
  const steps = stepsOf(readDocument(directory, RECIPE_FILE), summary);
  const names = namesOf(steps, kind, metrics, step);
  const read = (name: string) => {
    const [id, port] = name.split("."), row = steps.find((other) => other.id === id)?.outputs[port];
    if (row === undefined) throw missing(`Cannot find ${name} in the run ${run_id}`, "Did the step complete?");
    const file = findArtifact(workspace, `runs/${run_id}/${row.path}`);
    if (file.size > MAX_BYTES) throw invalid(`Cannot decode ${file.path}: it is too large`);
    return readable(() => decodeArtifact(row.kind, readFile(file.full, MAX_BYTES)));
  };
  const layers: Layers = {};
  for (const side of sides) {
    const name = names[side];
    if (name === undefined) continue;
    const images = imagesOf(steps, name) ?? imagesOf(steps, names.candidate ?? name);
    if (images === undefined) throw missing(`Cannot find the images of ${name} in the run ${run_id}`, null);
    layers[side] = { name, artifact: read(name), images: read(images) };
  }
  if (Object.keys(layers).length === 0) {
    throw missing(`Cannot find the ${sides.join(" or the ")} of ${kind} in the run ${run_id}`, "Ask for the candidate");
  }
  return layers;
}

function stepsOf(recipe: JsonObject, summary: JsonObject): Step[] {
  const rows = new Map(objects(summary.steps).map((row) => [row.id, row]));
  return objects(recipe.steps).map((step) => {
    const outputs = Object.entries(
      isObject(rows.get(step.id)?.outputs) ? rows.get(step.id)!.outputs as JsonObject : {},
    );
    const written = outputs.flatMap(([port, row]) =>
      isObject(row) && typeof row.path === "string" ? [[port, { kind: String(row.kind), path: row.path }]] : []
    );
    return {
      id: String(step.id),
      op: String(step.op),
      inputs: (isObject(step.inputs) ? step.inputs : {}) as Record<string, string>,
      outputs: Object.fromEntries(written),
    };
  });
}

/** Names of the outputs that are compared. */
function namesOf(
  steps: readonly Step[],
  kind: string,
  metrics: string,
  wanted?: string,
): Partial<Record<Side, string>> {
  const comparing = steps.filter(({ op }) => op === metrics);
  const chosen = wanted === undefined ? comparing[0] : comparing.find(({ id }) => id === wanted);
  if (chosen !== undefined) return { candidate: chosen.inputs.candidate, reference: chosen.inputs.reference };
  if (wanted !== undefined) {
    throw missing(
      `Cannot find a step ${wanted} that runs ${metrics}`,
      comparing.length === 0 ? null : `There is ${comparing.map(({ id }) => id).join(", ")}`,
    );
  }
  // Without a comparison the output of the first model is the candidate.
  for (const { id, outputs } of steps.filter(({ inputs }) => Object.keys(inputs).length > 0)) {
    const port = Object.keys(outputs).find((name) => outputs[name].kind === kind);
    if (port !== undefined) return { candidate: `${id}.${port}` };
  }
  throw missing(`Cannot find an output of the kind ${kind} that a model made`, null);
}

/** Name of the images that a step gave beside the given output, or took. */
function imagesOf(steps: readonly Step[], name: string): string | undefined {
  const step = steps.find(({ id }) => id === name.split(".")[0]);
  if (step === undefined) return undefined;
  const own = Object.entries(step.outputs).find(([, { kind }]) => kind === IMAGES);
  if (own !== undefined) return `${step.id}.${own[0]}`;
  return Object.values(step.inputs).find((input) => {
    const [id, port] = input.split(".");
    return steps.find((other) => other.id === id)?.outputs[port]?.kind === IMAGES;
  });
}

/** Gives errors of reading an artifact one code. @throws SvcError `artifact_invalid` */
export function readable<T>(look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw invalid(error.message, error.hint);
  }
}

const objects = (value: unknown): JsonObject[] => Array.isArray(value) ? value.filter(isObject) : [];

function missing(message: string, hint: string | null): SvcError {
  return new SvcError("artifact_not_found", message, { hint });
}

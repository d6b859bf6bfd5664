/**
 * The images of a run as PNG files, source next to received, and as one strip.
 *
 * The image batches of a run are in the order of its steps. Images are paired by their item id; a batch without ids and
 * with as many images as the first one uses the ids of that.
 */
import { decodeArtifact } from "../artifact/codec.ts";
import type { Image } from "../artifact/image.ts";
import { imageSheet, pictureOf } from "../artifact/image_sheet.ts";
import { inside, makeFolder, makeUserFolder, readFile, writeFile } from "../artifact/inside.ts";
import { writePng } from "../artifact/png_encode.ts";
import { exists } from "../artifact/path_kind.ts";
import { type ImageBatch, imagesOf } from "../artifact/values.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { IMAGES } from "../contract/kinds.ts";
import type { Value } from "../contract/value.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import { type ShownRun, showRun } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** Height of an image in a strip, and maximum numbers of images. */
const HEIGHT = 128, ACROSS = 8, MOST = 32;
/** Of an artifact that is read whole. */
const MAX_IMAGE_BYTES = 2 ** 30;

interface Batch {
  /** `<step>`, or `<step>.<output>` where a step has several. */
  name: string;
  ids: string[];
  images: ImageBatch;
}

/** Files of a run's images. */
export type RunPictures = {
  run_id: string;
  /** Absolute. */
  directory: string;
  /** `<item id>.<step>.png` by item, and within an item in the order of the steps. */
  files: string[];
  strip: string;
};

/**
 * Writes every image of a run and one strip to a folder, which is created. Existing files of the same names are
 * replaced.
 * @throws SvcError `run_not_found`, `pictures_missing` for a run without images, `run_pruned`, `artifact_hash_mismatch`
 */
export function writePictures(
  workspace: Workspace,
  wanted: string,
  directory: string,
  options: ByPath = {},
): RunPictures {
  const run = openRun(workspace, wanted, options);
  const batches = batchesOf(run);
  if (batches.length === 0) {
    throw new SvcError("pictures_missing", `Cannot find images in the run ${run.run_id}`, {
      hint: `Only outputs of the kind ${IMAGES} are images; svc runs show ${run.run_id} lists the steps`,
    });
  }
  makeUserFolder(directory);
  const files: string[] = [], taken = new Set<string>();
  for (const id of itemsOf(batches)) {
    for (const batch of batches) {
      const index = batch.ids.indexOf(id);
      if (index < 0) continue;
      const stem = `${fileName(id)}.${batch.name}`;
      let name = `${stem}.png`;
      for (let copy = 2; taken.has(name); copy++) name = `${stem}-${copy}.png`;
      taken.add(name);
      writeFile(inside(directory, name), writePng(pictureOf(batch.images, index)));
      files.push(name);
    }
  }
  writeFile(inside(directory, "strip.png"), writePng(stripOf(batches), 1));
  return { run_id: run.run_id, directory, files, strip: "strip.png" };
}

/**
 * Writes the strip of a run to `pictures/<run id>.png` of the state directory.
 * @returns its path, or null for a run without received images
 */
export function writeStrip(workspace: Workspace, wanted: string): string | null {
  const run = showRun(workspace, wanted);
  const batches = batchesOf(run);
  if (batches.length < 2) return null;
  makeFolder(inside(workspace.stateDir, "pictures"));
  const path = inside(workspace.stateDir, "pictures", `${run.run_id}.png`);
  writeFile(path, writePng(stripOf(batches), 1));
  return path;
}

function batchesOf({ run_id, directory, summary }: ShownRun): Batch[] {
  const batches: Batch[] = [];
  for (const step of summary.steps) {
    const outputs = Object.entries(step.outputs);
    for (const [port, { kind, path, sha256, metadata }] of outputs) {
      if (kind !== IMAGES) continue;
      const file = inside(directory, path);
      if (!exists(file)) {
        throw new SvcError("run_pruned", `Cannot read ${path}: the artifacts of this run were removed`, {
          hint: `svc runs restore ${run_id}`,
        });
      }
      const bytes = readFile(file, MAX_IMAGE_BYTES);
      if (sha256Hex(bytes) !== sha256) {
        throw new SvcError("artifact_hash_mismatch", `Cannot use ${path}: it differs from the recorded file`, {
          hint: "svc runs verify names every file that changed",
        });
      }
      const images = imagesOf(decodeArtifact(IMAGES, bytes));
      const several = outputs.filter(([, output]) => output.kind === IMAGES).length > 1;
      const own = idsOf(metadata.image_ids, images.count);
      const shared = batches[0]?.ids.length === images.count ? batches[0].ids : undefined;
      const ids = own ?? shared ?? Array.from({ length: images.count }, (_, index) => `image_${index}`);
      batches.push({ name: several ? `${step.id}.${fileName(port)}` : step.id, ids, images });
    }
  }
  return batches;
}

const idsOf = (ids: Value | undefined, count: number): string[] | undefined =>
  Array.isArray(ids) && ids.length === count && ids.every((id) => typeof id === "string") ? ids : undefined;

const itemsOf = (batches: readonly Batch[]) => [...new Set(batches.flatMap(({ ids }) => ids))];

/** The start of a file name from an item id. */
const fileName = (id: string) => id.replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 100);

/** Items from left to right, the batches of an item from top to bottom; items that do not fit go below. */
function stripOf(batches: readonly Batch[]): Image {
  const items = itemsOf(batches).slice(0, MOST);
  const rows: (Image | null)[][] = [];
  for (let start = 0; start < items.length; start += ACROSS) {
    for (const { ids, images } of batches) {
      rows.push(
        items.slice(start, start + ACROSS).map((id) => {
          const index = ids.indexOf(id);
          return index < 0 ? null : pictureOf(images, index);
        }),
      );
    }
  }
  return imageSheet(rows, HEIGHT);
}

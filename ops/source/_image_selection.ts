/** The image files of a source.image_dataset step, from the bundled set, a pinned manifest, or the kodak folder. */
import { type FileAccess, type ParameterProblem, sha256Hex, SvcError } from "../api.ts";
import { BUNDLED_DATASETS } from "../../lib/artifact/bundled_datasets.ts";
import type { ImageManifest } from "../../lib/artifact/dataset_manifest.ts";
import { checkIds, parseIds } from "./_ids.ts";

type ManifestRules = typeof import("../../lib/artifact/dataset_manifest.ts");

export const KODAK_IDS = Array.from({ length: 24 }, (_, i) => `kodim${String(i + 1).padStart(2, "0")}`);

export interface ImageSelection {
  dataset: string;
  dataset_dir: string;
  image_ids: string;
  manifest_path: string;
  manifest_sha256: string;
  split: string;
}

/** The files of a selection, in order. */
export interface SelectedImages {
  version: string;
  files: { id: string; read(): Promise<Uint8Array>; sha256?: string }[];
}

/** Findings about combinations of parameters. */
export function checkSelection(params: ImageSelection): ParameterProblem[] {
  if (params.manifest_path !== "" || params.manifest_sha256 !== "") return checkPinned(params);
  if (params.dataset === "kodak") return checkKodak(params);
  if (Object.hasOwn(BUNDLED_DATASETS, params.dataset)) return checkBundled(params);
  return [{
    place: ["manifest_path"],
    message: `Cannot find the images of ${params.dataset} without a manifest`,
    hint: "Set manifest_path and manifest_sha256, as svc data make-manifest prints them, or use svc_sample_images",
  }];
}

function checkPinned(
  { dataset, image_ids, manifest_path, manifest_sha256 }: ImageSelection,
): ParameterProblem[] {
  if (manifest_sha256 === "" || manifest_path === "") {
    const absent = manifest_path === "" ? "manifest_path" : "manifest_sha256";
    return [{
      place: [absent],
      message: `Cannot pin a manifest without ${absent}`,
      hint: "Set its path and its SHA-256",
    }];
  }
  const ids = parseIds(image_ids);
  // The default of image_ids is the list of kodak images.
  if (dataset !== "kodak" && ids.join() === KODAK_IDS.join()) {
    const hint = 'List its own ids, or set image_ids: "" for a split or all images';
    return [{ place: ["image_ids"], message: `Cannot find the kodak images in ${dataset}`, hint }];
  }
  return checkIds(image_ids, "image_ids");
}

function checkKodak({ image_ids }: ImageSelection): ParameterProblem[] {
  if (parseIds(image_ids).length > 0) return checkIds(image_ids, "image_ids", KODAK_IDS);
  const message = "Cannot choose kodak images by split: without a manifest it has none";
  return [{ place: ["image_ids"], message, hint: "List image_ids" }];
}

function checkBundled({ dataset, image_ids, split }: ImageSelection): ParameterProblem[] {
  const { splits } = BUNDLED_DATASETS[dataset];
  if (parseIds(image_ids).length > 0) {
    return checkIds(image_ids, "image_ids", Object.values(splits).flat());
  }
  if (Object.hasOwn(splits, split)) return [];
  return [{
    code: "params_invalid",
    place: ["split"],
    message: `Cannot find the split ${JSON.stringify(split)} of ${dataset}`,
    hint: `Its splits are ${Object.keys(splits).join(", ")}`,
  }];
}

/**
 * Finds the files of a selection that {@link checkSelection} accepted.
 * @throws SvcError `boundary_hash_mismatch` for a manifest with another digest, `dataset_manifest_invalid`,
 *   `dataset_sample_unknown`, `dataset_split_unknown`
 */
export async function selectImages(params: ImageSelection, files: FileAccess): Promise<SelectedImages> {
  const { dataset, dataset_dir, manifest_path } = params;
  const ids = parseIds(params.image_ids);
  const rules = await import("../../lib/artifact/dataset_manifest.ts");
  if (manifest_path !== "") {
    const manifest = pinnedManifest(await files.read(manifest_path), params, rules);
    const read: ReadSample = (sample) => files.read(rules.samplePath(manifest_path, manifest, sample));
    return fromManifest(manifest, params, rules, read);
  }
  if (dataset === "kodak") {
    const folder = dataset_dir.replace(/\/+$/, "");
    return { version: "kodak-24", files: ids.map((id) => ({ id, read: () => files.read(`${folder}/${id}.png`) })) };
  }
  const manifest = rules.parseImageManifest(await files.bundled(dataset, "manifest.json"));
  return fromManifest(manifest, params, rules, (sample) => files.bundled(dataset, sample.path));
}

type ReadSample = (sample: ImageManifest["samples"][number]) => Promise<Uint8Array>;

function pinnedManifest(
  bytes: Uint8Array,
  { dataset, manifest_path, manifest_sha256 }: ImageSelection,
  { parseImageManifest }: ManifestRules,
): ImageManifest {
  const actual = sha256Hex(bytes);
  if (actual !== manifest_sha256) {
    throw new SvcError("boundary_hash_mismatch", `Cannot use the manifest ${manifest_path}: it is not the pinned one`, {
      hint: `Its SHA-256 is ${actual}`,
    });
  }
  const manifest = parseImageManifest(bytes);
  if (manifest.id !== dataset) {
    throw new SvcError(
      "dataset_manifest_invalid",
      `Cannot use the manifest of ${manifest.id} as the dataset ${dataset}`,
      { hint: `Set dataset: ${manifest.id}` },
    );
  }
  return manifest;
}

function fromManifest(
  manifest: ImageManifest,
  { image_ids, split }: ImageSelection,
  { selectSamples }: ManifestRules,
  read: ReadSample,
): SelectedImages {
  const samples = selectSamples(manifest, { ids: parseIds(image_ids), split });
  return {
    version: String(manifest.version),
    files: samples.map((sample) => ({ id: sample.sample_id, sha256: sample.sha256, read: () => read(sample) })),
  };
}

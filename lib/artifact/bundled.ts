/**
 * The data sets that come with the program. Their files lie beside its modules; a program that was imported by URL has
 * no such folder, and reads them from `<state_dir>/datasets/<id>/` once {@link fetchBundledDataset} has brought them.
 * Every read is checked against the digests of that table, wherever the bytes came from.
 */
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import { BUNDLED_DATASETS, type BundledDataset } from "./bundled_datasets.ts";

export { BUNDLED_DATASETS, type BundledDataset, type BundledFile } from "./bundled_datasets.ts";

const PROGRAM_ROOT = new URL("../../", import.meta.url);

/** Where the files of bundled data sets are: the program's own root, and the state directory for fetched copies. */
export interface BundledPlaces {
  stateDir: string;
  /** URL of the program's root, ending in a slash; its own unless a test says otherwise. */
  origin?: URL;
}

function find(id: string): BundledDataset {
  const dataset = Object.hasOwn(BUNDLED_DATASETS, id) ? BUNDLED_DATASETS[id] : undefined;
  if (dataset) return dataset;
  throw new SvcError("dataset_unavailable", `Cannot find a bundled data set named ${id}`, {
    hint: didYouMean(id, Object.keys(BUNDLED_DATASETS)),
  });
}

/** The folder to read a data set from. */
function folderOf(dataset: BundledDataset, { stateDir, origin = PROGRAM_ROOT }: BundledPlaces): string | URL {
  return origin.protocol === "file:" ? new URL(dataset.folder, origin) : join(stateDir, "datasets", dataset.id);
}

function fileAt(folder: string | URL, path: string): string | URL {
  return folder instanceof URL ? new URL(path, folder) : join(folder, path);
}

function unavailable(dataset: BundledDataset): SvcError {
  return new SvcError(
    "dataset_unavailable",
    `Cannot read the bundled data set ${dataset.id}: it has not been fetched`,
    {
      hint: `Run svc data fetch ${dataset.id}, or call fetchBundledDataset("${dataset.id}", { stateDir })`,
    },
  );
}

function check(dataset: BundledDataset, path: string, bytes: Uint8Array): Uint8Array {
  const actual = sha256Hex(bytes), { sha256 } = dataset.files[path];
  if (actual === sha256) return bytes;
  throw new SvcError("boundary_hash_mismatch", `Cannot use ${path} of ${dataset.id}: its bytes are not those bundled`, {
    hint: `Its SHA-256 is ${actual}, the bundled file's is ${sha256}`,
  });
}

/**
 * Reads one file of a bundled data set, hash checked.
 *
 * @param id data set
 * @param path file as the data set lists it, `manifest.json` for its manifest
 * @throws SvcError `dataset_unavailable` for an unknown or unfetched data set, `boundary_file_missing` for a file it
 *   does not list, `boundary_hash_mismatch` for altered bytes
 */
export async function readBundledFile(id: string, path: string, places: BundledPlaces): Promise<Uint8Array> {
  const dataset = find(id);
  if (!Object.hasOwn(dataset.files, path)) {
    throw new SvcError("boundary_file_missing", `Cannot find ${path} in the bundled data set ${id}`, {
      hint: didYouMean(path, Object.keys(dataset.files)),
    });
  }
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(fileAt(folderOf(dataset, places), path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw unavailable(dataset);
    throw error;
  }
  return check(dataset, path, bytes);
}

/** Whether all files of a bundled data set can be read here, by presence and size. */
export function isBundledDatasetPresent(id: string, places: BundledPlaces): boolean {
  if (!Object.hasOwn(BUNDLED_DATASETS, id)) return false;
  const dataset = BUNDLED_DATASETS[id], folder = folderOf(dataset, places);
  return Object.entries(dataset.files).every(([path, { size_bytes }]) => {
    try {
      return Deno.statSync(fileAt(folder, path)).size === size_bytes;
    } catch {
      return false;
    }
  });
}

/**
 * Brings a bundled data set into the state directory from the place this program was imported from, and records it in
 * `fetch.json`. Nothing is left behind unless every file arrived with the right digest.
 *
 * @param options.stateDir state directory
 * @param options.origin URL of the program's root; its own unless said otherwise
 * @returns the folder that now holds the files
 * @throws SvcError `dataset_unavailable` when a file does not arrive, `boundary_hash_mismatch` when it was altered
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fetchBundledDataset } from "./bundled.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const folder = await fetchBundledDataset("svc_sample_images", { stateDir });
 * const files = Array.from(Deno.readDirSync(folder), ({ name }) => name);
 * assert.ok(files.includes("manifest.json") && files.includes("camera.png"));
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export async function fetchBundledDataset(
  id: string,
  { stateDir, origin = PROGRAM_ROOT }: BundledPlaces,
): Promise<string> {
  const dataset = find(id);
  const source = new URL(dataset.folder, origin);
  const target = join(stateDir, "datasets", id);
  const partial = `${target}.partial-${crypto.randomUUID()}`;
  await Deno.mkdir(partial, { recursive: true });
  try {
    for (const path of Object.keys(dataset.files)) {
      const bytes = await download(dataset, new URL(path, source));
      await Deno.writeFile(join(partial, path), check(dataset, path, bytes));
    }
    const record = {
      id,
      version: dataset.version,
      url: source.href,
      sha256: dataset.files["manifest.json"].sha256,
      fetched_at_utc: new Date().toISOString(),
    };
    await Deno.writeTextFile(join(partial, "fetch.json"), prettyJson(record));
    await Deno.remove(target, { recursive: true }).catch(() => {});
    await Deno.rename(partial, target);
  } finally {
    await Deno.remove(partial, { recursive: true }).catch(() => {});
  }
  return target;
}

async function download(dataset: BundledDataset, url: URL): Promise<Uint8Array> {
  let reason: string;
  try {
    const response = await fetch(url);
    if (response.ok) return await response.bytes();
    await response.body?.cancel();
    reason = `the server answered ${response.status}`;
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  throw new SvcError("dataset_unavailable", `Cannot fetch ${url.href}: ${reason}`, {
    hint: `The data set ${dataset.id} comes from where this program was imported; check that address`,
  });
}

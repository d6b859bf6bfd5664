/**
 * Bundled datasets, which ship with the program. Their files are next to its modules. A program imported by URL reads
 * them from its fetched files, or from `<state_dir>/datasets/<id>/` after {@link fetchBundledDataset}. Every read is checked against the digests
 * of the table.
 */
import { join } from "../contract/paths.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import { BUNDLED_DATASETS, type BundledDataset } from "./bundled_datasets.ts";
import { PROGRAM_ROOT, programFolder } from "./program.ts";

export { BUNDLED_DATASETS } from "./bundled_datasets.ts";

/** Locations of bundled datasets: the program's root, and the state directory for fetched copies. */
export interface BundledPlaces {
  stateDir: string;
  /** URL of the program's root, ending in a slash; tests replace it. */
  origin?: URL;
}

function find(id: string): BundledDataset {
  const dataset = Object.hasOwn(BUNDLED_DATASETS, id) ? BUNDLED_DATASETS[id] : undefined;
  if (dataset) return dataset;
  throw new SvcError("dataset_unavailable", `Cannot find a bundled dataset named ${id}`, {
    hint: didYouMean(id, Object.keys(BUNDLED_DATASETS)),
  });
}

/** The folder of a dataset's files. */
function folderOf(dataset: BundledDataset, { stateDir, origin = new URL(PROGRAM_ROOT) }: BundledPlaces): string | URL {
  if (origin.protocol === "file:") return new URL(dataset.folder, origin);
  const program = origin.href === PROGRAM_ROOT ? programFolder() : null;
  return program === null ? join(stateDir, "datasets", dataset.id) : join(program, dataset.folder);
}

function fileAt(folder: string | URL, path: string): string | URL {
  return folder instanceof URL ? new URL(path, folder) : join(folder, path);
}

function unavailable(dataset: BundledDataset): SvcError {
  return new SvcError(
    "dataset_unavailable",
    `Cannot read the bundled dataset ${dataset.id}: it is not fetched`,
    {
      hint: `Run svc data fetch ${dataset.id}, or call svc.data.fetch("${dataset.id}") of a session`,
    },
  );
}

function check(dataset: BundledDataset, path: string, bytes: Uint8Array): Uint8Array {
  const actual = sha256Hex(bytes), { sha256 } = dataset.files[path];
  if (actual === sha256) return bytes;
  throw new SvcError(
    "boundary_hash_mismatch",
    `Cannot use ${path} of ${dataset.id}: its bytes differ from the bundled file`,
    {
      hint: `Its SHA-256 is ${actual}, the bundled file's is ${sha256}`,
    },
  );
}

/**
 * Reads one file of a bundled dataset and checks its digest.
 * @param id dataset
 * @param path file in the list of the dataset, `manifest.json` for its manifest
 * @throws SvcError `dataset_unavailable` for an unknown or unfetched dataset, `boundary_file_missing` for an unlisted
 *   file, `boundary_hash_mismatch` for changed bytes
 */
export async function readBundledFile(id: string, path: string, places: BundledPlaces): Promise<Uint8Array> {
  const dataset = find(id);
  if (!Object.hasOwn(dataset.files, path)) {
    throw new SvcError("boundary_file_missing", `Cannot find ${path} in the bundled dataset ${id}`, {
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

/** Whether all files of a bundled dataset are readable, by presence and size. */
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
 * Fetches a bundled dataset from the program's origin into the state directory, and records it in `fetch.json`. Files
 * are kept only if all have the right digest.
 * @param options.stateDir state directory
 * @param options.origin URL of the program's root; default its own
 * @returns the folder that now holds the files
 * @throws SvcError `dataset_unavailable` for a file that cannot be fetched, `boundary_hash_mismatch` for a changed one
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
  { stateDir, origin = new URL(PROGRAM_ROOT) }: BundledPlaces,
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
    hint: `The dataset ${dataset.id} is fetched from the origin of this program; check that address`,
  });
}

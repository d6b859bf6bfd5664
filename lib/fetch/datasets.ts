/** Published datasets: fetched to `<state_dir>/datasets/<folder>/`, listed, and verified. */
import { join } from "node:path";
import { PUBLISHED_DATASETS, type PublishedDataset, publishedDataset } from "../artifact/published_datasets.ts";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { type FetchRecord, readFetchRecord } from "../model/store.ts";
import { bring, type BringOptions, type VerifiedFile, verifyFetched } from "./bring.ts";

export interface FetchDatasetOptions extends Omit<BringOptions, "code"> {
  stateDir: string;
  /** Digest of the whole set, as in another `fetch.json`. */
  sha256?: string;
  /** Accepts any content without a known digest. */
  acceptUnpinned?: boolean;
}

export interface FetchedDataset {
  folder: string;
  /** false if already present */
  fetched: boolean;
  record: FetchRecord | null;
}

export const datasetFolder = (stateDir: string, { folder }: PublishedDataset) => join(stateDir, "datasets", folder);

/** `fetch.json` of a dataset; null for a missing or manually filled folder. */
export function fetchedDataset(stateDir: string, dataset: PublishedDataset): FetchRecord | null {
  try {
    return readFetchRecord(datasetFolder(stateDir, dataset));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** @throws SvcError `not_found` with the nearest name */
function knownDataset(id: string): PublishedDataset {
  const dataset = publishedDataset(id);
  if (dataset !== undefined) return dataset;
  throw new SvcError("not_found", `Cannot find a published dataset named ${id}`, {
    hint: didYouMean(id, PUBLISHED_DATASETS.map((known) => known.id)),
  });
}

/**
 * Fetches a published dataset.
 * @throws SvcError `not_found`, `dataset_unavailable`, `usage_invalid` without a digest, `artifact_hash_mismatch` for a
 *   set with another digest, which is not stored in the folder
 */
export async function fetchDataset(id: string, options: FetchDatasetOptions): Promise<FetchedDataset> {
  const dataset = knownDataset(id);
  const folder = datasetFolder(options.stateDir, dataset);
  const there = await Deno.stat(folder).then(({ isDirectory }) => isDirectory, () => false);
  if (there) return { folder, fetched: false, record: fetchedDataset(options.stateDir, dataset) };
  if (Object.keys(dataset.files).length === 0) {
    throw new SvcError("dataset_unavailable", `Cannot fetch ${dataset.id}: its address is unknown`, {
      hint: `Copy it to ${folder}: ${dataset.layout}`,
    });
  }
  const wanted = options.sha256 ?? dataset.sha256;
  if (wanted === null && !options.acceptUnpinned) {
    throw new SvcError("usage_invalid", `Cannot fetch ${dataset.id}: its digest is unknown`, {
      hint: "Add --sha256 with the digest of another fetch.json, or --accept-unpinned to accept the download " +
        "and pin its digest",
    });
  }
  const { version, files, unpack } = dataset;
  const [first] = Object.values(files);
  const bringing = { id: dataset.id, version, url: first.url, files, unpack, sha256: wanted ?? undefined };
  const record = await bring(bringing, folder, { ...options, code: "dataset_unavailable" });
  return { folder, fetched: true, record };
}

/** Hashes the files of a fetched dataset again. @throws SvcError `not_found` if it was not fetched */
export function verifyDataset(stateDir: string, id: string): VerifiedFile[] {
  const dataset = knownDataset(id);
  const record = fetchedDataset(stateDir, dataset);
  if (record === null) {
    throw new SvcError("not_found", `Cannot verify ${dataset.id}: it is not fetched to this machine`, {
      hint: `Run svc data fetch ${dataset.id}`,
    });
  }
  return verifyFetched(datasetFolder(stateDir, dataset), record);
}

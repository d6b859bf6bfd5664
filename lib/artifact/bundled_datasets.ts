/** The table of bundled datasets. */
import datasets from "./bundled_datasets.json" with { type: "json" };

export interface BundledFile {
  readonly sha256: string;
  readonly size_bytes: number;
}

export interface BundledDataset {
  readonly id: string;
  readonly version: string;
  /** Folder of the files, relative to the program's root. */
  readonly folder: string;
  /** Sample ids by split, as in the manifest; every sample is in a split. */
  readonly splits: Readonly<Record<string, readonly string[]>>;
  readonly files: Readonly<Record<string, BundledFile>>;
}

export const BUNDLED_DATASETS = datasets as object as Readonly<Record<string, BundledDataset>>;

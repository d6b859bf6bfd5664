/** The table of bundled datasets, a module without further imports. */

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

export const BUNDLED_DATASETS: Readonly<Record<string, BundledDataset>> = {
  svc_sample_images: {
    id: "svc_sample_images",
    version: "svc_sample_images-v1",
    folder: "recipes/samples/",
    splits: { train: ["coffee", "rocket"], validation: ["camera"], test: ["chelsea"] },
    files: {
      "manifest.json": {
        sha256: "0545ee96ac30fe925ee32a6d03931c3dbd6887b25faa8bd29f0cc02929776ff8",
        size_bytes: 3597,
      },
      "coffee.png": {
        sha256: "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
        size_bytes: 466706,
      },
      "chelsea.png": {
        sha256: "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        size_bytes: 240512,
      },
      "camera.png": {
        sha256: "b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a",
        size_bytes: 139512,
      },
      "rocket.jpg": {
        sha256: "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
        size_bytes: 112525,
      },
    },
  },
};

/**
 * Published datasets that sources read from a folder of the state directory, and their addresses. Only `svc data fetch`
 * downloads.
 */
export interface PublishedDataset {
  /** Id in the research catalogue and in sources. */
  readonly id: string;
  /** Folder under `<state_dir>/datasets/`. */
  readonly folder: string;
  readonly version: string;
  /** Files, or archives with `unpack`; empty without a known address. */
  readonly files: Readonly<Record<string, { readonly url: string }>>;
  readonly unpack?: boolean;
  /**
   * Digest of the whole set (`fetch.json`). Null when this table's authors have not verified the bytes: fetching then
   * needs a stated digest, or an explicit option to accept any.
   */
  readonly sha256: string | null;
  /** Contents of the folder, for manual set-up. */
  readonly layout: string;
}

const kodak = Array.from({ length: 24 }, (_, index) => `kodim${String(index + 1).padStart(2, "0")}.png`);
const ASSETS = "https://github.com/ultralytics/assets/releases/download/v0.0.0";
const FLICKR = "https://github.com/jbrownlee/Datasets/releases/download/Flickr8k";

export const PUBLISHED_DATASETS: readonly PublishedDataset[] = [
  {
    id: "kodak",
    folder: "kodak",
    version: "kodak-24",
    files: Object.fromEntries(kodak.map((name) => [name, { url: `https://r0k.us/graphics/kodak/kodak/${name}` }])),
    sha256: null,
    layout: "kodim01.png to kodim24.png",
  },
  {
    id: "coco128_detection",
    folder: "coco128",
    version: "coco128_detection-v1",
    files: { "coco128.zip": { url: `${ASSETS}/coco128.zip` } },
    unpack: true,
    sha256: null,
    layout: "images/train2017/*.jpg and labels/train2017/*.txt",
  },
  {
    id: "coco8_segmentation",
    folder: "coco8-seg",
    version: "coco8_segmentation-v1",
    files: { "coco8-seg.zip": { url: `${ASSETS}/coco8-seg.zip` } },
    unpack: true,
    sha256: null,
    layout: "images/{train,val}/*.jpg and labels/{train,val}/*.txt",
  },
  {
    id: "flickr8k",
    folder: "flickr8k",
    version: "flickr8k-validation-v1",
    files: {
      "Flickr8k_Dataset.zip": { url: `${FLICKR}/Flickr8k_Dataset.zip` },
      "Flickr8k_text.zip": { url: `${FLICKR}/Flickr8k_text.zip` },
    },
    unpack: true,
    sha256: null,
    layout: "the images, the caption file Flickr8k.token.txt and the lists of the splits",
  },
  {
    id: "vqa_small",
    folder: "vqa_small",
    version: "vqa_small-v1",
    files: {},
    sha256: null,
    layout: "the manifest of each split and its images",
  },
];

export function publishedDataset(id: string): PublishedDataset | undefined {
  return PUBLISHED_DATASETS.find((dataset) => dataset.id === id || dataset.folder === id);
}

/**
 * Images in the binary files of published classification datasets, as PNG files with a manifest.
 *
 *     IDX       big-endian: 0x00000803, u32 images, rows and columns, then uint8 [image, row, column]; NAME-images-idx3-ubyte.
 *               Labels are in NAME-labels-idx1-ubyte: 0x00000801, u32 labels, then uint8.
 *     CIFAR-10  records of 3073 bytes: uint8 label 0 to 9, then red, green and blue planes of 32 x 32; data_batch_1.bin
 *
 * IDX files may be packed by gzip, as they are published. Several files are one dataset: t10k and test_batch are its test images,
 * the others its training images.
 *
 * Sources: LeCun, Cortes and Burges, The MNIST database, file formats; Krizhevsky, CIFAR-10, binary version.
 */
import { basename } from "node:path";
import { gunzipSync } from "node:zlib";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import type { JsonObject } from "../contract/value.ts";
import type { MakeManifestOptions } from "./dataset_manifest.ts";
import type { Image } from "./image.ts";
import { writePng } from "./png_encode.ts";

const SIDE = 32, PLANE = SIDE * SIDE, RECORD = 1 + 3 * PLANE;
/** Of a dataset: MNIST has 70,000 images. */
const MAX_IMAGES = 100_000;
/** Of an unpacked file; the training images of MNIST have 47 MB. */
const MAX_UNPACKED_BYTES = 2 ** 28;
const IDX_NAME = /[.-]idx3-ubyte(\.gz)?$/, CIFAR_NAME = /^(data_batch_\d+|test_batch)\.bin$/;

/** Whether a file holds images by its name. */
export const holdsImages = (path: string) => IDX_NAME.test(path) || CIFAR_NAME.test(basename(path));

/** The file of the labels of an IDX file, by the names of its publishers; null for other files. */
export const labelsFile = (path: string): string | null =>
  IDX_NAME.test(path)
    ? path.replace(/images(?=[.-]idx3-ubyte(\.gz)?$)/, "labels").replace(/idx3(?=-ubyte(\.gz)?$)/, "idx1")
    : null;

const refusalOf = (path: string) => (why: string): never => {
  throw new SvcError("dataset_manifest_invalid", `Cannot create a manifest of ${path}: ${why}`);
};

/** The content of a file, unpacked where its name ends in .gz. @throws SvcError `dataset_manifest_invalid` */
export function archiveBytes(bytes: Uint8Array, path: string): Uint8Array {
  if (!path.endsWith(".gz")) return bytes;
  try {
    return new Uint8Array(gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES }));
  } catch (error) {
    return refusalOf(path)(`it does not unpack to at most ${MAX_UNPACKED_BYTES} bytes (${messageOf(error)})`);
  }
}

export interface ImageArchive {
  path: string;
  bytes: Uint8Array;
  /** Content of {@link labelsFile}; without it the images of an IDX file have no label. */
  labels?: Uint8Array;
}

/**
 * Images of one or several files, and their manifest.
 * @returns the manifest, and the PNG files by path, `<name>/<label>/<id>.png`, which belong beside it
 * @throws SvcError `dataset_manifest_invalid` for a file whose size does not fit its header
 */
export function makeArchiveManifest(
  archives: readonly ImageArchive[],
  { id, version, split }: MakeManifestOptions,
): { manifest: JsonObject; files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>(), transform: JsonObject = { name: "identity" };
  const samples: JsonObject[] = [], splits: Record<string, string[]> = {};
  const stemOf = (path: string) => basename(path).replace(/\.bin$|[.-]idx3-ubyte(\.gz)?$/, "");
  for (const { path, bytes, labels } of archives) {
    const refuse = refusalOf(path), stem = stemOf(path);
    const images = IDX_NAME.test(path) ? idxImages(bytes, labels, refuse) : cifarImages(bytes, refuse);
    const isTest = archives.length === 1 || /^(t10k|test_batch)/.test(stem);
    const ids = splits[split ?? (isTest ? "test" : "train")] ??= [];
    if (samples.length + images.length > MAX_IMAGES) refuse(`there are more than ${MAX_IMAGES} images`);
    for (const [index, { image, label }] of images.entries()) {
      const own = `${stem}_${String(index).padStart(5, "0")}`, png = writePng(image), sha256 = sha256Hex(png);
      const place = [stem, ...(label === null ? [] : [String(label)]), `${own}.png`].join("/");
      files.set(place, png);
      ids.push(own);
      samples.push({
        sample_id: own,
        path: place,
        sha256,
        source_id: own,
        group_id: own,
        source_sha256: sha256,
        ancestry_ids: [own],
        transform,
        transform_fingerprint_sha256: sha256Json(transform),
        post_transform_sha256: sha256Hex(image.data),
      });
    }
  }
  const manifest = {
    schema_version: 1,
    kind: "svc.image_dataset_manifest",
    id: id ?? stemOf(archives[0].path),
    version: version ?? "1",
    root: ".",
    splits,
    samples,
  };
  return { manifest, files };
}

interface LabelledImage {
  image: Image;
  label: number | null;
}
type Refuse = (why: string) => never;

function idxImages(bytes: Uint8Array, labels: Uint8Array | undefined, refuse: Refuse): LabelledImage[] {
  const header = (data: Uint8Array, magic: number, sizes: number): number[] => {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (data.length < 4 + 4 * sizes || view.getUint32(0) !== magic) return refuse("it has no IDX header");
    const found = Array.from({ length: sizes }, (_, at) => view.getUint32(4 + 4 * at));
    if (data.length !== 4 + 4 * sizes + found.reduce((product, size) => product * size, 1)) {
      return refuse("its size does not fit its header");
    }
    return found;
  };
  const [count, height, width] = header(bytes, 0x803, 3), size = height * width;
  if (count === 0 || size === 0 || count > MAX_IMAGES) return refuse(`it has ${count} images of ${width} x ${height}`);
  if (labels !== undefined && header(labels, 0x801, 1)[0] !== count) return refuse("its labels are of another number");
  return Array.from({ length: count }, (_, index) => ({
    image: { width, height, channels: 1, data: bytes.slice(16 + index * size, 16 + (index + 1) * size) },
    label: labels?.[8 + index] ?? null,
  }));
}

function cifarImages(bytes: Uint8Array, refuse: Refuse): LabelledImage[] {
  const count = bytes.length / RECORD;
  if (!Number.isInteger(count) || count === 0 || count > MAX_IMAGES) {
    return refuse(`its size is not a number of records of ${RECORD} bytes`);
  }
  return Array.from({ length: count }, (_, index) => {
    const record = bytes.subarray(index * RECORD, (index + 1) * RECORD), data = new Uint8Array(3 * PLANE);
    if (record[0] > 9) return refuse(`the label of record ${index} is ${record[0]}`);
    for (let at = 0; at < data.length; at++) data[at] = record[1 + (at % 3) * PLANE + Math.floor(at / 3)];
    return { image: { width: SIDE, height: SIDE, channels: 3, data }, label: record[0] };
  });
}

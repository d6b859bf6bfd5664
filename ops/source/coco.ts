/**
 * Photographs of COCO with reference boxes or masks, from a local folder.
 *
 * Images and labels of a folder in the layout of YOLO:
 *
 *     <folder>/images/<split>/<id>.jpg      images; also .jpeg and .png
 *     <folder>/labels/<split>/<id>.txt      one line per object; no file for an image without objects
 *
 * A line is a class and numbers as fractions of width and height: `class x y width height` is a box by its centre, a
 * line with more numbers a polygon `class x1 y1 x2 y2 …`.
 *
 * Images become squares: the longer side resized by the antialiased triangle filter, centred on grey, so that no object
 * is cut off. Labels are transformed accordingly.
 *
 * Source: Ultralytics documentation, Dataset format of YOLO detection and segmentation.
 */
import { defineOperation, type FileAccess, type JsonObject, type Progress, sha256Hex, SvcError, z } from "../api.ts";
import { toRgb } from "../../lib/artifact/image.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { fillPolygon, type Point, polygonArea } from "../../lib/numeric/image/polygon.ts";
import { type Letterbox, letterbox } from "../../lib/numeric/image/yolo.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import {
  DETECTIONS,
  detectionsArtifact,
  emptyRaster,
  rastersArtifact,
  SEGMENTATION,
} from "../../lib/artifact/vision.ts";

/** The 80 classes of COCO detection in the order of YOLO label files. Source: Lin et al., Microsoft COCO, 2014. */
const COCO_NAMES: readonly string[] = [
  "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign",
  "parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella",
  "handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard",
  "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange",
  "broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv",
  "laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase",
  "scissors, teddy bear, hair drier, toothbrush",
].join(", ").split(", ");

/** Grey around an image that is not square. */
const PADDING = 114;

/** An object of an image, in pixels of its square: the corners of a box, or a polygon. */
interface YoloObject {
  readonly label: number;
  readonly isBox: boolean;
  readonly points: readonly Point[];
}

/**
 * Reads the first images of a split, by name.
 * @param size width and height of every image in pixels
 * @param classes number of classes
 * @throws SvcError `boundary_file_missing`, `boundary_empty`, `boundary_value_invalid` for an invalid label line
 */
async function readYoloFolder(
  { folder, split, limit, size, classes }: {
    folder: string;
    split: string;
    limit: number;
    size: number;
    classes: number;
  },
  { files, progress }: { files: FileAccess; progress: Progress },
) {
  // Loaded on first use, so that listing operations loads no decoder.
  const [{ decodeImage }, { resizeTriangle, roundSamples }] = await Promise.all([
    import("../../lib/artifact/image_file.ts"),
    import("../../lib/artifact/image_resize.ts"),
  ]);
  const pictures = (await files.list(`${folder}/images/${split}`)).filter((name) => /\.(jpe?g|png)$/i.test(name))
    .slice(0, limit);
  if (pictures.length === 0) throw new SvcError("boundary_empty", `Cannot find an image in ${folder}/images/${split}`);
  const data = new Uint8Array(pictures.length * size * size * 3).fill(PADDING);
  const objects: YoloObject[][] = [], ids: string[] = [], sourceFiles: JsonObject[] = [];
  const labelled = new Set(await labelFiles(`${folder}/labels/${split}`, files));
  for (const [index, name] of pictures.entries()) {
    const bytes = await files.read(`${folder}/images/${split}/${name}`);
    const image = toRgb(decodeImage(bytes)), box = letterbox(image.width, image.height, size, size);
    const { innerWidth, innerHeight, left, top } = box;
    const samples = roundSamples(resizeTriangle(image, innerWidth, innerHeight));
    for (let y = 0; y < innerHeight; y++) {
      const at = ((index * size + top + y) * size + left) * 3;
      data.set(samples.subarray(3 * y * innerWidth, 3 * (y + 1) * innerWidth), at);
    }
    const id = name.replace(/\.[^.]+$/, ""), path = `${folder}/labels/${split}/${id}.txt`;
    objects.push(
      labelled.has(`${id}.txt`)
        ? readLabels(new TextDecoder().decode(await files.read(path)), { path, classes, box })
        : [],
    );
    ids.push(id);
    sourceFiles.push({ sha256: sha256Hex(bytes) });
    progress(index + 1, pictures.length, { phase: "loading", unit: "images" });
  }
  const batch = { count: pictures.length, height: size, width: size, channels: 3, dtype: "uint8" as const, data };
  return { batch, ids, objects, sourceFiles };
}

/** Without a folder of labels, images have no objects. */
async function labelFiles(folder: string, files: FileAccess): Promise<string[]> {
  try {
    return await files.list(folder);
  } catch (error) {
    if (error instanceof SvcError && error.code === "boundary_file_missing") return [];
    throw error;
  }
}

/** The objects of a label file. */
function readLabels(
  text: string,
  { path, classes, box }: { path: string; classes: number; box: Letterbox },
): YoloObject[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.flatMap((line, index) => {
    if (line === "") return [];
    const [label, ...numbers] = line.split(/\s+/).map(Number);
    const isBox = numbers.length === 4, isPolygon = numbers.length >= 6 && numbers.length % 2 === 0;
    const isSound = Number.isInteger(label) && label >= 0 && label < classes && (isBox || isPolygon) &&
      numbers.every((value) => value >= 0 && value <= 1);
    if (!isSound) {
      throw new SvcError("boundary_value_invalid", `Cannot read line ${index + 1} of ${path} as a label`, {
        hint: `Write a class below ${classes}, then x y width height or polygon corners, as fractions of the image`,
      });
    }
    const at = (x: number, y: number): Point => [
      Math.min(1, Math.max(0, x)) * box.innerWidth + box.left,
      Math.min(1, Math.max(0, y)) * box.innerHeight + box.top,
    ];
    if (isPolygon) {
      const points = Array.from({ length: numbers.length / 2 }, (_, i) => at(numbers[2 * i], numbers[2 * i + 1]));
      return [{ label, isBox, points }];
    }
    const [x, y, width, height] = numbers;
    const [xMin, xMax, yMin, yMax] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
    return [{ label, isBox, points: [at(xMin, yMin), at(xMax, yMin), at(xMax, yMax), at(xMin, yMax)] }];
  });
}

const COCO8 = ".svc/datasets/coco8-seg";

/**
 * Photographs of COCO8-seg with reference classes of pixels, from a local folder: images uint8 [image, size, size,
 * RGB], letterboxed; segmentation uint8 [image, size, size], 0 the background, otherwise 1 + the class of COCO. The
 * first `limit` images of the split by name. A pixel belongs to a polygon if its centre lies inside; where objects
 * overlap, the smaller one wins. A box counts as a polygon.
 */
const coco8Segmentation = defineOperation({
  id: "source.coco8_segmentation",
  name: "COCO8 segmentation data",
  description: "Photographs of COCO8-seg from a local folder with reference classes of pixels",
  outputs: { images: IMAGES, segmentation: SEGMENTATION },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(COCO8).describe("folder with images/ and labels/"),
    split: z.enum(["train", "val"]).default("val").describe("split of the dataset"),
    limit: z.int().positive().default(4).describe("number of images, the first ones by name"),
    image_size: z.int().min(16).max(4096).default(320).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] },
    segmentation: { keys: ["class_names", "image_ids"] },
  },
  estimate({ limit, image_size }) {
    const pixels = Math.min(limit, 4) * image_size ** 2;
    return { images: 3 * pixels, segmentation: pixels };
  },
  requires: ({ dataset_dir }) => dataset_dir === COCO8 ? [{ kind: "dataset", id: "coco8_segmentation" }] : [],
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, image_size: size } = params;
    const read = await readYoloFolder({ folder, split, limit, size, classes: COCO_NAMES.length }, { files, progress });
    const pixels = size * size, classes = emptyRaster(read.ids.length * pixels, COCO_NAMES.length);
    read.objects.forEach((objects, image) => {
      const largestFirst = [...objects].sort((a, b) => polygonArea(b.points) - polygonArea(a.points));
      for (const { label, points } of largestFirst) {
        fillPolygon(points, { width: size, height: size }, (pixel) => classes[image * pixels + pixel] = 1 + label);
      }
    });
    const dataset = { id: "coco8_segmentation", version: "coco8_segmentation-v1", split };
    const facts = { dataset, image_ids: read.ids };
    const shape = [read.ids.length, size, size];
    return {
      outputs: {
        images: imagesArtifact(read.batch, { ...facts, source_files: read.sourceFiles }),
        segmentation: rastersArtifact({ data: classes, shape, classNames: COCO_NAMES }, facts),
      },
    };
  },
});

const COCO128 = ".svc/datasets/coco128";

/**
 * Photographs of COCO128 with reference boxes, from a local folder: images uint8 [image, size, size, RGB], letterboxed;
 * boxes in pixels, [x_min, y_min, x_max, y_max], confidence 1, labels of COCO. The first `limit` images by name. A
 * polygon counts as its bounding box.
 */
const coco128Detection = defineOperation({
  id: "source.coco128_detection",
  name: "COCO128 detection data",
  description: "Photographs of COCO128 from a local folder with reference boxes",
  outputs: { images: IMAGES, detections: DETECTIONS },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(COCO128).describe("folder with images/ and labels/"),
    split: z.enum(["train2017"]).default("train2017").describe("split of the dataset"),
    limit: z.int().positive().default(8).describe("number of images, the first ones by name"),
    image_size: z.int().min(16).max(4096).default(320).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] } },
  estimate: ({ limit, image_size }) => ({ images: Math.min(limit, 128) * image_size ** 2 * 3 }),
  requires: ({ dataset_dir }) => dataset_dir === COCO128 ? [{ kind: "dataset", id: "coco128_detection" }] : [],
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, image_size: size } = params;
    const read = await readYoloFolder({ folder, split, limit, size, classes: COCO_NAMES.length }, { files, progress });
    const dataset = { id: "coco128_detection", version: "coco128_detection-v1", split };
    const items = read.objects.map((objects, index) => ({
      id: read.ids[index],
      detections: objects.map(({ label, points }) => {
        const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
        const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const;
        return { label: COCO_NAMES[label], label_id: label, confidence: 1, box };
      }),
    }));
    const facts = { dataset, image_ids: read.ids, source_files: read.sourceFiles };
    return {
      outputs: {
        images: imagesArtifact(read.batch, facts),
        detections: detectionsArtifact(items, { dataset, class_names: [...COCO_NAMES] }),
      },
    };
  },
});

export default [coco8Segmentation, coco128Detection];

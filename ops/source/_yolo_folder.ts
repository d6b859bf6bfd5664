/**
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
import { type FileAccess, type JsonObject, type Progress, sha256Hex, SvcError } from "../api.ts";
import { toRgb } from "../../lib/artifact/image.ts";
import type { ImageBatch } from "../../lib/artifact/values.ts";
import type { Point } from "../../lib/numeric/image/polygon.ts";
import { type Letterbox, letterbox } from "../../lib/numeric/image/yolo.ts";

/** Grey around an image that is not square. */
const PADDING = 114;

/** An object of an image, in pixels of its square: the corners of a box, or a polygon. */
export interface YoloObject {
  readonly label: number;
  readonly isBox: boolean;
  readonly points: readonly Point[];
}

export interface YoloFolder {
  readonly batch: ImageBatch;
  readonly ids: string[];
  readonly objects: readonly (readonly YoloObject[])[];
  /** Digest of each image file. */
  readonly sourceFiles: JsonObject[];
}

/**
 * Reads the first images of a split, by name.
 * @param size width and height of every image in pixels
 * @param classes number of classes
 * @throws SvcError `boundary_file_missing`, `boundary_empty`, `boundary_value_invalid` for an invalid label line
 */
export async function readYoloFolder(
  { folder, split, limit, size, classes }: {
    folder: string;
    split: string;
    limit: number;
    size: number;
    classes: number;
  },
  { files, progress }: { files: FileAccess; progress: Progress },
): Promise<YoloFolder> {
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

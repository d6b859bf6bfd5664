import { writePng } from "../../../lib/artifact/png_encode.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { paintScene } from "../../../lib/numeric/image/scenes.ts";
import { detectionsArtifact, rastersArtifact } from "../../../lib/artifact/vision.ts";
import { casesOf } from "./cases.ts";

const detections = () => ({
  kind: "vision.detections.json",
  ...detectionsArtifact([
    { id: "a", detections: [{ label: "circle", label_id: 0, confidence: 0.75, box: [2, 3, 20, 21] }] },
    { id: "b", detections: [] },
  ]),
});

const rasters = () => ({
  kind: "vision.segmentation_mask.numpy",
  ...rastersArtifact(
    { data: Uint8Array.from({ length: 24 }, (_, i) => i % 3), shape: [2, 3, 4], classNames: ["circle", "square"] },
    { image_ids: ["a", "b"] },
  ),
});

const pictures = (dtype: "uint8" | "float32") => {
  const { pixels } = paintScene({
    size: 64,
    ground: "white",
    objects: [{ shape: "circle", colour: "blue", x: 20, y: 20, side: 16 }],
  });
  const data = dtype === "uint8" ? pixels : Float32Array.from(pixels, (value) => value / 255);
  const batch = { count: 1, height: 64, width: 64, channels: 3, dtype, data };
  return { kind: "image.batch.numpy", ...imagesArtifact(batch, { image_ids: ["a"] }) };
};

/** A model that comes with the program. */
const shipped = (id: string) => ({ network: new URL(`../../../recipes/models/${id}`, import.meta.url).pathname });

const picture = () => writePng({ width: 20, height: 16, channels: 3, data: new Uint8Array(960).fill(90) }).slice();
/** A folder of one labelled picture. */
const folder = (split: string, label: string) => () => ({
  [`d/images/${split}/a.png`]: picture(),
  [`d/labels/${split}/a.txt`]: label,
});

export const VISION_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    image: () => ({ images: pictures("uint8") }),
    "image, float32": () => ({ images: pictures("float32") }),
    detections: () => ({ candidate: detections(), reference: detections() }),
    rasters: () => ({ candidate: rasters(), reference: rasters() }),
  },
  files: {
    detection: folder("train2017", "3 0.5 0.5 0.25 0.5"),
    "segmentation, val": folder("val", "3 0.1 0.1 0.9 0.1 0.5 0.9"),
    "segmentation, train": folder("train", "3 0.1 0.1 0.9 0.1 0.5 0.9"),
  },
  models: {
    detector: shipped("svc-tiny-detector-v1"),
    segmenter: shipped("svc-tiny-segmenter-v1"),
  },
});

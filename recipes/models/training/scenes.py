"""Scenes for training and judging vision models: drawn by `source.synthetic_scenes` itself, disturbed here, scored here."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

CLASSES = ("circle", "square", "triangle")
PADDING = 114  # of letterboxed pictures
SIZE, STRIDE = 96, 8


class Scenes:
    """Pictures uint8 [scene, size, size, 3], rasters [scene, size, size], and per scene its boxes [object, (label, box)]."""

    def __init__(self, seed: int, count: int, most: int, size: int = SIZE):
        exporter = Path(__file__).with_name("export_scenes.ts")
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "scenes.npz")
            command = ["deno", "run", "-A", "-q", str(exporter), file, *map(str, (seed, count, size, most))]
            subprocess.run(command, check=True)
            with np.load(file) as arrays:
                self.images, self.classes, boxes = arrays["images"], arrays["classes"], arrays["boxes"]
        self.boxes = [boxes[boxes[:, 0] == index, 1:].astype(np.float32) for index in range(count)]

    def __len__(self):
        return len(self.images)


def planes(images) -> np.ndarray:
    """uint8 [n, h, w, 3] -> float32 [n, 3, h, w] in [0, 1]."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2), np.float32) / 255


def noisy(images, sigma, rng) -> np.ndarray:
    """Gaussian noise of a standard deviation in parts of the range, clipped, in 8 bits, as
    noise.source_image_perturbation adds it; sigma is one number or one a picture."""
    sigma = np.asarray(sigma, np.float32).reshape(-1, 1, 1, 1)
    values = images + 255 * sigma * rng.standard_normal(images.shape, np.float32)
    return np.rint(values.clip(0, 255)).astype(np.uint8)


def letterbox_bars(image, boxes, rng) -> np.ndarray:
    """Bars as a letterboxed picture has them, at two opposite edges, as far as no object reaches."""
    axis = int(rng.integers(2))
    margin = int(min(boxes[:, 1 + axis].min(), image.shape[1 - axis] - boxes[:, 3 + axis].max()))
    bar = int(rng.integers(0, margin + 1))
    image = image.copy()
    across = image if axis == 1 else image.transpose(1, 0, 2)
    across[:bar] = PADDING
    across[len(across) - bar:] = PADDING
    return image


def batch(scenes: Scenes, size: int, most_noise: float, rng):
    """Pictures (mirrored, with bars, with noise, each half of the time or less), boxes and rasters of random scenes."""
    images, boxes, classes = [], [], []
    for index in rng.integers(0, len(scenes), size):
        image, found, raster = scenes.images[index], scenes.boxes[index], scenes.classes[index]
        if rng.random() < 0.5:
            image, raster = image[:, ::-1], raster[:, ::-1]
            found = np.column_stack((found[:, 0], SIZE - found[:, 3], found[:, 2], SIZE - found[:, 1], found[:, 4]))
        if rng.random() < 0.25:
            image = letterbox_bars(image, found, rng)
        images.append(image)
        boxes.append(found)
        classes.append(raster)
    sigma = rng.uniform(0, most_noise, size) * (rng.random(size) < 0.5)
    return planes(noisy(np.stack(images), sigma, rng)), boxes, np.stack(classes)


def iou(a, b) -> np.ndarray:
    """Intersection over union of boxes [n, 4] and [m, 4] as [n, m]."""
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = (high - low).clip(0).prod(2)
    areas = [(x[:, 2:] - x[:, :2]).prod(1) for x in (a, b)]
    return shared / (areas[0][:, None] + areas[1][None] - shared)


def detections(output, confidence, limit) -> list[np.ndarray]:
    """Rows (score, label, box) of each picture of an output [n, 4 + classes (+ coefficients), cells], best first, after
    suppression per class above an IoU of `limit`; the last member of a row is the cell."""
    found = []
    for rows in output:
        scores = rows[4:4 + len(CLASSES)]
        label, score = scores.argmax(0), scores.max(0)
        cells = np.flatnonzero(score > confidence)
        cells = cells[np.argsort(-score[cells], kind="stable")]
        centre, extent = rows[:2, cells].T, rows[2:4, cells].T
        boxes = np.column_stack((centre - extent / 2, centre + extent / 2))
        kept = []
        overlap = iou(boxes, boxes)
        for i in range(len(cells)):
            if all(label[cells[i]] != label[cells[j]] or overlap[i, j] <= limit for j in kept):
                kept.append(i)
        cells = cells[kept]
        found.append(np.column_stack((score[cells], label[cells], boxes[kept], cells)))
    return found


def f1(found, truth) -> float:
    """F1 at IoU 0.5: greedy by confidence, one match per true box of the same label, pooled over pictures."""
    matched, claimed, wanted = 0, sum(map(len, found)), sum(map(len, truth))
    for rows, boxes in zip(found, truth):
        free = np.ones(len(boxes), bool)
        overlap = iou(rows[:, 2:6], boxes[:, 1:])
        for row, values in zip(rows, overlap):
            values = np.where(free & (boxes[:, 0] == row[1]), values, 0)
            if len(values) and values.max() >= 0.5:
                free[values.argmax()] = False
                matched += 1
    return 2 * matched / (claimed + wanted)


def mean_iou(raster, truth) -> float:
    """Intersection over union pooled per class over the rasters, mean over the classes present in either."""
    values = [value for value in range(1 + len(CLASSES)) if (raster == value).any() or (truth == value).any()]
    return float(np.mean([((raster == v) & (truth == v)).sum() / ((raster == v) | (truth == v)).sum() for v in values]))

"""Random pictures, heads and prototypes with what they should give, in NumPy, after Ultralytics 8.3: LetterBox,
non_max_suppression (best class only, boxes of different classes set apart by an offset), scale_boxes and
process_mask_native (with exact coordinates in place of rounded crops of the prototypes).

    python3 tests/data/vision/make_yolo.py        writes yolo.json beside it (NumPy 1.24)
"""

import json
from pathlib import Path

import numpy as np

INPUT = 32


def letterbox(image):
    """Bilinear after cv2.INTER_LINEAR, bars of 114."""
    h, w = image.shape[:2]
    gain = min(INPUT / h, INPUT / w)
    new_w, new_h = round(w * gain), round(h * gain)
    top, left = round((INPUT - new_h) / 2 - 0.1), round((INPUT - new_w) / 2 - 0.1)
    ys, xs = ((np.arange(n) + 0.5) * size / n - 0.5 for n, size in ((new_h, h), (new_w, w)))
    out = np.full((INPUT, INPUT, 3), 114.0)
    for i, y in enumerate(ys.clip(0, h - 1)):
        for j, x in enumerate(xs.clip(0, w - 1)):
            y0, x0 = int(y), int(x)
            y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
            v, u = y - y0, x - x0
            out[top + i, left + j] = ((image[y0, x0] * (1 - u) + image[y0, x1] * u) * (1 - v)
                                      + (image[y1, x0] * (1 - u) + image[y1, x1] * u) * v)
    return out.transpose(2, 0, 1) / 255, gain, top, left


def suppress(boxes, scores, limit):
    order, kept = np.argsort(-scores, kind="stable"), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while len(order):
        first, rest = order[0], order[1:]
        kept.append(int(first))
        low, high = np.maximum(boxes[first, :2], boxes[rest, :2]), np.minimum(boxes[first, 2:], boxes[rest, 2:])
        shared = (high - low).clip(0).prod(1)
        order = rest[shared / (area[first] + area[rest] - shared) <= limit]
    return kept


def read(head, classes, confidence, limit, image_shape, gain, top, left):
    rows = head.T
    rows = rows[rows[:, 4:4 + classes].max(1) > confidence]
    boxes = np.column_stack((rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2))
    scores, labels = rows[:, 4:4 + classes].max(1), rows[:, 4:4 + classes].argmax(1)
    kept = suppress(boxes + 7680.0 * labels[:, None], scores, limit)
    h, w = image_shape
    boxes = (boxes[kept] - [left, top, left, top]) / gain
    boxes = boxes.clip(0, [w, h, w, h])
    return boxes, scores[kept], labels[kept], rows[kept, 4 + classes:]


def masks(coefficients, prototypes, boxes, image_shape, gain, top, left):
    """Logits at the centre of every pixel of the picture, inside the box; the clamp is that of bilinear interpolation."""
    h, w = image_shape
    k, ph, pw = prototypes.shape
    logits = (coefficients @ prototypes.reshape(k, -1)).reshape(-1, ph, pw)
    y = (((np.arange(h) + 0.5) * gain + top) * ph / INPUT - 0.5).clip(0, ph - 1)
    x = (((np.arange(w) + 0.5) * gain + left) * pw / INPUT - 0.5).clip(0, pw - 1)
    y0, x0 = y.astype(int), x.astype(int)
    y1, x1 = np.minimum(y0 + 1, ph - 1), np.minimum(x0 + 1, pw - 1)
    v, u = (y - y0)[:, None], (x - x0)[None]
    full = ((logits[:, y0][:, :, x0] * (1 - u) + logits[:, y0][:, :, x1] * u) * (1 - v)
            + (logits[:, y1][:, :, x0] * (1 - u) + logits[:, y1][:, :, x1] * u) * v)
    inside_y = (np.arange(h) + 0.5 > boxes[:, 1:2]) & (np.arange(h) + 0.5 < boxes[:, 3:4])
    inside_x = (np.arange(w) + 0.5 > boxes[:, 0:1]) & (np.arange(w) + 0.5 < boxes[:, 2:3])
    return 1 / (1 + np.exp(-full)), inside_y[:, :, None] & inside_x[:, None]


def case(rng, h, w, channels, classes, coefficients, confidence, iou, threshold):
    image = rng.integers(0, 256, (h, w, channels))
    planes, gain, top, left = letterbox(np.repeat(image, 3, 2) if channels == 1 else image[:, :, :3])
    cells = 40
    # Boxes in a few heaps, so that some overlap; centres partly outside the picture.
    centre = rng.uniform(2, INPUT - 2, (6, 2))[rng.integers(0, 6, cells)] + rng.normal(0, 1.2, (cells, 2))
    extent = rng.uniform(5, 16, (6, 2))[rng.integers(0, 6, cells)] * rng.uniform(0.8, 1.25, (cells, 2))
    head = np.vstack((centre.T, extent.T, rng.random((classes, cells)) ** 2, rng.normal(0, 1, (coefficients, cells))))
    head = head.astype(np.float32)
    prototypes = rng.normal(0, 1, (coefficients, INPUT // 4, INPUT // 4)).astype(np.float32)
    boxes, scores, labels, weights = read(head, classes, confidence, iou, (h, w), gain, top, left)
    probability, inside = masks(weights, prototypes, boxes, (h, w), gain, top, left)
    raster, instances = np.zeros((h, w), int), np.zeros((h, w), int)
    for index in range(len(boxes))[::-1]:
        covered = inside[index] & (probability[index] > threshold)
        raster[covered], instances[covered] = 1 + labels[index], 1 + index
    short = lambda a: [float(f"{v:.9g}") for v in np.asarray(a, np.float32).ravel().tolist()]  # noqa: E731
    return {
        "image": {"shape": image.shape, "data": image.ravel().tolist()}, "planes": [round(v, 4) for v in planes.ravel().tolist()], "classes": classes,
        "confidence": confidence, "iou": iou, "mask_threshold": threshold, "cells": cells, "head": short(head),
        "prototypes": {"shape": prototypes.shape, "data": short(prototypes)},
        "detections": [{"box": box.tolist(), "score": float(score), "label": int(label)}
                       for box, score, label in zip(boxes, scores, labels)],
        "raster": raster.ravel().tolist(), "instances": instances.ravel().tolist(),
    }


if __name__ == "__main__":
    rng = np.random.default_rng(2032)
    cases = [
        case(rng, 20, 45, 3, 3, 4, 0.25, 0.7, 0.5),
        case(rng, 33, 17, 1, 5, 2, 0.1, 0.45, 0.3),
        case(rng, 32, 32, 4, 1, 8, 0.5, 0.2, 0.8),
    ]
    Path(__file__).with_name("yolo.json").write_text(json.dumps({"cases": cases}) + "\n")

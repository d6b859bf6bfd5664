"""Independent scores of random detections: matching and 101-level average precision after pycocotools' COCOeval, in NumPy.

    python3 tests/data/vision/make_detection.py        writes detection.json and segmentation.json beside it (NumPy 1.24)
"""

import json
from pathlib import Path

import numpy as np

LABELS = ["a", "b", "c"]
HERE = Path(__file__).parent


def random_box(rng):
    (x, y), (w, h) = rng.uniform(0, 60, 2), rng.uniform(8, 30, 2)
    return [x, y, x + w, y + h]


def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def evaluate(references, candidates, threshold, floor):
    """Per label as COCOeval does it: per picture sorted stably, matched greedily, then all pictures merged by score."""
    labels, totals = {}, [0, 0, 0]
    for label in LABELS:
        scores, hits, wanted = [], [], 0
        for truth, found in zip(references, candidates):
            truth = [x for x in truth if x["label"] == label]
            found = [x for x in found if x["label"] == label and x["confidence"] >= floor]
            found = [found[i] for i in np.argsort([-x["confidence"] for x in found], kind="mergesort")] if found else []
            wanted += len(truth)
            used = [False] * len(truth)
            for x in found:
                best, match = threshold, -1
                for index, y in enumerate(truth):
                    value = overlap(x["box"], y["box"])
                    if used[index] or value < best or (match >= 0 and value == best):
                        continue
                    best, match = value, index
                if match >= 0:
                    used[match] = True
                scores.append(x["confidence"])
                hits.append(match >= 0)
        ranked = np.array(hits, bool)[np.argsort(-np.array(scores), kind="mergesort")]
        true, false = np.cumsum(ranked), np.cumsum(~ranked)
        average = None
        if wanted:
            precision = (true / (true + false)).tolist()
            for i in range(len(precision) - 1, 0, -1):
                precision[i - 1] = max(precision[i - 1], precision[i])
            at = np.searchsorted(true / wanted, np.arange(101) / 100, side="left")
            average = float(np.mean([precision[i] if i < len(precision) else 0.0 for i in at]))
        labels[label] = {"reference_count": wanted, "candidate_count": len(hits), "match_count": int(sum(hits)),
                         "average_precision": average}
        totals = [a + b for a, b in zip(totals, (wanted, len(hits), int(sum(hits))))]
    return labels, totals


def detection_case(rng, jitter):
    references, candidates = [], []
    for _ in range(8):
        truth = [{"label": LABELS[rng.integers(3)], "box": random_box(rng)} for _ in range(rng.integers(0, 5))]
        found = []
        for x in truth:
            for _ in range(rng.integers(0, 3)):
                box = np.array(x["box"]) + rng.normal(0, jitter, 4)
                label = x["label"] if rng.random() < 0.85 else LABELS[rng.integers(3)]
                # Two digits, so that confidences repeat.
                found.append({"label": label, "confidence": float(np.round(rng.random(), 2)), "box": box.tolist()})
        for _ in range(rng.integers(0, 3)):
            found.append({"label": LABELS[rng.integers(3)], "confidence": float(np.round(rng.random() * 0.7, 2)),
                          "box": random_box(rng)})
        references.append(truth)
        candidates.append(found)
    rows = []
    for threshold, floor in ((0.5, 0.0), (0.75, 0.0), (0.5, 0.4)):
        labels, (wanted, claimed, matched) = evaluate(references, candidates, threshold, floor)
        coco = [np.mean([row["average_precision"] for row in evaluate(references, candidates, iou / 100, floor)[0].values()
                         if row["average_precision"] is not None]) for iou in range(50, 100, 5)]
        rows.append({"iou": threshold, "confidence": floor, "labels": labels, "recall": matched / wanted,
                     "precision": matched / claimed, "f1": 2 * matched / (wanted + claimed), "coco_ap": float(np.mean(coco))})
    return {"references": references, "candidates": candidates, "scores": rows}


def segmentation_case(rng, classes):
    """Rasters of a confusion with a fixed probability, scored by the confusion matrix."""
    truth = rng.integers(0, classes, (2, 5, 7))
    found = np.where(rng.random(truth.shape) < 0.7, truth, rng.integers(0, classes + 1, truth.shape))
    matrix = np.zeros((classes + 1, classes + 1), int)
    np.add.at(matrix, (truth.ravel(), found.ravel()), 1)
    union = matrix.sum(0) + matrix.sum(1) - np.diag(matrix)
    seen = union > 0
    return {"reference": truth.tolist(), "candidate": found.tolist(), "miou": float(np.mean(np.diag(matrix)[seen] / union[seen])),
            "pixel_accuracy": float(np.trace(matrix) / matrix.sum())}


if __name__ == "__main__":
    rng = np.random.default_rng(2031)
    cases = [detection_case(rng, jitter) for jitter in (0.6, 1.5, 3)]
    (HERE / "detection.json").write_text(json.dumps({"cases": cases}) + "\n")
    cases = [segmentation_case(rng, classes) for classes in (2, 4, 9)]
    (HERE / "segmentation.json").write_text(json.dumps({"cases": cases}) + "\n")

"""What is kept with a trained model: the loss curve, the candidates and a stored answer of the PyTorch model."""

import base64
import csv
import hashlib
import json
from pathlib import Path

import numpy as np


def write_curve(path: Path, rows: list[dict]) -> None:
    """The loss curve as CSV, one row per recorded step and candidate."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_json(path: Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def tensor(array) -> dict:
    """An array as {dtype, shape, data}: data are its little-endian bytes in C order, in base64."""
    array = np.asarray(array, "<f4")
    return {"dtype": "float32", "shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode()}


def write_components(path: Path, files: dict[str, bytes]) -> None:
    """The digests of a candidate's files by role: of a candidate that is not selected nothing else is kept."""
    write_json(path, {role: hashlib.sha256(content).hexdigest() for role, content in files.items()})


def write_reference(path: Path, inputs: dict, outputs: dict) -> None:
    """What the PyTorch model answered to an input, for comparing the ONNX file with it."""
    write_json(path, {"inputs": {k: tensor(v) for k, v in inputs.items()},
                      "outputs": {k: tensor(v) for k, v in outputs.items()}})


def digest(*arrays) -> str:
    """SHA-256 over dtype, shape and bytes of arrays: names the data that candidates were compared on."""
    total = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(array)
        total.update(f"{array.dtype.str}{list(array.shape)}".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def wilson(events: int, trials: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson interval of a rate, 95 % unless told otherwise."""
    p, n = events / trials, trials
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return float(centre - half), float(centre + half)

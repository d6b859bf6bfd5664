"""Trains mapper and demapper together through AWGN and phase noise, with the training project that svc exports.

    python3 training/train.py [FOLDER]     # in this model's folder; FOLDER holds the project, default ./project

Needs deno, Python 3.9 or later, NumPy, PyTorch and onnx. The project draws all data; 44 epochs take 10 minutes on one core.
"""

import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
MODEL, ROOT = HERE.parent, HERE.parents[3]
RECIPE = ROOT / "recipes" / "constellation_qam_phase_noise.yaml"
NAME, HIDDEN = "perceptron_48", 48
SEED, EPOCHS, BITS, RATE = 23, 44, 12000, 4e-3
STEPS = 40


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def population(project):
    """Digest of the bits of the validation, drawn as train.py draws them."""
    sys.path.insert(0, str(project))
    import torch
    from scenario import scenario

    scenario.shorten(BITS)
    noise, total = torch.Generator().manual_seed(SEED + 2), hashlib.sha256()
    slots = {step: constant(outputs) for step, outputs in scenario.blocks.items()}
    for _ in range(STEPS // 8):
        total.update(scenario_bits(scenario, slots, noise).numpy().tobytes())
    return total.hexdigest()


def constant(block):
    """A network of the right shape: the draws of the link do not depend on it."""
    import torch

    if "label_bits" in block["inputs"]:
        return lambda labels: torch.stack([labels[:, 0] + 1, labels[:, 1]], -1)
    return lambda symbols: symbols[:, :1].expand(-1, 6)


def scenario_bits(scenario, slots, noise):
    import torch
    from scenario import _Run

    run_ = _Run(scenario, slots, {}, noise, "cpu", torch.float32)
    for step in scenario.evaluations:
        run_.outputs(step)
    return run_.signals["data.bits"].data.to(torch.uint8)


def tensor(array):
    return {"dtype": "float32", "shape": list(array.shape), "data": [float(f"{v:.9g}") for v in array.ravel().tolist()]}


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def keep(project):
    with open(project / "curve.csv", newline="", encoding="utf-8") as file:
        rows = [{"candidate": NAME, **row} for row in csv.DictReader(file)]
    with open(HERE / "loss_curve.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for role in ("mapper", "demapper"):
        shutil.copyfile(project / "package" / f"{role}.onnx", MODEL / f"{role}.onnx")
        with np.load(project / "package" / f"{role}.parity.npz") as arrays:
            sides = {
                side: {name.split("__")[1]: tensor(arrays[name]) for name in arrays.files if name.startswith(f"{side[:-1]}__")}
                for side in ("inputs", "outputs")
            }
        write_json(HERE / f"reference.{role}.json", sides)
    configuration = {"hidden": HIDDEN, "points": "table", "seed": SEED, "epochs": EPOCHS, "bits": BITS, "learning_rate": RATE}
    write_json(HERE / "candidates" / f"{NAME}.json", {"candidate": NAME, "configuration": configuration})
    write_json(HERE / "evaluation.json", {
        "objective": "least cross entropy of the validation bits in nats",
        "selected": NAME,
        "candidates": {NAME: min(float(row["validation_loss"]) for row in rows)},
        "population_sha256": population(project),
    })


def main():
    project = Path(sys.argv[1] if len(sys.argv) > 1 else "project").resolve()
    if not (project / "curve.csv").exists():
        run("deno", "run", "-A", ROOT / "cli.ts", "differentiable", "export", RECIPE, "--framework", "torch", "--out", project)
        networks = project / "networks.py"
        networks.write_text(re.sub(r"hidden=\d+", f"hidden={HIDDEN}", networks.read_text(encoding="utf-8")), encoding="utf-8")
        run(sys.executable, project / "train.py", "--epochs", EPOCHS, "--steps", STEPS, "--bits", BITS,
            "--learning-rate", RATE, "--seed", SEED, "--threads", 1, "--patience", EPOCHS)
    keep(project)


if __name__ == "__main__":
    main()

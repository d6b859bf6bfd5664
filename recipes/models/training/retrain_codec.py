"""Trains a bundled image codec from scratch, exports it, and compares it with the stored numbers.

    PYTHONPATH=<torch> python3 recipes/models/training/retrain_codec.py <package> <work folder> [<photographs>]

<package> is svc-tiny-hyperprior-v1, or svc-tiny-hyperprior-high-v1, which needs a folder for its photographs. Everything is
written below the work folder; the package stays as it is. The comparison is of rate and PSNR of every quality on the
validation photographs (training/evaluation.json). Seeds and one thread are fixed: on the processor of the stored numbers
they come back exactly, on another one rounding lets trainings drift apart, and a difference of at most 3 % in rate and
0.15 dB passes. A larger one ends with status 1.
"""

import json
import shutil
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1]
RATE_TOLERANCE, PSNR_TOLERANCE_DB = 0.03, 0.15


def compare(stored: list[dict], found: list[dict]) -> bool:
    """Prints both at every quality; whether all agree."""
    agree = True
    for old, new in zip(stored, found, strict=True):
        good = (abs(new["bpp"] / old["bpp"] - 1) <= RATE_TOLERANCE
                and abs(new["psnr_db"] - old["psnr_db"]) <= PSNR_TOLERANCE_DB)
        agree &= good
        print(f"quality {old['quality']}: {old['bpp']:.4f} bit/pixel {old['psnr_db']:.3f} dB stored, "
              f"{new['bpp']:.4f} {new['psnr_db']:.3f} now{'' if good else ', which differs'}")
    return agree


def main(package: str, work: Path, *data: Path) -> None:
    source, target, checkpoints = MODELS / package / "training", work / package, work / "checkpoints"
    sys.path.insert(0, str(source))
    shutil.copytree(MODELS / package, target, dirs_exist_ok=True)
    import train
    import export
    if data:
        train.main(*data, checkpoints)
    else:
        train.main(checkpoints, [])
    export.main(*data, checkpoints, target)
    stored, found = (json.loads((folder / "evaluation.json").read_text())["validation"]
                     for folder in (source, target / "training"))
    sys.exit(0 if compare(stored, found) else 1)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))

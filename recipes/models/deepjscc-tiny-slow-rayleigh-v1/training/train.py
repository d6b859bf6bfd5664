"""Trains the small DeepJSCC codec for slow Rayleigh fading: one gain a picture, known to the receiver, which divides by it.

Networks, data, loss and rule are those of deepjscc-tiny-awgn-v1; only the channel differs.

    PYTHONPATH=<torch> python3 recipes/models/deepjscc-tiny-slow-rayleigh-v1/training/train.py
"""

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder keeps its digest

if __name__ == "__main__":
    shared = HERE.parents[1] / "deepjscc-tiny-awgn-v1" / "training" / "train.py"
    spec = importlib.util.spec_from_file_location("deepjscc_training", shared)
    training = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(training)
    training.main("slow_rayleigh", HERE.parent)

"""Checks a training project before time is spent on it: files as they were exported, splits captured whole and disjoint.

Needs Python 3.9 or later and NumPy. Prints a line for each finding and ends with 1 if something is wrong. svc never runs it.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from interfaces import CONTRACT, ROOT, SPLITS, TAPS


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def findings():
    for name, expected in CONTRACT["files"].items():
        path = ROOT / name
        if not path.exists():
            yield "error", f"{name} is missing"
        elif sha256(path) != expected:
            yield "error", f"{name} is not the file that was exported"
    seen = {}
    for split in SPLITS:
        folder = ROOT / "data" / split
        if not (folder / "schema.json").exists():
            yield "error", f"{split} is not captured: svc dataset-capture run {ROOT.name} --split {split}"
            continue
        schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
        for identity, expected in CONTRACT["identities"].items():
            if schema[identity] != expected:
                yield "error", f"{split} was captured under another {identity}"
        for shard in schema["shards"]:
            path = folder / shard["path"]
            if not path.exists() or sha256(path) != shard["sha256"]:
                yield "error", f"{split}: {shard['path']} is missing or damaged"
                continue
            with np.load(path) as arrays:
                for tap in TAPS:
                    if tap not in arrays.files:
                        yield "error", f"{split}: {shard['path']} holds no {tap}"
                    elif len(arrays[tap]) != shard["records"]:
                        yield "error", f"{split}: {tap} of {shard['path']} has not {shard['records']} records"
                    elif not np.all(np.isfinite(arrays[tap])):
                        yield "error", f"{split}: {tap} of {shard['path']} holds values that are not finite"
        with np.load(folder / "record_digests.npz") as digests:
            for row in digests["record_sha256"]:
                other = seen.setdefault(row.tobytes(), split)
                if other != split:
                    yield "error", f"{split} and {other} share a record"
                    break
        short = schema["requested_samples"] - schema["captured_samples"]
        if short > 0:
            yield "warning", f"{split} has {short} records fewer than were asked for"


def main():
    wrong = 0
    for severity, message in findings():
        wrong += severity == "error"
        print(f"{severity}: {message}")
    if wrong == 0:
        print(f"sound: {', '.join(SPLITS)} of {CONTRACT['recipe']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

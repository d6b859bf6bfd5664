"""Compares every operation of the frozen graph with vectors that svc wrote, and its gradients with finite differences.

    python3 tests/test_twins.py            # or: pytest tests
    python3 tests/test_twins.py --json     # a row for each vector

Needs Python 3.9 or later, NumPy and PyTorch. Ends with 1 if a twin differs by more than 1e-5 of the peak.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from twins.check import check  # noqa: E402


def rows():
    vectors = json.loads((FOLDER / "twin_vectors.json").read_text(encoding="utf-8"))
    return [check(vector) for vector in vectors]


def test_twins():
    failed = [row for row in rows() if row["state"] == "failed"]
    assert not failed, failed


def main():
    found = rows()
    if "--json" in sys.argv:
        print(json.dumps(found))
    else:
        for row in found:
            worst = max(row.get("differences", {"": 0.0}).values())
            print(f"{row['state']:12} {row['operation']}  {row['name']}  {worst:.1e}  {row.get('reason', '')}")
    return 1 if any(row["state"] == "failed" for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Lays out the trained networks for packaging: ONNX files beside a draft of their manifest, in the folder package/.

    python package_artifact.py --id my-receiver-v1 receiver.onnx
    svc artifact package package

`svc artifact package` completes the draft, checks all of it and writes the ZIP file; it works on this folder directly too.
Needs nothing but Python 3.9 or later. svc never runs it.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from interfaces import CONTRACT, ROOT


def main():
    parser = argparse.ArgumentParser(description="Lay out trained networks for svc artifact package")
    parser.add_argument("networks", nargs="+", type=Path, help="ONNX files named after their component")
    parser.add_argument("--id", default=CONTRACT["artifact"]["id"], help="id of the artifact")
    parser.add_argument("--out", type=Path, default=ROOT / "package")
    options = parser.parse_args()

    draft = json.loads(json.dumps(CONTRACT["artifact"]))
    draft["id"] = options.id
    given = {path.stem: path for path in options.networks}
    wanted = {component["id"] for component in draft["components"]}
    if set(given) != wanted:
        sys.exit(f"expected {', '.join(sorted(f'{name}.onnx' for name in wanted))}, got {', '.join(map(str, options.networks))}")
    options.out.mkdir(parents=True, exist_ok=True)
    for component in draft["components"]:
        network = given[component["id"]]
        shutil.copyfile(network, options.out / component["path"])
        parity = network.with_suffix(".parity.npz")
        if parity.exists():
            shutil.copyfile(parity, (options.out / component["path"]).with_suffix(".parity.npz"))
    # JSON is YAML too; the packager keeps the order of what it is given.
    text = json.dumps(draft, indent=2, ensure_ascii=False) + "\n"
    (options.out / "trained_artifact.template.yaml").write_text(text, encoding="utf-8")
    print(f"{options.out}: now svc artifact package {options.out}")


if __name__ == "__main__":
    main()

"""Photographs of Debian packages: `photographs.tsv` names package, file and split of each.

The packages are fetched with `apt-get download` and unpacked with `dpkg-deb -x`; nothing is installed. The pictures of
gcompris-qt-data lie in Qt resource files, written as `<resource file>::<path in it>`. Every photograph is reduced
(Lanczos) to shorter sides of 512, 384 and 256 pixels, as far as it is larger.

    python3 photographs.py <folder>      # fetches, unpacks and reduces; 0.5 GB, a minute
"""

import csv
import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

LIST = Path(__file__).resolve().parent / "photographs.tsv"
SIDES = (256, 384, 512)


def rows() -> list[dict]:
    with open(LIST, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def unpacked(folder: Path, package: str) -> Path:
    """The files of a package; fetched when they are not there."""
    target = folder / package
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
        [archive] = folder.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, folder / f"{package}.part"], check=True)
        (folder / f"{package}.part").rename(target)
        archive.unlink()
    return target


def resources(data: bytes) -> dict[str, bytes]:
    """Files of a Qt resource file: a tree of nodes with offsets to names and to contents."""
    assert data[:4] == b"qres"
    version, tree, contents, names = struct.unpack(">4I", data[4:20])
    size, found = (14 if version < 2 else 22), {}

    def name(offset: int) -> str:
        count = struct.unpack_from(">H", data, names + offset)[0]
        return data[names + offset + 6:names + offset + 6 + 2 * count].decode("utf-16-be")

    def walk(node: int, path: str) -> None:
        label, flags = struct.unpack_from(">IH", data, tree + node * size)
        here = f"{path}/{name(label)}" if node else ""
        if flags & 2:
            count, first = struct.unpack_from(">II", data, tree + node * size + 6)
            for child in range(first, first + count):
                walk(child, here)
            return
        at = contents + struct.unpack_from(">I", data, tree + node * size + 10)[0]
        content = data[at + 4:at + 4 + struct.unpack_from(">I", data, at)[0]]
        if not flags & 4:  # Zstandard: none of the photographs
            found[here] = zlib.decompress(content[4:]) if flags & 1 else content

    walk(0, "")
    return found


def reduced(picture: Image.Image, side: int) -> np.ndarray:
    scale = side / min(picture.size)
    size = [round(extent * scale) for extent in picture.size]
    return np.asarray(picture.resize(size, Image.LANCZOS), np.uint8)


def load(folder: Path, split: str) -> list[list[np.ndarray]]:
    """The photographs of a split, each as its reductions [H, W, 3] uint8 in ascending size."""
    open_resources, found = {}, []
    for row in (row for row in rows() if row["split"] == split):
        path, _, inner = row["file"].partition("::")
        file = unpacked(folder, row["package"]) / path
        if inner:
            if file not in open_resources:
                open_resources[file] = resources(file.read_bytes())
            picture = Image.open(io.BytesIO(open_resources[file][inner]))
        else:
            picture = Image.open(file)
        picture = picture.convert("RGB")
        found.append([reduced(picture, side) for side in SIDES if side == SIDES[0] or min(picture.size) >= side])
    return found


if __name__ == "__main__":
    for split in ("train", "validation", "test"):
        found = load(Path(sys.argv[1]), split)
        print(split, len(found), "photographs,", sum(map(len, found)), "reductions")

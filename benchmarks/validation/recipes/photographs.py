"""The twelve test photographs as libjpeg codes them, for the scripts beside this one: Pillow writes baseline files with the standard
Huffman tables.
"""
import io
import pathlib

import numpy as np
from PIL import Image

FOLDER = pathlib.Path(__file__).parent


def coded():
    """Yields subsampling and quality as a point of a card writes them, and a triple of each photograph: samples, decoded samples, bits."""
    paths = sorted((FOLDER / "../../../recipes/photographs").glob("*.png"))
    photographs = [Image.open(path).convert("RGB") for path in paths]
    assert len(photographs) == 12
    for name, subsampling in (("420", "4:2:0"), ("444", "4:4:4")):
        for quality in (10, 30, 50, 75, 90):
            triples = []
            for image in photographs:
                file = io.BytesIO()
                image.save(file, "jpeg", quality=quality, subsampling=subsampling)
                bits = 8 * file.tell()
                file.seek(0)
                triples.append((np.asarray(image), np.asarray(Image.open(file)), bits))
            yield f"'{name}',{quality}", triples


def write(name, rows):
    """Writes the points of a card, each as `coordinates,metric,expected`."""
    header = "sender.subsampling,sender.quality,metric,expected"
    (FOLDER / f"../{name}.csv").write_text("\n".join([header, *rows]) + "\n")

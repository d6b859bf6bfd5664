"""Writes JPEG test vectors with Pillow 9.4 and cjpeg of libjpeg-turbo 2.1.5 (Debian 12).

    /usr/bin/python3 tests/data/jpeg/make.py

sources.bin    samples of small pictures one after another: crops of the sample photographs, noise and hard edges
vectors.json   sources: {name, width, height, channels, offset}
               files: per source, quality and subsampling the SHA-256 of the files that Image.save writes (baseline,
               optimize, progressive) and of the pixels that Image.open gives for them
               photographs: the same for whole sample photographs
               variants: files of other encoders' kinds, {file, decoded}; refused: {file, code}
*.jpg          the variants
"""
import hashlib
import io
import json
import os
import subprocess

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "..", "recipes", "samples")
QUALITIES = [1, 10, 25, 50, 75, 90, 95, 100]
SUBSAMPLINGS = ["444", "422", "420"]
MODES = [("baseline", {}), ("optimize", {"optimize": True}), ("progressive", {"progressive": True})]


def sha(data):
    return hashlib.sha256(data).hexdigest()


def photograph(name):
    # fromarray drops comments and density, which Image.save would copy.
    return Image.fromarray(np.asarray(Image.open(os.path.join(SAMPLES, name))))


def saved(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **options)
    return buffer.getvalue()


def pixels(file):
    return np.asarray(Image.open(io.BytesIO(file))).tobytes()


def hashes(image, quality, subsampling):
    row = {"quality": quality, "subsampling": subsampling}
    for mode, options in MODES:
        file = saved(image, quality=quality, subsampling=SUBSAMPLINGS.index(subsampling), **options)
        row[mode] = sha(file)
        decoded = sha(pixels(file))
        assert row.setdefault("decoded", decoded) == decoded
    return row


def main():
    rng = np.random.default_rng(7)
    photos = [photograph(name) for name in ("coffee.png", "chelsea.png", "rocket.jpg")]
    images = {}
    for index, (width, height) in enumerate([(1, 1), (2, 3), (7, 5), (16, 16), (17, 33), (64, 48)]):
        photo = photos[index % 3]
        left, top = (int(rng.integers(limit - size)) for limit, size in zip(photo.size, (width, height)))
        crop = photo.crop((left, top, left + width, top + height))
        images[f"crop_{width}x{height}"] = crop
        images[f"grey_{width}x{height}"] = crop.convert("L")
    images["noise"] = Image.fromarray(rng.integers(0, 256, (35, 41, 3), dtype=np.uint8))
    images["edges"] = Image.fromarray((rng.integers(0, 2, (19, 21, 3)) * 255).astype(np.uint8))
    images["grey_edges"] = Image.fromarray((rng.integers(0, 2, (24, 24)) * 255).astype(np.uint8))

    sources, files, blob = [], [], b""
    for name, image in images.items():
        channels = 1 if image.mode == "L" else 3
        width, height = image.size
        sources.append({"name": name, "width": width, "height": height, "channels": channels, "offset": len(blob)})
        blob += np.asarray(image).tobytes()
        for quality in QUALITIES:
            for subsampling in SUBSAMPLINGS:
                files.append({"source": name, **hashes(image, quality, subsampling)})
    open(os.path.join(HERE, "sources.bin"), "wb").write(blob)

    whole = []
    for name in ("coffee.png", "chelsea.png", "camera.png"):
        for quality, subsampling in ((30, "420"), (75, "420"), (75, "422"), (92, "444")):
            whole.append({"source": name, **hashes(photograph(name), quality, subsampling)})

    variants, refused = [], []

    def keep(name, file, code=None):
        open(os.path.join(HERE, name), "wb").write(file)
        if code is None:
            variants.append({"file": name, "decoded": sha(pixels(file))})
        else:
            refused.append({"file": name, "code": code})

    crop = photos[1].crop((150, 80, 187, 109))
    ppm = io.BytesIO()
    crop.save(ppm, "PPM")
    scripts = {
        "separate": "0;\n1;\n2;\n",
        "paired": "0,2;\n1;\n",
        "successive": "0,1,2: 0-0, 0, 2;\n0: 1-8, 0, 3;\n0: 9-63, 0, 2;\n1: 1-63, 0, 0;\n2: 1-63, 0, 0;\n"
        "0: 1-8, 3, 2;\n0: 1-63, 2, 1;\n0,1: 0-0, 2, 1;\n2: 0-0, 2, 1;\n0: 0-0, 1, 0;\n1: 0-0, 1, 0;\n"
        "2: 0-0, 1, 0;\n0: 1-63, 1, 0;\n",
        "dc_only": "0,1,2: 0-0, 0, 0;\n",
    }

    def cjpeg(*options, script=None, quality="85"):
        if script is not None:
            path = os.path.join(HERE, "scan_script.tmp")
            open(path, "w").write(scripts[script])
            options = (*options, "-scans", path)
        command = ["cjpeg", "-quality", quality, *options]
        file = subprocess.run(command, input=ppm.getvalue(), stdout=subprocess.PIPE, check=True).stdout
        if script is not None:
            os.remove(path)
        return file

    for sampling in ("1x2", "4x1", "4x2", "1x4", "2x2,2x1,1x2", "1x1,2x2,1x1"):
        keep(f"sampling_{sampling.replace(',', '_')}.jpg", cjpeg("-sample", sampling))
    keep("rgb.jpg", cjpeg("-rgb"))
    keep("rgb_420.jpg", cjpeg("-rgb", "-sample", "2x2"))
    keep("restart_blocks.jpg", cjpeg("-restart", "1B"))
    keep("restart_rows.jpg", cjpeg("-restart", "1", "-optimize"))
    keep("restart_progressive.jpg", cjpeg("-restart", "3B", "-progressive"))
    keep("separate.jpg", cjpeg(script="separate"))
    keep("paired.jpg", cjpeg(script="paired"))
    keep("successive.jpg", cjpeg(script="successive"))
    keep("successive_restart.jpg", cjpeg("-restart", "2B", script="successive"))
    keep("grey_progressive.jpg", cjpeg("-grayscale", "-progressive"))
    # Quantisation steps beyond 255 make an extended sequential file (SOF1) with 16-bit tables.
    keep("extended.jpg", cjpeg(quality="3"))
    keep("dc_only.jpg", cjpeg(script="dc_only"), "jpeg_unsupported")
    keep("arithmetic.jpg", cjpeg("-arithmetic"), "jpeg_unsupported")
    keep("cmyk.jpg", saved(crop.convert("CMYK"), quality=50), "jpeg_unsupported")

    def rows(items):
        return "[\n" + ",\n".join("  " + json.dumps(item, separators=(",", ":")) for item in items) + "\n ]"

    tables = {"sources": sources, "files": files, "photographs": whole, "variants": variants, "refused": refused}
    text = ",\n".join(f' "{name}": {rows(items)}' for name, items in tables.items())
    open(os.path.join(HERE, "vectors.json"), "w").write("{\n" + text + "\n}\n")


main()

"""Rate and PSNR of the test photographs as libjpeg codes them. Writes ../libjpeg_rate.csv and ../libjpeg_quality.csv.

Run: python3 measure_libjpeg.py, with Pillow 9.4.0 on libjpeg-turbo 2.1.5 (Debian 12: python3-pil), NumPy 1.24.
Baseline files with the standard Huffman tables, as Pillow writes them. PSNR is the mean over the images, each of all samples.
"""
import io
import math
import pathlib

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent
photographs = [Image.open(path).convert("RGB") for path in sorted((here / "../../../recipes/photographs").glob("*.png"))]
assert len(photographs) == 12
rates, qualities = [], []
for name, subsampling in (("420", "4:2:0"), ("444", "4:4:4")):
    for quality in (10, 30, 50, 75, 90):
        bits, pixels, decibels = 0, 0, []
        for image in photographs:
            file = io.BytesIO()
            image.save(file, "jpeg", quality=quality, subsampling=subsampling)
            bits += 8 * file.tell()
            pixels += image.width * image.height
            file.seek(0)
            error = np.asarray(Image.open(file), float) - np.asarray(image, float)
            decibels.append(10 * math.log10(255**2 / np.mean(error**2)))
        at = f"'{name}',{quality}"
        rates.append(f"{at},rate.native_codec_bpp,{bits / pixels:.6g}")
        qualities.append(f"{at},quality.psnr_db,{np.mean(decibels):.6g}")
header = "sender.subsampling,sender.quality,metric,expected"
for name, rows in (("rate", rates), ("quality", qualities)):
    (here / f"../libjpeg_{name}.csv").write_text("\n".join([header, *rows]) + "\n")

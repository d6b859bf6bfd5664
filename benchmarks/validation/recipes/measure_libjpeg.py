"""Rate and PSNR of the test photographs as libjpeg codes them. Writes ../libjpeg_rate.csv and ../libjpeg_quality.csv.

Run: python3 measure_libjpeg.py, with Pillow 9.4.0 on libjpeg-turbo 2.1.5 (Debian 12: python3-pil), NumPy 1.24.
PSNR is the mean over the images, each of all samples.
"""
import math

import numpy as np
from photographs import coded, write

rates, qualities = [], []
for at, triples in coded():
    pixels = sum(image.shape[0] * image.shape[1] for image, _, _ in triples)
    rates.append(f"{at},rate.native_codec_bpp,{sum(bits for _, _, bits in triples) / pixels:.6g}")
    errors = [np.mean((decoded.astype(float) - image) ** 2) for image, decoded, _ in triples]
    qualities.append(f"{at},quality.psnr_db,{np.mean([10 * math.log10(255**2 / error) for error in errors]):.6g}")
write("libjpeg_rate", rates)
write("libjpeg_quality", qualities)

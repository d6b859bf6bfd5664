"""SSIM of the test photographs as libjpeg codes them. Writes ../skimage_ssim.csv.

Run: python3 measure_ssim.py, with scikit-image 0.26.0, Pillow 9.4.0 on libjpeg-turbo 2.1.5, NumPy 1.24. The window is that of
Wang et al., IEEE Trans. Image Process. 13(4), 2004: Gaussian, 11 samples, standard deviation 1.5, of each channel.
"""
import io
import pathlib

import numpy as np
from PIL import Image
from skimage.metrics import structural_similarity

here = pathlib.Path(__file__).parent
photographs = [Image.open(path).convert("RGB") for path in sorted((here / "../../../recipes/photographs").glob("*.png"))]
assert len(photographs) == 12
rows = ["sender.subsampling,sender.quality,metric,expected"]
for name, subsampling in (("420", "4:2:0"), ("444", "4:4:4")):
    for quality in (10, 30, 50, 75, 90):
        scores = []
        for image in photographs:
            file = io.BytesIO()
            image.save(file, "jpeg", quality=quality, subsampling=subsampling)
            file.seek(0)
            decoded = np.asarray(Image.open(file))
            window = dict(gaussian_weights=True, sigma=1.5, use_sample_covariance=False)
            scores.append(structural_similarity(np.asarray(image), decoded, data_range=255, channel_axis=2, **window))
        rows.append(f"'{name}',{quality},quality.ssim,{np.mean(scores):.8g}")
(here / "../skimage_ssim.csv").write_text("\n".join(rows) + "\n")

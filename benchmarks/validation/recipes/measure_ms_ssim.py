"""MS-SSIM of the test photographs as libjpeg codes them. Writes ../pytorch_ms_ssim.csv.

Run: python3 measure_ms_ssim.py, with pytorch-msssim 1.0.0 on PyTorch 2.13.0, Pillow 9.4.0 on libjpeg-turbo 2.1.5. Window
and weights are those of Wang, Simoncelli and Bovik, Asilomar 2003: Gaussian, 11 samples, standard deviation 1.5, five scales.
"""
import io
import pathlib

import numpy as np
import torch
from PIL import Image
from pytorch_msssim import ms_ssim

here = pathlib.Path(__file__).parent
photographs = [Image.open(path).convert("RGB") for path in sorted((here / "../../../recipes/photographs").glob("*.png"))]
assert len(photographs) == 12


def batch(image):
    return torch.from_numpy(np.array(image, dtype=np.float64)).permute(2, 0, 1)[None]


rows = ["sender.subsampling,sender.quality,metric,expected"]
for name, subsampling in (("420", "4:2:0"), ("444", "4:4:4")):
    for quality in (10, 30, 50, 75, 90):
        scores = []
        for image in photographs:
            file = io.BytesIO()
            image.save(file, "jpeg", quality=quality, subsampling=subsampling)
            file.seek(0)
            scores.append(ms_ssim(batch(image), batch(Image.open(file)), data_range=255).item())
        rows.append(f"'{name}',{quality},quality.ms_ssim,{np.mean(scores):.8g}")
(here / "../pytorch_ms_ssim.csv").write_text("\n".join(rows) + "\n")

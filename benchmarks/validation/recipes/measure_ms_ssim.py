"""MS-SSIM of the test photographs as libjpeg codes them. Writes ../pytorch_ms_ssim.csv.

Run: python3 measure_ms_ssim.py, with pytorch-msssim 1.0.0 on PyTorch 2.13.0, Pillow 9.4.0 on libjpeg-turbo 2.1.5. Window
and weights are those of Wang, Simoncelli and Bovik, Asilomar 2003: Gaussian, 11 samples, standard deviation 1.5, five scales.
"""
import numpy as np
import torch
from photographs import coded, write
from pytorch_msssim import ms_ssim


def batch(samples):
    return torch.from_numpy(np.array(samples, dtype=np.float64)).permute(2, 0, 1)[None]


rows = []
for at, triples in coded():
    scores = [ms_ssim(batch(image), batch(decoded), data_range=255).item() for image, decoded, _ in triples]
    rows.append(f"{at},quality.ms_ssim,{np.mean(scores):.8g}")
write("pytorch_ms_ssim", rows)

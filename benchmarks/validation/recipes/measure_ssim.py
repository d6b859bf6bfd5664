"""SSIM of the test photographs as libjpeg codes them. Writes ../skimage_ssim.csv.

Run: python3 measure_ssim.py, with scikit-image 0.26.0, Pillow 9.4.0 on libjpeg-turbo 2.1.5, NumPy 1.24. The window is that of
Wang et al., IEEE Trans. Image Process. 13(4), 2004: Gaussian, 11 samples, standard deviation 1.5, of each channel.
"""
import numpy as np
from photographs import coded, write
from skimage.metrics import structural_similarity

rows, window = [], dict(gaussian_weights=True, sigma=1.5, use_sample_covariance=False)
for at, triples in coded():
    scores = [structural_similarity(image, decoded, data_range=255, channel_axis=2, **window) for image, decoded, _ in triples]
    rows.append(f"{at},quality.ssim,{np.mean(scores):.8g}")
write("skimage_ssim", rows)

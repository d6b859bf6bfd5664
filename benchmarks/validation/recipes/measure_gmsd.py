"""GMSD, and MS-SSIM in dB, of the test photographs as libjpeg codes them. Writes ../gmsd_photographs.csv.

Run: python3 measure_gmsd.py, with NumPy 1.24.2, SciPy 1.10.1, and Pillow 9.4.0 on libjpeg-turbo 2.1.5. It shares no code with the program.
GMSD: luma of BT.601, means over 2 x 2 pixels, Prewitt gradients by scipy.signal.convolve2d with zeros outside, c = 170, deviation over
all pixels. MS-SSIM: Gaussian window of 11 samples by scipy.ndimage without its borders, mean over the channels; dB of each image.
"""
import numpy as np
from photographs import coded, write
from scipy.ndimage import correlate1d
from scipy.signal import convolve2d

PREWITT = np.array([[1, 0, -1]] * 3) / 3
WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
WINDOW = np.exp(-np.arange(-5, 6) ** 2 / (2 * 1.5**2))
WINDOW /= WINDOW.sum()


def halved(image):
    rows, columns = image.shape[0] // 2, image.shape[1] // 2
    return image[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2, -1).mean((1, 3))


def gmsd(x, y):
    g, h = (np.hypot(convolve2d(luma, PREWITT, "same"), convolve2d(luma, PREWITT.T, "same"))
            for luma in (halved(image @ [0.299, 0.587, 0.114])[..., 0] for image in (x, y)))
    return np.std((2 * g * h + 170) / (g**2 + h**2 + 170))


def smoothed(plane):
    return correlate1d(correlate1d(plane, WINDOW, 0), WINDOW, 1)[5:-5, 5:-5]


def ms_ssim(x, y):
    total = np.ones(x.shape[2])
    for scale, weight in enumerate(WEIGHTS):
        if scale:
            x, y = halved(x), halved(y)
        for channel in range(x.shape[2]):
            a, b = x[..., channel], y[..., channel]
            ma, mb = smoothed(a), smoothed(b)
            va, vb, cov = smoothed(a * a) - ma * ma, smoothed(b * b) - mb * mb, smoothed(a * b) - ma * mb
            cs = (2 * cov + 7.65**2) / (va + vb + 7.65**2)
            if scale == 4:
                cs = cs * (2 * ma * mb + 2.55**2) / (ma * ma + mb * mb + 2.55**2)
            total[channel] *= cs.mean() ** weight
    return total.mean()


rows = []
for at, triples in coded():
    pairs = [(image.astype(float), decoded.astype(float)) for image, decoded, _ in triples]
    rows.append(f"{at},quality.gmsd,{np.mean([gmsd(*pair) for pair in pairs]):.8g}")
    rows.append(f"{at},quality.ms_ssim_db,{np.mean([-10 * np.log10(1 - ms_ssim(*pair)) for pair in pairs]):.8g}")
write("gmsd_photographs", rows)

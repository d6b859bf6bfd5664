"""BD-rate and BD-PSNR of the test photographs as libjpeg codes them, full against halved chroma. Prints the points of the
card bd_rate_photographs.

Run: python3 measure_bd_rate.py, with NumPy 2.4.6, SciPy 1.17.1, and Pillow 12.3.0 on libjpeg-turbo 3.1.4.1. It shares no code with the program.
Curves through quality and ln(rate) by scipy.interpolate.PchipInterpolator, their means over the common range by its integrals
(Bjontegaard, VCEG-M33, 2001; piecewise cubics as in JCTVC-L1100). `_mean`: of the differences of single photographs, in ln(rate).
"""
import numpy as np
from photographs import coded
from scipy.interpolate import PchipInterpolator


def difference(x, y, x_reference, y_reference):
    low, high = max(min(x), min(x_reference)), min(max(x), max(x_reference))
    candidate, reference = (PchipInterpolator(a, b).integrate(low, high) for a, b in ((x, y), (x_reference, y_reference)))
    return (candidate - reference) / (high - low)


rates, qualities = {}, {}
for at, triples in coded():
    subsampling = at.split(",")[0]
    header = [72 + 64 * (i == 0) for i in range(len(triples))]  # bits of the payload's container, by photograph
    rates.setdefault(subsampling, []).append([(bits + own) / image[..., 0].size for own, (image, _, bits) in zip(header, triples)])
    errors = [np.mean((image.astype(float) - decoded) ** 2) for image, decoded, _ in triples]
    qualities.setdefault(subsampling, []).append(-10 * np.log10(np.array(errors) / 255**2))
# [point, photograph], and their means as one more photograph.
r, s = (np.column_stack((rates[name], np.mean(rates[name], 1))) for name in ("'444'", "'420'"))
q, p = (np.column_stack((qualities[name], np.mean(qualities[name], 1))) for name in ("'444'", "'420'"))
rate = [difference(q[:, i], np.log(r[:, i]), p[:, i], np.log(s[:, i])) for i in range(13)]
quality = [difference(np.log(r[:, i]), q[:, i], np.log(s[:, i]), p[:, i]) for i in range(13)]
print(f"bd_rate {np.expm1(rate[-1]):.8g}, bd_quality {quality[-1]:.8g}")
print(f"bd_rate_mean {np.expm1(np.mean(rate[:-1])):.8g}, bd_quality_mean {np.mean(quality[:-1]):.8g}")

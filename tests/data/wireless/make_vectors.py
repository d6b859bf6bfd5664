"""Writes vectors.json: received symbols of the portable channel presets, produced with NumPy.

Run as `python3 make_vectors.py` in this folder; made with NumPy 2.4.6. The draws and their order are those that the
operation documents: gains, then noise; per interferer its QPSK labels, then noise; a complex array draws its whole real
part first. Values are complex64, written as hexadecimal little-endian float32 pairs.
"""
import json
import numpy as np

SEED = 23001
COUNT = 37
ITEMS = [5, 20, 12]
N0 = 10 ** (-7.0 / 10)


def complex_normal(rng, shape, variance):
    scale = np.sqrt(variance / 2)
    return scale * rng.standard_normal(shape) + 1j * (scale * rng.standard_normal(shape))


def qpsk(labels):
    return ((1 - 2 * (labels >> 1)) + 1j * (1 - 2 * (labels & 1))) / np.sqrt(2)


def written(values):
    return np.asarray(values, dtype=np.complex64).tobytes().hex()


x = qpsk(np.arange(COUNT) * 7 % 4).astype(np.complex64)
wide = x.astype(np.complex128)
cases = {}

rng = np.random.default_rng(SEED)
cases["awgn"] = {"rx": written(wide + complex_normal(rng, COUNT, N0))}

for scope in ["symbol", "source_item"]:
    rng = np.random.default_rng(SEED)
    drawn = complex_normal(rng, COUNT if scope == "symbol" else len(ITEMS), 1.0)
    h = drawn if scope == "symbol" else np.repeat(drawn, ITEMS)
    n = complex_normal(rng, COUNT, N0)
    cases[f"flat_rayleigh_{scope}_matched"] = {
        "rx": written((h * wide + n) / h),
        "noise_variance": (N0 / np.abs(h) ** 2).astype("<f4").tobytes().hex(),
    }
    cases[f"flat_rayleigh_{scope}_none"] = {"rx": written(h * wide + n), "channel_gain": written(h)}

for interferers in [1, 3]:
    rng = np.random.default_rng(SEED)
    power = 10 ** (-4.0 / 10)
    y = wide.copy()
    for _ in range(interferers):
        y += np.sqrt(power / interferers) * qpsk(rng.integers(0, 4, COUNT, dtype=np.int64))
    cases[f"interference_awgn_{interferers}"] = {"rx": written(y + complex_normal(rng, COUNT, N0))}

document = {
    "numpy": np.__version__,
    "seed": SEED,
    "snr_db": 7,
    "interference_sir_db": 4,
    "items": ITEMS,
    "x": written(x),
    "cases": cases,
}
with open("vectors.json", "w") as file:
    json.dump(document, file, indent=1)
    file.write("\n")

"""Writes vectors.json: received symbols of the portable channel presets, produced with NumPy.

Run as `python3 make_vectors.py` in this folder; made with NumPy 2.4.6. The draws and their order are those that the
operation documents: gains, then noise; per interferer its QPSK labels, then noise; shadowing, taps, noise; a complex
array draws its whole real part first. The profiles of TR 38.901 are read from the library's tables. Values are complex64, written as hexadecimal little-endian float32 pairs.
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

for scope in ["symbol", "source_item"]:
    for tx, rx in [(2, 2), (4, 4), (2, 3)]:
        rng = np.random.default_rng(SEED)
        runs = [COUNT] if scope == "symbol" else ITEMS
        vectors = [-(-run // tx) for run in runs]
        h = complex_normal(rng, (sum(vectors) if scope == "symbol" else len(ITEMS), rx, tx), 1.0)
        h = h if scope == "symbol" else np.repeat(h, vectors, axis=0)
        n = complex_normal(rng, (sum(vectors), rx), N0)
        received, variance, at = [], [], 0
        for run, start in zip(runs, np.cumsum([0] + runs[:-1])):
            for k in range(0, run, tx):
                used = min(tx, run - k)
                sent = np.zeros(tx, dtype=complex)
                sent[:used] = wide[start + k : start + k + used]
                y = h[at] @ sent / np.sqrt(tx) + n[at]
                inverse = np.linalg.inv(h[at].conj().T @ h[at])
                received.extend((np.sqrt(tx) * np.linalg.pinv(h[at]) @ y)[:used])
                variance.extend((tx * N0 * np.diag(inverse).real)[:used])
                at += 1
        cases[f"mimo_flat_{scope}_{tx}x{rx}"] = {
            "rx": written(received),
            "noise_variance": np.asarray(variance).astype("<f4").tobytes().hex(),
        }

SUBCARRIERS, OFDM_SYMBOLS, SPACING = 5, 3, 60e3
CARRIER_GHZ = 28.0


def ofdm(table, spread, normalise, shadowing):
    rng = np.random.default_rng(SEED)
    shadow = np.ones(COUNT)
    if shadowing:
        shadow = np.repeat(10 ** (-7.82 * rng.standard_normal(len(ITEMS)) / 20), ITEMS)
    powers = 10 ** (np.array(table["powers_db"]) / 10)
    if normalise:
        powers /= powers.sum()
    grids = -(-COUNT // (SUBCARRIERS * OFDM_SYMBOLS))
    taps = complex_normal(rng, (grids, len(powers)), 1.0)
    if table["line_of_sight"]:
        taps[:, 0] /= np.abs(taps[:, 0])
    taps *= np.sqrt(powers)
    k = np.arange(SUBCARRIERS) - SUBCARRIERS // 2
    delays = np.array(table["delays"]) * spread
    response = taps @ np.exp(-2j * np.pi * np.outer(delays, k * SPACING))
    h = np.repeat(response[:, None, :], OFDM_SYMBOLS, axis=1).reshape(-1)[:COUNT] * shadow
    n = complex_normal(rng, grids * OFDM_SYMBOLS * SUBCARRIERS, N0)[:COUNT]
    return {
        "rx": written((h * wide + n) / h),
        "noise_variance": (N0 / np.abs(h) ** 2).astype("<f4").tobytes().hex(),
    }


def tables(kind):
    with open(f"../../../lib/numeric/data/{kind}_models.json") as file:
        return json.load(file)["models"]


for kind in ["tdl", "cdl"]:
    for model, table in tables(kind).items():
        cases[f"ofdm_{kind}_{model}"] = ofdm(table, 300e-9, True, False)
    cases[f"ofdm_{kind}_A_unnormalised"] = ofdm(tables(kind)["A"], 300e-9, False, False)
spread = 10 ** (-0.24 * np.log10(1 + CARRIER_GHZ) - 6.83)
cases["urban_micro"] = ofdm(tables("tdl")["C"], spread, True, True)

document = {
    "numpy": np.__version__,
    "seed": SEED,
    "snr_db": 7,
    "interference_sir_db": 4,
    "items": ITEMS,
    "ofdm": {
        "ofdm_fft_size": SUBCARRIERS,
        "num_ofdm_symbols": OFDM_SYMBOLS,
        "subcarrier_spacing_khz": SPACING / 1e3,
        "carrier_frequency_ghz": CARRIER_GHZ,
        "delay_spread_ns": 300.0,
    },
    "x": written(x),
    "cases": cases,
}
with open("vectors.json", "w") as file:
    json.dump(document, file, indent=1)
    file.write("\n")

"""Writes state_vectors.json: OFDM channel states, delayed reports and array channels, produced with NumPy.

Run as `python3 make_state_vectors.py` in this folder; made with NumPy 2.4.6. Draws: random() for the angles, then for the
phases; complex arrays draw their whole real part first. Values are complex64, written as hexadecimal little-endian
float32 pairs. The profiles of TR 38.901 are read from the library's tables.
"""
import json
import numpy as np

SEED = 23001
SINUSOIDS = 20
SPACING, CARRIER, SPEED = 60e3, 28e9, 90 / 3.6
SUBCARRIERS, SYMBOLS = 5, 6


def complex_normal(rng, shape, variance):
    scale = np.sqrt(variance / 2)
    return scale * rng.standard_normal(shape) + 1j * (scale * rng.standard_normal(shape))


def written(values):
    return np.asarray(values, dtype=np.complex64).tobytes().hex()


def table(model, spread, normalise=True):
    with open("../../../lib/numeric/data/tdl_models.json") as file:
        rows = json.load(file)["models"][model]
    powers = 10 ** (np.array(rows["powers_db"]) / 10)
    if normalise:
        powers /= powers.sum()
    return np.array(rows["delays"]) * spread, powers, rows["line_of_sight"]


def moving(rng, shape, profile, doppler, symbols):
    """[..., symbol, tap]"""
    delays, powers, los = profile
    u = rng.random((*shape, len(powers), SINUSOIDS))
    phase = 2 * np.pi * rng.random((*shape, len(powers), SINUSOIDS))
    alpha = 2 * np.pi * (np.arange(SINUSOIDS) + u) / SINUSOIDS
    amplitude = np.repeat(np.sqrt(powers / SINUSOIDS)[:, None], SINUSOIDS, axis=1)
    if los:
        alpha[..., 0, 0] = np.pi / 4
        amplitude[0] = 0
        amplitude[0, 0] = np.sqrt(powers[0])
    t = np.arange(symbols) * 1e-3 / 14 * (15e3 / SPACING)
    angle = 2 * np.pi * doppler * t[:, None, None] * np.cos(alpha)[..., None, :, :] + phase[..., None, :, :]
    return (amplitude * np.exp(1j * angle)).sum(axis=-1)


def response(taps, delays, first, count):
    return taps @ np.exp(-2j * np.pi * np.outer(delays, (np.arange(count) + first) * SPACING))


doppler = SPEED * CARRIER / 299792458
states = {}
for model, normalise in [("A", True), ("B", True), ("C", True), ("D", True), ("E", True), ("A", False)]:
    profile = table(model, 300e-9, normalise)
    taps = moving(np.random.default_rng(SEED), (3,), profile, doppler, SYMBOLS)
    h = response(taps, profile[0], -(SUBCARRIERS // 2), SUBCARRIERS)
    states[model if normalise else f"{model}_unnormalised"] = written(h)

# A report of the first two symbols, a delay of two, three symbols used.
h = np.frombuffer(bytes.fromhex(states["C"]), dtype=np.complex64).reshape(3, SYMBOLS, SUBCARRIERS)
old = h[:, :2].astype(complex)
error = complex_normal(np.random.default_rng(SEED + 1), old.shape, 1.0)
scale = np.sqrt((np.abs(old) ** 2).mean(axis=(1, 2), keepdims=True) * 10 ** (-13.0 / 10))
delayed = {"transmitter_csi": written(old + scale * error), "actual_state": written(h[:, 3:6])}

TX, SAMPLES, RHO = 3, 4, 0.6
factor = np.linalg.cholesky(RHO ** np.abs(np.subtract.outer(np.arange(TX), np.arange(TX))))
profile = table("B", 100e-9)
taps = moving(np.random.default_rng(SEED), (SAMPLES, TX), profile, doppler, 2)
g = response(taps, profile[0], -(SUBCARRIERS // 2), SUBCARRIERS)
phylib = np.einsum("ij,sjtk->stik", factor, g)
powers = np.exp(-np.arange(4.0))
taps = complex_normal(np.random.default_rng(SEED), (SAMPLES, TX, 4), 1.0) * np.sqrt(powers / powers.sum())
g = taps @ np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(SUBCARRIERS)) / SUBCARRIERS)
portable = np.repeat(np.einsum("ij,sjk->sik", factor, g)[:, None], 2, axis=1)

document = {
    "numpy": np.__version__,
    "seed": SEED,
    "state_params": {
        "ofdm_fft_size": SUBCARRIERS,
        "num_ofdm_symbols": SYMBOLS,
        "subcarrier_spacing_khz": SPACING / 1e3,
        "carrier_frequency_ghz": CARRIER / 1e9,
        "mobility_kmh": SPEED * 3.6,
        "delay_spread_ns": 300.0,
    },
    "states": states,
    "delayed": delayed,
    "csi_params": {
        "sample_count": SAMPLES,
        "tx_antennas": TX,
        "tx_correlation_coefficient": RHO,
        "ofdm_fft_size": SUBCARRIERS,
        "num_ofdm_symbols": 2,
        "subcarrier_spacing_khz": SPACING / 1e3,
        "carrier_frequency_ghz": CARRIER / 1e9,
        "mobility_kmh": SPEED * 3.6,
        "tdl_model": "B",
        "delay_spread_ns": 100.0,
        "channel_tap_count": 4,
    },
    "csi": {"phylib": written(phylib), "numpy": written(portable)},
}
with open("state_vectors.json", "w") as file:
    json.dump(document, file, indent=1)
    file.write("\n")

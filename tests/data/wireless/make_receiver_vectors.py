"""Writes receiver_vectors.json: QPSK frames with pilots, carrier phase, its estimators and I/Q imbalance, with NumPy.

Run as `python3 make_receiver_vectors.py` in this folder; made with NumPy 2.4.6. Symbols are complex64, written as
hexadecimal little-endian float32 pairs; phases are float64.
"""
import json
import numpy as np

SEED = 23001
ITEMS = [50, 33, 7]
PREAMBLE, SPACING, PILOT_SEED = 6, 8, 1701
NEAREST, ALPHA, BETA = 4, 0.12, 0.005
N0 = 0.02


def complex_normal(rng, shape, variance):
    scale = np.sqrt(variance / 2)
    return scale * rng.standard_normal(shape) + 1j * (scale * rng.standard_normal(shape))


def qpsk(bits):
    return ((1 - 2.0 * bits[0::2]) + 1j * (1 - 2.0 * bits[1::2])) / np.sqrt(2)


def written(values, dtype=np.complex64):
    return np.asarray(values, dtype=dtype).tobytes().hex()


bits = np.random.default_rng(SEED).integers(0, 2, sum(ITEMS), dtype=np.uint8)
frames, at = [], 0
for count in ITEMS:
    own = np.append(bits[at : at + count], [0] * (count % 2))
    at += count
    layout = [True] * PREAMBLE
    for i in range(len(own) // 2):
        layout.append(False)
        if (i + 1) % SPACING == 0:
            layout.append(True)
    frames.append((np.array(layout), qpsk(own)))
labels = np.random.default_rng(PILOT_SEED).integers(0, 4, sum(mask.sum() for mask, _ in frames), dtype=np.int64)
known = qpsk(np.stack([labels >> 1, labels & 1], axis=1).reshape(-1))
symbols, at = [], 0
for mask, data in frames:
    frame = np.empty(len(mask), dtype=complex)
    frame[mask] = known[at : at + mask.sum()]
    frame[~mask] = data
    at += mask.sum()
    symbols.append(frame)
lengths = [len(frame) for frame in symbols]
sent = np.concatenate(symbols).astype(np.complex64)

rng = np.random.default_rng(SEED)
start = -np.pi + 2 * np.pi * rng.random(len(ITEMS))
offset = -0.01 + 0.02 * rng.random(len(ITEMS))
steps = 0.04 * rng.standard_normal(len(sent))
truth = np.concatenate([
    s + 2 * np.pi * f * np.arange(n) + np.cumsum(w)
    for s, f, n, w in zip(start, offset, lengths, np.split(steps, np.cumsum(lengths)[:-1]))
])
turned = (sent * np.exp(1j * truth)).astype(np.complex64)

received = (turned + complex_normal(np.random.default_rng(SEED + 1), len(sent), N0)).astype(np.complex64)
wide = received.astype(complex)
estimates = {"pilot_interpolation": [], "pilot_smoothing": [], "decision_directed_pll": []}
first, at = 0, 0
for (mask, _), n in zip(frames, lengths):
    y, places = wide[first : first + n], np.flatnonzero(mask)
    values = known[at : at + len(places)].astype(np.complex64).astype(complex)
    phases = np.unwrap(np.angle(y[places] * values.conj()))
    estimates["pilot_interpolation"].extend(np.interp(np.arange(n), places, phases))
    for k in range(n):
        near = np.sort(np.argsort(abs(places - k), kind="stable")[:NEAREST])
        estimates["pilot_smoothing"].append(np.polyval(np.polyfit(places[near], phases[near], 1), k))
    lead = np.angle((y[:PREAMBLE] * values[:PREAMBLE].conj()).sum())
    integrator, pilot = 0.0, 0
    for k in range(n):
        estimates["decision_directed_pll"].append(lead)
        z = y[k] * np.exp(-1j * lead)
        decision = (np.where(z.real < 0, -1, 1) + 1j * np.where(z.imag < 0, -1, 1)) / np.sqrt(2)
        if mask[k]:
            decision, pilot = values[pilot], pilot + 1
        error = (z * np.conj(decision)).imag
        integrator += BETA * error
        lead += ALPHA * error + integrator
    first, at = first + n, at + len(places)

turn, skew = np.deg2rad(25.0), np.deg2rad(-9.0)
alpha = 10 ** (3.0 / 40)
r = sent.astype(complex) * np.exp(1j * turn)
imbalanced = alpha * r.real + 0.1 + 1j * ((r.imag * np.cos(skew) + r.real * np.sin(skew)) / alpha + 0.2)

document = {
    "numpy": np.__version__,
    "seed": SEED,
    "items": ITEMS,
    "bits": "".join(map(str, bits)),
    "frame_params": {
        "preamble_symbols": PREAMBLE,
        "pilot_spacing_data_symbols": SPACING,
        "pilot_seed": PILOT_SEED,
    },
    "frame_symbol_counts": lengths,
    "pilot_positions": [int(i) for i in np.flatnonzero(np.concatenate([mask for mask, _ in frames]))],
    "pilots": written(known),
    "symbols": written(sent),
    "phase_truth": written(truth, "<f8"),
    "turned": written(turned),
    "noise_variance": N0,
    "received": written(received),
    "estimator_params": {"pilot_smoothing_nearest_pilots": NEAREST, "pll_alpha": ALPHA, "pll_beta": BETA},
    "estimates": {name: written(values, "<f8") for name, values in estimates.items()},
    "imbalance_params": {
        "gain_imbalance_db": 3,
        "phase_offset_deg": 25,
        "quadrature_error_deg": -9,
        "dc_offset_i": 0.1,
        "dc_offset_q": 0.2,
    },
    "imbalanced": written(imbalanced),
}
with open("receiver_vectors.json", "w") as file:
    json.dump(document, file, indent=1)
    file.write("\n")

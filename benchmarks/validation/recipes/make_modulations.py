"""Writes the annotated recording field_modulations, and ../field_modulations.csv: accuracies of two classifiers by NumPy.

Run: python3 make_modulations.py, with NumPy 1.24. Samples are ci16, one a symbol. Each of four parts has an Es/N0 of its own, and 48 bursts
of 160 symbols of BPSK, QPSK and 16QAM with random phases.
"""
import json
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(44)
LENGTH, BURST, BURSTS, SNRS = 32, 160, 48, (-4, 0, 4, 12)
levels = np.array([-3, -1, 1, 3]) / np.sqrt(10)
POINTS = {
    "BPSK": np.array([-1, 1]),
    "QPSK": np.array([1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j]) / np.sqrt(2),
    "16QAM": (levels[:, None] + 1j * levels).ravel(),
}
names = list(POINTS)

parts, annotations, truth = [], [], []
for snr in SNRS:
    for burst in range(BURSTS):
        name = names[rng.integers(3)]
        symbols = POINTS[name][rng.integers(len(POINTS[name]), size=BURST)]
        noise = rng.normal(size=(BURST, 2)) @ [1, 1j] * np.sqrt(10 ** (-snr / 10) / 2)
        start = sum(map(len, parts))
        parts.append(symbols * np.exp(2j * np.pi * rng.random()) + noise)
        annotations.append({"core:sample_start": start, "core:sample_count": BURST, "core:label": name})
        truth.append(names.index(name))
samples = np.concatenate(parts) / 10
data = np.round(np.stack([samples.real, samples.imag], 1) * 32768).astype("<i2")
meta = {"core:datatype": "ci16_le", "core:sample_rate": 1_000_000, "core:version": "1.2.0"}
document = {"global": meta, "captures": [{"core:sample_start": 0}], "annotations": annotations}
(here / "field_modulations.sigmf-data").write_bytes(data.tobytes())
(here / "field_modulations.sigmf-meta").write_text(json.dumps(document) + "\n")


def cumulants(y, noise):
    """Swami and Sadler, 2000: nearest |C40| and C42 over the squared power of the signal."""
    power = np.mean(np.abs(y) ** 2)
    c40 = np.mean(y**4) - 3 * np.mean(y**2) ** 2
    c42 = np.mean(np.abs(y) ** 4) - abs(np.mean(y**2)) ** 2 - 2 * power**2
    found = np.array([abs(c40), c42]) / max(power - noise, power / 100) ** 2
    distances = []
    for points in POINTS.values():
        c40 = np.mean(points**4.0) - 3 * np.mean(points**2.0) ** 2
        c42 = np.mean(np.abs(points) ** 4) - abs(np.mean(points**2.0)) ** 2 - 2
        distances.append(np.linalg.norm(found - [abs(c40), c42.real]))
    return np.argmin(distances)


def likelihood(y, noise):
    """Wei and Mendel, 2000, averaged over 64 phases."""
    turns = np.exp(-2j * np.pi * np.arange(64) / 64)
    scores = []
    for points in POINTS.values():
        exponents = -np.abs(y[None, :, None] * turns[:, None, None] - points) ** 2 / noise
        each = np.sum(np.log(np.mean(np.exp(exponents), 2)), 1)
        scores.append(each.max() + np.log(np.mean(np.exp(each - each.max()))))
    return np.argmax(scores)


read = data[:, 0] / 32768 + 1j * data[:, 1] / 32768
rows = ["recording.first_sample,observation.snr_db,classifier.mode,metric,expected"]
for part, snr in enumerate(SNRS):
    noise, hits = 10 ** (-snr / 10), {cumulants: [], likelihood: []}
    for burst in range(part * BURSTS, (part + 1) * BURSTS):
        for frame in range(BURST // LENGTH):
            at = burst * BURST + frame * LENGTH
            y = read[at : at + LENGTH]
            y = y * np.sqrt((1 + noise) / np.mean(np.abs(y) ** 2))
            for rule, found in hits.items():
                found.append(rule(y, noise) == truth[burst])
    for rule, mode in ((cumulants, "classical_cumulant"), (likelihood, "classical_likelihood")):
        first = part * BURSTS * BURST
        rows.append(f"{first},{snr},{mode},modulation_recognition.accuracy,{np.mean(hits[rule]):.6g}")
(here / "../field_modulations.csv").write_text("\n".join(rows) + "\n")
